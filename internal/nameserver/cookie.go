package nameserver

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
	"net/netip"
)

const (
	clientCookieSize = 8
	serverCookieSize = 16
	maxCookieSize    = 40 // of both (RFC 7873, 4)
	cookieVersion    = 1

	// Cookies are accepted for an hour, and replaced after half of it (RFC 9018,
	// 4.3). Clocks of nodes may differ by five minutes.
	cookieLifetime = 3600
	cookieRenewal  = 1800
	cookieSkew     = 300
)

// validCookieSize reports whether an option holds a client cookie, alone or with a
// server cookie (RFC 7873, 4).
func validCookieSize(n int) bool {
	return n == clientCookieSize || n >= 2*clientCookieSize && n <= maxCookieSize
}

// cookies makes and verifies server cookies (RFC 9018). Every node has the same
// secret, so a cookie of one is valid at all.
type cookies struct{ k0, k1 uint64 }

func newCookies(secret [16]byte) *cookies {
	return &cookies{binary.LittleEndian.Uint64(secret[:]), binary.LittleEndian.Uint64(secret[8:])}
}

// renew appends the cookie of the response: the client's part and a server cookie.
// verified says that the client sent a valid server cookie, and so received an
// earlier response at this address.
func (c *cookies) renew(out, cookie []byte, from netip.Addr, now int64) (_ []byte, verified bool) {
	from = from.Unmap()
	client := cookie[:clientCookieSize]
	if len(cookie) == clientCookieSize+serverCookieSize && cookie[clientCookieSize] == cookieVersion {
		age := int32(uint32(now) - binary.BigEndian.Uint32(cookie[12:])) // RFC 1982
		sum := c.hash(cookie[:16], from)
		verified = subtle.ConstantTimeCompare(sum[:], cookie[16:]) == 1 && age <= cookieLifetime && age >= -cookieSkew
		if verified && age <= cookieRenewal {
			return append(out, cookie...), true
		}
	}
	at := len(out)
	out = append(out, client...)
	out = append(out, cookieVersion, 0, 0, 0)
	out = binary.BigEndian.AppendUint32(out, uint32(now))
	sum := c.hash(out[at:], from)
	return append(out, sum[:]...), verified
}

// hash is SipHash-2-4 of the client cookie, the head of the server cookie, which
// together are 16 bytes, and the address.
func (c *cookies) hash(head []byte, from netip.Addr) (sum [8]byte) {
	h := sipHash{c.k0 ^ 0x736f6d6570736575, c.k1 ^ 0x646f72616e646f6d, c.k0 ^ 0x6c7967656e657261, c.k1 ^ 0x7465646279746573}
	h.word(binary.LittleEndian.Uint64(head))
	h.word(binary.LittleEndian.Uint64(head[8:]))
	if from.Is4() {
		a := from.As4()
		h.word(20<<56 | uint64(binary.LittleEndian.Uint32(a[:]))) // the last word ends in the length of all
	} else {
		a := from.As16()
		h.word(binary.LittleEndian.Uint64(a[:]))
		h.word(binary.LittleEndian.Uint64(a[8:]))
		h.word(32 << 56)
	}
	h.v2 ^= 0xff
	for range 4 {
		h.round()
	}
	binary.LittleEndian.PutUint64(sum[:], h.v0^h.v1^h.v2^h.v3)
	return sum
}

// A sipHash is the state of SipHash-2-4, which RFC 9018 prescribes and the standard
// library does not export.
type sipHash struct{ v0, v1, v2, v3 uint64 }

func (h *sipHash) word(m uint64) {
	h.v3 ^= m
	h.round()
	h.round()
	h.v0 ^= m
}

func (h *sipHash) round() {
	h.v0 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 13) ^ h.v0
	h.v0 = bits.RotateLeft64(h.v0, 32)
	h.v2 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 16) ^ h.v2
	h.v0 += h.v3
	h.v3 = bits.RotateLeft64(h.v3, 21) ^ h.v0
	h.v2 += h.v1
	h.v1 = bits.RotateLeft64(h.v1, 17) ^ h.v2
	h.v2 = bits.RotateLeft64(h.v2, 32)
}

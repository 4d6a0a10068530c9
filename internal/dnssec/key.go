package dnssec

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/asn1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Key signs the records and the DNSKEY of one zone (a "combined signing key"),
// with ECDSA P-256 (RFC 6605). Create one with DeriveKey.
type Key struct {
	origin  string
	name    string // the origin in wire format
	private *ecdsa.PrivateKey
	data    string // of the DNSKEY
	tag     uint16
}

// minMasterLen is the minimum length of a master secret in bytes: that of a key.
const minMasterLen = 32

// DeriveKey returns the key of the zone in the given generation. The same master
// secret always gives the same keys, so that no key needs to be stored; the key of
// one zone or generation reveals nothing about any other.
//
// It fails when the master secret is too short.
func DeriveKey(master deed.Secret, origin string, generation int) (Key, error) {
	if len(master) < minMasterLen {
		return Key{}, fmt.Errorf("derive key of %s: the master secret has fewer than %d bytes", origin, minMasterLen)
	}
	name, err := wireName(origin)
	if err != nil {
		return Key{}, fmt.Errorf("derive key of %s: %w", origin, err)
	}
	private, err := derivePrivate(master, name, generation)
	if err != nil {
		return Key{}, fmt.Errorf("derive key of %s: %w", origin, err)
	}
	point, err := private.PublicKey.Bytes()
	if err != nil {
		return Key{}, fmt.Errorf("derive key of %s: %w", origin, err)
	}
	data := keyData(point[1:]) // without the byte for the uncompressed format
	return Key{strings.ToLower(origin), name, private, data, keyTag(data)}, nil
}

// derivePrivate derives 128 bits more than the curve's order has and reduces them
// to 1 … order-1, so that the keys are uniformly distributed (FIPS 186-5, A.2.1).
// Its results must never change: parents hold digests of the keys.
func derivePrivate(master deed.Secret, name string, generation int) (*ecdsa.PrivateKey, error) {
	info := fmt.Sprintf("deed zone key\x00%s%d", name, generation)
	wide, err := hkdf.Key(sha256.New, []byte(master.Reveal()), nil, info, 48)
	if err != nil {
		return nil, err
	}
	one := big.NewInt(1)
	order := elliptic.P256().Params().N
	d := new(big.Int).SetBytes(wide)
	d.Mod(d, new(big.Int).Sub(order, one)).Add(d, one)
	return ecdsa.ParseRawPrivateKey(elliptic.P256(), d.FillBytes(make([]byte, 32)))
}

// DeriveCookieSecret returns the secret of DNS cookies (RFC 9018). All nodes have the
// same, since they have the same master secret, so a cookie of one is valid at all.
func DeriveCookieSecret(master deed.Secret) (secret [16]byte, err error) {
	key, err := hkdf.Key(sha256.New, []byte(master.Reveal()), nil, "deed dns cookies", len(secret))
	copy(secret[:], key)
	return secret, err
}

// keyData returns the rdata of a DNSKEY that signs both keys and records.
func keyData(point []byte) string {
	const protocol = 3
	head := []byte{0, 0, protocol, dns.ECDSAP256SHA256}
	binary.BigEndian.PutUint16(head, dns.ZONE|dns.SEP)
	return string(head) + string(point)
}

// keyTag returns the number by which signatures refer to their key (RFC 4034, B).
func keyTag(data string) uint16 {
	var sum uint32
	for i := range len(data) {
		sum += uint32(data[i]) << (8 * (1 - i%2))
	}
	return uint16(sum + sum>>16)
}

// DNSKEY returns the public key as a record at the apex.
func (k Key) DNSKEY() dnszone.RR {
	return dnszone.RR{Owner: k.origin, Type: dns.TypeDNSKEY, TTL: servedTTL, Data: k.data}
}

// Announce returns the CDS and CDNSKEY records with which a zone requests its DS
// from the parent (RFC 7344). They are added to the Composition of a zone that will
// be signed.
func (k Key) Announce() []dnszone.RR {
	rrs := []dnszone.RR{{Owner: k.origin, Type: dns.TypeCDNSKEY, TTL: servedTTL, Data: k.data}}
	for _, ds := range k.DS() {
		rr, err := ds.RR(k.origin)
		if err != nil {
			panic(err) // the digest was computed above
		}
		rr.Type = dns.TypeCDS
		rrs = append(rrs, rr)
	}
	return rrs
}

// DS returns the DS records that the parent must publish for the zone to validate.
func (k Key) DS() []DS {
	digest := sha256.Sum256([]byte(k.name + k.data))
	return []DS{{k.tag, dns.ECDSAP256SHA256, dns.SHA256, hex.EncodeToString(digest[:])}}
}

// RR returns the DS as a record of the parent. It fails with CodeValidation when
// the digest is not hexadecimal.
func (d DS) RR(owner string) (dnszone.RR, error) {
	digest, err := hex.DecodeString(d.Digest)
	if err != nil || len(digest) == 0 {
		return dnszone.RR{}, deed.Invalid("ds", "%s is not a digest in hexadecimal", deed.Quoted(d.Digest))
	}
	head := []byte{0, 0, d.Algorithm, d.DigestType}
	binary.BigEndian.PutUint16(head, d.KeyTag)
	return dnszone.RR{Owner: owner, Type: dns.TypeDS, TTL: servedTTL, Data: string(head) + string(digest)}, nil
}

// sign returns the signature of text in the format of RRSIG, the concatenation of r
// and s (RFC 6605, 4). It is deterministic (RFC 6979): the same text gets the same
// signature on every node.
func (k Key) sign(text []byte) ([]byte, error) {
	hash := sha256.Sum256(text)
	der, err := k.private.Sign(nil, hash[:], crypto.SHA256)
	if err != nil {
		return nil, err
	}
	var pair struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &pair); err != nil {
		return nil, err
	}
	sig := make([]byte, 64)
	pair.R.FillBytes(sig[:32])
	pair.S.FillBytes(sig[32:])
	return sig, nil
}

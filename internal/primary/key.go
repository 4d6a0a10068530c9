package primary

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
)

const (
	minSecret = 16  // minimum length of a key in bytes
	fudge     = 300 // allowed clock difference in seconds (RFC 8945, 10)
)

// A Key signs messages with hmac-sha256. The zero Key signs nothing.
type Key struct {
	name   string // canonical, with the trailing dot
	secret deed.Secret
}

// ParseKey parses a key as it is written in the configuration of a name server: a
// domain name, and a secret of at least 16 bytes in base64. It fails with
// CodeValidation.
func ParseKey(name, secret string) (Key, error) {
	if _, ok := dns.IsDomainName(name); !ok || strings.Trim(name, ".") == "" {
		return Key{}, deed.Invalid("key", "its name must be a domain name, such as \"fleet-2026\"")
	}
	raw, err := base64.StdEncoding.DecodeString(secret)
	if err != nil || len(raw) < minSecret {
		return Key{}, deed.Invalid("key", "its secret must be %d bytes or more in base64", minSecret)
	}
	return Key{name: dns.CanonicalName(name), secret: deed.Secret(raw)}, nil
}

// Format writes the name of the key, whatever the verb.
func (k Key) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(k.name)) } // fmt has nowhere to report it

// Named reports whether the key has this name.
func (k Key) Named(name string) bool { return k.name == dns.CanonicalName(name) }

func (k Key) zero() bool { return k.name == "" }

// sign adds a TSIG record to m; the signature is computed when m is written.
func (k Key) sign(m *dns.Msg, at time.Time) { m.SetTsig(k.name, dns.HmacSHA256, fudge, at.Unix()) }

// A keyring is a set of keys by name. It implements dns.TsigProvider and supports
// only hmac-sha256.
type keyring map[string]Key

func newKeyring(keys ...Key) keyring {
	r := keyring{}
	for _, k := range keys {
		if !k.zero() {
			r[k.name] = k
		}
	}
	return r
}

// Generate implements dns.TsigProvider.
func (r keyring) Generate(msg []byte, t *dns.TSIG) ([]byte, error) {
	k, ok := r[dns.CanonicalName(t.Hdr.Name)]
	if !ok {
		return nil, dns.ErrSecret
	}
	if dns.CanonicalName(t.Algorithm) != dns.HmacSHA256 {
		return nil, dns.ErrKeyAlg
	}
	h := hmac.New(sha256.New, []byte(k.secret.Reveal()))
	h.Write(msg)
	return h.Sum(nil), nil
}

// Verify implements dns.TsigProvider.
func (r keyring) Verify(msg []byte, t *dns.TSIG) error {
	want, err := r.Generate(msg, t)
	if err != nil {
		return err
	}
	if got, err := hex.DecodeString(t.MAC); err != nil || !hmac.Equal(got, want) {
		return dns.ErrSig
	}
	return nil
}

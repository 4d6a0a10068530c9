package opusdns

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// The auth code of a new name is derived from the order, so that the domain object
// tells which order made it. A code has three parts:
//
//	head    derived from the reference and the name
//	tail    derived from the head: whoever knows the secret sees that it is such a code
//	ending  characters that some TLDs demand
//
// The vendor may replace the code. Then it is not such a code, and the time at which
// the object was created decides.

// endings are the endings of a code, the best first.
var endings = []string{"Z7-", "Z7", ""}

// codeEncoding has no characters that are easily confused.
var codeEncoding = base32.NewEncoding("abcdefghijkmnpqrstuvwxyz23456789").WithPadding(base32.NoPadding)

// orderCode returns the code of the order by the rules of its TLD; "" if the registry
// makes codes itself, or none matches the rules.
func (b *Backend) orderCode(o registrar.Order, rules tldRules) deed.Secret {
	if rules.codeIsTheirs {
		return ""
	}
	n := min(max(codeLength, rules.codeMin), rules.codeMax)
	for _, ending := range endings {
		code := b.codeOf(o, n, ending)
		if rules.codePattern == nil || rules.codePattern.MatchString(code) {
			return deed.Secret(code)
		}
	}
	return ""
}

// codeOf returns the code of the order with this length and ending.
func (b *Backend) codeOf(o registrar.Order, n int, ending string) string {
	n -= len(ending)
	head := b.derive(n/2, "head", o.Reference, string(o.Name))
	return head + b.derive(n-n/2, "tail", head) + ending
}

// orderOf tells whether the code was made for the order, or for another one. Neither
// is the case for a code that somebody else made.
func (b *Backend) orderOf(code deed.Secret, o registrar.Order) (this, another bool) {
	text := code.Reveal()
	for _, ending := range endings {
		body, found := strings.CutSuffix(text, ending)
		if !found || len(body) < minCode {
			continue
		}
		head, tail := body[:len(body)/2], body[len(body)/2:]
		if hmac.Equal([]byte(tail), []byte(b.derive(len(tail), "tail", head))) {
			this = hmac.Equal([]byte(text), []byte(b.codeOf(o, len(text), ending)))
			return this, !this
		}
	}
	return false, false
}

// derive returns n characters that only whoever knows the secret can compute.
func (b *Backend) derive(n int, parts ...string) string {
	mac := hmac.New(sha256.New, []byte(b.config.Secret.Reveal()))
	for _, part := range parts {
		mac.Write([]byte(part))
		mac.Write([]byte{0}) // no part has one
	}
	return codeEncoding.EncodeToString(mac.Sum(nil))[:min(n, 50)]
}

package dnszone

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/miekg/dns"

	"deed.example/deed"
)

// A digestForm is the format of a value that consists of some numbers and hex
// digits; the last number determines how many digits there are.
type digestForm struct {
	example string
	allowed [][]int     // the allowed values of each number; empty for any 16-bit value
	bytes   map[int]int // the last number → length of the data in bytes; 0 for any
}

var (
	tlsaForm = digestForm{
		example: "a TLSA record holds usage (0-3), selector (0-1), matching type (0-2) and hex digits, such as 3 1 1 and 64 digits",
		allowed: [][]int{{0, 1, 2, 3}, {0, 1}, {0, 1, 2}},
		bytes:   map[int]int{0: 0, 1: 32, 2: 64},
	}
	smimeaForm = digestForm{
		example: "an SMIMEA record holds usage (0-3), selector (0-1), matching type (0-2) and hex digits, such as 3 1 1 and 64 digits",
		allowed: tlsaForm.allowed,
		bytes:   tlsaForm.bytes,
	}
	sshfpForm = digestForm{
		example: "an SSHFP record holds algorithm (1, 2, 3, 4 or 6), type (1 or 2) and hex digits, such as 4 2 and 64 digits",
		allowed: [][]int{{1, 2, 3, 4, 6}, {1, 2}},
		bytes:   map[int]int{1: 20, 2: 32},
	}
	dsForm = digestForm{
		example: "a DS record holds key tag, algorithm, digest type (1, 2 or 4) and hex digits, such as 2371 13 2 and 64 digits",
		allowed: [][]int{nil, {5, 7, 8, 10, 13, 14, 15, 16}, {1, 2, 4}},
		bytes:   map[int]int{1: 20, 2: 32, 4: 48},
	}
)

func readTLSA(f []field) (string, error) { return tlsaForm.read(f) }

func readSSHFP(f []field) (string, error) { return sshfpForm.read(f) }

func readDS(f []field) (string, error) { return dsForm.read(f) }

func (form digestForm) read(f []field) (string, error) {
	n := len(form.allowed)
	if len(f) <= n {
		return "", errors.New(form.example)
	}
	last := 0
	out := make([]string, n+1)
	for i, allowed := range form.allowed {
		number, err := strconv.ParseUint(f[i].text, 10, 16)
		if err != nil || f[i].quoted || allowed != nil && !slices.Contains(allowed, int(number)) {
			return "", fmt.Errorf("%s, not %s", form.example, deed.Quoted(f[i].text))
		}
		last = int(number)
		out[i] = strconv.Itoa(last)
	}
	for _, part := range f[n:] { // long hex strings are often split into groups
		if part.quoted {
			return "", errors.New(form.example)
		}
		out[n] += strings.ToLower(part.text)
	}
	digest, err := hex.DecodeString(out[n])
	want := form.bytes[last]
	if err != nil || want > 0 && len(digest) != want {
		return "", fmt.Errorf("%s: type %d has %s, not %s", form.example, last, digitsOf(want), deed.Quoted(out[n]))
	}
	return strings.Join(out, " "), nil
}

func digitsOf(bytes int) string {
	if bytes == 0 {
		return "pairs of hex digits"
	}
	return fmt.Sprintf("%d hex digits", 2*bytes)
}

func showTLSA(rr dns.RR) string {
	t := rr.(*dns.TLSA)
	return fmt.Sprintf("%d %d %d %s", t.Usage, t.Selector, t.MatchingType, strings.ToLower(t.Certificate))
}

func showSSHFP(rr dns.RR) string {
	s := rr.(*dns.SSHFP)
	return fmt.Sprintf("%d %d %s", s.Algorithm, s.Type, strings.ToLower(s.FingerPrint))
}

func showDS(rr dns.RR) string {
	d := rr.(*dns.DS)
	return fmt.Sprintf("%d %d %d %s", d.KeyTag, d.Algorithm, d.DigestType, strings.ToLower(d.Digest))
}

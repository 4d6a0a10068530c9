package opusdns

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"net/http"
	"net/url"
	"slices"

	"deed.example/deed"
)

// codeLength is the length of a new auth code, where the TLD allows it.
const codeLength = 24

// requestedCodes are the TLDs whose registry makes the auth code when it is asked.
var requestedCodes = []deed.TLD{"be", "cymru", "cz", "dk", "eu", "lt", "nu", "se", "wales"}

// AuthCode implements registrar.Manager. The service makes the code, except where
// the registry does.
func (b *Backend) AuthCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	tld := name.TLD()
	rules, err := b.tldRules(ctx, tld)
	if err != nil {
		return "", err
	}
	if slices.Contains(requestedCodes, tld) {
		return b.requestCode(ctx, name)
	}
	if rules.codeIsTheirs {
		return b.readCode(ctx, name)
	}
	code, err := newCode(rules)
	if err != nil {
		return "", deed.Invalid("domain", "%s: %v", name, err)
	}
	d, err := b.update(ctx, name, updateRequest{Code: code.Reveal()})
	if err != nil {
		return "", err
	}
	return cmp.Or(d.code, code), nil // the vendor may have replaced it
}

// requestCode lets the registry make a new code.
func (b *Backend) requestCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	path := "/v1/domains/tld-specific/" + url.PathEscape(string(name.TLD())) + "/" + url.PathEscape(string(name)) + "/auth_code/request"
	var reply struct {
		Code    string `json:"auth_code"`
		Success *bool  `json:"success"`
	}
	if err := b.api.do(ctx, request{lane: orderLane, method: http.MethodPost, path: path}, &reply); err != nil {
		return "", b.changeError("request the code of", name, err)
	}
	switch {
	case reply.Success == nil:
		return "", fmt.Errorf("request the code of %s: the reply does not say whether it worked", name)
	case !*reply.Success:
		return "", deed.Invalid("domain", "the registry makes no code for %s now", name)
	case reply.Code == "":
		return b.readCode(ctx, name)
	}
	return deed.Secret(reply.Code), nil
}

// readCode returns the code that the registry has made.
func (b *Backend) readCode(ctx context.Context, name deed.Name) (deed.Secret, error) {
	d, err := b.held(ctx, orderLane, name)
	if err == nil && d.code == "" {
		err = deed.Invalid("domain", "the registry sends the code of %s to the registrant, by e-mail", name)
	}
	return d.code, err
}

// The characters of a code. It has one of each kind where the TLD allows it: some
// registries demand that (RFC 9154 does not).
const (
	codeLetters  = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
	codeDigits   = "23456789"
	codeSpecials = "-_.!*"
)

// newCode returns a random code by the rules of the TLD.
func newCode(rules tldRules) (deed.Secret, error) {
	n := min(max(codeLength, rules.codeMin), rules.codeMax)
	for _, kinds := range [][]string{{codeLetters, codeDigits, codeSpecials}, {codeLetters, codeDigits}} {
		for range 20 {
			code := randomCode(n, kinds)
			if rules.codePattern == nil || rules.codePattern.MatchString(code) {
				return deed.Secret(code), nil
			}
		}
	}
	return "", fmt.Errorf("no code matches the pattern of the TLD")
}

// randomCode returns n random characters, with at least one of each kind.
func randomCode(n int, kinds []string) string {
	var out []byte
	for i := range n {
		kind := codeLetters
		if i < len(kinds) {
			kind = kinds[i]
		}
		out = append(out, kind[randomInt(len(kind))])
	}
	for i := range out[1:] { // a code begins with a letter
		j := 1 + i + randomInt(len(out)-1-i)
		out[1+i], out[j] = out[j], out[1+i]
	}
	return string(out)
}

func randomInt(n int) int {
	i, err := rand.Int(rand.Reader, big.NewInt(int64(n)))
	if err != nil {
		panic(err) // package rand: it never fails
	}
	return int(i.Int64())
}

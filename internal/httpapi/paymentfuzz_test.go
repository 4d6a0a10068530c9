package httpapi

import (
	"encoding/base64"
	"regexp"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/network"
)

var lowerNonce = regexp.MustCompile(`^0x[0-9a-f]{64}$`)

// Whatever a payment header has in it, an authorization that is read from it has one form,
// in which it is compared and stored.
func FuzzPayment(f *testing.F) {
	const (
		payer = `0x71C7656EC7ab88b098defB751B7401B5f6d8976F`
		nonce = `0xABcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcdabcd`
	)
	chain, _ := network.ByX402V1("base-sepolia")
	s := &Server{Terms: NewPaymentTerms(chain, "0x00000000000000000000000000000000000000aa")}
	pay := `"payload":{"signature":"0x00","authorization":{"from":"` + payer + `","to":"` + s.Terms.PayTo + `","value":"1","validAfter":"0","validBefore":"2","nonce":"` + nonce + `"}}`
	accepted := `"accepted":{"scheme":"exact","network":"` + s.Terms.NetworkV2 + `","amount":"1","asset":"` + s.Terms.Asset + `","payTo":"` + s.Terms.PayTo + `"}`
	v1, v2 := `{"x402Version":1,"scheme":"exact","network":"`+s.Terms.NetworkV1+`",`+pay+`}`, `{"x402Version":2,`+accepted+`,`+pay+`}`
	for version, seed := range map[int]string{1: v1, 2: v2} {
		if _, err := s.parsePayment(base64.StdEncoding.EncodeToString([]byte(seed)), version); err != nil {
			f.Fatalf("a valid payment of version %d: %v", version, err)
		}
	}
	for _, seed := range []string{
		v1, v2, `{"x402Version":2,"accepted":null,` + pay + `}`, `{"x402Version":1,"payload":{"authorization":null}}`, `{"x402Version":1}`, `{}`, `[]`, `null`, ``, "\xff",
	} {
		f.Add(seed, 1)
		f.Add(seed, 2)
	}
	f.Fuzz(func(t *testing.T, text string, version int) {
		auth, err := s.parsePayment(base64.StdEncoding.EncodeToString([]byte(text)), version)
		if err != nil && deed.CodeOf(err) != deed.CodePaymentInvalid {
			t.Errorf("got %v", err)
		}
		if auth == nil {
			if err == nil {
				t.Error("there is neither an authorization nor an error")
			}
			return
		}
		for _, w := range []deed.Wallet{auth.Payer, auth.PayTo} {
			if again, err := deed.ParseWallet(string(w)); err != nil || again != w {
				t.Errorf("%q is no wallet: %v", w, err)
			}
		}
		if !lowerNonce.MatchString(auth.Nonce) || auth.Amount < 0 || auth.ValidAfter < 0 || auth.ValidBefore < 0 || len(auth.Signature) == 0 || len(auth.Signature) > 4<<10 {
			t.Errorf("got %+v", auth)
		}
		if err == nil && string(auth.PayTo) != "0x00000000000000000000000000000000000000aa" {
			t.Errorf("it pays %s", auth.PayTo)
		}
	})
}

package api_test

import (
	"testing"
	"time"

	"deed.example/deed/api"
)

func TestNextRoundTrip(t *testing.T) {
	for _, c := range []struct {
		next api.Next
		want string
	}{
		{api.Next{Action: "sign_in"}, "sign_in"},
		{api.Next{Action: "list_records", Domain: "example.com"}, "list_records; domain=example.com"},
		{api.Next{Action: "claim_payment", Wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", Within: 5 * time.Minute}, "claim_payment; wallet=0x71c7656ec7ab88b098defb751b7401b5f6d8976f; within=5m0s"},
	} {
		if got := c.next.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
		if got := api.ParseNext(c.want); got != c.next {
			t.Errorf("%s: got %+v, want %+v", c.want, got, c.next)
		}
	}
	for _, value := range []string{"", ";", "a b", "list_records; domain"} {
		if got := api.ParseNext(value); got != (api.Next{}) {
			t.Errorf("%q: got %+v, want none", value, got)
		}
	}
}

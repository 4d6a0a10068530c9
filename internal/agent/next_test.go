package agent_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
)

// refuseWith responds with an error and its next step.
func refuseWith(n api.Next, body string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(api.NextHeader, n.String())
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(body))
	})
}

func TestNextStepsNameTools(t *testing.T) {
	const overHTTP = "call it over HTTP"
	withoutTool := map[deed.Action]bool{
		deed.ActionPay: true, deed.ActionCheckHealth: true,
	}
	tool := regexp.MustCompile(`\b[a-z]+(_[a-z]+)+\b`)
	for _, action := range deed.Actions() {
		next := api.Next{Action: string(action), Domain: "example.com", Wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", Within: time.Minute}
		a := do(t, refuseWith(next, fmt.Sprintf(`{"error":"e","message":"m","code":"c","hint":%q}`, overHTTP)), "get_domain", agent.Request{Arguments: []byte(`{"domain":"a.com"}`)})
		var got api.Error
		if err := json.Unmarshal(a.Body, &got); err != nil {
			t.Fatal(err)
		}
		if withoutTool[action] != (got.Hint == overHTTP) || strings.Contains(got.Hint, "GET /") {
			t.Errorf("%s: got %s", action, got.Hint)
		}
		for _, name := range tool.FindAllString(got.Hint, -1) {
			if _, known := agent.Find(name); !known && name != "access_token" && name != "personal_sign" {
				t.Errorf("%s: there is no tool %s", action, name)
			}
		}
	}
}

func TestErrorsNameArguments(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"message":"maxPriceUsd: is dear","details":[{"field":"maxPriceUsd","reason":"is dear"}]}`, `{"details":[{"field":"max_price_usd","reason":"is dear"}],"message":"max_price_usd: is dear"}`},
		{`{"message":"dns_records[2]: ttl: no","details":[{"field":"dns_records[2].ttl","reason":"no"}]}`, `{"details":[{"field":"dns_records[2].ttl","reason":"no"}],"message":"dns_records[2]: ttl: no"}`},
		{`{"message":"maxPriceUsd"}`, `{"message":"maxPriceUsd"}`},
		{`not JSON`, `not JSON`},
	} {
		a := do(t, refuseWith(api.Next{}, c.body), "register_domain", agent.Request{Arguments: []byte(`{"domain":"a.com"}`)})
		if string(a.Body) != c.want {
			t.Errorf("%s: got %s, want %s", c.body, a.Body, c.want)
		}
	}
}

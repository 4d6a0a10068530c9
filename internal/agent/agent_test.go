package agent_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"deed.example/deed/internal/agent"
)

// compile compiles a schema of a tool.
func compile(t *testing.T, name string, raw []byte) *jsonschema.Schema {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool:"+name, v); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool:" + name)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return s
}

func judge(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s.Validate(v)
}

func TestToolsAreComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, tool := range agent.Tools(true) {
		if seen[tool.Name] {
			t.Errorf("%s is there twice", tool.Name)
		}
		seen[tool.Name] = true
		if tool.Title == "" || tool.Description == "" || tool.Paid && (tool.ReadOnly || !tool.Destructive) || tool.ReadOnly && tool.Destructive {
			t.Errorf("%s: got %+v", tool.Name, tool)
		}
		for _, raw := range [][]byte{tool.Input, tool.Output} {
			s := compile(t, tool.Name, raw)
			if !slices.Contains(s.Types.ToStrings(), "object") || bytes.Contains(raw, []byte("$ref")) {
				t.Errorf("%s: the schema is no object that stands for itself: %s", tool.Name, raw)
			}
		}
		for _, a := range tool.Arguments {
			if a.In == agent.InPath && !strings.Contains(tool.Path, "{"+a.Field+"}") {
				t.Errorf("%s: %s has no place for %s", tool.Name, tool.Path, a.Field)
			}
		}
	}
	if _, found := agent.Find("no_such_tool"); found || len(seen) < 37 {
		t.Errorf("got %d tools", len(seen))
	}
}

// Gemini refuses all tools, and its command line the tool, if a part of the
// arguments has no type, an array no items, or an object no properties.
func TestArgumentsHaveTypes(t *testing.T) {
	for _, tool := range agent.Tools(true) {
		var in map[string]any
		if err := json.Unmarshal(tool.Input, &in); err != nil {
			t.Fatal(err)
		}
		for name, argument := range in["properties"].(map[string]any) {
			checkTypes(t, tool.Name+"."+name, argument)
		}
	}
}

// checkTypes checks a schema and all schemas below it.
func checkTypes(t *testing.T, at string, v any) {
	t.Helper()
	s, _ := v.(map[string]any)
	properties, _ := s["properties"].(map[string]any)
	switch {
	case s["type"] == "array":
		checkTypes(t, at+".items", s["items"])
	case s["type"] == "object" && len(properties) == 0, s["type"] == nil:
		t.Errorf("%s: got %v, want a type with its parts", at, v)
	}
	for name, p := range properties {
		checkTypes(t, at+"."+name, p)
	}
}

func TestWhatToolsNeed(t *testing.T) {
	var paid, bearer, waits, quotes []string
	for _, tool := range agent.Tools(true) {
		if tool.Paid {
			paid = append(paid, tool.Name)
		}
		if tool.Bearer {
			bearer = append(bearer, tool.Name)
		}
		if tool.Waits {
			waits = append(waits, tool.Name)
		}
		if tool.Quotes() {
			quotes = append(quotes, tool.Name)
		}
	}
	changes := []string{"add_dns_record", "update_dns_record", "delete_dns_record", "change_dns_records", "import_dns_zone", "roll_back_dns_zone"}
	account := []string{"cancel_domain", "list_my_domains", "get_account", "list_transactions", "list_events", "create_webhook", "list_webhooks", "test_webhook", "rotate_webhook_secret", "delete_webhook", "sign_out"}
	zone := []string{"list_dns_records", "add_dns_record", "update_dns_record", "delete_dns_record", "change_dns_records", "export_dns_zone", "import_dns_zone", "list_dns_revisions", "roll_back_dns_zone", "check_dns_propagation"}
	owner := []string{"set_lock", "set_nameservers", "set_ds_records", "get_auth_code", "change_owner"}
	orders := []string{"register_domain", "renew_domain", "transfer_domain"}
	for what, pair := range map[string][2][]string{
		"paid":   {paid, slices.Concat(orders, changes)},
		"bearer": {bearer, slices.Concat(account, zone, owner)},
		"quotes": {quotes, slices.Concat(orders, changes[3:])},
		"waits":  {waits, slices.Concat([]string{"get_job"}, orders)},
	} {
		if !slices.Equal(pair[0], pair[1]) {
			t.Errorf("%s: got %v, want %v", what, pair[0], pair[1])
		}
	}
}

// echo responds with the request that it received.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("X-Seen", fmt.Sprintf("%s %s %s auth=%q pay=%q/%q from=%s%q", r.Method, r.URL.RequestURI(), body,
		r.Header.Get("Authorization"), r.Header.Get("PAYMENT-SIGNATURE"), r.Header.Get("X-PAYMENT"), r.RemoteAddr, r.Header["X-Forwarded-For"]))
	_, _ = w.Write([]byte(`{"domain":"deed.example","uri":"https://deed.example","chainId":84532,"version":"1","nonce":"n0nce"}`))
})

func newExecutor(h http.Handler) *agent.Executor {
	return &agent.Executor{Caller: agent.Local{Handler: h}, Now: func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }}
}

func do(t *testing.T, h http.Handler, tool string, r agent.Request) agent.Answer {
	t.Helper()
	found, ok := agent.Find(tool)
	if !ok {
		t.Fatalf("there is no %s", tool)
	}
	a, err := newExecutor(h).Do(t.Context(), found, r)
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	return a
}

func TestArgumentsArePlacedInTheCall(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"search_domains", `{"query":"example","tlds":["com","io"]}`, `GET /domains/search?query=example&tlds=com%2Cio `},
		{"search_domains", `{"query":"example","tlds":null}`, `GET /domains/search?query=example `},
		{"check_domains", `{"domains":"example.com,example.io"}`, `GET /domains/check?domains=example.com%2Cexample.io `},
		{"get_pricing", `{"tlds":["com"]}`, `GET /domains/pricing?tlds=com `},
		{"get_account", ``, `GET /account `},
		{"get_domain", `{"domain":"a/../b?c#d"}`, `GET /domains/a%2F..%2Fb%3Fc%23d `},
		{"list_my_domains", `{"limit":7,"expiring_within_days":30}`, `GET /account/domains?expiringWithinDays=30&limit=7 `},
		{"register_domain", `{"domain":"example.com","max_price_usd":"15","dry_run":true}`, `POST /domains/register {"domain":"example.com","dryRun":true,"maxPriceUsd":"15"}`},
		{"renew_domain", `{"domain":"example.com","expected_expires_at":"2027-01-02T03:04:05Z"}`, `POST /domains/renew {"domain":"example.com","expectedExpiresAt":"2027-01-02T03:04:05Z"}`},
		{"register_domain", `{"domain":"example.com","years":2.0,"wait_seconds":1e1}`, `POST /domains/register {"domain":"example.com","years":2}`},
		{"list_transactions", `{"limit":7.0}`, `GET /account/transactions?limit=7 `},
		{"transfer_domain", `{"domain":"example.com","auth_code":"k"}`, `POST /domains/transfer {"authCode":"k","domain":"example.com"}`},
		{"add_dns_record", `{"domain":"example.com","type":"A","host":"@","value":"192.0.2.1"}`, `POST /dns/example.com {"host":"@","type":"A","value":"192.0.2.1"}`},
		{"update_dns_record", `{"domain":"example.com","record_id":"r 1","ttl":60}`, `PUT /dns/example.com/r%201 {"ttl":60}`},
		{"delete_dns_record", `{"domain":"example.com","record_id":"r1","access_token":"a.b.c"}`, `DELETE /dns/example.com/r1  auth="Bearer a.b.c"`},
		{"change_dns_records", `{"domain":"example.com","changes":[{"op":"delete","id":"r1"}],"if_revision":3}`, `POST /dns/example.com/batch {"changes":[{"op":"delete","id":"r1"}],"ifRevision":3}`},
		{"import_dns_zone", `{"domain":"example.com","zone_file":"www A 192.0.2.1","mode":"replace","dry_run":true}`, `POST /dns/example.com/import?dryRun=true&mode=replace www A 192.0.2.1`},
		{"roll_back_dns_zone", `{"domain":"example.com","revision":7}`, `POST /dns/example.com/rollback/7 `},
		{"set_nameservers", `{"domain":"example.com","nameservers":[]}`, `PUT /domains/example.com/nameservers {"nameservers":[]}`},
		{"change_owner", `{"domain":"example.com","wallet_address":"0x1"}`, `PUT /domains/example.com/owner {"walletAddress":"0x1"}`},
		{"add_dns_record", `{"domain":"example.com","type":"MX","host":"@","value":"mx","priority":5}`, `POST /dns/example.com {"host":"@","priority":5,"type":"MX","value":"mx"}`},
		{"sign_in", `{"message":"m","signature":"0x00"}`, `POST /auth/verify {"message":"m","signature":"0x00"}`},
	} {
		a := do(t, echo, c.tool, agent.Request{Arguments: []byte(c.args)})
		if got := a.Header.Get("X-Seen"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s:\ngot  %s%s\nwant %s", c.tool, c.args, got, a.Body, c.want)
		}
	}
}

func TestCallsHaveOriginTokenAndPayment(t *testing.T) {
	from := agent.Origin{RemoteAddr: "192.0.2.7:4711", ForwardedFor: []string{"198.51.100.1"}}
	for version, want := range map[int]string{
		1: `auth="Bearer t" pay=""/"e30=" from=192.0.2.7:4711["198.51.100.1"]`,
		2: `auth="Bearer t" pay="e30="/"" from=192.0.2.7:4711["198.51.100.1"]`,
	} {
		a := do(t, echo, "register_domain", agent.Request{Arguments: []byte(`{"domain":"a.com"}`), Bearer: "t", Payment: agent.Payment{Header: "e30=", Version: version}, From: from})
		if got := a.Header.Get("X-Seen"); !strings.HasSuffix(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestInvalidArguments(t *testing.T) {
	for _, c := range []struct{ tool, args, want string }{
		{"search_domains", `{"query":"a","query":"b"}`, "arguments: "},
		{"search_domains", `[]`, "arguments: "},
		{"search_domains", `{"query":"a","colour":"red"}`, "colour: "},
		{"get_domain", `{}`, "domain: is needed"},
		{"get_pricing", `{}`, "tlds: is needed"},
		{"get_domain", `{"domain":null}`, "domain: is needed"},
		{"get_domain", `{"domain":""}`, "domain: cannot be"},
		{"get_domain", `{"domain":["a.com"]}`, "domain: cannot be"},
		{"check_domains", `{"domains":[1]}`, "domains: cannot be"},
		{"get_job", `{"job_id":"job_1","wait_seconds":31}`, "wait_seconds: "},
		{"get_account", `{"access_token":"a\nX-Evil: b"}`, "access_token: cannot be"},
		{"get_account", `{"access_token":7}`, "access_token: cannot be"},
		{"sign_in_message", `{"address":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F\nevil"}`, "address: cannot be"},
	} {
		a := do(t, echo, c.tool, agent.Request{Arguments: []byte(c.args)})
		if a.Status != 400 || !strings.Contains(string(a.Body), `"message":"`+c.want) || !strings.Contains(string(a.Body), "VALIDATION_ERROR") {
			t.Errorf("%s %s: got %d %s, want %s", c.tool, c.args, a.Status, a.Body, c.want)
		}
	}
}

func TestSignInMessage(t *testing.T) {
	a := do(t, echo, "sign_in_message", agent.Request{Arguments: []byte(`{"address":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F"}`)})
	want := `"message":"deed.example wants you to sign in with your Ethereum account:\n0x71C7656EC7ab88b098defB751B7401B5f6d8976F\n\n\nURI: https://deed.example\nVersion: 1\nChain ID: 84532\nNonce: n0nce\nIssued At: 2026-01-02T03:04:05Z"`
	if !strings.Contains(string(a.Body), want) {
		t.Errorf("got %s, want %s", a.Body, want)
	}
}

// A panic of the handler ends its own call and nothing else.
func TestPanicEndsOneCall(t *testing.T) {
	tool, _ := agent.Find("get_account")
	_, err := newExecutor(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })).Do(t.Context(), tool, agent.Request{})
	if err == nil {
		t.Error("got an answer")
	}
}

// Models of some vendors reject tools with anyOf, oneOf or allOf at the top of
// their input schema.
func TestInputSchemasArePlain(t *testing.T) {
	for _, tool := range agent.Tools(true) {
		for _, word := range []string{"anyOf", "oneOf", "allOf", `"null"`, `"if"`} {
			if strings.Contains(string(tool.Input), word) {
				t.Errorf("%s: %s in %s", tool.Name, word, tool.Input)
			}
		}
	}
}

func TestOutputSchemaAcceptsAnswersAndErrors(t *testing.T) {
	tool, _ := agent.Find("register_domain")
	s := compile(t, tool.Name, tool.Output)
	for text, want := range map[string]bool{
		`{"dryRun":true,"domain":"example.com","years":1,"price_usd":"12.99","currency":"USDC"}`:  true,
		`{"error":"Invalid request","message":"domain: no","code":"VALIDATION_ERROR","hint":"h"}`: true,
		`{"x402Version":2,"error":"payment_required","resource":{"url":"u"},"accepts":[]}`:        true,
		`{"price_usd":7}`: false,
	} {
		if err := judge(t, s, text); (err == nil) != want {
			t.Errorf("%s: got %v, want good to be %v", text, err, want)
		}
	}
}

// Every argument that is listed has a description; it is all that an agent knows.
func TestArgumentsAreDescribed(t *testing.T) {
	for _, tool := range agent.Tools(true) {
		var in struct {
			Properties map[string]struct {
				Description string
				Items       struct {
					Properties map[string]struct{ Description string }
				}
			}
		}
		if err := json.Unmarshal(tool.Input, &in, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		for name, p := range in.Properties {
			if p.Description == "" {
				t.Errorf("%s: %s has no description", tool.Name, name)
			}
			for field, f := range p.Items.Properties {
				if f.Description == "" {
					t.Errorf("%s: %s of %s has no description", tool.Name, field, name)
				}
			}
		}
		for _, a := range tool.Arguments {
			if _, listed := in.Properties[a.Name]; !listed && (a.Required || a.Name != "priority") {
				t.Errorf("%s: %s is not listed", tool.Name, a.Name)
			}
		}
	}
}

// The examples of the agent card are calls that can be made.
func TestExamplesAreArguments(t *testing.T) {
	for _, tool := range agent.Tools(true) {
		if err := judge(t, compile(t, tool.Name, tool.Input), tool.Example); err != nil {
			t.Errorf("%s: %s: %v", tool.Name, tool.Example, err)
		}
	}
}

// docs/agents.md has the same table.
func TestAgentsDocMatchesTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, tool := range agent.Tools(true) {
		signIn, price := "no", "free"
		if tool.Bearer {
			signIn = "yes"
		}
		if tool.Paid {
			price = "paid"
		}
		fmt.Fprintf(&want, "| `%s` | `%s %s` | %s | %s |\n", tool.Name, tool.Method, tool.Path, signIn, price)
	}
	if !strings.Contains(string(page), "|---|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("it should have\n%s", want.String())
	}
}

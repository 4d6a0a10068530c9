package e2e_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/agent"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/httpapi"
)

func TestToolsOverMCP(t *testing.T) {
	a := open(t, options{}).agent(t)
	var got []string
	for name, tool := range a.tools {
		got = append(got, name)
		row, known := agent.Find(name)
		if n := tool.Annotations; !known || tool.Title != row.Title || n.ReadOnlyHint != row.ReadOnly || !row.ReadOnly && *n.DestructiveHint != row.Destructive || n.IdempotentHint != row.Idempotent || tool.OutputSchema == nil {
			t.Errorf("got %+v", tool)
		}
	}
	if len(got) != len(agent.Tools(false)) {
		t.Errorf("got %v", got)
	}
	if init := a.InitializeResult(); init.ServerInfo.Version != "test" || !strings.Contains(init.Instructions, "x402") {
		t.Errorf("got %+v", init)
	}
}

// An agent with a key uses the free tools and those of an owner.
func TestAgentSignsInOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner, a := s.bought(t, "first.com"), s.agent(t)
		refusedWith(t, a.use(t, "get_account", `{}`, nil), deed.CodeAuthRequired)
		asked := done[struct {
			Message string `json:"message"`
		}](t, a.use(t, "sign_in_message", fmt.Sprintf(`{"address":%q}`, owner.wallet.Checksum()), nil))
		signed := fmt.Sprintf(`{"message":%s,"signature":%q}`, quoteJSON(t, asked.Message), owner.sign(t, asked.Message))
		tokens := done[api.TokenSet](t, a.use(t, "sign_in", signed, nil))
		refusedWith(t, a.use(t, "sign_in", signed, nil), deed.CodeValidation) // a nonce can be used once
		byHeader, byArgument := s.agent(t, "Authorization", "Bearer "+tokens.AccessToken), fmt.Sprintf(`{"access_token":%q}`, tokens.AccessToken)
		for _, acc := range []api.Account{
			done[api.Account](t, byHeader.use(t, "get_account", `{}`, nil)), done[api.Account](t, a.use(t, "get_account", byArgument, nil)),
		} {
			if acc.WalletAddress != string(owner.wallet) || acc.ActiveDomains != 1 {
				t.Errorf("got %+v", acc)
			}
		}
		names := done[api.AccountDomains](t, byHeader.use(t, "list_my_domains", `{"limit":1,"status":"active"}`, nil))
		if names.Total != 1 || names.Domains[0].Domain != "first.com" {
			t.Errorf("got %+v", names)
		}
		if tx := done[api.Transactions](t, byHeader.use(t, "list_transactions", `{"offset":0}`, nil)); tx.Total != 1 {
			t.Errorf("got %+v", tx)
		}
		refusedWith(t, byHeader.use(t, "get_account", `{"access_token":"a.b.c"}`, nil), deed.CodeTokenInvalid)
	})
}

// The tools of an owner do what their HTTP calls do; a zone file goes both ways.
func TestOwnerToolsOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		owner := s.bought(t, "first.com")
		a := s.agent(t, "Authorization", s.bearer(t, owner))
		if got := done[api.Domain](t, a.use(t, "set_lock", `{"domain":"first.com","locked":false}`, nil)); got.Locked {
			t.Errorf("got %+v", got)
		}
		if got := done[api.AuthCode](t, a.use(t, "get_auth_code", `{"domain":"first.com"}`, nil)); got.AuthCode == "" {
			t.Errorf("got %+v", got)
		}
		order := `{"domain":"first.com","zone_file":"www 300 IN A 192.0.2.10\n"`
		if got := done[api.ZoneChanged](t, a.use(t, "import_dns_zone", order+`,"dry_run":true}`, nil)); !got.DryRun || got.Count != 1 {
			t.Errorf("got %+v", got)
		}
		refused := a.use(t, "import_dns_zone", order+"}", nil)
		refusedWith(t, refused, deed.CodePaymentRequired)
		if text := body(t, refused); !strings.Contains(text, `"code":"PAYMENT_REQUIRED"`) || !strings.Contains(text, `"accepts"`) {
			t.Errorf("the structured content: got %s", text)
		}
		zone := done[struct {
			ZoneFile string `json:"zoneFile"`
		}](t, a.use(t, "export_dns_zone", `{"domain":"first.com"}`, nil))
		if !strings.Contains(zone.ZoneFile, "first.com.") {
			t.Errorf("got %+v", zone)
		}
		if got := done[api.Revisions](t, a.use(t, "list_dns_revisions", `{"domain":"first.com"}`, nil)); got.Domain != "first.com" {
			t.Errorf("got %+v", got)
		}
		other := newAccount(t)
		if got := done[api.Domain](t, a.use(t, "change_owner", fmt.Sprintf(`{"domain":"first.com","wallet_address":%q}`, other.wallet), nil)); got.WalletAddress != string(other.wallet) {
			t.Errorf("got %+v", got)
		}
		refusedWith(t, a.use(t, "set_lock", `{"domain":"first.com","locked":true}`, nil), deed.CodeOwnershipDenied)
	})
}

func TestReadOnlyToolsOverMCP(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.bought(t, "first.com")
		a := s.agent(t)
		found := done[api.SearchResult](t, a.use(t, "search_domains", `{"query":"first","tlds":["com","io"]}`, nil))
		if len(found.Results) != 2 || found.Results[0].Available || !found.Results[1].Available {
			t.Errorf("got %+v", found)
		}
		if got := done[api.CheckResult](t, a.use(t, "check_domains", `{"domains":["first.com","second.com"]}`, nil)); len(got.Results) != 2 || !got.Results[1].Available {
			t.Errorf("got %+v", got)
		}
		if got := done[api.Pricing](t, a.use(t, "get_pricing", `{"tlds":["com"]}`, nil)); got.Count != 1 {
			t.Errorf("got %+v", got)
		}
		if got := done[api.Quote](t, a.use(t, "register_domain", `{"domain":"second.com","dry_run":true}`, nil)); got.Price != comPrice.String() {
			t.Errorf("got %+v", got)
		}
		refusedWith(t, a.use(t, "get_job", `{"job_id":"job_1"}`, nil), deed.CodeNotFound)
		refusedWith(t, a.use(t, "get_pricing", `{"tlds":["nosuchtld"]}`, nil), deed.CodeTLDNotSupported)
		refusedWith(t, a.use(t, "register_domain", `{"domain":"second.com","colour":"red"}`, nil), deed.CodeValidation)
		if _, err := a.CallTool(t.Context(), &mcp.CallToolParams{Name: "no_such_tool"}); err == nil {
			t.Error("there is a tool that is not")
		}
	})
}

// An error names tools and arguments, not HTTP calls and fields.
func TestErrorsNameToolsAndArguments(t *testing.T) {
	s := openEnv(t, options{})
	for _, c := range []struct{ tool, args, want string }{
		{"search_domains", `{}`, "query: is needed: Label without TLD"},
		{"search_domains", `{"name":"env"}`, "it takes query, "},
		{"search_domains", `{"query":"env","tlds":["nosuchtld"]}`, "get_pricing lists the TLDs we sell"},
		{"register_domain", `{"domain":"env.com","maxPriceUsd":"20"}`, "max_price_usd"},
		{"register_domain", `{"domain":"env.com","max_price_usd":20}`, `"max_price_usd: cannot be a JSON number: send a string"`},
		{"register_domain", `{"domain":"env.com","max_price_usd":"1"}`, `"field":"max_price_usd"`},
		{"register_domain", `{"domain":"env.com","years":"1"}`, "send a whole number"},
		{"register_domain", `{"domain":"env.com","dry_run":"yes"}`, `"dry_run: cannot be a JSON string: send true or false"`},
		{"register_domain", `{"domain":"env"}`, "such as example.com"},
		{"register_domain", `{"domain":"https://env.com/"}`, "such as example.com"},
		{"get_account", `{}`, "sign_in_message with the address of your wallet"},
		{"get_account", `{"access_token":"abc"}`, "sign_in_message with the address of your wallet"},
		{"sign_in_message", `{"address":"bob"}`, "0x and 40 hexadecimal digits"},
	} {
		for way, use := range s.agentAPIs(t) {
			if got := use(t, c.tool, c.args, "", ""); got.code == "" || !strings.Contains(got.text, c.want) {
				t.Errorf("%s %s over %s: got %s, want %s", c.tool, c.args, way, got.text, c.want)
			}
		}
	}
	_, text := offeredBy(t, s.agent(t).use(t, "register_domain", `{"domain":"env.com"}`, nil))
	if !strings.Contains(text, `the same call again with the payment in _meta["x402/payment"]`) {
		t.Errorf("got %s", text)
	}
	_, err := s.agent(t).CallTool(t.Context(), &mcp.CallToolParams{Name: "buy_domain"})
	if err == nil || !strings.Contains(err.Error(), "register_domain") {
		t.Errorf("got %v", err)
	}
}

// A tool and its HTTP call share one limit, by the agent's address.
func TestLimitsOverMCP(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		limits := oneWindow()
		o.limits, o.trusted = limits, loopback
		h := open(t, o)
		addr, wallet := caller(t)
		token := "Bearer " + h.tokens(t, wallet).Access
		a := h.agent(t, "X-Forwarded-For", addr, "Authorization", token)
		for _, c := range []struct {
			tool, args, twin string
			limit            int
		}{
			{"search_domains", `{"query":"a","tlds":["com"]}`, "/domains/search?query=a&tlds=com", limits.Search.Max},
			{"get_account", `{}`, "/account", limits.Account.Max},
			{"list_dns_records", `{"domain":"example.com"}`, "/dns/example.com", limits.DNS.Max},
		} {
			before := remaining(t, h.get(t, c.twin, "X-Forwarded-For", addr, "Authorization", token))
			a.use(t, c.tool, c.args, nil)
			after := remaining(t, h.get(t, c.twin, "X-Forwarded-For", addr, "Authorization", token))
			if before != c.limit-1 || after != before-2 {
				t.Errorf("%s: got %d and %d left of %d", c.tool, before, after, c.limit)
			}
			for range after {
				a.use(t, c.tool, c.args, nil)
			}
			refusedWith(t, a.use(t, c.tool, c.args, nil), deed.CodeRateLimited)
			h.get(t, c.twin, "X-Forwarded-For", addr, "Authorization", token).expect(t, 429, deed.CodeRateLimited)
		}
		otherAddr, _ := caller(t)
		if r := h.agent(t, "X-Forwarded-For", otherAddr).use(t, "search_domains", `{"query":"a","tlds":["com"]}`, nil); r.IsError {
			t.Errorf("another caller was refused too: %s", body(t, r))
		}
	})
}

func TestResourcesOverMCP(t *testing.T) {
	limits := deed.DefaultLimits()
	limits.Search.Max, limits.Register.Max, limits.DNS.Max = 61, 11, 101
	a := open(t, options{limits: &limits}).agent(t)
	list, err := a.ListResources(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var read []string
	for _, r := range list.Resources {
		got, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil || len(got.Contents) != 1 || got.Contents[0].MIMEType != r.MIMEType || len(got.Contents[0].Text) < 500 {
			t.Errorf("%s: got %v", r.URI, err)
		}
		read = append(read, r.Name)
	}
	if slices.Sort(read); !slices.Equal(read, []string{"openapi", "pricing", "quickstart"}) {
		t.Errorf("got %v", read)
	}
	quick, err := a.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "deed://quickstart"})
	if want := "61 searches a minute and 11 orders a day from one address, 101 DNS calls an hour"; err != nil || !strings.Contains(quick.Contents[0].Text, want) {
		t.Errorf("the quick start: got %v, %v, want %q", quick, err, want)
	}
	prompt, err := a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "buy_domain", Arguments: map[string]string{"idea": "a bakery", "budget_usd": "15"}})
	if err != nil || !strings.Contains(prompt.Messages[0].Content.(*mcp.TextContent).Text, "at most 15 USDC") {
		t.Errorf("got %+v, %v", prompt, err)
	}
	if _, err := a.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "buy_domain"}); err == nil || !strings.Contains(err.Error(), "the argument idea is empty") {
		t.Errorf("a name for nothing: got %v", err)
	} else if e, ok := errors.AsType[*jsonrpc.Error](err); !ok || e.Code != jsonrpc.CodeInvalidParams {
		t.Errorf("a name for nothing: got %v", err)
	}
}

// Invalid messages get the usual error body.
func TestInvalidMessagesOverMCP(t *testing.T) {
	h := open(t, options{setAPI: func(s *httpapi.Server) { s.MCP = nil }})
	h.do(t, "POST", "/mcp", `{}`).expect(t, 503, deed.CodeUnavailable) // MCP is not enabled yet
	h.agent(t)
	both := []string{"Accept", "application/json, text/event-stream"}
	call := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	h.do(t, "POST", "/mcp", call).expect(t, 400, deed.CodeValidation)
	h.do(t, "POST", "/mcp", "["+call+"]", both...).expect(t, 400, deed.CodeValidation)
	h.do(t, "POST", "/mcp", strings.Repeat(" ", 64)+"["+call+"]", both...).expect(t, 400, deed.CodeValidation)
	h.do(t, "POST", "/mcp", `{"jsonrpc"`, both...).expect(t, 400, deed.CodeValidation)
	h.do(t, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", 128<<10)+`"}}`, both...).expect(t, 413, deed.CodeValidation)
	h.do(t, "POST", "/mcp", call, append(both, "Content-Type", "text/plain")...).expect(t, 415, deed.CodeValidation)
	h.get(t, "/mcp", both...).expect(t, 405, deed.CodeNotFound)
	h.do(t, "DELETE", "/mcp", "", both...).expect(t, 405, deed.CodeNotFound)
}

// A service on a loopback URL rejects other host names (DNS rebinding); one with a
// public URL accepts whatever host a proxy uses.
func TestHostNamesOverMCP(t *testing.T) {
	for public, want := range map[string]map[string]int{
		"http://127.0.0.1:8080": {"127.0.0.1": 200, "localhost:8080": 200, "[::1]:8080": 200, "evil.example": 400, "evil.example:8080": 400},
		"https://deed.example":  {"127.0.0.1": 200, "deed.example": 200, "node-1:8080": 200},
	} {
		h := open(t, options{config: func(c *app.Config) { c.PublicURL = public }})
		for host, status := range want {
			req, err := http.NewRequestWithContext(t.Context(), "POST", "http://"+h.addr+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Host = host
			req.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
			res, err := h.client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close() // only its status counts
			if res.StatusCode != status {
				t.Errorf("%s as %s: got %d, want %d", public, host, res.StatusCode, status)
			}
		}
	}
}

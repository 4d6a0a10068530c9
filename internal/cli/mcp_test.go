package cli_test

import (
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/client"
)

const comPrice = 13_060_000 * client.USDC(1)

var (
	paidTools  = []string{"register_domain", "renew_domain", "transfer_domain", "change_dns_records", "import_dns_zone", "roll_back_dns_zone", "add_dns_record", "update_dns_record", "delete_dns_record"}
	quoteTools = paidTools[:6] // those with a dry run
)

// Nothing is signed unless the user set both limits, and the instructions and the
// errors say so. (Once, three calls without limits bought three names.)
func TestMCPSpendsNothingWithoutBothLimits(t *testing.T) {
	w := newFundedWallet(t)
	for name, c := range map[string]struct {
		environ, args []string
	}{
		"no limit":             {nil, nil},
		"yes only":             {nil, []string{"--yes"}},
		"max price only":       {nil, []string{"--max-price", "100"}},
		"its variable only":    {[]string{"DEED_MAX_PRICE=100"}, nil},
		"budget only":          {nil, []string{"--budget", "100"}},
		"its variable as well": {[]string{"DEED_BUDGET=100"}, nil},
		"a budget of nothing":  {nil, []string{"--max-price", "100", "--budget", "0"}},
		"a price of nothing":   {nil, []string{"--max-price", "0", "--budget", "100"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveAgent(t, append(c.environ, w.environ()...), c.args...)
			for _, label := range []string{"a", "b", "c"} {
				r, text := s.use(t, "register_domain", `{"domain":"`+w.label+label+`.com","max_price_usd":"100"}`)
				if !r.IsError || !strings.Contains(text, "nothing was signed") || !strings.Contains(text, "--max-price and --budget") || strings.Contains(text, "accepts") {
					t.Errorf("got %s", text)
				}
			}
			if r, text := s.use(t, "register_domain", `{"domain":"`+w.label+`.com","dry_run":true}`); r.IsError || !strings.Contains(text, `"price_usd":"13.06"`) {
				t.Errorf("a quote: got %s", text)
			}
			said := s.InitializeResult().Instructions
			if !strings.Contains(said, "Nothing is spent here") || !strings.Contains(said, w.address) || strings.Contains(said, "BUYS AT ONCE") || strings.Contains(said, "x402/payment") {
				t.Errorf("the instructions: %s", said)
			}
			s.said.await(t, "nothing is spent from "+w.address)
			tools := s.tools(t)
			for _, name := range paidTools {
				tool := tools[name]
				if quotes := slices.Contains(quoteTools, name); quotes != (tool != nil) || quotes && (!strings.Contains(tool.Description, "ONLY QUOTES") || !tool.Annotations.ReadOnlyHint) {
					t.Errorf("%s: got %+v", name, tool)
				}
			}
			if _, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "add_dns_record", Arguments: arguments(t, `{"domain":"a.com","type":"A","host":"@","value":"192.0.2.1"}`)}); err == nil || !strings.Contains(err.Error(), "--budget") {
				t.Errorf("a tool that is not offered: got %v", err)
			}
		})
	}
	w.spent(t, 0)
}

// With both limits a call buys at once, as all texts say, within the limit per
// call, whatever the agent's arguments are.
func TestMCPBuysWithinTheLimits(t *testing.T) {
	w := newFundedWallet(t)
	s := serveAgent(t, w.environ(), "--max-price", "20", "--budget", "30")
	if said := s.InitializeResult().Instructions; !strings.Contains(said, "BUYS AT ONCE") || !strings.Contains(said, "20.00 USDC") || !strings.Contains(said, "30.00 USDC") || !strings.Contains(said, w.address) || strings.Contains(said, "x402") {
		t.Errorf("the instructions: %s", said)
	}
	s.said.await(t, "agents may spend up to 20.00 USDC in one call and 30.00 USDC in this run, from "+w.address)
	tools := s.tools(t)
	for _, name := range paidTools {
		tool := tools[name]
		schema, err := json.Marshal(tool.OutputSchema)
		if tool == nil || err != nil || tool.Annotations.DestructiveHint == nil || !*tool.Annotations.DestructiveHint || tool.Annotations.ReadOnlyHint ||
			!strings.Contains(tool.Description, "IT BUYS AT ONCE") || strings.Contains(tool.Description, "offer") || strings.Contains(string(schema), "x402") {
			t.Errorf("%s: got %+v, %s", name, tool, schema)
		}
	}
	quick, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "deed://quickstart"})
	if err != nil || !strings.Contains(quick.Contents[0].Text, "BUYS AT ONCE") || strings.Contains(quick.Contents[0].Text, "_meta") || strings.Contains(quick.Contents[0].Text, "{{") {
		t.Errorf("the quick start: got %v, %v", quick, err)
	}
	order := `{"domain":"` + w.label + `.com","max_price_usd":"100"}`
	if r, text := s.use(t, "register_domain", strings.Replace(order, `"}`, `","years":2}`, 1)); !r.IsError || !strings.Contains(text, "26.12 USDC") || !strings.Contains(text, "--max-price 26.12") {
		t.Errorf("above the limit of one call: got %s", text)
	}
	w.spent(t, 0)
	if r, text := s.use(t, "register_domain", order); r.IsError || !strings.Contains(text, `"status":"active"`) || r.Meta["x402/payment-response"] == nil {
		t.Errorf("got %s", text)
	}
	// The wallet signs in automatically.
	if r, text := s.use(t, "list_my_domains", `{}`); r.IsError || !strings.Contains(text, w.label+".com") {
		t.Errorf("got %s", text)
	}
	if r, text := s.use(t, "get_account", `{"access_token":"a.b.c"}`); !r.IsError || !strings.Contains(text, "TOKEN_INVALID") {
		t.Errorf("another's token: got %s", text)
	}
	if r, text := s.use(t, "add_dns_record", `{"domain":"`+w.label+`.com","type":"A","host":"@","value":"192.0.2.1"}`); r.IsError {
		t.Errorf("got %s", text)
	}
	if r, text := s.use(t, "list_transactions", `{}`); r.IsError || strings.Count(text, "transactionId") != 2 {
		t.Errorf("got %s", text)
	}
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "register_domain", Arguments: arguments(t, order), Meta: mcp.Meta{"x402/payment": "e30="}})
	if err != nil || !r.IsError || !strings.Contains(textOf(r), "pays with the local wallet") {
		t.Errorf("a payment of another: got %v, %v", r, err)
	}
}

// Concurrent calls never spend more than the budget in total, and a call over the
// budget is rejected before anything is signed.
func TestMCPBudgetRaced(t *testing.T) {
	w := newFundedWallet(t)
	s := serveAgent(t, w.environ(), "--max-price", "15", "--budget", "40") // three names
	var (
		mu              sync.Mutex // guards the fields below
		bought, stopped int
		wg              sync.WaitGroup
	)
	for i := range 24 {
		wg.Go(func() {
			r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "register_domain", Arguments: arguments(t, `{"domain":"`+w.label+string(rune('a'+i))+`.com","wait_seconds":30}`)})
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			switch text := textOf(r); {
			case !r.IsError:
				bought++
			case strings.Contains(text, "nothing was signed") && strings.Contains(text, "of a budget of 40.00 is left"):
				stopped++
			default:
				t.Errorf("got %s", text)
			}
		})
	}
	wg.Wait()
	if bought != 3 || stopped != 21 {
		t.Errorf("got %d bought, %d stopped, want 3 and 21", bought, stopped)
	}
	w.spent(t, 3*comPrice)
	if r, text := s.use(t, "register_domain", `{"domain":"`+w.label+`.com","dry_run":true}`); r.IsError || !strings.Contains(text, "13.06") {
		t.Errorf("a quote with an empty budget: got %s", text)
	}
}

// A signed payment stays reserved even if no money moved: the signature exists.
func TestMCPBudgetKeepsSignedPaymentsReserved(t *testing.T) {
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	address := crypto.PubkeyToAddress(key.PublicKey).Hex()
	s := serveAgent(t, []string{"DEED_PRIVATE_KEY=" + hex.EncodeToString(crypto.FromECDSA(key))}, "--max-price", "15", "--budget", "20")
	order := `{"domain":"poor` + strings.ToLower(address[2:18]) + `.com"}`
	if r, text := s.use(t, "register_domain", order); !r.IsError || !strings.Contains(text, "PAYMENT_INSUFFICIENT") || !strings.Contains(text, "send USDC to "+address) || strings.Contains(text, "accepts") {
		t.Errorf("got %s", text)
	}
	if r, text := s.use(t, "register_domain", order); !r.IsError || !strings.Contains(text, "6.94 of a budget of 20.00 is left") {
		t.Errorf("got %s", text)
	}
}

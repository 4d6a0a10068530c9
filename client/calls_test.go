package client_test

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// calls is the method for each path of the service. What is asked for may be
// refused: here it only counts that it is asked.
var calls = map[string]func(ctx context.Context, c *client.Client) error{
	"GET /auth/nonce":   asks((*client.Client).Nonce),
	"POST /auth/verify": says((*client.Client).Verify, api.VerifyRequest{}),
	"POST /auth/refresh": func(ctx context.Context, c *client.Client) error {
		_, err := c.Refresh(ctx, "none")
		return err
	},
	"POST /auth/revoke": asks((*client.Client).Revoke),
	"GET /dns/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Records(ctx, nobodys, client.RecordFilter{})
		return err
	},
	"POST /dns/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.AddRecord(ctx, nobodys, api.RecordRequest{})
		return err
	},
	"PUT /dns/{domain}/{recordId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateRecord(ctx, nobodys, "rec_0", api.RecordUpdate{})
		return err
	},
	"DELETE /dns/{domain}/{recordId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.DeleteRecord(ctx, nobodys, "rec_0")
		return err
	},
	"POST /dns/{domain}/batch": func(ctx context.Context, c *client.Client) error {
		_, err := c.ChangeRecords(ctx, nobodys, api.BatchRequest{})
		return err
	},
	"GET /dns/{domain}/export": says((*client.Client).ExportZone, nobodys),
	"POST /dns/{domain}/import": func(ctx context.Context, c *client.Client) error {
		_, err := c.ImportZone(ctx, nobodys, nil, client.Import{})
		return err
	},
	"GET /dns/{domain}/revisions": says((*client.Client).Revisions, nobodys),
	"POST /dns/{domain}/rollback/{revision}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Rollback(ctx, nobodys, 1, true)
		return err
	},
	"GET /dns/{domain}/propagation": says((*client.Client).Propagation, nobodys),
	"GET /account":                  asks((*client.Client).Account),
	"GET /account/domains": func(ctx context.Context, c *client.Client) error {
		_, err := c.DomainPage(ctx, client.DomainFilter{}, client.Page{})
		return err
	},
	"GET /account/transactions": says((*client.Client).TransactionPage, client.Page{}),
	"GET /domains/search": func(ctx context.Context, c *client.Client) error {
		_, err := c.Search(ctx, "nobodys")
		return err
	},
	"GET /domains/check": func(ctx context.Context, c *client.Client) error {
		_, err := c.Check(ctx, nobodys)
		return err
	},
	"GET /domains/pricing": func(ctx context.Context, c *client.Client) error {
		_, err := c.Pricing(ctx)
		return err
	},
	"GET /domains/pricing/{tld}":      says((*client.Client).Price, "com"),
	"POST /domains/register":          says((*client.Client).Register, api.RegisterRequest{}),
	"POST /domains/renew":             says((*client.Client).Renew, api.RenewRequest{}),
	"POST /domains/transfer":          says((*client.Client).Transfer, api.TransferRequest{}),
	"GET /domains/status/{jobId}":     says((*client.Client).Job, "job_0"),
	"GET /domains/{domain}":           says((*client.Client).Domain, nobodys),
	"POST /domains/{domain}/authcode": says((*client.Client).AuthCode, nobodys),
	"PUT /domains/{domain}/lock": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetLock(ctx, nobodys, true)
		return err
	},
	"PUT /domains/{domain}/nameservers": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetNameservers(ctx, nobodys)
		return err
	},
	"PUT /domains/{domain}/owner": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetOwner(ctx, nobodys, "0x0")
		return err
	},
	"GET /health":                      asks((*client.Client).Health),
	"GET /livez":                       func(ctx context.Context, c *client.Client) error { return c.Live(ctx) },
	"GET /readyz":                      func(ctx context.Context, c *client.Client) error { return c.Ready(ctx) },
	"GET /openapi.json":                asks((*client.Client).OpenAPI),
	"GET /.well-known/agent-card.json": asks((*client.Client).AgentCard),
	"GET /rdap/domain/{name}":          says((*client.Client).RDAP, nobodys),
	"GET /rdap/nameserver/{name}":      says((*client.Client).RDAPNameserver, "ns1."+nobodys),
	"GET /rdap/help":                   asks((*client.Client).RDAPHelp),
	"GET /sandbox":                     asks((*client.Client).Sandbox),
	"POST /sandbox/faucet":             says((*client.Client).Faucet, api.FaucetRequest{}),
	"POST /sandbox/faults":             says((*client.Client).SetFaults, api.FaultsRequest{}),
	"POST /sandbox/clock":              says((*client.Client).AdvanceClock, "nonsense"),
	"POST /sandbox/elsewhere":          says((*client.Client).Elsewhere, api.ElsewhereRequest{}),
	"POST /sandbox/transfers":          says((*client.Client).DecideTransfer, api.DecisionRequest{}),
}

// noCalls is what has no method, and who reads it instead.
var noCalls = map[string]string{
	"POST /mcp":                                "clients of MCP",
	"GET /mcp/server-card":                     "clients of MCP",
	"POST /a2a":                                "clients of A2A",
	"GET /.well-known/jwks.json":               "who checks the agent card",
	"GET /.well-known/api-catalog":             "crawlers",
	"GET /.well-known/ai-catalog.json":         "crawlers",
	"GET /.well-known/agent-registration.json": "crawlers",
	"GET /.well-known/security.txt":            "people",
	"GET /robots.txt":                          "crawlers",
	"GET /llms.txt":                            "language models",
	"GET /llms-full.txt":                       "language models",
	"GET /SKILL.md":                            "language models",
}

const nobodys = "nobodys-name.com"

func asks[Out any](method func(*client.Client, context.Context) (Out, error)) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error {
		_, err := method(c, ctx)
		return err
	}
}

func says[In, Out any](method func(*client.Client, context.Context, In) (Out, error), in In) func(context.Context, *client.Client) error {
	return func(ctx context.Context, c *client.Client) error {
		_, err := method(c, ctx, in)
		return err
	}
}

// Every path of openapi.yaml has a method that asks for it, or a reason.
func TestEveryPathHasAMethod(t *testing.T) {
	w := newWire(t)
	c := open(t, w, client.WithWallet(newKey(t)))
	paths := operations(t, c)
	for _, op := range paths {
		call, reason := calls[op], noCalls[op]
		if call == nil && reason == "" || call != nil && reason != "" {
			t.Errorf("%s has no method and no reason for it, or both", op)
		}
		if call == nil {
			continue
		}
		before := w.asked(op)
		err := call(t.Context(), c)
		if w.asked(op) == before {
			t.Errorf("%s was not asked for: %v", op, err)
		}
	}
	if len(paths) != len(calls)+len(noCalls) {
		t.Errorf("got %d paths, and %d of which we know", len(paths), len(calls)+len(noCalls))
	}
}

// operations returns what the service says that it can be asked.
func operations(t *testing.T, c *client.Client) (all []string) {
	t.Helper()
	raw, err := c.OpenAPI(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	for path, methods := range doc.Paths {
		for method := range methods {
			if method != "parameters" {
				all = append(all, strings.ToUpper(method)+" "+path)
			}
		}
	}
	return all
}

var parameter = regexp.MustCompile(`\\\{[a-zA-Z]+\\\}`)

// asked returns how many calls a path had.
func (w *wire) asked(op string) (n int) {
	pattern := regexp.MustCompile("^" + parameter.ReplaceAllString(regexp.QuoteMeta(op), "[^/]+") + "$")
	w.mu.Lock()
	defer w.mu.Unlock()
	for call, count := range w.calls {
		if pattern.MatchString(call) {
			n += count
		}
	}
	return n
}

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

// calls has the method for each path of the service. The service may return an
// error: the test only checks that the request is sent.
var calls = map[string]func(ctx context.Context, c *client.Client) error{
	"GET /auth/nonce":   asks((*client.Client).Nonce),
	"POST /auth/verify": says((*client.Client).Verify, api.VerifyRequest{}),
	"POST /auth/refresh": func(ctx context.Context, c *client.Client) error {
		_, err := c.Refresh(ctx, "none")
		return err
	},
	"POST /auth/revoke": asks((*client.Client).Revoke),
	"GET /dns/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Records(ctx, unregistered, client.RecordFilter{})
		return err
	},
	"POST /dns/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.AddRecord(ctx, unregistered, api.RecordRequest{})
		return err
	},
	"PUT /dns/{domain}/{recordId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.UpdateRecord(ctx, unregistered, "rec_0", api.RecordUpdate{})
		return err
	},
	"DELETE /dns/{domain}/{recordId}": func(ctx context.Context, c *client.Client) error {
		_, err := c.DeleteRecord(ctx, unregistered, "rec_0")
		return err
	},
	"POST /dns/{domain}/batch": func(ctx context.Context, c *client.Client) error {
		_, err := c.ChangeRecords(ctx, unregistered, api.BatchRequest{})
		return err
	},
	"GET /dns/{domain}/export": says((*client.Client).ExportZone, unregistered),
	"POST /dns/{domain}/import": func(ctx context.Context, c *client.Client) error {
		_, err := c.ImportZone(ctx, unregistered, nil, client.Import{})
		return err
	},
	"GET /dns/{domain}/revisions": says((*client.Client).Revisions, unregistered),
	"POST /dns/{domain}/rollback/{revision}": func(ctx context.Context, c *client.Client) error {
		_, err := c.Rollback(ctx, unregistered, 1, true)
		return err
	},
	"GET /dns/{domain}/propagation": says((*client.Client).Propagation, unregistered),
	"GET /account":                  asks((*client.Client).Account),
	"GET /account/domains": func(ctx context.Context, c *client.Client) error {
		_, err := c.DomainPage(ctx, client.DomainFilter{}, client.Page{})
		return err
	},
	"GET /account/transactions": says((*client.Client).TransactionPage, client.Page{}),
	"GET /account/events": func(ctx context.Context, c *client.Client) error {
		_, err := c.EventPage(ctx, "", 10)
		return err
	},
	"POST /account/webhooks":                    says((*client.Client).CreateWebhook, "https://example.com/"),
	"GET /account/webhooks":                     asks((*client.Client).Webhooks),
	"DELETE /account/webhooks/{webhookId}":      says((*client.Client).DeleteWebhook, "wh_0"),
	"POST /account/webhooks/{webhookId}/rotate": says((*client.Client).RotateWebhook, "wh_0"),
	"POST /account/webhooks/{webhookId}/test":   says((*client.Client).TestWebhook, "wh_0"),
	"GET /account/webhooks/{webhookId}/deliveries": func(ctx context.Context, c *client.Client) error {
		_, err := c.DeliveryPage(ctx, "wh_0", client.Page{})
		return err
	},
	"POST /account/webhooks/{webhookId}/deliveries/{eventId}/replay": func(ctx context.Context, c *client.Client) error {
		_, err := c.ReplayDelivery(ctx, "wh_0", "evt_0")
		return err
	},
	"POST /account/calendar":   asks((*client.Client).CreateCalendar),
	"GET /account/calendar":    asks((*client.Client).Calendar),
	"DELETE /account/calendar": asks((*client.Client).DeleteCalendar),

	"PUT /account/email":          says((*client.Client).SetEmail, "owner@example.com"),
	"POST /account/email/confirm": says((*client.Client).ConfirmEmail, "code"),
	"GET /account/email":          asks((*client.Client).Email),
	"DELETE /account/email":       asks((*client.Client).DeleteEmail),
	"GET /domains/search": func(ctx context.Context, c *client.Client) error {
		_, err := c.Search(ctx, "unregistered")
		return err
	},
	"GET /domains/check": func(ctx context.Context, c *client.Client) error {
		_, err := c.Check(ctx, unregistered)
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
	"GET /domains/{domain}":           says((*client.Client).Domain, unregistered),
	"POST /domains/{domain}/authcode": says((*client.Client).AuthCode, unregistered),
	"POST /domains/{domain}/cancel": func(ctx context.Context, c *client.Client) error {
		_, err := c.Cancel(ctx, unregistered, true)
		return err
	},
	"GET /domains/{domain}/registrant":    says((*client.Client).Registrant, unregistered),
	"DELETE /domains/{domain}/registrant": says((*client.Client).ResetRegistrant, unregistered),
	"PUT /domains/{domain}/registrant": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetRegistrant(ctx, unregistered, api.Contact{Name: "Ada Example", Street: []string{"1 Any Street"}, City: "London", Country: "GB", Phone: "+44.2079460000", Email: "ada@example.com"})
		return err
	},
	"PUT /domains/{domain}/lock": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetLock(ctx, unregistered, true)
		return err
	},
	"PUT /domains/{domain}/nameservers": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetNameservers(ctx, unregistered)
		return err
	},
	"PUT /domains/{domain}/ds": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetDS(ctx, unregistered)
		return err
	},
	"PUT /domains/{domain}/owner": func(ctx context.Context, c *client.Client) error {
		_, err := c.SetOwner(ctx, unregistered, "0x0")
		return err
	},
	"GET /account/mandates/{domain}/plan": func(ctx context.Context, c *client.Client) error {
		_, err := c.MandatePlan(ctx, unregistered, 1, nil)
		return err
	},
	"GET /account/mandates/{domain}": says((*client.Client).Mandates, unregistered),
	"POST /account/mandates/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.CreateMandates(ctx, unregistered, api.MandatesRequest{})
		return err
	},
	"DELETE /account/mandates/{domain}": func(ctx context.Context, c *client.Client) error {
		_, err := c.RevokeMandates(ctx, unregistered, "")
		return err
	},
	"GET /health":                      asks((*client.Client).Health),
	"GET /livez":                       func(ctx context.Context, c *client.Client) error { return c.Live(ctx) },
	"GET /readyz":                      func(ctx context.Context, c *client.Client) error { return c.Ready(ctx) },
	"GET /openapi.json":                asks((*client.Client).OpenAPI),
	"GET /.well-known/agent-card.json": asks((*client.Client).AgentCard),
	"GET /rdap/domain/{name}":          says((*client.Client).RDAP, unregistered),
	"GET /rdap/nameserver/{name}":      says((*client.Client).RDAPNameserver, "ns1."+unregistered),
	"GET /rdap/help":                   asks((*client.Client).RDAPHelp),
	"GET /sandbox":                     asks((*client.Client).Sandbox),
	"POST /sandbox/faucet":             says((*client.Client).Faucet, api.FaucetRequest{}),
	"POST /sandbox/faults":             says((*client.Client).SetFaults, api.FaultsRequest{}),
	"POST /sandbox/clock":              says((*client.Client).AdvanceClock, "nonsense"),
	"POST /sandbox/limits/reset":       asks((*client.Client).ResetLimits),
	"POST /sandbox/elsewhere":          says((*client.Client).Elsewhere, api.ElsewhereRequest{}),
	"POST /sandbox/transfers":          says((*client.Client).DecideTransfer, api.DecisionRequest{}),
}

// noCalls are the paths without a method, with the reason.
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
	"GET /calendar/{file}":                     "calendar programs",
	"GET /email/unsubscribe/{token}":           "readers of messages",
	"POST /email/unsubscribe/{token}":          "mail programs",
	"GET /llms.txt":                            "language models",
	"GET /llms-full.txt":                       "language models",
	"GET /SKILL.md":                            "language models",
}

const unregistered = "unregistered-name.com"

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

// Every path of openapi.yaml has a method, or a reason why not.
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

// operations returns the operations of the service's openapi.json.
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

// asked returns how many requests a path has received.
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

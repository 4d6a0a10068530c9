package client_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func TestPrices(t *testing.T) {
	c := open(t, newWire(t))
	all, err := c.Pricing(t.Context())
	if err != nil || all.Count < 400 || all.Count != len(all.Pricing) {
		t.Errorf("got %d, %v", all.Count, err)
	}
	some, err := c.Pricing(t.Context(), "com", "io")
	if err != nil || some.Count != 2 {
		t.Errorf("got %+v, %v", some, err)
	}
	com, err := c.Price(t.Context(), "com")
	if err != nil || com.RegistrationPrice != comPrice.String() {
		t.Errorf("got %+v, %v", com, err)
	}
	_, err = c.Price(t.Context(), "no/such tld")
	refused(t, err, 400, client.CodeTLDNotSupported)
}

func TestQuote(t *testing.T) {
	c := open(t, newWire(t))
	q, err := c.QuoteRegistration(t.Context(), api.RegisterRequest{Domain: fresh(t), Years: new(2)})
	if err != nil || q.Years != 2 || !q.DryRun {
		t.Errorf("got %+v, %v", q, err)
	}
	_, err = c.QuoteRegistration(t.Context(), api.RegisterRequest{Domain: "-.com"})
	if e := refused(t, err, 400, client.CodeValidation); e.RequestID == "" || e.Message == "" {
		t.Errorf("got %+v", e)
	}
}

func TestServiceRoutes(t *testing.T) {
	c := open(t, newWire(t))
	if h, err := c.Health(t.Context()); err != nil || h.Status != "ok" {
		t.Errorf("got %+v, %v", h, err)
	}
	if live, ready := c.Live(t.Context()), c.Ready(t.Context()); live != nil || ready != nil {
		t.Errorf("got %v, %v", live, ready)
	}
	if doc, err := c.OpenAPI(t.Context()); err != nil || !strings.Contains(string(doc), `"openapi"`) {
		t.Errorf("got %d bytes, %v", len(doc), err)
	}
	if s, err := c.Sandbox(t.Context()); err != nil || s.ChainID != 84532 || s.RPCURL == "" || s.DNS == "" {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestRDAP(t *testing.T) {
	s, name := owned(t)
	if doc, err := s.RDAP(t.Context(), name); err != nil || !strings.Contains(string(doc), `"ldhName":"`+name+`"`) {
		t.Errorf("got %s, %v", doc, err)
	}
	if doc, err := s.RDAPNameserver(t.Context(), "ns1.deed.example"); err != nil || !strings.Contains(string(doc), `"ldhName":"ns1.deed.example"`) {
		t.Errorf("got %s, %v", doc, err)
	}
	if doc, err := s.RDAPHelp(t.Context()); err != nil || !strings.Contains(string(doc), `"rdapConformance"`) {
		t.Errorf("got %s, %v", doc, err)
	}
	_, err := s.RDAPNameserver(t.Context(), "ns1.nobody.example")
	refused(t, err, 404, client.CodeNotFound)
}

func TestAgentCard(t *testing.T) {
	card, err := open(t, newWire(t)).AgentCard(t.Context())
	if err != nil || !strings.Contains(string(card), `"skills"`) {
		t.Errorf("got %s, %v", card, err)
	}
}

func TestAccountLists(t *testing.T) {
	s := newBuyer(t)
	var want []string
	for range 3 {
		name := fresh(t)
		if _, err := s.Register(t.Context(), api.RegisterRequest{Domain: name}); err != nil {
			t.Fatal(err)
		}
		want = append(want, name)
	}
	var paid []string
	for tx, err := range s.Transactions(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		paid = append(paid, tx.Domain)
	}
	slices.Sort(paid) // within one second the order is undefined
	slices.Sort(want)
	if !slices.Equal(paid, want) {
		t.Errorf("got %v, want %v", paid, want)
	}
	if page, err := s.TransactionPage(t.Context(), client.Page{Limit: 1, Offset: 2}); err != nil || page.Total != 3 || len(page.Transactions) != 1 || page.Offset != 2 {
		t.Errorf("got %+v, %v", page, err)
	}
	var own []string
	for d, err := range s.Domains(t.Context(), client.DomainFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, d.Domain)
	}
	slices.Sort(own)
	if !slices.Equal(own, want) {
		t.Errorf("got %v, want %v", own, want)
	}
}

func TestSearchAndCheck(t *testing.T) {
	c := open(t, newWire(t))
	name := fresh(t)
	label, _, _ := strings.Cut(name, ".")
	found, err := c.Search(t.Context(), label, "com", "io")
	if err != nil || len(found.Results) != 2 || !found.Results[0].Available || found.Results[0].Price != comPrice.String() {
		t.Errorf("got %+v, %v", found, err)
	}
	checked, err := c.Check(t.Context(), name, label+".io")
	if err != nil || len(checked.Results) != 2 || checked.Results[0].Domain != name {
		t.Errorf("got %+v, %v", checked, err)
	}
}

// owned returns a buyer that owns a name.
func owned(t *testing.T) (*buyer, string) {
	t.Helper()
	s := newBuyer(t)
	order, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s, order.Domain
}

// A label that is a path of another call is not a name.
func TestDomainOfALabel(t *testing.T) {
	c, err := client.New(service)
	if err != nil {
		t.Fatal(err)
	}
	for _, label := range []string{"pricing", "search", "check", "nothing", ""} {
		if d, err := c.Domain(t.Context(), label); client.CodeOf(err) != client.CodeValidation {
			t.Errorf("%s: got %+v, %v", label, d, err)
		}
	}
	if _, err := c.Domain(t.Context(), "nothing。com"); client.CodeOf(err) != client.CodeNotFound {
		t.Errorf("got %v", err)
	}
}

func TestOwnersCalls(t *testing.T) {
	s, name := owned(t)
	d, err := s.Domain(t.Context(), name)
	if err != nil || d.Domain != name || d.Status != "active" {
		t.Fatalf("got %+v, %v", d, err)
	}
	d, err = s.SetLock(t.Context(), name, true)
	if err != nil || !d.Locked {
		t.Errorf("got %+v, %v", d, err)
	}
	servers := []string{"ns1.example.net", "ns2.example.net"}
	if d, err = s.ForceNameservers(t.Context(), name, servers...); err != nil || !slices.Equal(d.Nameservers, servers) { // its DS may be published by now
		t.Errorf("got %+v, %v", d, err)
	}
	if d, err = s.ForceNameservers(t.Context(), name); err != nil || slices.Equal(d.Nameservers, servers) {
		t.Errorf("got %+v, %v", d, err)
	}
	if code, err := s.AuthCode(t.Context(), name); err != nil || code.AuthCode == "" || code.Locked {
		t.Errorf("got %+v, %v", code, err)
	}
	other := newKey(t).Address().Hex()
	if d, err = s.SetOwner(t.Context(), name, other); err != nil || d.WalletAddress != strings.ToLower(other) {
		t.Errorf("got %+v, %v", d, err)
	}
	_, err = s.SetLock(t.Context(), name, false)
	refused(t, err, 403, client.CodeOwnershipDenied)
}

func TestRenew(t *testing.T) {
	s, name := owned(t)
	quote, err := s.QuoteRenewal(t.Context(), api.RenewRequest{Domain: name})
	if err != nil || quote.Years != 1 {
		t.Fatalf("got %+v, %v", quote, err)
	}
	order, err := s.Renew(t.Context(), api.RenewRequest{Domain: name})
	if err != nil || order.Done == nil || !order.Done.NewExpiresAt.After(order.Done.PreviousExpiresAt) {
		t.Errorf("got %+v, %v", order, err)
	}
}

// A name is transferred in from another registrar, and out again.
func TestTransfer(t *testing.T) {
	s := newBuyer(t)
	name := fresh(t)
	there, err := s.Elsewhere(t.Context(), api.ElsewhereRequest{Domain: name})
	if err != nil || there.AuthCode == "" {
		t.Fatalf("got %+v, %v", there, err)
	}
	in := api.TransferRequest{Domain: name, AuthCode: there.AuthCode}
	if q, err := s.QuoteTransfer(t.Context(), in); err != nil || q.Domain != name {
		t.Fatalf("got %+v, %v", q, err)
	}
	order, err := s.Transfer(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if order.Done == nil {
		if _, err := s.DecideTransfer(t.Context(), api.DecisionRequest{Domain: name, Approve: new(true)}); err != nil {
			t.Fatal(err)
		}
	}
	job, err := s.WaitJob(t.Context(), order.JobID)
	if err != nil || !job.Completed || job.Type != "domain_transfer" {
		t.Errorf("got %+v, %v", job, err)
	}
}

func TestClock(t *testing.T) {
	c := open(t, newWire(t))
	got, err := c.AdvanceClock(t.Context(), "1h")
	if err != nil || got.Now.Before(time.Now().Add(59*time.Minute)) {
		t.Errorf("got %+v, %v", got, err)
	}
}

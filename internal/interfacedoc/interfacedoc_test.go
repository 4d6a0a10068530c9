package interfacedoc_test

import (
	"reflect"
	"testing"
	"time"

	"deed.example/deed/internal/interfacedoc"
)

func TestRoutes(t *testing.T) {
	routes := interfacedoc.Routes()
	if got, want := len(routes), 20; got != want {
		t.Fatalf("got %d routes, want %d", got, want)
	}
	want := map[int]interfacedoc.Route{
		0: {Method: "GET", Path: "/auth/nonce", Answers: []interfacedoc.Answer{{Status: 200}}},
		2: {Method: "POST", Path: "/auth/refresh", Answers: []interfacedoc.Answer{
			{Status: 200}, {Status: 401, Codes: []string{"TOKEN_EXPIRED", "TOKEN_INVALID"}}, {Status: 429}}},
		4: {Method: "GET", Path: "/dns/{domain}", Bearer: true, Answers: []interfacedoc.Answer{
			{Status: 200}, {Status: 401, Codes: []string{"AUTH_REQUIRED"}}, {Status: 403, Codes: []string{"OWNERSHIP_DENIED"}}, {Status: 429}}},
		5:  {Method: "POST", Path: "/dns/{domain}", Bearer: true, Priced: true},
		19: {Method: "GET", Path: "/.well-known/agent-card.json"},
	}
	for i, r := range want {
		if !reflect.DeepEqual(routes[i], r) {
			t.Errorf("row %d: got %+v, want %+v", i, routes[i], r)
		}
	}
}

func TestCodes(t *testing.T) {
	codes := interfacedoc.Codes()
	if got, want := len(codes), 16; got != want {
		t.Fatalf("got %d codes, want %d", got, want)
	}
	if got, want := codes[0], (interfacedoc.Code{Code: "VALIDATION_ERROR", Status: 400}); got != want {
		t.Errorf("first: got %v, want %v", got, want)
	}
	if got, want := codes[15], (interfacedoc.Code{Code: "SERVICE_UNAVAILABLE", Status: 503}); got != want {
		t.Errorf("last: got %v, want %v", got, want)
	}
}

func TestLimits(t *testing.T) {
	want := []interfacedoc.Limit{
		{Endpoints: []string{"GET /domains/search"}, Max: 60, Window: time.Minute},
		{Endpoints: []string{"POST /domains/register", "POST /domains/renew"}, Max: 10, Window: 24 * time.Hour},
		{Endpoints: []string{"GET /dns/{domain}", "POST /dns/{domain}", "PUT /dns/{domain}/{recordId}", "DELETE /dns/{domain}/{recordId}"},
			Max: 100, Window: time.Hour, PerWallet: true},
		{Endpoints: []string{"GET /account", "GET /account/domains", "GET /account/transactions", "POST /auth/revoke"},
			Max: 30, Window: time.Minute, PerWallet: true},
		{Endpoints: []string{"GET /auth/nonce", "POST /auth/verify", "POST /auth/refresh"}, Max: 30, Window: time.Minute},
	}
	if got := interfacedoc.Limits(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestEveryRouteIsLimitedOrFree(t *testing.T) {
	groups := map[string]int{}
	for _, l := range interfacedoc.Limits() {
		for _, e := range l.Endpoints {
			groups[e]++
		}
	}
	for _, e := range interfacedoc.Unlimited() {
		groups[e]++
	}
	for _, r := range interfacedoc.Routes() {
		if got := groups[r.Endpoint()]; got != 1 {
			t.Errorf("%s: got %d groups, want 1", r.Endpoint(), got)
		}
	}
}

func TestFields(t *testing.T) {
	sizes := map[string]int{"2.1": 6, "2.2": 4, "2.3": 6, "2.4": 2, "2.5": 5, "2.6": 5, "2.7": 3}
	for section, want := range sizes {
		if got := len(interfacedoc.Fields(section)); got != want {
			t.Errorf("%s: got %d fields, want %d", section, got, want)
		}
	}
	want := interfacedoc.Field{Name: "distance", Type: "integer or null", Required: "yes"}
	if got := interfacedoc.Fields("2.3")[5]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

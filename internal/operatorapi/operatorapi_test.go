package operatorapi_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/operator"
	"deed.example/deed/internal/operatorapi"
)

// found is a Finder that finds one order for every query but one.
type found struct{}

func (found) Find(_ context.Context, query string, _ int) ([]operator.Found, error) {
	if query == "nothing.com" {
		return nil, nil
	}
	return []operator.Found{{PaymentID: "pay_1", Domain: "a.com", Cause: "\xff"}}, nil
}

func (found) Timeline(context.Context, operator.Found) ([]operator.Entry, error) {
	return []operator.Entry{{What: "the registry said \xff"}}, nil
}

func newServer() *operatorapi.Server {
	return &operatorapi.Server{
		Operator: &operator.Service{Finder: found{}}, Token: "secret", Log: slog.New(slog.DiscardHandler),
		Float:    func(context.Context) ([]string, error) { return nil, errors.New("the chain is down") },
		Overview: func(context.Context) (operatorapi.Page, error) { return operatorapi.Page{Version: "<b>1</b>"}, nil },
	}
}

func send(s *operatorapi.Server, token, body string) (int, operatorapi.Response) {
	r := httptest.NewRequest(http.MethodPost, "/operator", strings.NewReader(body))
	r.Header.Set("Authorization", token)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	var out operatorapi.Response
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		out.Error = "not JSON: " + err.Error()
	}
	return w.Code, out
}

// Nothing is done without the token, also when none is configured.
func TestToken(t *testing.T) {
	s := newServer()
	for _, token := range []string{"", "Bearer ", "Bearer secre", "Bearer secret2", "bearer secret", "secret"} {
		if status, _ := send(s, token, `{"action":"find","args":["a.com"]}`); status != http.StatusUnauthorized {
			t.Errorf("%q: got %d", token, status)
		}
	}
	if status, out := send(s, "Bearer secret", `{"action":"find","args":["a.com"]}`); status != http.StatusOK || len(out.Lines) != 2 || !strings.Contains(out.Lines[1], "pay_1") {
		t.Errorf("got %d, %+v", status, out)
	}
	s.Token = ""
	if status, _ := send(s, "Bearer ", `{"action":"find","args":["a.com"]}`); status != http.StatusUnauthorized {
		t.Errorf("without a token: got %d", status)
	}
}

// A request that cannot be understood is refused with what is wrong; one that fails says
// why.
func TestRequests(t *testing.T) {
	for body, want := range map[string]struct {
		status int
		says   string
	}{
		``:                                 {400, "malformed"},
		`{"action":"find","args":"a.com"}`: {400, "malformed"},
		`{"action":"find","arguments":[]}`: {400, "malformed"},
		`{"action":"find","args":["` + strings.Repeat("x", 20<<10) + `"]}`: {400, "malformed"},
		`{"action":"find","args":["nothing.com"]}`:                         {404, "nothing is known of"},
		`{"action":"timeline","args":["nothing.com"]}`:                     {404, "nothing is known of"},
		`{"action":"find","args":[]}`:                                      {400, "no action"},
		`{"action":"burn","args":[]}`:                                      {400, "no action"},
		`{"action":"stop","args":["refunds","purchases"]}`:                 {400, "takes 1 arguments"},
		`{"action":"stop","args":["refunds"]}`:                             {400, "say who you are and why"},
		`{"action":"float"}`:                                               {500, "the chain is down"},
	} {
		if status, out := send(newServer(), "Bearer secret", body); status != want.status || !strings.Contains(out.Error, want.says) {
			t.Errorf("%.60s: got %d, %q", body, status, out.Error)
		}
	}
}

// Text that is not UTF-8 does not break the answer.
func TestTextOfOthers(t *testing.T) {
	if status, out := send(newServer(), "Bearer secret", `{"action":"timeline","args":["a.com"]}`); status != http.StatusOK || len(out.Lines) != 3 || !strings.Contains(out.Lines[2], "the registry said") {
		t.Errorf("got %d, %+v", status, out)
	}
}

// The page needs no token, runs nothing, and shows text as text.
func TestPage(t *testing.T) {
	w := httptest.NewRecorder()
	newServer().Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	body, err := io.ReadAll(w.Body)
	if err != nil || w.Code != http.StatusOK || strings.Contains(string(body), "<b>1</b>") || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %d, %v, %v: %s", w.Code, err, w.Header(), body)
	}
	if !strings.Contains(string(body), `<meta name="viewport" content="width=device-width`) {
		t.Error("a phone would show it at the width of a desktop")
	}
	s := newServer()
	s.Overview = func(context.Context) (operatorapi.Page, error) {
		return operatorapi.Page{}, deed.Errorf(deed.CodeUnavailable, "secret detail")
	}
	w = httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || strings.Contains(w.Body.String(), "secret detail") {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
}

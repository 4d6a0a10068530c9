package httpapi

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/openapi"
)

// Every action has words, and every call that they name is a route.
func TestNextStepsNameRoutes(t *testing.T) {
	mux := http.NewServeMux()
	for _, r := range (&Server{}).routes() {
		if r.pattern == registrantRoute {
			r.pattern = partRoute
		}
		mux.Handle(r.pattern, http.NotFoundHandler())
	}
	call := regexp.MustCompile(`\b(GET|POST|PUT|DELETE) (/\S*[a-z])`)
	for _, action := range deed.Actions() {
		text := hint(&deed.Error{Next: deed.Next{Action: action, Domain: "example.com", Wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f", Within: time.Minute}})
		if text == "" {
			t.Errorf("%s has no words", action)
		}
		for _, m := range call.FindAllStringSubmatch(text, -1) {
			target, err := url.Parse(m[2])
			if err != nil {
				t.Fatal(err)
			}
			if _, pattern := mux.Handler(&http.Request{Method: m[1], URL: target}); pattern == "" {
				t.Errorf("%s: there is no %s", action, m[0])
			}
		}
	}
	if len(nextWords) != len(deed.Actions()) {
		t.Errorf("got words for %d actions, want %d", len(nextWords), len(deed.Actions()))
	}
}

// docs/errors.md and openapi.yaml list every action.
func TestActionsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi.Read()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, action := range deed.Actions() {
		all = append(all, string(action))
		if !strings.Contains(string(page), "\n| `"+string(action)+"` | ") {
			t.Errorf("docs/errors.md does not have %s", action)
		}
	}
	pattern := openapi.Object(doc.Root, "components", "headers", api.NextHeader, "schema")["pattern"]
	if want := "^(" + strings.Join(all, "|") + ")(; [a-z]+=[^;]+)*$"; pattern != want {
		t.Errorf("openapi.yaml: got %v, want %s", pattern, want)
	}
}

func TestNextStepReachesPeopleAndPrograms(t *testing.T) {
	s := quietServer(io.Discard)
	w := httptest.NewRecorder()
	s.middleware(s.handle(func(http.ResponseWriter, *http.Request) error {
		return deed.Within("changes[2]", deed.WithNext(deed.Invalid("id", "is missing"), listRecords("example.com")))
	})).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if want := `"hint":"GET /dns/example.com lists the records"`; !strings.Contains(w.Body.String(), want) {
		t.Errorf("got %s, want %s", w.Body, want)
	}
	want := api.Next{Action: "list_records", Domain: "example.com"}
	if got := api.ParseNext(w.Header().Get(api.NextHeader)); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

package web

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

//go:embed templates
var templates embed.FS

var pages = template.Must(template.ParseFS(templates, "templates/*.html"))

// A view has the data of the page's template.
type view struct {
	Title  string
	Script string
	Style  string
	Icon   string
	Path   string // of the request, to mark the link to it
	Config string // JSON for the script
	Found  string // JSON of the results, so that the script need not ask again

	Sandbox bool
	Search  *searched     // on the first page
	Body    template.HTML // of the docs
}

// searched is a search and its results.
type searched struct {
	Query   string
	Results []found
	Problem string // in place of results
}

// found is a result with its text.
type found struct {
	api.Found
	Costly bool   // a premium name
	State  string // such as "Taken"
	Link   string // where it can be bought
}

// config is what the script knows of the service.
type config struct {
	ChainID   uint64 `json:"chainId"`
	ChainName string `json:"chainName"`
	USDC      string `json:"usdc"`
	TokenName string `json:"tokenName"`
	TokenVer  string `json:"tokenVersion"`
	Payments  bool   `json:"payments"`
	Forwards  bool   `json:"forwarding"`
	RPCURL    string `json:"rpcUrl,omitzero"`
	Sandbox   bool   `json:"sandbox"`
	Version   string `json:"version"`
}

func (s *Server) view(title, script, path string) view {
	n := s.site.Network
	return view{
		Title: title, Script: script, Style: s.assets.style, Icon: s.assets.icon, Path: path, Sandbox: s.site.RPCURL != "",
		Config: jsonText(config{
			ChainID: n.ChainID, ChainName: n.Title, USDC: string(n.Token.Address), TokenName: n.Token.Name, TokenVer: n.Token.Version,
			Payments: s.site.Payments, Forwards: s.site.Forwards, RPCURL: s.site.RPCURL, Sandbox: s.site.RPCURL != "", Version: s.site.Version,
		}),
	}
}

func jsonText(v any) string {
	raw, _ := json.Marshal(v) // only structs of strings, numbers and booleans
	return string(raw)
}

// renderShells renders the pages that are the same for everyone.
func (s *Server) renderShells() error {
	for path, v := range map[string]view{"/": {Search: &searched{}}, "/app/": {}} {
		body, err := s.renderPage(path, v.Search)
		if err != nil {
			return err
		}
		s.shells[path] = asset{raw: body, zipped: zip(body)}
	}
	return nil
}

func (s *Server) renderPage(path string, found *searched) ([]byte, error) {
	v := s.view("Deed: domain names for wallets", s.assets.script, path)
	v.Search = found
	if found != nil && len(found.Results) > 0 {
		v.Title, v.Found = found.Query+" – Deed", foundJSON(found)
	}
	return render("page.html", v)
}

// servePage sends the page. The first one has the results of ?q=.
func (s *Server) servePage(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Cache-Control", "no-cache")
	if r.URL.Path != "/" {
		send(w, r, http.StatusOK, s.shells["/app/"])
		return nil
	}
	query := strings.TrimSpace(r.URL.Query().Get("q"))
	if query == "" {
		send(w, r, http.StatusOK, s.shells["/"])
		return nil
	}
	found, status := s.search(w, r, query)
	body, err := s.renderPage("/", found)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store") // availability changes
	send(w, r, status, asset{raw: body, zipped: zip(body)})
	return nil
}

func render(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	err := pages.ExecuteTemplate(&b, name, v)
	return b.Bytes(), err
}

// search runs a search and returns the status of the page. What goes wrong is said
// on the page.
func (s *Server) search(w http.ResponseWriter, r *http.Request, query string) (*searched, int) {
	out := &searched{Query: query}
	if err := s.Limit(w, r); err != nil {
		return out.failed(err)
	}
	label, under, err := s.parseQuery(out.Query)
	if err != nil {
		return out.failed(err)
	}
	results, err := s.Search(r.Context(), label, under)
	if err != nil {
		return out.failed(err)
	}
	for _, res := range results {
		out.Results = append(out.Results, fromResult(res))
	}
	return out, http.StatusOK
}

func (o *searched) failed(err error) (*searched, int) {
	o.Problem = "The search does not work at the moment. Please try again in a minute."
	status := http.StatusServiceUnavailable
	if e, ok := errors.AsType[*deed.Error](err); ok {
		switch e.Code {
		case deed.CodeValidation:
			o.Problem, status = "A name has letters, digits and hyphens, and at most 63 of them before the dot.", http.StatusBadRequest
		case deed.CodeTLDNotSupported:
			o.Problem, status = "We do not sell names with this ending.", http.StatusBadRequest
		case deed.CodeRateLimited:
			o.Problem, status = "Too many searches: "+e.Message+".", http.StatusTooManyRequests
		}
	}
	return o, status
}

// parseQuery splits "example.io" into the label and the TLDs to look under: the
// given one first, then the standard set.
func (s *Server) parseQuery(query string) (string, []catalog.Listing, error) {
	label, tld, dotted := strings.Cut(strings.ToLower(strings.Trim(query, ". ")), ".")
	under := s.Prices.Standard()
	if !dotted {
		return label, under, nil
	}
	exact, err := s.Prices.Listing(deed.TLD(tld))
	if err != nil {
		return "", nil, err
	}
	list := []catalog.Listing{exact}
	for _, l := range under {
		if l.TLD != exact.TLD {
			list = append(list, l)
		}
	}
	return label, list, nil
}

// states are the texts of names that cannot be bought.
var states = map[string]string{
	catalog.Taken: "Taken", catalog.Reserved: "Reserved", catalog.Invalid: "Not possible here", catalog.Unknown: "Could not check",
}

func fromResult(r catalog.Result) found {
	f := found{Found: api.Found{Domain: r.Domain, TLD: string(r.TLD), Available: r.Available, Reason: r.Reason}, State: states[r.Reason]}
	if r.Available {
		f.Premium, f.Costly = &r.Premium, r.Premium
		f.Price, f.RenewalPrice = r.Offer.Registration.String(), r.Offer.Renewal.String()
		if r.Offer.MinYears > 1 {
			f.MinYears = r.Offer.MinYears
		}
		f.Link = "/app/buy/" + url.PathEscape(r.Domain)
	}
	return f
}

// foundJSON returns the results as GET /domains/search would.
func foundJSON(s *searched) string {
	out := make([]api.Found, len(s.Results))
	for i, f := range s.Results {
		out[i] = f.Found
	}
	raw, _ := json.Marshal(struct {
		Query   string      `json:"query"`
		Results []api.Found `json:"results"`
	}{s.Query, out}) // no value in it can fail
	return string(raw)
}

package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

// searched is a search and its results.
type searched struct {
	Query   string
	All     bool      // under every TLD
	Max     deed.USDC // the highest price of the first year; 0: any
	Results []found
	Problem string // in place of results
}

// Shown returns the exact match, and the results that pass the filter.
func (s *searched) Shown() []found {
	var out []found
	for i, f := range s.Results {
		exact := i == 0 && strings.Contains(s.Query, ".")
		if exact || s.Max == 0 || f.Available && f.first <= s.Max {
			out = append(out, f)
		}
	}
	return out
}

// found is a result with its text.
type found struct {
	api.Found
	Unicode string // the name as people write it; "" if it is the same
	Costly  bool   // a premium name
	State   string // such as "Taken"
	Link    string // where it can be bought
	first   deed.USDC
}

// search runs a search and returns the status of the page. What goes wrong is said
// on the page.
func (s *Server) search(w http.ResponseWriter, r *http.Request, out *searched) (*searched, int) {
	if err := s.Limit(w, r); err != nil {
		return out.failed(err)
	}
	label, under, err := s.parseQuery(out)
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

func (s *searched) failed(err error) (*searched, int) {
	s.Problem = "The search does not work at the moment. Please try again in a minute."
	status := http.StatusServiceUnavailable
	if e, ok := errors.AsType[*deed.Error](err); ok {
		switch e.Code {
		case deed.CodeValidation:
			s.Problem, status = "A name has letters, digits and hyphens, and at most 63 of them before the dot.", http.StatusBadRequest
		case deed.CodeTLDNotSupported:
			s.Problem, status = "We do not sell names with this ending.", http.StatusBadRequest
		case deed.CodeRateLimited:
			s.Problem, status = "Too many searches: "+e.Message+".", http.StatusTooManyRequests
		}
	}
	return s, status
}

// name returns what people mean by "my name", "example.io" or
// "https://www.example.io/path", as the script of the page reads it.
func (s *searched) name() string {
	name := strings.ToLower(strings.Join(strings.Fields(s.Query), ""))
	if _, rest, isAddress := strings.Cut(name, "://"); isAddress {
		name = rest
	}
	if end := strings.IndexAny(name, "/?#"); end >= 0 {
		name = name[:end]
	}
	name = strings.Trim(fullStops.Replace(name), ".")
	if strings.Count(name, ".") > 1 {
		name = strings.TrimPrefix(name, "www.")
	}
	return name
}

// fullStops replaces what other scripts write for a dot (UTS #46).
var fullStops = strings.NewReplacer("。", ".", "．", ".", "｡", ".")

// parseQuery returns the label and the TLDs to look under: the given one first, then
// the standard set, or all. Unicode becomes A-labels; a label that cannot is left to
// Search, which refuses it.
func (s *Server) parseQuery(o *searched) (string, []catalog.Listing, error) {
	label, tld, dotted := strings.Cut(o.name(), ".")
	if ascii, err := deed.ParseLabel(label); err == nil {
		label = string(ascii)
	}
	under := s.Prices.Standard()
	if o.All {
		under = s.Prices.Listings()
	}
	if !dotted {
		return label, under, nil
	}
	parsed, err := deed.ParseTLD(tld)
	if err != nil {
		return "", nil, err
	}
	exact, err := s.Prices.Listing(parsed)
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
	if shown := deed.Name(r.Domain).Unicode(); shown != r.Domain {
		f.Unicode = shown
	}
	if r.Available {
		f.Premium, f.Costly = &r.Premium, r.Premium
		f.first = r.Offer.Registration
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

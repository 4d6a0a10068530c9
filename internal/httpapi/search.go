package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

// maxChecked is how many names one call may check.
const maxChecked = 200

func (s *Server) search(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "query", "tlds")
	if err != nil {
		return err
	}
	label, tlds := q.Get("query"), q.Get("tlds")
	var under []catalog.Listing
	switch strings.ToLower(tlds) {
	case "":
		under = s.Catalog.Standard()
	case "all":
		under = s.Catalog.Listings()
	default:
		if under, err = s.listings(tlds); err != nil {
			return err
		}
	}
	results, err := s.Search.Search(r.Context(), label, under)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.SearchResult{Query: label, Results: fromResults(results)})
	return nil
}

func (s *Server) check(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "domains")
	if err != nil {
		return err
	}
	names, err := parseNames(q.Get("domains"))
	if err != nil {
		return err
	}
	results, err := s.Search.Check(r.Context(), names)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.CheckResult{Results: fromResults(results)})
	return nil
}

// parseNames parses a comma-separated list of names and removes duplicates. Its
// error lists every invalid name.
func parseNames(list string) ([]deed.Name, error) {
	if list == "" {
		return nil, deed.Invalid("domains", "is missing: send names with commas between them, such as example.com,example.io")
	}
	if n := strings.Count(list, ",") + 1; n > maxChecked {
		return nil, deed.Invalid("domains", "has at most %d names, not %d", maxChecked, n)
	}
	var names []deed.Name
	var wrong []deed.Detail
	seen := map[deed.Name]bool{}
	for i, text := range strings.Split(list, ",") {
		name, err := deed.ParseName(strings.Trim(text, " "))
		if err != nil {
			wrong = append(wrong, deed.Detail{Field: fmt.Sprintf("domains[%d]", i), Reason: detailReason(err)})
			continue
		}
		if !seen[name] {
			names = append(names, name)
		}
		seen[name] = true
	}
	if len(wrong) > 0 {
		return nil, &deed.Error{Code: deed.CodeValidation, Message: wrong[0].Field + ": " + wrong[0].Reason, Details: wrong}
	}
	return names, nil
}

// detailReason returns the reason of a validation error, without its field.
func detailReason(err error) string {
	if e, ok := errors.AsType[*deed.Error](err); ok && len(e.Details) > 0 {
		return e.Details[0].Reason
	}
	return err.Error()
}

func fromResults(results []catalog.Result) []api.Found {
	out := make([]api.Found, len(results))
	for i, r := range results {
		out[i] = fromResult(r)
	}
	return out
}

func fromResult(r catalog.Result) api.Found {
	out := api.Found{Domain: r.Domain, TLD: string(r.TLD), Available: r.Available, Reason: r.Reason}
	if !r.Available {
		return out
	}
	out.Premium = &r.Premium
	out.Price = r.Offer.Registration.String()
	out.PriceCents = int64(r.Offer.Registration / deed.Cent)
	out.RenewalPrice = r.Offer.Renewal.String()
	if r.Offer.MinYears > 1 {
		out.MinYears = r.Offer.MinYears
	}
	return out
}

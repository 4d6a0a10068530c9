package httpapi

import (
	"net/http"
	"strings"
	"sync"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/catalog"
)

func (s *Server) listPrices(w http.ResponseWriter, r *http.Request) error {
	q, err := query(r, "tlds")
	if err != nil {
		return err
	}
	if only := q.Get("tlds"); only != "" {
		listings, err := s.listings(only)
		if err != nil {
			return err
		}
		return newDocument(s.pricing(listings)).serve(w, r)
	}
	return s.priceList().all().serve(w, r)
}

func (s *Server) onePrice(w http.ResponseWriter, r *http.Request) error {
	tld, err := deed.ParseTLD(r.PathValue("tld"))
	if err != nil {
		return err
	}
	edition := s.priceList()
	if d, ok := edition.each.Load(tld); ok {
		return d.(*document).serve(w, r)
	}
	l, err := s.Catalog.Listing(tld)
	if err != nil {
		return err
	}
	out := fromListing(l)
	if s.Sale != nil {
		out.TLDSale = s.Sale(tld)
	}
	d := newDocument(out)
	edition.each.Store(tld, d)
	return d.serve(w, r)
}

// A priceList has the documents of one edition of the price list, built on first use.
type priceList struct {
	listings []catalog.Listing
	all      func() *document
	each     sync.Map // *document by deed.TLD
}

// priceList returns the documents of today's prices. Registrars change them while the
// service runs.
func (s *Server) priceList() *priceList {
	listings := s.Catalog.Listings()
	if p := s.prices.Load(); p != nil && catalog.SameEdition(p.listings, listings) {
		return p
	}
	p := &priceList{listings: listings, all: sync.OnceValue(func() *document {
		return newDocument(s.pricing(listings)).compressed()
	})}
	s.prices.Store(p)
	return p
}

// listings returns the listings of a comma-separated list of TLDs, without
// duplicates.
func (s *Server) listings(list string) ([]catalog.Listing, error) {
	var out []catalog.Listing
	seen := map[deed.TLD]bool{}
	for text := range strings.SplitSeq(list, ",") {
		tld, err := deed.ParseTLD(strings.Trim(text, " "))
		if err != nil {
			return nil, err
		}
		l, err := s.Catalog.Listing(tld)
		if err != nil {
			return nil, err
		}
		if !seen[tld] {
			out = append(out, l)
		}
		seen[tld] = true
	}
	return out, nil
}

func (s *Server) pricing(listings []catalog.Listing) api.Pricing {
	out := api.Pricing{Pricing: make([]api.TLDPrice, 0, len(listings)), Count: len(listings), Currency: currency, UpdatedAt: s.Catalog.Updated()}
	for _, l := range listings {
		out.Pricing = append(out.Pricing, fromListing(l))
	}
	return out
}

// currency is the currency of all prices.
const currency = "USDC"

func fromListing(l catalog.Listing) api.TLDPrice {
	return api.TLDPrice{
		TLD:               string(l.TLD),
		RegistrationPrice: l.Registration.String(),
		RenewalPrice:      l.Renewal.String(),
		TransferPrice:     l.Transfer.String(),
		Currency:          currency,
		RestorePrice:      l.Restore.String(),
		MinYears:          l.MinYears,
		MaxYears:          l.MaxYears,
	}
}

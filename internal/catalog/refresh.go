package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// A BackendPrice is what one registrar charged for a TLD when it was last asked.
type BackendPrice struct {
	Backend string
	Wholesale
	Missing  int       // how often in a row the registrar did not sell the TLD
	Odd      string    // why its newest prices are doubted; "" if they are not
	OddSince time.Time // since when
	Read     time.Time
}

// A WholesaleStore stores the prices of registrars, for all nodes.
type WholesaleStore interface {
	WholesalePrices(ctx context.Context) ([]BackendPrice, error)
	StoreWholesale(ctx context.Context, p BackendPrice) error
}

// Backends are the registrars, and which of them sells a TLD.
type Backends interface {
	Backends() []registrar.Backend
	Seller(tld deed.TLD) (registrar.Backend, error)
}

// A Refresher reads the prices of registrars that have them, and makes them the basis
// of all quotes. Fill every field; it must not be copied.
type Refresher struct {
	Service  *Service
	Backends Backends
	Store    WholesaleStore
	Prices   PriceStore
	Now      func() time.Time
	Log      *slog.Logger

	mu      sync.Mutex                        // guards failing
	failing map[string]map[deed.TLD]time.Time // by registrar: when TLDs, or "" for its list of them, were tried that cannot be read
}

const (
	priceAge     = time.Hour      // after which the price of a TLD is read again
	maxPriceRead = 20             // TLDs of one registrar, in one call of Refresh
	missingReads = 2              // after which a TLD is closed
	doubtFor     = 24 * time.Hour // after which a doubted price is believed
)

// Refresh reads the prices that are due, stores them, and applies the prices of all
// registrars. A registrar that does not respond keeps its prices. Call it every minute.
func (r *Refresher) Refresh(ctx context.Context) error {
	rows, err := r.Store.WholesalePrices(ctx)
	if err != nil {
		return fmt.Errorf("read the wholesale prices: %w", err)
	}
	for _, b := range r.Backends.Backends() {
		r.read(ctx, b, rows)
	}
	if rows, err = r.Store.WholesalePrices(ctx); err != nil {
		return fmt.Errorf("read the wholesale prices: %w", err)
	}
	return r.Service.Apply(ctx, r.Prices, r.today(rows))
}

// today returns the prices of the registrars that sell each TLD now.
func (r *Refresher) today(rows []BackendPrice) (live []Wholesale) {
	for _, l := range r.Service.Catalogue() {
		b, err := r.Backends.Seller(l.TLD)
		if err != nil {
			live = append(live, Wholesale{TLD: l.TLD, Closed: true})
			continue
		}
		i := slices.IndexFunc(rows, func(p BackendPrice) bool { return p.Backend == b.Name && p.TLD == l.TLD })
		if i >= 0 {
			live = append(live, rows[i].Wholesale)
		}
	}
	return live
}

// read reads the prices of one registrar that are due. It ends with the first that cannot
// be read, because the registrar may be down; the next call begins with the others.
func (r *Refresher) read(ctx context.Context, b registrar.Backend, rows []BackendPrice) {
	lister, ok := b.Registrar.(registrar.PriceLister)
	if !ok {
		return
	}
	due := r.due(b.Name, rows)
	if len(due) == 0 {
		return
	}
	sold, err := soldBy(ctx, b.Registrar)
	r.failed(b.Name, "", err)
	for i := 0; i < len(due) && err == nil; i++ {
		err = r.readTLD(ctx, lister, due[i], sold)
		r.failed(b.Name, due[i].TLD, err)
	}
}

// readTLD reads and stores the prices of one TLD. sold are those that the registrar sells;
// nil if it does not say.
func (r *Refresher) readTLD(ctx context.Context, lister registrar.PriceLister, row BackendPrice, sold []deed.TLD) error {
	l, _ := find(r.Service.Catalogue(), row.TLD) // it is one of them
	now, sells, err := readPrices(ctx, lister, l)
	if err != nil {
		return fmt.Errorf("read the prices of .%s: %w", row.TLD, err)
	}
	row.Missing++
	if sells && (sold == nil || slices.Contains(sold, row.TLD)) {
		row.Missing = 0
	}
	if err := r.Store.StoreWholesale(ctx, r.judge(row, l, now)); err != nil {
		return fmt.Errorf("store the prices of .%s: %w", row.TLD, err)
	}
	return nil
}

// due returns the rows of the TLDs whose price should be read again, those first that were
// read or tried longest ago.
func (r *Refresher) due(backend string, rows []BackendPrice) (due []BackendPrice) {
	for _, l := range r.Service.Catalogue() {
		if b, err := r.Backends.Seller(l.TLD); err != nil || b.Name != backend {
			continue
		}
		row := BackendPrice{Backend: backend, Wholesale: Wholesale{TLD: l.TLD}}
		if i := slices.IndexFunc(rows, func(p BackendPrice) bool { return p.Backend == backend && p.TLD == l.TLD }); i >= 0 {
			row = rows[i]
		}
		if !r.Now().Before(row.Read.Add(priceAge)) {
			due = append(due, row)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	tried := func(p BackendPrice) time.Time {
		if at := r.failing[backend][p.TLD]; at.After(p.Read) {
			return at
		}
		return p.Read
	}
	slices.SortStableFunc(due, func(a, b BackendPrice) int { return tried(a).Compare(tried(b)) })
	return due[:min(len(due), maxPriceRead)]
}

// judge returns the row with today's prices. Prices that cannot be true are not used:
// the former ones remain if they are the higher ones, and otherwise the TLD is closed,
// until the registrar has corrected it, or it has stayed for a day.
func (r *Refresher) judge(row BackendPrice, l Listing, now Wholesale) BackendPrice {
	row.Read = r.Now()
	before := merged(l, row.Wholesale)
	d := doubtOf(before, now)
	switch {
	case d.why == "":
		row.Odd, row.OddSince = "", time.Time{}
	case row.Odd != d.why:
		row.Odd, row.OddSince = d.why, r.Now()
		r.Log.Error("a registrar has prices that cannot be true: look at its price list", "registrar", row.Backend, "tld", string(row.TLD), "prices", d.why, "sold", !d.dangerous)
	case !d.impossible && !r.Now().Before(row.OddSince.Add(doubtFor)):
		d = doubt{}
	}
	if d.why == "" {
		was := row.Wholesale
		row.Wholesale = now
		for into, price := range map[*deed.USDC]deed.USDC{&row.Registration: was.Registration, &row.Renewal: was.Renewal, &row.Transfer: was.Transfer, &row.Restore: was.Restore} {
			if *into == 0 {
				*into = price // the registrar did not say it this time
			}
		}
	}
	row.Closed = d.dangerous || row.Missing >= missingReads
	return row
}

// merged returns the listing with the known prices of a registrar.
func merged(l Listing, w Wholesale) Listing {
	for into, price := range map[*deed.USDC]deed.USDC{&l.Registration: w.Registration, &l.Renewal: w.Renewal, &l.Transfer: w.Transfer, &l.Restore: w.Restore} {
		if price > 0 {
			*into = price
		}
	}
	return l
}

// soldBy returns the TLDs that the registrar sells, or nil if it does not say.
func soldBy(ctx context.Context, r registrar.Registrar) ([]deed.TLD, error) {
	lister, ok := r.(registrar.TLDLister)
	if !ok {
		return nil, nil
	}
	sold, err := lister.TLDs(ctx)
	if err == nil && len(sold) == 0 {
		err = fmt.Errorf("the list of TLDs is empty")
	}
	return sold, err
}

// readPrices reads the prices of a TLD, by those of a name that nobody has, and whether the
// registrar sells names like it.
func readPrices(ctx context.Context, lister registrar.PriceLister, l Listing) (w Wholesale, sells bool, err error) {
	w, sells = Wholesale{TLD: l.TLD}, true
	name := deed.Name("p" + strings.ToLower(rand.Text()) + "." + string(l.TLD))
	price := func(o registrar.Order) (deed.USDC, error) {
		o.Name = name
		p, err := lister.Price(ctx, o)
		if deed.CodeOf(err) == deed.CodeTLDNotSupported {
			sells = false
			return 0, nil
		}
		if deed.CodeOf(err) == deed.CodeNotFound || p.Premium {
			return 0, nil
		}
		return p.Total, err
	}
	years := max(l.MinYears, 1) // the fewest of one order, also of a renewal
	renewal, err := price(registrar.Order{Kind: registrar.OrderRenew, Years: years})
	if err != nil {
		return w, sells, err
	}
	total, err := price(registrar.Order{Kind: registrar.OrderRegister, Years: years})
	if err != nil {
		return w, sells, err
	}
	w.Renewal = registrar.Price{Total: renewal}.PerYear(years)
	if further := deed.USDC(years-1) * w.Renewal; total > further && (years == 1 || renewal > 0) {
		w.Registration = total - further
	} else if total < 0 {
		w.Registration = total
	}
	if w.Transfer, err = price(registrar.Order{Kind: registrar.OrderTransfer, Years: 1}); err != nil {
		return w, sells, err
	}
	restored, err := price(registrar.Order{Kind: registrar.OrderRenew, Years: years, Restore: true})
	if restored > renewal {
		w.Restore = restored - renewal
	}
	return w, sells, err
}

// failed notes when a TLD of a registrar was tried whose prices cannot be read, or that they
// were read. Why is logged once until all can be read. A service that stops says nothing
// about the registrar.
func (r *Refresher) failed(backend string, tld deed.TLD, err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		delete(r.failing[backend], tld)
		return
	}
	if len(r.failing[backend]) == 0 {
		r.Log.Error("the prices of a registrar cannot be read: those that were read before remain", "registrar", backend, "err", err.Error())
		if r.failing == nil {
			r.failing = map[string]map[deed.TLD]time.Time{}
		}
		r.failing[backend] = map[deed.TLD]time.Time{}
	}
	r.failing[backend][tld] = r.Now()
}

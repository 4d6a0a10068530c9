package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/sqldb"
)

// A RegistrarReport is what a check of a registrar found. Nothing is bought.
type RegistrarReport struct {
	Name         string
	Type         string
	TLDs         []string
	Down         error    // why it does not respond; nil if it does
	Balance      string   // "-" if the registrar does not say
	Prices       []string // of a year, for the first TLDs
	Capabilities []string
	Warnings     []string
}

// CheckRegistrars checks the named registrar, or all of them if the name is "": it
// logs in and reads the balance and prices. The service may run meanwhile, or may never
// have started.
func CheckRegistrars(ctx context.Context, c Config, name string) (all []RegistrarReport, err error) {
	return all, withRegistrars(ctx, c, openReadOnlyOrEmpty, func(a *App) error {
		orphans, err := sqldb.LateOrders{DB: a.DB, Now: time.Now}.Orphans(ctx)
		if err != nil {
			return err
		}
		for i, b := range a.registrar.Backends() {
			if name == "" || name == b.Name {
				r := a.checkRegistrar(ctx, b, c.EffectiveRegistrars()[i])
				for _, l := range orphans {
					if l.Job.Backend == b.Name {
						r.Warnings = append(r.Warnings, describeOrphan(l))
					}
				}
				all = append(all, r)
			}
		}
		if len(all) == 0 {
			return fmt.Errorf("there is no registrar %s in the configuration", name)
		}
		return nil
	})
}

// maxPrices is how many TLDs a check reads the price of.
const maxPrices = 3

func (a *App) checkRegistrar(ctx context.Context, b registrar.Backend, c RegistrarConfig) RegistrarReport {
	r := RegistrarReport{Name: c.Name, Type: c.Type, TLDs: c.TLDs, Balance: "-", Capabilities: capabilities(b), Down: b.Ping(ctx)}
	if w, ok := b.Registrar.(registrar.Monitored); ok {
		r.Warnings = w.Warnings()
	}
	if r.Down != nil {
		return r
	}
	if reader, ok := b.Registrar.(registrar.BalanceReader); ok {
		balance, err := reader.Balance(ctx)
		switch {
		case err == nil:
			r.Balance = balance.Available.String() + " USD"
		case deed.CodeOf(err) != deed.CodeNotFound:
			r.Warnings = append(r.Warnings, "the balance cannot be read: "+err.Error())
		}
	}
	if lister, ok := b.Registrar.(registrar.PriceLister); ok {
		for _, tld := range b.TLDs[:min(len(b.TLDs), maxPrices)] {
			r.Prices = append(r.Prices, fmt.Sprintf(".%s %s", tld, a.priceOf(ctx, lister, tld)))
		}
	}
	return r
}

// priceOf returns the price of a year of a name that is very likely free.
func (a *App) priceOf(ctx context.Context, lister registrar.PriceLister, tld deed.TLD) string {
	years, _, err := a.prices.Years(tld) // the fewest: a registry may have no price for less
	if err != nil {
		return "not sold (it is not in the list of TLDs)"
	}
	price, err := lister.Price(ctx, registrar.Order{Kind: registrar.OrderRegister, Name: deed.Name("price-check-of-this-tld." + string(tld)), Years: years})
	if err != nil {
		return "unknown (" + err.Error() + ")"
	}
	return price.PerYear(years).String() + " USD"
}

// capabilities returns what the registrar can do beyond the contract.
func capabilities(b registrar.Backend) (list []string) {
	add := func(name string, ok bool) {
		if ok {
			list = append(list, name)
		}
	}
	_, bulk := b.Registrar.(registrar.BulkChecker)
	_, prices := b.Registrar.(registrar.PriceLister)
	_, balance := b.Registrar.(registrar.BalanceReader)
	_, messages := b.Registrar.(registrar.MessageQueue)
	_, inventory := b.Registrar.(registrar.Inventory)
	_, hosts := registrar.GlueOf(b.Manager)
	_, deletes := b.Manager.(registrar.Deleter)
	add("bulk check", bulk)
	add("prices", prices)
	add("balance", balance)
	add("messages", messages)
	add("inventory", inventory)
	add("glue", hosts)
	add("delete", deletes)
	_, registrants := registrar.RegistrantsOf(b.Manager)
	add("registrants", registrants)
	slices.Sort(list)
	return list
}

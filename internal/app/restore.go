package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/sqldb"
)

// FinishRestore takes the unclaimed transfers from the nodes, reads the chain to its end, to
// find all payments that a restored backup lacks, and decides on them. With dryRun it only
// reads, which the service does anyway. On an error it returns what it has decided until
// then.
func (a *App) FinishRestore(ctx context.Context, dryRun bool) ([]registration.Recovered, error) {
	if a.money == nil {
		return nil, errors.New("this configuration takes no payments: there is no money to decide on")
	}
	if !dryRun { // reading the chain and the prices takes time, in which nodes would refund
		if _, err := a.paymentRows().ParkLost(ctx); err != nil {
			return nil, fmt.Errorf("take unclaimed transfers from the nodes: %w", err)
		}
	}
	if err := a.checkRestored(ctx); err != nil {
		return nil, err
	}
	a.money.payments.Restoring = true
	if err := readChain(ctx, a.money.payments); err != nil {
		return nil, err
	}
	missing, err := a.missingRegistrars(ctx)
	if err == nil && len(missing) > 0 { // what was ordered there would be refunded
		err = fmt.Errorf("these registrars have names or orders in the backup and are not configured: %s: add their blocks first", strings.Join(missing, ", "))
	}
	if err != nil {
		return nil, err
	}
	if err := a.RefreshPrices(ctx); err != nil {
		return nil, err
	}
	restore := &registration.Restore{
		Payments: a.paymentRows(), Jobs: a.jobs(), JobRows: a.jobs(), Chain: a.money.settler, Now: a.now,
		Undone: a.paymentRows(), Cancels: sqldb.Cancellations{DB: a.DB, Now: a.now, Names: a.registrations()},
		Names: a.registrations(), Holdings: a.registrar,
		Orders: a.registrar, Lookup: a.registrar, Servers: a.config.Nameservers,
		Mandates: sqldb.Mandates{DB: a.DB, Asset: a.money.asset, Now: a.calendar.Now}, Prices: a.prices,
	}
	all, err := restore.Finish(ctx, dryRun)
	if !dryRun { // the next audit starts at the beginning, whatever is sold until then
		if gone := os.Remove(a.config.checkpointFile()); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return all, err
}

// deleteUnpaid deletes a name whose renewal nobody has paid for. While payments that a restored
// backup lacks are not decided on, one of them may have paid for it.
func (a *App) deleteUnpaid(ctx context.Context, name deed.Name) error {
	if a.money != nil {
		undecided, err := a.paymentRows().Undecided(ctx)
		if err != nil {
			return err
		}
		if undecided {
			return errors.New("payments that the restored backup lacks are not decided on, and one may have paid for it: see deed admin restore finish")
		}
	}
	return a.registrar.Delete(ctx, name)
}

// checkRestored makes sure that nothing is delivered that was refunded after the
// backup of this database.
func (a *App) checkRestored(ctx context.Context) error {
	if a.money == nil {
		return nil
	}
	found, err := a.money.payments.CheckRefunds(ctx, a.paymentRows())
	if err != nil {
		return err
	}
	if found > 0 {
		a.log.Warn("this database is older than the chain: orders that were refunded since are not delivered", "orders", found)
	}
	return nil
}

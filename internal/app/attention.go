package app

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"deed.example/deed/internal/order"
	"deed.example/deed/internal/sqldb"
)

// attentionInterval is how often the names that need an operator are counted.
const attentionInterval = time.Minute

// attention counts the names on which we and a registry disagree, so that an operator
// must look. What was found is logged when it is found.
type attention struct {
	orphans atomic.Int64 // held by a registry for nobody
	missing atomic.Int64 // of ours, and not held by their registry
	refused atomic.Int64 // changes of name servers that a registry refuses
}

// warning says what needs an operator, for /health.
func (a *attention) warning() error {
	var all []error
	if n := a.orphans.Load(); n > 0 {
		all = append(all, fmt.Errorf("%d names are held by a registry for nobody", n))
	}
	if n := a.missing.Load(); n > 0 {
		all = append(all, fmt.Errorf("%d names of ours are not held by their registry", n))
	}
	if n := a.refused.Load(); n > 0 {
		all = append(all, fmt.Errorf("the registry refuses to change the name servers of %d names: see the log", n))
	}
	return errors.Join(all...)
}

// CountNames counts the names that need an operator.
func (a *App) CountNames(ctx context.Context) error {
	orphans, err := a.lateOrders().Orphans(ctx)
	if err != nil {
		return fmt.Errorf("count the names that are held for nobody: %w", err)
	}
	missing, err := a.registrations().Missing(ctx)
	if err != nil {
		return fmt.Errorf("count the names that are missing at their registry: %w", err)
	}
	waiting, err := a.registrations().Waiting(ctx)
	if err != nil {
		return fmt.Errorf("count the names that wait to be compared: %w", err)
	}
	for _, backend := range a.pace.Backends() {
		w := waiting[backend]
		a.metrics.Comparisons(backend, w.Names, w.Longest)
		since, err := a.registrations().Compared(ctx, backend)
		if err != nil {
			return fmt.Errorf("find the name that was not compared for longest: %w", err)
		}
		age := time.Duration(0)
		if !since.IsZero() {
			age = max(a.calendar.Now().Sub(since), 0)
		}
		a.metrics.ComparedAll(backend, age)
	}
	refused, err := sqldb.Moves{DB: a.DB, Now: a.calendar.Now}.Refused(ctx)
	if err != nil {
		return fmt.Errorf("count the changes of name servers that a registry refuses: %w", err)
	}
	a.attention.refused.Store(int64(refused))
	a.attention.orphans.Store(int64(len(orphans)))
	a.attention.missing.Store(int64(missing))
	a.metrics.Names(len(orphans), missing)
	return nil
}

// describeOrphan says what an operator should know about a name that a registry holds
// for nobody.
func describeOrphan(l order.LateOrder) string {
	return fmt.Sprintf("it holds %s for nobody since %s: its order was executed after the refund; %s", l.Job.Purchase.Name, l.Found.UTC().Format(time.RFC3339), l.Detail)
}

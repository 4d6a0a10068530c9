package sqldb

import (
	"context"

	"deed.example/deed/internal/catalog"
)

// WholesalePrices implements catalog.WholesaleStore.
func (s Prices) WholesalePrices(ctx context.Context) (all []catalog.BackendPrice, err error) {
	ctx, cancel := context.WithTimeout(ctx, s.DB.Timeout)
	defer cancel()
	rows, err := s.DB.read.QueryContext(ctx, `
		SELECT backend, tld, registration, renewal, transfer, restore, closed, missing, odd, odd_since, read_at FROM wholesale_prices ORDER BY backend, tld`)
	if err != nil {
		return nil, err
	}
	err = eachRow(rows, func() error {
		var p catalog.BackendPrice
		var closed, since, read int64
		err := rows.Scan(&p.Backend, &p.TLD, &p.Registration, &p.Renewal, &p.Transfer, &p.Restore, &closed, &p.Missing, &p.Odd, &since, &read)
		p.Closed, p.OddSince, p.Read = closed == 1, timeOrZero(since), timeOrZero(read)
		all = append(all, p)
		return err
	})
	return all, err
}

// StoreWholesale implements catalog.WholesaleStore.
func (s Prices) StoreWholesale(ctx context.Context, p catalog.BackendPrice) error {
	return s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		_, err := tx.ExecContext(ctx, `
			INSERT INTO wholesale_prices (backend, tld, registration, renewal, transfer, restore, closed, missing, odd, odd_since, read_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (backend, tld) DO UPDATE SET registration = excluded.registration, renewal = excluded.renewal, transfer = excluded.transfer,
			       restore = excluded.restore, closed = excluded.closed, missing = excluded.missing, odd = excluded.odd, odd_since = excluded.odd_since, read_at = excluded.read_at`,
			p.Backend, p.TLD, p.Registration, p.Renewal, p.Transfer, p.Restore, boolInt(p.Closed), p.Missing, p.Odd, unixOrZero(p.OddSince), unixOrZero(p.Read))
		return err
	})
}

package sqldb

import (
	"context"
	"encoding/json"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/order"
)

// Prices implements catalog.PriceStore and registration.Offers. Fill the field.
type Prices struct{ DB *DB }

// PublishPrices implements catalog.PriceStore. Lists whose prices are no longer held are
// deleted when the next one is published.
func (s Prices) PublishPrices(ctx context.Context, list []catalog.Listing, at, after time.Time) (replaced []catalog.ReplacedPrices, err error) {
	text, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		lists, err := readPrices(ctx, tx)
		if err != nil {
			return err
		}
		if n := len(lists); n == 0 || lists[n-1].text != string(text) {
			next := priceList{n: 1, since: unixCeil(at), text: string(text)}
			if n > 0 {
				next.n = lists[n-1].n + 1
			}
			lists = append(lists, next)
			err = insertPrices(ctx, tx, next, after)
		}
		if err != nil {
			return err
		}
		replaced, err = replacedAfter(lists, after)
		return err
	})
	return replaced, err
}

// A priceList is a published price list and its time of publication.
type priceList struct {
	n     int64
	since int64
	text  string
}

// replacedAfter returns the lists that were replaced after the time.
func replacedAfter(lists []priceList, after time.Time) ([]catalog.ReplacedPrices, error) {
	var replaced []catalog.ReplacedPrices
	for i := 1; i < len(lists); i++ {
		if at := timeOrZero(lists[i].since); at.After(after) {
			r := catalog.ReplacedPrices{At: at}
			if err := json.Unmarshal([]byte(lists[i-1].text), &r.Listings); err != nil {
				return nil, err
			}
			replaced = append(replaced, r)
		}
	}
	return replaced, nil
}

// unixCeil rounds up, so that prices are held for at least the promised time.
func unixCeil(t time.Time) int64 { return t.Add(time.Second - 1).Unix() }

// readPrices returns every list, oldest first.
func readPrices(ctx context.Context, tx *Tx) (lists []priceList, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, since_at, listings FROM price_lists ORDER BY n`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l priceList
		if err := rows.Scan(&l.n, &l.since, &l.text); err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	return lists, rows.Err()
}

// insertPrices stores a list, and deletes those that were replaced before the time.
func insertPrices(ctx context.Context, tx *Tx, l priceList, then time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO price_lists (n, since_at, listings) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, l.n, l.since, l.text)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `
		DELETE FROM price_lists WHERE n < (SELECT max(n) FROM price_lists WHERE since_at <= $1)`, then.Unix())
	return err
}

// Offered implements registration.Offers.
func (s Prices) Offered(ctx context.Context, what string, price deed.USDC, at time.Time) (others []deed.USDC, err error) {
	err = s.DB.tx(ctx, func(ctx context.Context, tx *Tx) error {
		others = nil
		if _, err := tx.ExecContext(ctx, `DELETE FROM offers WHERE offered_at <= $1`, at.Add(-order.HoldPrice).Unix()); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO offers (what, price, offered_at) VALUES ($1, $2, $3)
			ON CONFLICT (what, price) DO UPDATE SET offered_at = excluded.offered_at`, what, price, unixCeil(at)); err != nil {
			return err
		}
		others, err = otherOffers(ctx, tx, what, price)
		return err
	})
	return others, err
}

func otherOffers(ctx context.Context, tx *Tx, what string, but deed.USDC) (prices []deed.USDC, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT price FROM offers WHERE what = $1 AND price <> $2 ORDER BY price`, what, but)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p deed.USDC
		if err := rows.Scan(&p); err != nil {
			return nil, err
		}
		prices = append(prices, p)
	}
	return prices, rows.Err()
}

package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"deed.example/deed"
)

// maxGenerations bounds the memory of one process.
const maxGenerations = 1_000_000

// generations returns the token generation of a wallet. It is used by every
// authenticated request.
//
// A SQLite file is used by this process only, so generations are cached in memory. On
// PostgreSQL another node may have just incremented it, so it is read each time, by
// its primary key.
type generations struct {
	db *DB

	mu   sync.RWMutex // held while a generation is cached or changed
	kept map[deed.Wallet]int64
}

func newGenerations(db *DB) *generations {
	return &generations{db: db, kept: map[deed.Wallet]int64{}}
}

// of returns the generation of a wallet, 0 when it never signed in.
func (g *generations) of(ctx context.Context, w deed.Wallet) (int64, error) {
	if g.db.dialect == postgres {
		return g.read(ctx, w)
	}
	g.mu.RLock()
	n, ok := g.kept[w]
	g.mu.RUnlock()
	if ok {
		return n, nil
	}
	// Under the lock, so that no change happens between reading and caching.
	g.mu.Lock()
	defer g.mu.Unlock()
	n, err := g.read(ctx, w)
	if err == nil && n > 0 {
		g.keep(w, n)
	}
	return n, err
}

// change runs f, which increments the generation and returns the new one.
func (g *generations) change(w deed.Wallet, f func() (int64, error)) error {
	if g.db.dialect == postgres {
		_, err := f()
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.kept, w) // after an error it is unknown whether it was incremented
	n, err := f()
	if err == nil {
		g.keep(w, n)
	}
	return err
}

// keep caches a generation. The caller holds mu.
func (g *generations) keep(w deed.Wallet, n int64) {
	if len(g.kept) >= maxGenerations {
		clear(g.kept)
	}
	g.kept[w] = n
}

func (g *generations) read(ctx context.Context, w deed.Wallet) (n int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, g.db.Timeout)
	defer cancel()
	err = g.db.read.QueryRowContext(ctx, `SELECT generation FROM wallets WHERE address = $1`, w).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return n, err
}

package sqldb

import (
	"context"
	"database/sql"
	"sync"

	"deed.example/deed/internal/event"
)

// Tx is a transaction that uses cached prepared statements, which saves SQLite a third
// of the work. The driver of PostgreSQL does so by itself.
type Tx struct {
	*sql.Tx
	pool     *sql.DB       // executes a single statement without a transaction; else nil
	prepared *prepared     // nil on PostgreSQL
	events   []event.Event // to be written before the commit
	members  memberChanges // likewise
	moves    []PaymentMove // to be observed after the commit
}

// ExecContext runs a statement.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if tx.pool != nil {
		return tx.pool.ExecContext(ctx, query, args...)
	}
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	}
	return tx.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext queries one row.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
	}
	return tx.Tx.QueryRowContext(ctx, query, args...)
}

// prepared caches the statements of one connection. A statement is first seen inside a
// transaction, which uses the only connection, so it is prepared before the next one.
type prepared struct {
	pool *sql.DB

	mu     sync.Mutex
	stmts  map[string]*sql.Stmt // guarded by mu, like wanted
	wanted []string
}

func newPrepared(pool *sql.DB) *prepared {
	return &prepared{pool: pool, stmts: map[string]*sql.Stmt{}}
}

// find returns the prepared statement, or queues the query for preparation.
func (p *prepared) find(query string) *sql.Stmt {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	stmt, known := p.stmts[query]
	if !known {
		p.stmts[query] = nil
		p.wanted = append(p.wanted, query)
	}
	return stmt
}

// catchUp prepares the queued queries. One that cannot be prepared is always run as
// text, and returns its error there.
func (p *prepared) catchUp(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, query := range p.wanted {
		if stmt, err := p.pool.PrepareContext(ctx, query); err == nil {
			p.stmts[query] = stmt
		}
	}
	p.wanted = nil
}

// queryRow queries one row outside a transaction. On SQLite its statement is prepared
// once per connection, since parsing a small query takes longer than running it.
func (db *DB) queryRow(ctx context.Context, query string, args ...any) *sql.Row {
	if db.dialect == postgres {
		return db.read.QueryRowContext(ctx, query, args...)
	}
	known, ok := db.readStmts.Load(query)
	if !ok {
		stmt, err := db.read.PrepareContext(ctx, query)
		if err != nil {
			return db.read.QueryRowContext(ctx, query, args...) // returns the error
		}
		if known, ok = db.readStmts.LoadOrStore(query, stmt); ok {
			_ = stmt.Close() // another goroutine was first
		}
	}
	return known.(*sql.Stmt).QueryRowContext(ctx, args...)
}

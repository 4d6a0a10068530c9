package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// prepared caches the statements of one connection, which saves SQLite a third of the work.
// The driver of PostgreSQL does so by itself. A statement is first seen inside a
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
	if stmt := db.readStmt(ctx, query); stmt != nil {
		return stmt.QueryRowContext(ctx, args...)
	}
	return db.read.QueryRowContext(ctx, query, args...)
}

// query is queryRow for many rows.
func (db *DB) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := db.readStmt(ctx, query); stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return db.read.QueryContext(ctx, query, args...)
}

// prepared returns a reader that uses query and queryRow, for functions that are given
// what to read from: this, or a transaction.
func (db *DB) prepared() preparedReads { return preparedReads{db} }

type preparedReads struct{ db *DB }

func (r preparedReads) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return r.db.queryRow(ctx, query, args...)
}

func (r preparedReads) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return r.db.query(ctx, query, args...)
}

// readStmt returns the prepared statement of a query outside a transaction, or nil: on
// PostgreSQL, and when it cannot be prepared, which returns the error again.
func (db *DB) readStmt(ctx context.Context, query string) *sql.Stmt {
	if db.dialect == postgres {
		return nil
	}
	known, ok := db.readStmts.Load(query)
	if !ok {
		stmt, err := db.read.PrepareContext(ctx, query)
		if err != nil {
			return nil
		}
		if known, ok = db.readStmts.LoadOrStore(query, stmt); ok {
			_ = stmt.Close() // another goroutine was first
		}
	}
	return known.(*sql.Stmt)
}

package sqldb

import (
	"context"
	"database/sql"
	"sync"
)

// Tx is a transaction that runs its statements prepared where they are, which
// saves SQLite a third of the work. PostgreSQL's driver does the same by itself.
type Tx struct {
	*sql.Tx
	prepared *prepared // nil on PostgreSQL
}

// ExecContext runs a statement.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).ExecContext(ctx, args...)
	}
	return tx.Tx.ExecContext(ctx, query, args...)
}

// QueryRowContext asks for one row.
func (tx *Tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := tx.prepared.find(query); stmt != nil {
		return tx.StmtContext(ctx, stmt).QueryRowContext(ctx, args...)
	}
	return tx.Tx.QueryRowContext(ctx, query, args...)
}

// prepared holds the statements of one connection. A statement is met first
// inside a transaction, when the only connection is taken, and is prepared
// before the next one.
type prepared struct {
	pool *sql.DB

	mu     sync.Mutex
	stmts  map[string]*sql.Stmt // guarded by mu, as wanted
	wanted []string
}

func newPrepared(pool *sql.DB) *prepared {
	return &prepared{pool: pool, stmts: map[string]*sql.Stmt{}}
}

// find returns the statement, or notes that it is wanted.
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

// catchUp prepares what is wanted. One that cannot be prepared is run as text
// for ever, and says there what is wrong with it.
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

// ask asks for one row outside any transaction. On SQLite its statement is
// prepared once for each connection, since to read a small question takes it
// longer than to answer.
func (db *DB) queryRow(ctx context.Context, query string, args ...any) *sql.Row {
	if db.dialect == postgres {
		return db.read.QueryRowContext(ctx, query, args...)
	}
	known, ok := db.readStmts.Load(query)
	if !ok {
		stmt, err := db.read.PrepareContext(ctx, query)
		if err != nil {
			return db.read.QueryRowContext(ctx, query, args...) // it says what is wrong
		}
		if known, ok = db.readStmts.LoadOrStore(query, stmt); ok {
			_ = stmt.Close() // another was faster, and this one holds nothing
		}
	}
	return known.(*sql.Stmt).QueryRowContext(ctx, args...)
}

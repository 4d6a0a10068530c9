package sqldb

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

// A Trace is called before every statement is executed, with its text or the name under
// which it was prepared, and returns what is called afterwards. It must be safe for
// concurrent use.
type Trace func(ctx context.Context, sql string) (end func(error))

// EachStatement returns a Trace that only passes the text on.
func EachStatement(f func(sql string)) Trace {
	return func(_ context.Context, sql string) func(error) {
		f(sql)
		return func(error) {}
	}
}

// A tracer traces the statements of PostgreSQL, and that they are prepared. It implements
// pgx.QueryTracer and pgx.PrepareTracer.
type tracer struct{ trace Trace }

// endKey is the key of what ends the trace of a statement, in its context.
type endKey struct{}

func (t tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, endKey{}, t.trace(ctx, data.SQL))
}

func (t tracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	ctx.Value(endKey{}).(func(error))(data.Err)
}

func (t tracer) TracePrepareStart(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareStartData) context.Context {
	return context.WithValue(ctx, endKey{}, t.trace(ctx, data.SQL))
}

func (t tracer) TracePrepareEnd(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareEndData) {
	ctx.Value(endKey{}).(func(error))(data.Err)
}

// A tracedFile opens connections to a SQLite file whose statements are traced. It implements
// driver.Connector.
type tracedFile struct {
	driver driver.Driver
	dsn    string
	trace  Trace
}

func (f tracedFile) Driver() driver.Driver { return f.driver }

func (f tracedFile) Connect(context.Context) (driver.Conn, error) {
	c, err := f.driver.Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return tracedConn{c.(sqliteConn), f.trace}, nil
}

// sqliteConn is what database/sql uses of a connection to SQLite.
type sqliteConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type tracedConn struct {
	sqliteConn
	trace Trace
}

func (c tracedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	stmt, err := c.sqliteConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return tracedStmt{stmt.(sqliteStmt), query, c.trace}, nil
}

func (c tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	end := c.trace(ctx, query)
	res, err := c.sqliteConn.ExecContext(ctx, query, args)
	end(err)
	return res, err
}

func (c tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	end := c.trace(ctx, query)
	rows, err := c.sqliteConn.QueryContext(ctx, query, args)
	end(err)
	return rows, err
}

// sqliteStmt is what database/sql uses of a prepared statement of SQLite.
type sqliteStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type tracedStmt struct {
	sqliteStmt
	query string
	trace Trace
}

func (s tracedStmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	end := s.trace(ctx, s.query)
	res, err := s.sqliteStmt.ExecContext(ctx, args)
	end(err)
	return res, err
}

func (s tracedStmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	end := s.trace(ctx, s.query)
	rows, err := s.sqliteStmt.QueryContext(ctx, args)
	end(err)
	return rows, err
}

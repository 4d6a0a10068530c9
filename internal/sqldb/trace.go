package sqldb

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
)

// A tracer passes the text of every statement on. It implements pgx.QueryTracer and
// pgx.PrepareTracer.
type tracer func(sql string)

func (t tracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	t(data.SQL)
	return ctx
}

func (t tracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (t tracer) TracePrepareStart(ctx context.Context, _ *pgx.Conn, data pgx.TracePrepareStartData) context.Context {
	t(data.SQL)
	return ctx
}

func (t tracer) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

// A tracedFile opens connections to a SQLite file that pass the text of every statement on.
// It implements driver.Connector.
type tracedFile struct {
	driver driver.Driver
	dsn    string
	trace  func(sql string)
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
	trace func(sql string)
}

func (c tracedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.trace(query)
	return c.sqliteConn.PrepareContext(ctx, query)
}

func (c tracedConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.trace(query)
	return c.sqliteConn.ExecContext(ctx, query, args)
}

func (c tracedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	c.trace(query)
	return c.sqliteConn.QueryContext(ctx, query, args)
}

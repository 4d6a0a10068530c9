package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed/internal/sqldb"
)

// A column has the figures of one size.
type column struct {
	names  int
	bytes  int64         // of the database
	start  time.Duration // until the service answers, without a zone snapshot
	again  time.Duration // until it answers with the snapshot that it wrote
	memory int64         // that it uses after that, without the mapped snapshot
	mapped int64         // size of the snapshot
	hourly time.Duration // an audit of the last hour
	audit  time.Duration // of everything
	calls  []figure
	idle   figure // what the worker reads in a minute with nothing to do
	peers  map[string]peerFigure
}

// A figure is how long something takes, and how many rows the database reads for
// it.
type figure struct {
	what     string
	p50, p99 time.Duration
	rows     float64
}

// measure measures the service on a filled database.
func measure(ctx context.Context, f filler) (c column, err error) {
	c.names = f.names
	conn, err := pgx.Connect(ctx, f.url)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	if err := conn.QueryRow(ctx, "SELECT pg_database_size(current_database())").Scan(&c.bytes); err != nil {
		return c, err
	}
	if c.start, err = firstStart(ctx, f); err != nil {
		return c, err
	}
	before, began := heap(), time.Now()
	s, err := openService(ctx, f, "data")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	c.again, c.memory = time.Since(began), heap()-before
	if c.mapped, err = f.snapshotSize("data"); err != nil {
		return c, err
	}
	progress("the service has started again in %.1f s", c.again.Seconds())
	if c.idle, err = idle(ctx, conn); err != nil {
		return c, err
	}
	for _, call := range s.calls() {
		fig, err := call.measure(ctx, conn)
		if err != nil {
			return c, fmt.Errorf("%s: %w", call.what, err)
		}
		c.calls = append(c.calls, fig)
		progress("%s: %s", fig.what, fig.p50.Round(10*time.Microsecond))
	}
	many, err := nodeFigures(ctx, conn, f, s)
	if err != nil {
		return c, err
	}
	c.calls = append(c.calls, many...)
	began = time.Now()
	if err := audit(ctx, f, began.Add(-time.Hour)); err != nil {
		return c, err
	}
	c.hourly = time.Since(began)
	progress("an audit of the last hour: %.1f s", c.hourly.Seconds())
	began = time.Now()
	err = audit(ctx, f, time.Time{})
	c.audit = time.Since(began)
	return c, err
}

// audit checks what changed since a time, with a connection of its own like `deed admin
// audit`.
func audit(ctx context.Context, f filler, since time.Time) (err error) {
	db, err := sqldb.OpenPostgresReadOnly(ctx, sqldb.PostgresConfig{URL: f.url})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	findings, err := sqldb.Audit{DB: db}.RunSince(ctx, since)
	for _, f := range findings {
		if f.Broken != 0 {
			err = errors.Join(err, fmt.Errorf("audit: %s: broken %d times", f.Invariant, f.Broken))
		}
	}
	return err
}

// firstStart starts the service for the first time, which writes the snapshot of the
// zones, and stops it.
func firstStart(ctx context.Context, f filler) (time.Duration, error) {
	began := time.Now()
	s, err := openService(ctx, f, "data")
	if err != nil {
		return 0, err
	}
	took := time.Since(began)
	progress("the service has started in %.1f s", took.Seconds())
	return took, s.Stop()
}

// idleTime is how long the worker is watched.
const idleTime = 15 * time.Second

// idleReports is when PostgreSQL reports what a connection read last, if it is not used
// any more: before that, what the start of the service read is counted.
const idleReports = 12 * time.Second

// idle returns what the worker reads in a minute.
func idle(ctx context.Context, conn *pgx.Conn) (figure, error) {
	time.Sleep(idleReports)
	before, err := rowsRead(ctx, conn)
	if err != nil {
		return figure{}, err
	}
	time.Sleep(idleTime)
	after, err := rowsRead(ctx, conn)
	return figure{what: "rows read by an idle node, a minute", rows: float64(after-before) * 60 / idleTime.Seconds()}, err
}

// measure calls once to warm up, then as often as the call says.
func (c call) measure(ctx context.Context, conn *pgx.Conn) (figure, error) {
	if err := c.do(ctx, 0); err != nil {
		return figure{}, err
	}
	before, err := rowsRead(ctx, conn)
	if err != nil {
		return figure{}, err
	}
	took := make([]time.Duration, c.times)
	for i := range took {
		began := time.Now()
		if err := c.do(ctx, i+1); err != nil {
			return figure{}, err
		}
		took[i] = time.Since(began)
	}
	after, err := rowsRead(ctx, conn)
	slices.SortFunc(took, cmp.Compare[time.Duration])
	return figure{what: c.what, p50: took[c.times/2], p99: took[c.times*99/100], rows: float64(after-before) / float64(c.times)}, err
}

// rowsRead returns how many rows the database has read, by scans of tables and of
// indexes. Connections report them once a second.
func rowsRead(ctx context.Context, conn *pgx.Conn) (n int64, err error) {
	time.Sleep(1500 * time.Millisecond)
	err = conn.QueryRow(ctx, "SELECT sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint FROM pg_stat_user_tables").Scan(&n)
	return n, err
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// print prints the figures of all sizes side by side, and how much the last is
// above the first.
func print(w io.Writer, columns []column) error {
	first, last := columns[0], columns[len(columns)-1]
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(what string, cell func(c column) string, ratio float64) {
		fmt.Fprintf(t, "%s\t", what)
		for _, c := range columns {
			fmt.Fprintf(t, "%s\t", cell(c))
		}
		if ratio > 0 {
			fmt.Fprintf(t, "%.2f", ratio)
		}
		fmt.Fprintln(t, "\t")
	}
	line("names", func(c column) string { return fmt.Sprint(c.names) }, float64(last.names)/float64(first.names))
	line("database, bytes a name", func(c column) string { return fmt.Sprint(c.bytes / int64(c.names)) }, 0)
	line("first start, s", func(c column) string { return fmt.Sprintf("%.1f", c.start.Seconds()) }, 0)
	line("start with a snapshot, s", func(c column) string { return fmt.Sprintf("%.1f", c.again.Seconds()) }, 0)
	line("memory then, bytes a name", func(c column) string { return fmt.Sprint(c.memory / int64(c.names)) }, 0)
	line("mapped snapshot, bytes a name", func(c column) string { return fmt.Sprint(c.mapped / int64(c.names)) }, 0)
	for _, name := range peerNames {
		line("start of "+name+" with these zones, s; bytes a name", func(c column) string {
			p := c.peers[name]
			if p.took == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f; %d", p.took.Seconds(), p.memory/int64(c.names))
		}, 0)
	}
	line("audit of the last hour, s", func(c column) string { return fmt.Sprintf("%.1f", c.hourly.Seconds()) }, 0)
	line("audit of the database, s", func(c column) string { return fmt.Sprintf("%.1f", c.audit.Seconds()) }, 0)
	line(first.idle.what, func(c column) string { return fmt.Sprintf("%.0f", c.idle.rows) }, 0)
	for i, f := range first.calls {
		line(f.what+", p50/p99 ms, rows", func(c column) string {
			f := c.calls[i]
			return fmt.Sprintf("%.1f/%.1f, %.0f", f.p50.Seconds()*1e3, f.p99.Seconds()*1e3, f.rows)
		}, last.calls[i].p50.Seconds()/f.p50.Seconds())
	}
	return t.Flush()
}

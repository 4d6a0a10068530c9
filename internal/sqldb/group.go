package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// maxGroup bounds how many transactions share one commit, and so how long the
// first of them waits for the last.
const maxGroup = 64

// A group lets transactions that come at the same time share one commit.
//
// On SQLite a commit waits for the disk, and only one can be made at a time. So
// one goroutine makes them all: it takes every transaction that waits, runs one
// after the other behind a savepoint of its own, and commits them together. One
// that fails is taken back alone. None is told it is done before the disk has
// it, and while nobody else waits, a transaction goes through by itself, as
// ever.
type group struct {
	pool     *sql.DB
	prepared *prepared
	wait     chan *member
	quit     chan struct{}
	done     chan struct{} // closed when the goroutine has ended
}

// A member is one transaction.
type member struct {
	ctx    context.Context
	f      func(context.Context, *Tx) error
	taken  atomic.Bool   // by the goroutine, to run it, or by its caller, to leave
	ran    chan struct{} // closed when f has returned
	result chan error
}

func newGroup(pool *sql.DB) *group {
	g := &group{pool: pool, prepared: newPrepared(pool), wait: make(chan *member), quit: make(chan struct{}), done: make(chan struct{})}
	go g.run()
	return g
}

// run runs f. A panic is an error here: the goroutine serves others too.
func (m *member) run(ctx context.Context, tx *Tx) (err error) {
	defer close(m.ran)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return m.f(ctx, tx)
}

// tx runs f in a transaction. A caller who leaves while f waits for its turn
// has changed nothing; one who leaves later is told that nobody knows. Nobody
// leaves while f runs, because f writes into variables of its caller's.
func (g *group) tx(ctx context.Context, f func(context.Context, *Tx) error) error {
	m := &member{ctx: ctx, f: f, ran: make(chan struct{}), result: make(chan error, 1)}
	select {
	case g.wait <- m:
	case <-ctx.Done():
		return fmt.Errorf("wait to write: %w", ctx.Err())
	case <-g.quit:
		return sql.ErrConnDone
	}
	select {
	case err := <-m.result:
		return err
	case <-ctx.Done():
		if m.taken.CompareAndSwap(false, true) {
			return fmt.Errorf("wait to write: %w", ctx.Err())
		}
		<-m.ran
		return fmt.Errorf("wait for the commit: %w", ctx.Err())
	}
}

func (g *group) close() {
	close(g.quit)
	<-g.done
}

func (g *group) run() {
	defer close(g.done)
	for {
		select {
		case m := <-g.wait:
			g.commit(g.gather(m))
		case <-g.quit:
			return
		}
	}
}

// gather returns the first member and all that wait with it.
func (g *group) gather(first *member) []*member {
	members := []*member{first}
	for len(members) < maxGroup {
		select {
		case m := <-g.wait:
			members = append(members, m)
		default:
			return members
		}
	}
	return members
}

// commit runs the members and commits them together.
func (g *group) commit(members []*member) {
	results := make([]error, len(members))
	err := g.runAll(members, results)
	for i, m := range members {
		if results[i] == nil {
			results[i] = err // nobody's own fault, and so everybody's
		}
		m.result <- results[i]
	}
}

func (g *group) runAll(members []*member, results []error) error {
	ctx := context.Background() // the group outlives any one caller
	g.prepared.catchUp(ctx)
	raw, err := g.pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := &Tx{Tx: raw, prepared: g.prepared}
	defer tx.Rollback() // does nothing after Commit; before it, the first error is the one to tell
	for i, m := range members {
		var broken error
		if results[i], broken = runOne(tx, m); broken != nil {
			return broken
		}
	}
	return tx.Commit()
}

// runOne runs one member behind a savepoint. It returns what the member says,
// and what went wrong with the transaction itself.
//
// The member's statements are not cut off when its caller leaves: SQLite answers
// an interrupt by taking the whole transaction back, and that is not its own
// alone.
func runOne(tx *Tx, m *member) (said, broken error) {
	if err := m.ctx.Err(); err != nil {
		return err, nil
	}
	ctx := context.WithoutCancel(m.ctx)
	if _, err := tx.ExecContext(ctx, `SAVEPOINT member`); err != nil {
		return nil, fmt.Errorf("set a savepoint: %w", err)
	}
	if !m.taken.CompareAndSwap(false, true) { // its caller left: take back nothing, and let go
		_, err := tx.ExecContext(ctx, `RELEASE member`)
		return context.Canceled, err
	}
	if said = m.run(ctx, tx); said != nil {
		if _, err := tx.ExecContext(ctx, `ROLLBACK TO member`); err != nil {
			return said, errors.Join(fmt.Errorf("take a transaction back: %w", err), said)
		}
	}
	_, err := tx.ExecContext(ctx, `RELEASE member`)
	return said, err
}

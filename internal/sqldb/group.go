package sqldb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// maxGroup bounds how many transactions share one commit, and so the latency of the
// first one.
const maxGroup = 64

// A group implements group commit: concurrent transactions share one commit.
//
// On SQLite a commit waits for the disk, and there is one writer at a time. So one
// goroutine runs all transactions: it takes every one that waits, runs them one after
// the other, each behind its own savepoint, and commits them together. One that fails
// is rolled back alone. None returns before the commit is durable, and without
// concurrency a transaction is committed by itself, without a savepoint.
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
	taken  atomic.Bool   // by the goroutine, to run it, or by its caller, to cancel it
	ran    chan struct{} // closed when f has returned
	result chan error
}

func newGroup(pool *sql.DB) *group {
	g := &group{pool: pool, prepared: newPrepared(pool), wait: make(chan *member), quit: make(chan struct{}), done: make(chan struct{})}
	go g.run()
	return g
}

// run runs f. A panic becomes an error: the goroutine is shared.
func (m *member) run(ctx context.Context, tx *Tx) (err error) {
	defer close(m.ran)
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return m.f(ctx, tx)
}

// tx runs f in a transaction. When ctx is done before f runs, nothing is changed; when
// it is done later, the error means that the outcome is unknown. tx never returns
// while f runs, because f writes to variables of its caller.
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
	for joined := true; len(members) < maxGroup; {
		select {
		case m := <-g.wait:
			members, joined = append(members, m), true
		default:
			if !joined {
				return members
			}
			joined = false
			runtime.Gosched() // callers that are about to write join this commit
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
			results[i] = err // the commit failed for all of them
		}
		m.result <- results[i]
	}
}

func (g *group) runAll(members []*member, results []error) error {
	ctx := context.Background() // the group is not bound to one caller
	g.prepared.catchUp(ctx)
	raw, err := g.pool.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	tx := &Tx{Tx: raw, prepared: g.prepared}
	defer tx.Rollback() // no-op after Commit; otherwise the first error is returned
	if len(members) == 1 {
		if results[0] = runAlone(tx, members[0]); results[0] != nil {
			return nil // nothing is committed
		}
		return tx.Commit()
	}
	for i, m := range members {
		var txErr error
		if results[i], txErr = runOne(tx, m); txErr != nil {
			return txErr
		}
	}
	return tx.Commit()
}

// runAlone runs a member that shares its transaction with no other: it needs no savepoint,
// for which SQLite would keep what every page had.
func runAlone(tx *Tx, m *member) error {
	if err := m.ctx.Err(); err != nil {
		return err
	}
	if !m.taken.CompareAndSwap(false, true) { // its caller is gone
		return context.Canceled
	}
	return m.run(context.WithoutCancel(m.ctx), tx)
}

// runOne runs one member behind a savepoint. It returns the error of the member, and
// an error of the transaction itself.
//
// The member's statements are not cancelled with its caller: SQLite reacts to an
// interrupt by rolling back the whole transaction, which is shared.
func runOne(tx *Tx, m *member) (memberErr, txErr error) {
	if err := m.ctx.Err(); err != nil {
		return err, nil
	}
	ctx := context.WithoutCancel(m.ctx)
	if _, err := tx.ExecContext(ctx, `SAVEPOINT member`); err != nil {
		return nil, fmt.Errorf("set a savepoint: %w", err)
	}
	if !m.taken.CompareAndSwap(false, true) { // its caller is gone: release the savepoint unused
		_, err := tx.ExecContext(ctx, `RELEASE member`)
		return context.Canceled, err
	}
	if memberErr = m.run(ctx, tx); memberErr != nil {
		if _, err := tx.ExecContext(ctx, `ROLLBACK TO member`); err != nil {
			return memberErr, errors.Join(fmt.Errorf("roll a transaction back: %w", err), memberErr)
		}
	}
	_, err := tx.ExecContext(ctx, `RELEASE member`)
	return memberErr, err
}

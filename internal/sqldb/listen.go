package sqldb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long Listen waits before it connects anew: extraColumn after each failure.
const (
	firstWait = 100 * time.Millisecond
	maxWait   = 10 * time.Second
)

// Listen calls wake with what other processes send to the channel, until ctx is
// done. What is sent while the connection is lost is lost with it: wake is called
// with "" whenever a connection is made, and its owner then looks at everything.
// On SQLite there are no other processes, and it only waits.
//
// The connection is one of its own, outside the pool. A failure is told to failed
// and tried again.
func (db *DB) Listen(ctx context.Context, channel string, wake func(payload string), failed func(error)) {
	if db.dialect != postgres {
		<-ctx.Done()
		return
	}
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, maxWait) {
		heard := false
		err := db.listen(ctx, channel, func(payload string) { heard = true; wake(payload) })
		if ctx.Err() != nil {
			return
		}
		failed(fmt.Errorf("listen to %s: %w", channel, err))
		if heard {
			wait = firstWait
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// listen listens on one connection until that fails.
func (db *DB) listen(ctx context.Context, channel string, wake func(payload string)) error {
	conn, err := pgx.ConnectConfig(ctx, db.dial)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it is lost, or nobody needs it any more
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	wake("")
	for {
		note, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		wake(note.Payload)
	}
}

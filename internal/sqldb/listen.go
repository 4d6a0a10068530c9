package sqldb

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// The backoff of Listen between two connection attempts.
const (
	firstWait = 100 * time.Millisecond
	maxWait   = 10 * time.Second
)

// Listen calls notify with every payload that other processes send to the channel,
// until ctx is done. Notifications are lost while the connection is down, so notify is
// called with "" after every connect, to check everything. On SQLite there are no other
// processes, and it only waits.
//
// It uses a dedicated connection outside the pool. Errors are passed to failed, and the
// connection is retried.
func (db *DB) Listen(ctx context.Context, channel string, notify func(payload string), failed func(error)) {
	if db.dialect != postgres {
		<-ctx.Done()
		return
	}
	for wait := firstWait; ctx.Err() == nil; wait = min(2*wait, maxWait) {
		received := false
		err := db.listen(ctx, channel, func(payload string) { received = true; notify(payload) })
		if ctx.Err() != nil {
			return
		}
		failed(fmt.Errorf("listen on %s: %w", channel, err))
		if received {
			wait = firstWait
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// listen listens on one connection until that fails.
func (db *DB) listen(ctx context.Context, channel string, notify func(payload string)) error {
	conn, err := pgx.ConnectConfig(ctx, db.dial)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // broken, or no longer needed
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{channel}.Sanitize()); err != nil {
		return err
	}
	notify("")
	for {
		note, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		notify(note.Payload)
	}
}

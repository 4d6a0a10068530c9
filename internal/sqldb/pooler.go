package sqldb

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errPooler is returned for a pooler without a direct address.
var errPooler = errors.New("database.url is that of a connection pooler such as PgBouncer, which loses notifications and the locks of sessions: " +
	"set database.direct_url to the address of PostgreSQL itself")

// detectPooler reports whether the URL is that of a connection pooler.
//
// A pooler gives its clients process IDs of its own, because it answers their requests
// to cancel.
func detectPooler(ctx context.Context, c PostgresConfig) (bool, error) {
	conf, err := parsePool(c.URL)
	if err != nil {
		return false, fmt.Errorf("database.url: %w", err)
	}
	conn, err := pgx.ConnectConfig(ctx, conf.ConnConfig)
	if err != nil {
		return false, notConnected(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) // it is not needed any more
	var pid uint32
	// Not prepared: that would fail behind some poolers.
	if err := conn.QueryRow(ctx, `SELECT pg_backend_pid()`, pgx.QueryExecModeSimpleProtocol).Scan(&pid); err != nil {
		return false, fmt.Errorf("ask PostgreSQL for its process: %w", err)
	}
	return pid != conn.PgConn().PID(), nil
}

// notConnected is the error for a PostgreSQL that cannot be reached.
func notConnected(err error) error {
	return fmt.Errorf("database.url: connect to PostgreSQL: %w; start it, or correct the address", err)
}

// notifyTimeout is how long a notification may take in the check at the start.
const notifyTimeout = 5 * time.Second

// checkDirect fails unless notifications arrive at the direct address. A pooler in
// session mode passes them on, one in transaction mode does not.
func checkDirect(ctx context.Context, c PostgresConfig) error {
	if c.DirectURL == "" {
		return errPooler
	}
	conf, err := parsePool(cmp.Or(c.DirectURL, c.URL))
	if err != nil {
		return fmt.Errorf("database.direct_url: %w", err)
	}
	open := func() (*pgx.Conn, error) {
		conn, err := pgx.ConnectConfig(ctx, conf.ConnConfig.Copy())
		if err != nil {
			return nil, fmt.Errorf("database.direct_url: %w", err)
		}
		return conn, nil
	}
	listener, err := open()
	if err != nil {
		return err
	}
	defer listener.Close(context.WithoutCancel(ctx)) // it is not needed any more
	channel := pgx.Identifier{"check_" + rand.Text()}.Sanitize()
	if _, err := listener.Exec(ctx, "LISTEN "+channel); err != nil {
		return fmt.Errorf("database.direct_url: %w", err)
	}
	sender, err := open()
	if err != nil {
		return err
	}
	defer sender.Close(context.WithoutCancel(ctx)) // likewise
	if _, err := sender.Exec(ctx, "NOTIFY "+channel); err != nil {
		return fmt.Errorf("database.direct_url: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, notifyTimeout)
	defer cancel()
	if _, err := listener.WaitForNotification(ctx); err != nil && (pgconn.Timeout(err) || ctx.Err() != nil) {
		return errors.New("database.direct_url: notifications do not arrive there, so it is that of a connection pooler, too: name the address of PostgreSQL itself")
	} else if err != nil {
		return fmt.Errorf("database.direct_url: %w", err)
	}
	return nil
}

// Command growth measures how the service grows with its names. For each size it
// fills a PostgreSQL database with names, signed zones, jobs, payments and events,
// starts the service on it, and measures what callers, the worker and operators do. Then
// it starts Knot and NSD with the same zones.
// `make growth` runs it; TEST_POSTGRES_URL is the server, and the arguments are the
// sizes, the smallest first. With GROWTH_KEEP=1 the databases are kept, to look at
// their plans.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
)

// logger prints errors only.
var logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "growth:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	server := os.Getenv("TEST_POSTGRES_URL")
	if server == "" || len(args) == 0 {
		return errors.New("set TEST_POSTGRES_URL and name the sizes, such as 10000 100000")
	}
	var columns []column
	for _, arg := range args {
		names, err := strconv.Atoi(arg)
		if err != nil || names < smallest {
			return fmt.Errorf("%q is not a size: write a number from %d on", arg, smallest)
		}
		c, err := measureSize(ctx, server, names)
		if err != nil {
			return fmt.Errorf("%d names: %w", names, err)
		}
		columns = append(columns, c)
	}
	return print(os.Stdout, columns)
}

// measureSize fills a database of its own, and drops it in the end.
func measureSize(ctx context.Context, server string, names int) (c column, err error) {
	dir, err := os.MkdirTemp("", "deed-growth")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	database, drop, err := createDatabase(ctx, server, names)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	chain, err := openChain(filepath.Join(dir, "chain"), logger)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, chain.close()) }()
	began := time.Now()
	f := filler{names: names, url: database, dir: dir, chain: chain}
	if err := f.fill(ctx); err != nil {
		return c, err
	}
	progress("%d names filled in %.0f s", names, time.Since(began).Seconds())
	if c, err = measure(ctx, f); err != nil {
		return c, err
	}
	c.peers, err = peerFigures(ctx, f)
	return c, err
}

// createDatabase returns the URL of a new database on the server.
func createDatabase(ctx context.Context, server string, names int) (database string, drop func() error, err error) {
	u, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return "", nil, err
	}
	name := fmt.Sprintf("deed_growth_%d_%d", os.Getpid(), names)
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+name); err != nil {
		return "", nil, errors.Join(err, conn.Close(ctx))
	}
	u.Path = "/" + name
	return u.String(), func() error {
		if os.Getenv("GROWTH_KEEP") != "" {
			progress("the database %s is kept", u)
			return conn.Close(ctx)
		}
		_, err := conn.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		return errors.Join(err, conn.Close(ctx))
	}, nil
}

// progress tells the person who waits how far the run is.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

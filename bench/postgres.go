package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

// server is the URL of a PostgreSQL that scripts/bench.sh has started; "" if there is none.
var server = os.Getenv("TEST_POSTGRES_URL")

// newDatabase creates a database on the server; drop removes it.
func newDatabase() (database string, drop func() error, err error) {
	name := "bench_" + strings.ToLower(rand.Text())
	at, err := url.Parse(server)
	if err != nil {
		return "", nil, err
	}
	at.Path = "/" + name
	return at.String(), func() error { return execute("DROP DATABASE " + name + " WITH (FORCE)") }, execute("CREATE DATABASE " + name)
}

func execute(statement string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

// pgbench returns the transactions per second of pgbench's own load by 16 connections.
func pgbench() (rate float64, err error) {
	programs, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is valid
	program := "pgbench"
	if len(programs) > 0 {
		program = slices.Max(programs)
	}
	database, drop, err := newDatabase()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	if out, err := exec.Command(program, "-i", "-q", "-s", "10", database).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	out, err := exec.Command(program, "-n", "-M", "prepared", "-c", strconv.Itoa(jobsAtOnce), "-j", "2", "-T", "5", database).CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, out)
	}
	_, text, _ := strings.Cut(string(out), "tps = ")
	text, _, _ = strings.Cut(text, " ")
	return strconv.ParseFloat(text, 64)
}

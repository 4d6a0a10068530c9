package main

import (
	"context"
	"crypto/ecdsa"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/sandbox"
	"deed.example/deed/internal/sqldb"
)

const (
	changeWallets = 16 // that change a zone of their own at the same time
	changesEach   = 12
)

// changeRows compares paid changes of zones, over HTTP and with their settlement on the
// embedded chain, with the bare commits of the database. Callers, service, chain and
// database share the processors.
func changeRows() (rows []row, err error) {
	for _, database := range []string{"SQLite", "PostgreSQL"} {
		if database == "PostgreSQL" && server == "" {
			fmt.Fprintln(os.Stderr, "bench: no PostgreSQL: run it as `make bench`")
			continue
		}
		r, err := changeRow(database)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", database, err)
		}
		rows = append(rows, r)
	}
	return rows, nil
}

func changeRow(database string) (r row, err error) {
	r = row{what: fmt.Sprintf("paid changes of zones, %d wallets, %s", changeWallets, database), against: "transactions of pgbench"}
	c, close, err := sandboxConfig(database)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, close()) }()
	var statements atomic.Int64
	c.Database.Trace = sqldb.EachStatement(func(string) { statements.Add(1) })
	s, err := sandbox.Start(context.Background(), c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	callers, err := startCallers(s.URL())
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, callers.close()) }()
	if err := callers.change("warm"); err != nil { // connections prepare their statements
		return r, err
	}
	began, used, sent := time.Now(), ownCPU(), statements.Load()
	if err := callers.change("host"); err != nil {
		return r, err
	}
	const n = changeWallets * changesEach
	r.ours = n / time.Since(began).Seconds()
	fmt.Printf("%s: %.1f ms of CPU each, with that of the embedded chain", r.what, (ownCPU()-used).Seconds()*1000/n)
	if database == "PostgreSQL" {
		fmt.Printf("; %.1f statements each, with those of the background", float64(statements.Load()-sent)/n)
	}
	fmt.Println()
	if database == "PostgreSQL" {
		r.limit, err = pgbench()
		return r, err
	}
	r.against = "commits of one bare row, one after the other"
	r.limit, err = singleCommits(filepath.Join(c.Data, "bare.db"))
	return r, err
}

// changeAll has every owner add records, all at the same time.
func changeAll(owners []*client.Client, host string) error {
	var next atomic.Int64
	return atOnce(len(owners), func() error {
		i := int(next.Add(1)) - 1
		for k := range changesEach {
			record := api.RecordRequest{Type: "A", Host: fmt.Sprint(host, k), Value: "192.0.2.1"}
			if _, err := owners[i].AddRecord(context.Background(), benchName(i), record); err != nil {
				return err
			}
		}
		return nil
	})
}

// sandboxConfig returns the settings of a sandbox in a temporary folder; close removes
// what it has left.
func sandboxConfig(database string) (c app.Config, close func() error, err error) {
	dir, err := os.MkdirTemp("", "deed-bench")
	if err != nil {
		return c, nil, err
	}
	close = func() error { return os.RemoveAll(dir) }
	c = sandbox.Config(dir, "bench", slog.New(slog.DiscardHandler))
	if database == "PostgreSQL" {
		url, drop, err := newDatabase()
		if err != nil {
			return c, nil, errors.Join(err, os.RemoveAll(dir))
		}
		c.DatabaseURL = deed.Secret(url)
		close = func() error { return errors.Join(drop(), os.RemoveAll(dir)) }
	}
	return c, close, nil
}

func benchName(i int) string { return fmt.Sprintf("bench%d.com", i) }

// owners returns callers with money, each with a name.
func owners(url string) (all []*client.Client, err error) {
	for i := range changeWallets {
		var key *ecdsa.PrivateKey
		if key, err = crypto.GenerateKey(); err != nil {
			return nil, err
		}
		c, err := client.New(url, client.WithWallet(client.NewKey(key)), client.WithMaxPayment(100*client.Dollar))
		if err == nil {
			_, err = c.Faucet(context.Background(), api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex()})
		}
		if err == nil {
			err = buy(c, benchName(i))
		}
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

func buy(c *client.Client, name string) error {
	o, err := c.Register(context.Background(), api.RegisterRequest{Domain: name})
	if err == nil && o.Done == nil {
		_, err = c.WaitJob(context.Background(), o.JobID)
	}
	return err
}

// singleCommits returns how many transactions of one row SQLite commits in a second.
func singleCommits(path string) (rate float64, err error) {
	db, err := openBare(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	const n = 500
	began := time.Now()
	for range n {
		if _, err := db.Exec(`INSERT INTO t (v) VALUES ('x')`); err != nil {
			return 0, err
		}
	}
	return n / time.Since(began).Seconds(), nil
}

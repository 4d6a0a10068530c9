package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

const (
	seenChanges = 100 // changes on one node until another answers with them
	manyChanges = 400 // changes by callers at once
	callers     = 16
)

// nodeFigures measures how soon a second node answers with a change of the first, and how
// many changes callers at once get from one node and from two.
func nodeFigures(ctx context.Context, conn *pgx.Conn, f filler, first *service) (all []figure, err error) {
	if err := f.copyNode("data", "second"); err != nil {
		return nil, err
	}
	second, err := openService(ctx, f, "second")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, second.Stop()) }()
	seen := call{"a change of one node in the answers of another", seenChanges, func(ctx context.Context, i int) error {
		return changeSeen(ctx, first, second, i)
	}}
	fig, err := seen.measure(ctx, conn)
	if err != nil {
		return nil, err
	}
	all = append(all, fig)
	for _, nodes := range [][]*service{{first}, {first, second}} {
		each, err := atOnce(ctx, nodes)
		if err != nil {
			return nil, err
		}
		progress("callers: %d, nodes: %d, paid changes a second: %.0f", callers, len(nodes), 1/each.Seconds())
		all = append(all, figure{what: fmt.Sprintf("paid changes at once, nodes: %d, each", len(nodes)), p50: each, p99: each})
	}
	return all, nil
}

// changeSeen changes a zone on one node and waits until another has it. The change itself
// is part of the time.
func changeSeen(ctx context.Context, first, second *service, i int) error {
	name := domain(largeOwner + i%smallOwner)
	before, _ := second.NameServer.Serial(name)
	if err := addRecord(ctx, first.small, name, fmt.Sprintf("seen%d", i)); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if now, _ := second.NameServer.Serial(name); now != before {
			return nil
		}
		time.Sleep(time.Millisecond)
	}
	return ctx.Err()
}

// atOnce returns the time of a change while all callers change zones of the large wallet,
// each its own.
func atOnce(ctx context.Context, nodes []*service) (time.Duration, error) {
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make(chan error, callers)
	began := time.Now()
	for n := range callers {
		group.Go(func() {
			c := nodes[n%len(nodes)].large
			for i := next.Add(1); i <= manyChanges; i = next.Add(1) {
				if err := addRecord(ctx, c, domain(n), fmt.Sprintf("once%d-%d", len(nodes), i)); err != nil {
					failures <- err
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	return time.Since(began) / manyChanges, <-failures
}

func addRecord(ctx context.Context, c *client.Client, name, host string) error {
	return fails(c.AddRecord(ctx, name, api.RecordRequest{Type: "A", Host: host, Value: "192.0.2.9"}))
}

func (f filler) snapshotSize(folder string) (int64, error) {
	info, err := os.Stat(filepath.Join(f.dir, folder, "zones.snapshot"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// copyNode gives another node what it shares with the first: the keys of our wallets,
// and the snapshot, as an operator may.
func (f filler) copyNode(from, to string) error {
	for _, file := range []string{"zones.snapshot", "signin.keys", "chain/treasury.key", "chain/gas.key", "chain/refund.key"} {
		if err := copyFile(filepath.Join(f.dir, from, file), filepath.Join(f.dir, to, file)); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) (err error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

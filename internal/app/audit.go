package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/sqldb"
)

// An AuditReport is the result of an audit.
type AuditReport struct {
	Since    time.Time          // only what changed since then was checked; zero: everything
	Findings []sqldb.Finding    // one for each invariant of the database
	Chain    *fulfil.Comparison // of the books with the chain; nil if there was none
	ChainErr error              // why not; nil if this deployment takes no payments
	Notices  []sqldb.Notice     // what is waiting
	Open     int                // payments and jobs

	NotKept error // why the next audit starts where this one did; nil if it continues
}

// Audit checks every invariant of the database, then compares the books with the
// chain. It changes nothing but the file that says how far it came: later audits
// continue after the last one without findings. The chain is read once, and the
// database as checkpoint.since says; with full, both are read from the start. On an
// error it returns the report as far as it came. That the file cannot be written is none:
// it only saves time.
func Audit(ctx context.Context, c Config, full bool) (r AuditReport, err error) {
	if full {
		if err := os.Remove(c.checkpointFile()); err != nil && !os.IsNotExist(err) {
			return r, err
		}
	}
	db, err := openReadOnly(ctx, &c)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	books := sqldb.Audit{DB: db}
	next, err := c.startOfAudit(ctx, books)
	if err != nil {
		return r, err
	}
	if err := r.check(ctx, books, &next); err != nil {
		return r, err
	}
	if err := r.compare(ctx, &c, books, &next); err != nil {
		return r, err
	}
	if r.Notices, err = books.Notices(ctx); err != nil {
		return r, err
	}
	if r.Open, err = books.Open(ctx); err != nil || !r.sound() {
		return r, err
	}
	r.NotKept = c.writeCheckpoint(next)
	return r, nil
}

// sound reports whether everything was checked and nothing was found.
func (r *AuditReport) sound() bool {
	broken := slices.ContainsFunc(r.Findings, func(f sqldb.Finding) bool { return f.Broken > 0 })
	return !broken && r.Chain != nil && r.Chain.Complete() && r.Chain.Sound()
}

// check checks the invariants of the database.
func (r *AuditReport) check(ctx context.Context, books sqldb.Audit, p *checkpoint) (err error) {
	began := time.Now()
	if r.Since = p.since(began); !r.Since.IsZero() {
		r.Findings, err = books.RunSince(ctx, r.Since)
		return err
	}
	r.Findings, err = books.Run(ctx)
	p.FullAt, p.FullSeconds = wholeSecond(began), int(time.Since(began).Seconds())
	return err
}

// compare compares the books with the chain, if it is available.
func (r *AuditReport) compare(ctx context.Context, c *Config, books sqldb.Audit, p *checkpoint) error {
	m, err := openMoneyToRead(ctx, c, books.DB)
	if err != nil || m == nil {
		r.ChainErr = err
		return nil
	}
	cmp, err := m.payments.Compare(ctx, books, m.settler, fulfil.Checkpoint{Block: p.Block, At: p.At})
	if err != nil {
		return err
	}
	r.Chain = &cmp
	p.Block, p.At = cmp.Next.Block, wholeSecond(cmp.Next.At)
	return nil
}

func wholeSecond(t time.Time) time.Time { return t.UTC().Truncate(time.Second) }

// openMoneyToRead opens the settlement of a running service without its keys. It returns
// nil when this deployment takes no payments.
func openMoneyToRead(ctx context.Context, c *Config, db *sqldb.DB) (*money, error) {
	client := newChainClient(c, c.ChainID, "http://"+c.ChainListen)
	switch {
	case c.ChainRPCURL != "" && c.PayTo == "":
		return nil, nil
	case c.ChainRPCURL != "":
		client = dialChain(c)
	}
	treasury, gas, refund, err := chain.LastWallets(ctx, sqldb.Settlements{DB: db, ChainID: c.ChainID})
	if err == nil && (treasury == "" || gas == "" || refund == "") {
		err = errors.New("the service has not taken payments on this chain yet")
	}
	if err == nil && c.PayTo != "" {
		treasury, err = deed.ParseWallet(c.PayTo)
	}
	if err != nil {
		return nil, err
	}
	keys := wallets{payTo: treasury, gas: readOnlySigner(gas), refund: readOnlySigner(refund)}
	return keys.openMoney(ctx, c, db, &chainBackend{Client: client}, clocks{time.Now, time.Now})
}

// A readOnlySigner is a wallet of which only the address is known.
type readOnlySigner deed.Wallet

var errReadOnly = errors.New("an audit signs nothing")

// Address implements signer.Signer.
func (s readOnlySigner) Address() deed.Wallet { return deed.Wallet(s) }

// SignTransaction implements signer.Signer.
func (readOnlySigner) SignTransaction(context.Context, signer.Transaction) ([]byte, error) {
	return nil, errReadOnly
}

// SignTypedData implements signer.Signer.
func (readOnlySigner) SignTypedData(context.Context, signer.TypedData) ([]byte, error) {
	return nil, errReadOnly
}

// checkpointFile is where the last audit stored how far it came. It is a file and
// not a row, because an audit only reads the database.
func (c *Config) checkpointFile() string { return filepath.Join(c.Data, "audit.checkpoint") }

// A checkpoint is for one chain and one database.
type checkpoint struct {
	ChainID     uint64    `json:"chainId"`
	PayTo       string    `json:"payTo"`
	Database    string    `json:"database"`
	Block       uint64    `json:"block"`
	At          time.Time `json:"at"`
	FullAt      time.Time `json:"fullAt"` // when the whole database was checked
	FullSeconds int       `json:"fullSeconds"`
	Newest      time.Time `json:"newest"` // when a payment had changed last
}

const (
	fullInterval = 7 * 24 * time.Hour
	fullSeconds  = 10        // the whole database is checked each time if it takes less
	auditOverlap = time.Hour // for transactions that were open, and clocks that differ
)

// since returns from when on the database is checked: zero for all of it, which is
// read once a week, and every time while that is quick.
func (p *checkpoint) since(now time.Time) time.Time {
	if p.At.IsZero() || p.FullSeconds < fullSeconds || now.Sub(p.FullAt) >= fullInterval {
		return time.Time{}
	}
	return p.At.Add(-auditOverlap)
}

// startOfAudit returns where to start. After a restore it is the beginning: if no
// payment is as new as at the last audit, then the database is older than it.
func (c *Config) startOfAudit(ctx context.Context, books sqldb.Audit) (checkpoint, error) {
	newest, err := books.Newest(ctx)
	p := c.readCheckpoint()
	if newest.Before(p.Newest) {
		p = c.firstCheckpoint()
	}
	p.Newest = newest
	return p, err
}

func (c *Config) firstCheckpoint() checkpoint {
	return checkpoint{ChainID: c.ChainID, PayTo: c.PayTo, Database: c.DescribeDatabase()}
}

// readCheckpoint returns where to start: at the beginning if the file is missing,
// unreadable or for another chain or database.
func (c *Config) readCheckpoint() checkpoint {
	first := c.firstCheckpoint()
	raw, err := os.ReadFile(c.checkpointFile())
	if err != nil {
		return first
	}
	var last checkpoint
	if json.Unmarshal(raw, &last) != nil || last.ChainID != first.ChainID || last.PayTo != first.PayTo || last.Database != first.Database {
		return first
	}
	return last
}

func (c *Config) writeCheckpoint(p checkpoint) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return os.WriteFile(c.checkpointFile(), append(raw, '\n'), 0o600)
}

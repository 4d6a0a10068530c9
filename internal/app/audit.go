package app

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"time"

	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/sqldb"
)

// An AuditReport is the result of an audit.
type AuditReport struct {
	Findings []sqldb.Finding    // one for each invariant of the database
	Chain    *fulfil.Comparison // of the books with the chain; nil if it could not be asked
	ChainErr error              // why not
	Notices  []sqldb.Notice     // what is waiting
	Open     int                // payments and jobs
}

// Audit checks every invariant of the database, then compares the books with the
// chain. It changes nothing but the file that says how far it came: the whole chain is
// read once, and later audits continue after the last one without findings. With full
// they do not. On an error it returns the report as far as it came.
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
	if r.Findings, err = books.Run(ctx); err != nil {
		return r, err
	}
	if err := r.compare(ctx, &c, books); err != nil {
		return r, err
	}
	if r.Notices, err = books.Notices(ctx); err != nil {
		return r, err
	}
	r.Open, err = books.Open(ctx)
	return r, err
}

// compare compares the books with the chain, if it is available.
func (r *AuditReport) compare(ctx context.Context, c *Config, books sqldb.Audit) error {
	m, err := openMoneyToRead(ctx, c, books.DB)
	if err != nil || m == nil {
		r.ChainErr = err
		return nil
	}
	cmp, err := m.payments.Compare(ctx, books, m.settler, c.readCheckpoint())
	if err != nil {
		return err
	}
	r.Chain = &cmp
	if !cmp.Sound() {
		return nil
	}
	return c.writeCheckpoint(cmp.Next)
}

// openMoneyToRead opens the settlement of a running service, with the sandbox's
// keys if it is a sandbox.
func openMoneyToRead(ctx context.Context, c *Config, db *sqldb.DB) (*money, error) {
	conf := *c
	rpc := c.ChainRPCURL.Reveal()
	if rpc == "" {
		rpc = "http://" + c.ChainListen
		treasury, err := file.Open(filepath.Join(c.chainFolder(), "treasury.key"))
		if err != nil {
			return nil, err
		}
		conf.GasKey, conf.RefundKey = filepath.Join(c.chainFolder(), "gas.key"), filepath.Join(c.chainFolder(), "refund.key")
		if conf.PayTo == "" {
			conf.PayTo = string(treasury.Address())
		}
	}
	return openMoney(ctx, &conf, db, &chainBackend{Client: chain.Dial(rpc)}, clocks{time.Now, time.Now})
}

// checkpointFile is where the last audit stored how far it came. It is a file and
// not a row, because an audit only reads the database.
func (c *Config) checkpointFile() string { return filepath.Join(c.Data, "audit.checkpoint") }

// A checkpoint is for one chain and one database: after a restore the audit starts
// from the first block.
type checkpoint struct {
	ChainID  uint64    `json:"chainId"`
	PayTo    string    `json:"payTo"`
	Database string    `json:"database"`
	Block    uint64    `json:"block"`
	At       time.Time `json:"at"`
}

func (c *Config) checkpoint() checkpoint {
	return checkpoint{ChainID: c.ChainID, PayTo: c.PayTo, Database: c.DescribeDatabase()}
}

// readCheckpoint returns where to start: at the first block if the file is
// missing, unreadable or for another chain or database.
func (c *Config) readCheckpoint() fulfil.Checkpoint {
	raw, err := os.ReadFile(c.checkpointFile())
	if err != nil {
		return fulfil.Checkpoint{}
	}
	was, is := checkpoint{}, c.checkpoint()
	if json.Unmarshal(raw, &was) != nil {
		return fulfil.Checkpoint{}
	}
	is.Block, is.At = was.Block, was.At
	if is != was {
		return fulfil.Checkpoint{}
	}
	return fulfil.Checkpoint{Block: was.Block, At: was.At}
}

func (c *Config) writeCheckpoint(p fulfil.Checkpoint) error {
	point := c.checkpoint()
	point.Block, point.At = p.Block, p.At.UTC().Truncate(time.Second)
	raw, err := json.Marshal(point)
	if err != nil {
		return err
	}
	return os.WriteFile(c.checkpointFile(), append(raw, '\n'), 0o600)
}

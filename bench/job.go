package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/settle"
	"deed.example/deed/internal/sqldb"
)

const (
	jobs        = 512 // completed in one sample
	jobsAtOnce  = 16  // as many as the worker advances concurrently
	jobsCommits = 3   // of a job: its order is stored, executed by the registry, and completed
)

// jobRows compares the jobs of paid names with bare commits, and on PostgreSQL with the
// transactions of pgbench.
func jobRows() (rows []row, err error) {
	ours, limit, err := sqliteJobs()
	if err != nil {
		return nil, err
	}
	rows = []row{{"jobs of paid names, 16 wallets, SQLite", "three commits of one bare row for each, shared by 16", ours, limit, 0.06}}
	if server == "" {
		return rows, nil
	}
	if ours, err = postgresJobs(); err != nil {
		return nil, err
	}
	if limit, err = pgbench(); err != nil {
		return nil, err
	}
	return append(rows, row{"jobs of paid names, 16 wallets, PostgreSQL", "transactions of pgbench", ours, limit, 0.10}), nil
}

func sqliteJobs() (rate, limit float64, err error) {
	s, err := openService()
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	bare, err := openBare(filepath.Join(s.dir, "bare.db"))
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, bare.Close()) }()
	var ours, limits []float64
	for sample := range samples {
		if rate, err = s.jobsPerSecond(sample); err != nil {
			return 0, 0, err
		}
		if limit, err = bareCommits(bare); err != nil {
			return 0, 0, err
		}
		ours, limits = append(ours, rate), append(limits, limit)
	}
	return median(ours), median(limits), nil
}

func postgresJobs() (rate float64, err error) {
	database, drop, err := newDatabase()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, drop()) }()
	s, err := openServiceOn(database)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	var rates []float64
	for sample := range samples {
		if rate, err = s.jobsPerSecond(sample); err != nil {
			return 0, err
		}
		rates = append(rates, rate)
	}
	return median(rates), nil
}

// jobsPerSecond completes the jobs of one sample.
func (s *service) jobsPerSecond(sample int) (float64, error) {
	ids, err := paidJobs(s.DB, sample)
	if err != nil {
		return 0, err
	}
	return finishJobs(s.API.Payments, ids)
}

// paidJobs returns the jobs of names whose payment has settled, of as many wallets as
// there are jobs at once: those of one wallet wait for each other.
func paidJobs(db *sqldb.DB, sample int) ([]string, error) {
	ids := make([]string, jobs)
	for i := range ids {
		what := order.Purchase{Kind: order.PurchaseRegistration, Name: deed.Name(fmt.Sprintf("bench-%d-%d.com", sample, i)), Years: 1}
		payer := deed.Wallet(fmt.Sprintf("0x%040x", 0x100+i%jobsAtOnce))
		j, err := paidJob(db, payer, sample*jobs+i, what)
		if err != nil {
			return nil, err
		}
		ids[i] = j
	}
	return ids, nil
}

// admitAll admits every payment: the wallet has unlimited funds.
func admitAll(order.Payer) error { return nil }

// benchWallet is the owner of the zones of a fleet.
const benchWallet = "0x0000000000000000000000000000000000000001"

// paidJob returns the job of a purchase whose payment has settled; nonce must be
// unique.
func paidJob(db *sqldb.DB, payer deed.Wallet, nonce int, what order.Purchase) (string, error) {
	const payTo = "0x0000000000000000000000000000000000000002"
	payments := sqldb.Payments{DB: db, ChainID: network.EmbeddedChainID, Asset: payTo, Now: time.Now}
	a := settle.Authorization{Payer: payer, PayTo: payTo, Amount: 13_060_000, ValidBefore: time.Now().Add(time.Hour).Unix(), Nonce: fmt.Sprintf("0x%064x", nonce)}
	p, err := payments.AuthorizePayment(context.Background(), order.Payment{ID: a.PaymentID(network.EmbeddedChainID, payTo), Source: order.SourceX402Exact, Auth: a, Purchase: what}, admitAll)
	if err == nil {
		p, err = payments.MovePayment(context.Background(), p, order.PaymentSettling, "")
	}
	if err == nil {
		p, err = payments.MovePayment(context.Background(), p, order.PaymentSettled, fmt.Sprintf("0x%064x", nonce+1))
	}
	return order.JobID(p.ID), err
}

// newEngine returns an engine that delivers names.
func newEngine(jobs sqldb.Jobs, registry *local.Registry) *fulfil.Service {
	names := &registration.Service{Store: jobs, Registrar: registry, Manager: registry, Now: time.Now, RegistryNow: time.Now}
	return &fulfil.Service{Jobs: jobs, Kinds: []order.Kind{names}, Now: time.Now}
}

// finishJobs advances each job once, which completes it, and returns how many it completed
// a second. That they are completed is checked afterwards.
func finishJobs(s *fulfil.Service, ids []string) (float64, error) {
	var next atomic.Int64
	began := time.Now()
	err := atOnce(jobsAtOnce, func() error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(ids) {
				return nil
			}
			if err := s.AdvanceJob(context.Background(), ids[i]); err != nil {
				return err
			}
		}
	})
	rate := float64(len(ids)) / time.Since(began).Seconds()
	if err != nil {
		return 0, err
	}
	return rate, checkCompleted(s, ids)
}

func checkCompleted(s *fulfil.Service, ids []string) error {
	for _, id := range ids {
		j, err := s.Jobs.Job(context.Background(), id)
		if err != nil {
			return err
		}
		if j.State != order.JobCompleted {
			return fmt.Errorf("job %s is %s, not completed", id, j.State)
		}
	}
	return nil
}

// bareCommits makes as many group commits as the jobs need at least.
func bareCommits(db *sql.DB) (float64, error) {
	began := time.Now()
	for range jobs / jobsAtOnce * jobsCommits {
		tx, err := db.Begin()
		if err != nil {
			return 0, err
		}
		for range jobsAtOnce {
			if _, err = tx.Exec(`INSERT INTO t (v) VALUES ('x')`); err != nil {
				return 0, errors.Join(err, tx.Rollback())
			}
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
	}
	return jobs / time.Since(began).Seconds(), nil
}

// jobZones returns the zone settings of production, with DNSSEC.
func jobZones(db *sqldb.DB) sqldb.Zones {
	return sqldb.Zones{DB: db, Now: time.Now, Generation: 1, Publishing: dnssec.Publishing{
		SOA: dnssec.NewSOA("ns1.deed.example", "hostmaster.deed.example"), Servers: []string{"ns1.deed.example", "ns2.deed.example"},
		Master: "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}}
}

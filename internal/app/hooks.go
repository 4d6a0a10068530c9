package app

import (
	"crypto/x509"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
)

// Hooks are replaced by tests. The zero value is that of production.
type Hooks struct {
	// Now is the clock of orders, payments, zones and the registry; nil: the common
	// clock of all nodes on the database. The chain always has the real clock.
	Now func() time.Time

	// LocalNow is the clock of this machine, which the common clock is based on; nil:
	// time.Now.
	LocalNow func() time.Time

	// SignInNow is the clock of nonces, tokens and sessions; nil: the common clock.
	SignInNow func() time.Time

	// Step is called between the steps of payments, registrations and refunds, where
	// a test may end the process; nil: not called.
	Step func(name string)

	// Faults are injected into the embedded registry; nil: those that the sandbox
	// stores in the database.
	Faults *local.Faults

	// DB, Cache and Chain are open already, and Close leaves them open; nil: what the
	// configuration says. An embedded chain that is given is reached at ChainRPCURL,
	// so that several nodes can share it.
	DB    *sqldb.DB
	Cache deed.Counter
	Chain *devchain.Chain

	// MaxFiles is how many files the process may open; 0: what the system allows.
	MaxFiles int

	// MailRoots are the authorities of the mail server's certificate; nil: the system's.
	MailRoots *x509.CertPool
}

package epp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// A Config is the account at one registry.
type Config struct {
	Address  string      // host:port; the port is usually 700
	ClientID string      // the identifier of the registrar (clID)
	Password deed.Secret // of the registrar

	CertFile   string // PEM, the client's certificate; it is read for each connection. "" for none
	KeyFile    string // PEM, its key
	CAFile     string // PEM, who signs the registry's certificate; "" for the system's
	ServerName string // in the registry's certificate; "" for the host of Address

	// Secret is the key that the authInfo of new names is derived with. All nodes
	// have the same, and keep it: an order is recognised by it.
	Secret deed.Secret

	// Purchase returns what the references of all attempts of one purchase have in
	// common: if the first attempt is executed after the second was placed, the name
	// is known to be bought all the same. Nil for the whole reference.
	Purchase func(reference string) string

	Profile    Profile
	Registrant lifecycle.Contact // of the operator, for all names
	Limits

	// PaidUntil returns until when the owner has paid for the name, zero when it is
	// not known. A registry that renews by itself needs it: its own date says nothing
	// about that.
	PaidUntil func(ctx context.Context, name deed.Name) (time.Time, error)

	Log *slog.Logger
	Now func() time.Time // the registry's clock; time.Now when nil
}

// Limits bound what the backend uses. The zero value is the default of each.
type Limits struct {
	Sessions   int           // at once; 4
	Timeout    time.Duration // of a command, and of connecting; 15 s
	KeepAlive  time.Duration // between two hellos on an idle session; 4 min
	IdleTime   time.Duration // after which a session that nobody needed is closed; 30 min
	MinBackoff time.Duration // before the third attempt to connect, then doubling; 1 s
	MaxBackoff time.Duration // 1 min
}

// A Profile says how a registry differs from others.
type Profile struct {
	// Without has URIs of extensions that are not used although the greeting has
	// them.
	Without []string

	Contacts       Contacts // that a new name has
	HostAttributes bool     // name servers are attributes of a name, not objects
	IDNTable       string   // of names in Unicode, for idn-1.0; "" for none
	MinYears       int      // of an order; 1 when zero
	MaxYears       int      // of an order; 10 when zero
	AutoRenew      bool     // the registry renews a name when it expires
	RestoreReport  bool     // a restore is complete after a report (RFC 3915)
	Unlocked       bool     // a new name is not locked against transfers
	HiddenAuthInfo bool     // what the registry shows as authInfo is not the code
	Currency       string   // of prices; "USD" when empty, the only one that is supported
}

// Contacts are the contacts of a new name.
type Contacts string

// The contacts that a registry wants.
const (
	ContactsNone       Contacts = ""
	ContactsRegistrant Contacts = "registrant"
	ContactsAll        Contacts = "all" // registrant, admin, tech, billing
)

// Open returns a backend for the account. It reads the files but does not connect: a
// registry that is down must not keep the service from starting. Close it.
func Open(cfg Config) (*Backend, error) {
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("registrar at %s: %w", cfg.Address, err)
	}
	cfg.Limits = cfg.withDefaults()
	cfg.Profile.MinYears, cfg.Profile.MaxYears = cmp.Or(cfg.Profile.MinYears, defaultMinYears), cmp.Or(cfg.Profile.MaxYears, defaultMaxYears)
	cfg.Profile.Currency = cmp.Or(cfg.Profile.Currency, currency)
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Purchase == nil {
		cfg.Purchase = func(reference string) string { return reference }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	b := &Backend{cfg: cfg}
	if _, err := b.tlsConfig(); err != nil {
		return nil, err
	}
	b.pool = newPool(cfg.Limits, b.dial)
	ctx, cancel := context.WithCancel(context.Background())
	b.stop = cancel
	b.done.Go(func() { b.pool.maintain(ctx) })
	return b, nil
}

// check fails when a setting is missing or contradicts another.
func (c Config) check() error {
	_, _, err := net.SplitHostPort(c.Address)
	_, wrong := lifecycle.ParseContact(c.Registrant)
	switch {
	case err != nil:
		return fmt.Errorf("address: %w", err)
	case c.ClientID == "" || c.Password == "":
		return errors.New("the client identifier and the password are both needed")
	case (c.CertFile == "") != (c.KeyFile == ""):
		return errors.New("a client certificate needs its key, and a key its certificate")
	case len(c.Secret) < minSecret:
		return fmt.Errorf("the secret that authInfo is derived from needs at least %d characters", minSecret)
	case c.Profile.Contacts != ContactsNone && wrong != nil:
		e, _ := errors.AsType[*deed.Error](wrong)
		return fmt.Errorf("the registry wants contacts, and that of the registrant is not valid: %s", e.Message)
	case cmp.Or(c.Profile.MinYears, defaultMinYears) > cmp.Or(c.Profile.MaxYears, defaultMaxYears):
		return errors.New("the minimum of years is more than the maximum, so nothing could be sold")
	case c.Profile.AutoRenew && c.PaidUntil == nil:
		return errors.New("a registry that renews names by itself needs to be told until when they are paid")
	case c.Profile.Currency != "" && c.Profile.Currency != currency:
		return fmt.Errorf("prices in %s are not supported, only in %s", c.Profile.Currency, currency)
	}
	return nil
}

// The years of an order, if the profile does not say.
const (
	defaultMinYears = 1
	defaultMaxYears = 10
)

// minSecret is the minimum length of Config.Secret.
const minSecret = 16

func (l Limits) withDefaults() Limits {
	l.Sessions = cmp.Or(l.Sessions, 4)
	l.Timeout = cmp.Or(l.Timeout, 15*time.Second)
	l.KeepAlive = cmp.Or(l.KeepAlive, 4*time.Minute)
	l.IdleTime = cmp.Or(l.IdleTime, 30*time.Minute)
	l.MinBackoff = cmp.Or(l.MinBackoff, time.Second)
	l.MaxBackoff = cmp.Or(l.MaxBackoff, time.Minute)
	return l
}

// derive returns a keyed hash of the parts.
func (c Config) derive(parts ...string) []byte {
	mac := hmac.New(sha256.New, []byte(c.Secret.Reveal()))
	for _, p := range parts {
		fmt.Fprintf(mac, "%d:%s", len(p), p)
	}
	return mac.Sum(nil)
}

package app

import (
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/rdap"
	"deed.example/deed/internal/registration"
	"deed.example/deed/internal/resolver"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/tracing"
)

// off turns a listener off.
const off = "off"

// Config says what Open builds. It is plain data: start with Default, which is a
// sandbox, and change it. The command deed fills it from a file, the environment and
// flags, and has checked each value by itself; Validate checks them together.
type Config struct {
	Listen        string      // address of the HTTP interface; "off": none, for commands that only need the services
	PublicURL     string      // base URL that callers use; empty: http:// and the address of Listen
	MetricsListen string      // address for operators; "off": none
	Data          string      // folder for everything that this node keeps
	DatabaseURL   deed.Secret // empty: a SQLite file in Data
	CacheURL      deed.Secret // empty: the memory of this process

	DatabaseDirectURL deed.Secret          // of PostgreSQL itself, if DatabaseURL is that of a connection pooler
	Database          sqldb.PostgresConfig // its URLs are those above; a SQLite file has only the Timeout

	ChainListen    string        // address of the embedded chain
	ChainRPCURL    deed.Secret   // empty: the embedded chain
	ChainFallback  deed.Secret   // used when ChainRPCURL does not respond; empty: none
	ChainQuorum    int           // how many of the two must agree on what decides about money; 0: 1
	ChainID        uint64        // the chain that wallets sign in and pay on
	ChainDepth     string        // "auto", or how many blocks
	ChainFirst     uint64        // first block of the treasury
	ChainTimeout   time.Duration // of one call; 0: chain.Dial's
	ChainBlockTime time.Duration // poll interval of the embedded chain; 0: network.Embedded's

	PayTo        string // the treasury; empty: no payments are taken, except in a sandbox
	GasKey       string // files of private keys
	RefundKey    string
	SignerURL    deed.Secret // Web3Signer that holds both keys; empty: the files
	GasWallet    string      // with SignerURL: the addresses of the keys
	RefundWallet string

	RefundFloor deed.USDC // minimum of the refund wallet; below it there is a warning
	SafeDepth   uint64    // blocks, if the chain has no "safe" block tag
	Payments    fulfil.Terms

	// WalletFactories are the contracts that may deploy a wallet that pays (ERC-6492),
	// separated by commas; "auto": those of the network; "none": none.
	WalletFactories string

	Registrars    []RegistrarConfig      // where names are bought; empty: the embedded registry
	AllowEmbedded bool                   // a rehearsal: the embedded registry on an external chain
	Nameservers   []string               // that names are delegated to; at least one
	DNSListen     string                 // "off": no name server
	DNSAnswers    nameserver.Config      // limits of the name server; its Listen is DNSListen
	ParentTTL     registration.ParentTTL // how long resolvers may have the old delegation of a name
	DNSKey        string                 // file that the keys of zones are derived from; empty: in Data
	DNSSEC        string                 // "on" or "off"
	PrimaryListen string                 // where secondaries fetch zones; "off": nowhere
	PrimaryAllow  []netip.Prefix
	TSIG          string   // file with the keys of transfers; empty: none
	Secondaries   []string // name@host:port
	Resolvers     []string // that look up the targets of ALIAS records: host:port, or "system"

	RedirectListen    string       // where hosts with a FORWARD record are answered; "off": nowhere
	RedirectAddresses []netip.Addr // of such listeners, as the world sees them; none: FORWARD is refused
	RedirectTLSListen string       // where they are answered over HTTPS; "off": nowhere
	ACMEEmail         string       // contact of the account at the certificate authority; needed for RedirectTLSListen
	ACMEDirectory     string       // URL of the certificate authority
	ACMERoots         string       // file with the roots that its own certificate is checked with; empty: those of the system
	CertificatesHour  int          // certificates that all nodes may order in an hour

	SigninKeys string         // file of the token keys; empty: in Data
	AgentKey   string         // file of the key of the agent card; empty: in Data
	Registrar  rdap.Registrar // registrar data of RDAP
	Contact    string         // e-mail address of the operator
	Proxies    []netip.Prefix // whose X-Forwarded-For is trusted

	MaxLoss          deed.USDC // on an order at a price that was quoted before the registrar raised its own
	Terms            Terms     // that buyers agree to
	CancelsPerWallet int       // registrations that a wallet may cancel in 30 days; 0: none

	EmailServer deed.Secret // smtps://USER:PASSWORD@HOST:PORT; empty: no e-mail is sent
	EmailFrom   string      // the sender

	SandboxPublic      bool // other machines may use what only a sandbox has: faucet, clock, faults
	WebhooksAllowLocal bool // webhooks may use http and any address; for a sandbox only

	Limits       deed.Limits
	Pricing      catalog.Pricing
	Search       SearchConfig
	RequestWait  time.Duration // how long a request waits for its job
	PollInterval time.Duration // of a request that waits

	AccessLog bool // whether every response of the HTTP interface is logged

	Traces tracing.Config // where spans of OpenTelemetry are sent; the zero value: nowhere

	Version string       // of this binary, for those who ask
	Log     *slog.Logger // nil discards everything
	Hooks   Hooks        // what tests replace
}

// SearchConfig has the limits of one search for free names.
type SearchConfig struct {
	CacheTTL    time.Duration // how long results of the registrar are reused; 0: not at all
	Timeout     time.Duration
	MaxParallel int // calls of the registrar by one search
	MaxCalls    int // by all searches
}

// Default returns the configuration of a sandbox.
func Default() Config {
	return Config{
		Listen:        "127.0.0.1:8080",
		Data:          "./deed-data",
		Database:      sqldb.DefaultPostgres(),
		ChainListen:   "127.0.0.1:8545",
		ChainID:       network.EmbeddedChainID,
		ChainDepth:    "auto",
		ChainQuorum:   1,
		Nameservers:   []string{"ns1.deed.example", "ns2.deed.example"},
		DNSListen:     "127.0.0.1:5353",
		DNSAnswers:    nameserver.Defaults(),
		DNSSEC:        "on",
		ParentTTL:     registration.ParentTTL{DS: 25 * time.Hour, NS: 49 * time.Hour},
		PrimaryListen: off,
		Resolvers:     []string{resolver.System},

		RedirectListen:    off,
		RedirectTLSListen: off,
		ACMEDirectory:     "https://acme-v02.api.letsencrypt.org/directory",
		CertificatesHour:  100,

		Registrar:   rdap.Registrar{Name: "Deed", AbuseEmail: "abuse@deed.example", AbusePhone: "+1.2025550100"},
		Contact:     "security@deed.example",
		RefundFloor: 10_000 * deed.Cent,
		SafeDepth:   network.SafeDepth,
		Payments:    fulfil.DefaultTerms(),

		WalletFactories: "auto",

		MetricsListen:    "127.0.0.1:8081",
		Limits:           deed.DefaultLimits(),
		Pricing:          catalog.DefaultPricing(),
		MaxLoss:          100 * deed.Cent,
		CancelsPerWallet: 3,
		Search:           SearchConfig{CacheTTL: 3 * time.Second, Timeout: 3 * time.Second, MaxParallel: 16, MaxCalls: 64},
		RequestWait:      8 * time.Second,
		PollInterval:     50 * time.Millisecond,
	}
}

// SigninKeysFile returns the file of the token keys.
func (c *Config) SigninKeysFile() string { return c.file(c.SigninKeys, "signin.keys") }

// agentKeyFile returns the file of the key that signs the agent card.
func (c *Config) agentKeyFile() string { return c.file(c.AgentKey, "agent.key") }

// zoneSecretFile returns the file of the secret that the keys of zones are derived
// from.
func (c *Config) zoneSecretFile() string { return c.file(c.DNSKey, "dns.key") }

// zoneSnapshotFile returns the file from which the name server starts.
func (c *Config) zoneSnapshotFile() string { return filepath.Join(c.Data, "zones.snapshot") }

func (c *Config) databaseFile() string { return filepath.Join(c.Data, "deed.db") }

func (c *Config) chainFolder() string { return filepath.Join(c.Data, "chain") }

// file returns the configured path, or that of the name in the data folder.
func (c *Config) file(path, name string) string {
	if path != "" {
		return path
	}
	return filepath.Join(c.Data, name)
}

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/app"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/sqldb"
)

// config is the configuration: that of the service, and that of its log.
type config struct {
	app.Config
	LogLevel  slog.Level
	LogFormat string
}

// defaultConfig returns the configuration of a sandbox.
func defaultConfig() *config {
	c := &config{Config: app.Default(), LogLevel: slog.LevelInfo, LogFormat: "auto"}
	c.Version, c.Hooks.Step, c.Hooks.LocalNow = version(), failpoint, localNow
	return c
}

// settings are the keys of the configuration, in the order in which they are
// shown. A key "database.url" is DEED_DATABASE_URL in the environment and
// --database-url among the flags.
func (c *config) settings() []*setting {
	return []*setting{
		{key: "listen", help: "address of the HTTP interface; port 0 takes a free one", value: text(&c.Listen, address)},
		{key: "public_url", help: "where callers reach us; default: http:// and the address", value: text(&c.PublicURL, publicURLOrNone)},
		{key: "data", help: "folder for everything this node keeps", value: text(&c.Data, notEmpty)},
		{key: "database.url", help: "postgres://… instead of a SQLite file in the data folder", value: secret(&c.DatabaseURL, "postgres", "postgresql")},
		{key: "database.direct_url", help: "address of PostgreSQL itself, when database.url is that of a connection pooler such as PgBouncer", value: secret(&c.DatabaseDirectURL, "postgres", "postgresql")},
		{key: "database.max_connections", help: "connections of this node that write; half as many more only read", value: between(&c.Database.MaxConns, 1, 10_000)},
		{key: "database.statements", help: "prepared, unprepared, or auto: unprepared behind a connection pooler", value: text(&c.Database.Statements, oneOf(sqldb.StatementsAuto, sqldb.StatementsPrepared, sqldb.StatementsUnprepared))},
		{key: "database.timeout", help: "how long a transaction may take, with the wait for a connection", value: positiveDuration(&c.Database.Timeout)},
		{key: "database.lock_timeout", help: "how long PostgreSQL lets a statement wait for a lock; 0s: no limit", value: duration(&c.Database.LockTimeout)},
		{key: "database.statement_timeout", help: "how long PostgreSQL lets a statement run; 0s: no limit", value: duration(&c.Database.StatementTimeout)},
		{key: "database.idle_timeout", help: "PostgreSQL ends a transaction whose node sends nothing for so long; 0s: never", value: duration(&c.Database.IdleTimeout)},
		{key: "cache.url", help: "redis://… instead of the memory of this process", value: secret(&c.CacheURL, "redis", "rediss", "unix")},
		{key: "chain.listen", help: "address of the embedded chain's JSON-RPC", value: text(&c.ChainListen, address)},
		{key: "chain.rpc_url", help: "JSON-RPC of a real chain instead of the embedded one", value: secret(&c.ChainRPCURL, "https", "http")},
		{key: "chain.rpc_fallback_url", help: "JSON-RPC to ask when the first does not answer", value: secret(&c.ChainFallback, "https", "http")},
		{key: "chain.quorum", help: "how many of these two must agree on what decides about money: 1 or 2", value: between(&c.ChainQuorum, 1, 2)},
		{key: "chain.id", help: "the chain that wallets sign in on", value: chainID(&c.ChainID)},
		{key: "chain.depth", help: "how many blocks deep a payment must lie; auto: by its amount", value: text(&c.ChainDepth, depth)},
		{key: "chain.from_block", help: "first block of the treasury: earlier transfers are neither counted nor refunded", value: blockNumber(&c.ChainFirst)},
		{key: "pay_to", help: "treasury that callers pay to; its key stays elsewhere", value: text(&c.PayTo, walletOrNone)},
		{key: "chain.gas_key", help: "file with the key that pays for gas, in hex", value: text(&c.GasKey, anything)},
		{key: "chain.refund_key", help: "file with the key that pays refunds, in hex", value: text(&c.RefundKey, anything)},
		{key: "chain.signer_url", help: "Web3Signer (eth1) that holds the keys of the gas wallet and the refund wallet, instead of files", value: secret(&c.SignerURL, "https", "http")},
		{key: "chain.gas_wallet", help: "address of the gas wallet at the signer", value: text(&c.GasWallet, walletOrNone)},
		{key: "chain.refund_wallet", help: "address of the refund wallet at the signer", value: text(&c.RefundWallet, walletOrNone)},
		{key: "chain.refund_floor_usd", help: "warn when the refund wallet has less", value: amount(&c.RefundFloor)},
		{key: "chain.safe_depth", help: "how many blocks deep counts as safe where the chain does not say", value: blocks(&c.SafeDepth)},
		{key: "chain.wallet_factories", help: "contracts that may deploy a wallet with its first payment (ERC-6492), separated by commas; auto: those known on the chain; none", value: text(&c.WalletFactories, walletFactories)},
		{key: "payments.max_open", help: "payments of one wallet that may wait to be settled at the same time", value: between(&c.Payments.MaxOpen, 1, 100)},
		{key: "payments.max_reverts", help: "payments that may fail on the chain within a day, at the cost of our gas, before contract wallets that have not paid before are refused", value: between(&c.Payments.MaxReverts, 0, 1_000_000)},
		{key: "payments.release_after", help: "how long a payment that cannot be settled keeps its name from other buyers, such as 1m", value: duration(&c.Payments.ReleaseAfter)},
		{key: "payments.claim_window", help: "how long money that came without a request waits for its payer before it goes back, such as 5m", value: duration(&c.Payments.ClaimWindow)},
		{key: "payments.dust_usd", help: "money that came without a request goes back by itself from this amount on", value: amount(&c.Payments.Dust)},
		{key: "signin.keys", help: "file with the keys of tokens, the same on every node; default: signin.keys in the data folder", value: text(&c.SigninKeys, anything)},
		{key: "registrar.allow_embedded", help: "true: a rehearsal, the embedded registry sells names on a chain that is not the embedded one", value: boolean(&c.AllowEmbedded)},
		{key: "registrar.max_loss_usd", help: "what we may lose on an order whose price was quoted before the registrar raised its own", value: amount(&c.MaxLoss)},
		{key: "registrar.cancel_per_wallet", help: "registrations that one wallet may cancel in 30 days; 0: none", value: between(&c.CancelsPerWallet, 0, 1000)},
		{key: "sandbox.public", help: "true: other machines may use the faucet, the clock and the faults of a sandbox", value: boolean(&c.SandboxPublic)},
		{key: "webhooks.allow_local", help: "true: webhooks of a sandbox may use http and addresses that are not public", value: boolean(&c.WebhooksAllowLocal)},
		{key: "email.server", help: "mail server that notices to owners are sent through: smtps://USER:PASSWORD@HOST:465, or smtp:// for STARTTLS; empty: none are sent", value: secret(&c.EmailServer, "smtps", "smtp")},
		{key: "email.from", help: "sender of the notices", value: text(&c.EmailFrom, emailOrNone)},
		{key: "dns.nameservers", help: "host names of our name servers, which names are delegated to", value: hosts(&c.Nameservers)},
		{key: "rdap.registrar", help: "name of the registrar in RDAP", value: text(&c.Registrar.Name, notEmpty)},
		{key: "rdap.iana_id", help: "number of the accreditation by ICANN, when there is one", value: text(&c.Registrar.IANAID, numberOrNone)},
		{key: "rdap.abuse_email", help: "abuse contact in RDAP", value: text(&c.Registrar.AbuseEmail, email)},
		{key: "rdap.abuse_phone", help: "who to call about abuse, such as +1.2025550100", value: text(&c.Registrar.AbusePhone, notEmpty)},
		{key: "rdap.contact_url", help: "page that passes messages on to registrants, when there is one", value: text(&c.Registrar.Contact, webPageOrNone)},
		{key: "terms.version", help: "version of the terms that buyers agree to, such as 2026-11-01; stored with each order", value: text(&c.Terms.Version, termsVersionOrNone)},
		{key: "terms.url", help: "page with these terms", value: text(&c.Terms.URL, webPageOrNone)},
		{key: "contact", help: "e-mail address for those who find something wrong with us", value: text(&c.Contact, email)},
		{key: "agent.key", help: "file with the key that signs the agent card, the same on every node; default: agent.key in the data folder", value: text(&c.AgentKey, anything)},
		{key: "dns.listen", help: "address of the name server, UDP and TCP; off turns it off", value: text(&c.DNSListen, addressOrOff)},
		{key: "dns.rate_limit", help: "equal answers a second over UDP to one network; 0: no limit", value: between(&c.DNSAnswers.RatePerSecond, 0, 100_000)},
		{key: "dns.rate_slip", help: "above the limit, one answer in so many is sent truncated; 0: none", value: between(&c.DNSAnswers.Slip, 0, 100)},
		{key: "dns.rate_ipv4_prefix", help: "length of the prefix that counts as one network, of IPv4", value: between(&c.DNSAnswers.IPv4Prefix, 8, 32)},
		{key: "dns.rate_ipv6_prefix", help: "likewise, of IPv6", value: between(&c.DNSAnswers.IPv6Prefix, 16, 64)},
		{key: "dns.rate_exempt", help: "networks without a limit", value: prefixes(&c.DNSAnswers.Exempt)},
		{key: "dns.cookies", help: "true or false: whether clients may prove their address with DNS cookies, which lift the limit", value: boolean(&c.DNSAnswers.Cookies)},
		{key: "dns.nsid", help: "what identifies this node to clients that ask (NSID); at most 64 bytes", value: text(&c.DNSAnswers.NSID, nsid)},
		{key: "dns.key", help: "file with the secret that the keys of all zones are derived from, the same on every node; default: dns.key in the data folder", value: text(&c.DNSKey, anything)},
		{key: "dns.dnssec", help: "on or off: whether new zones are signed", value: text(&c.DNSSEC, oneOf("on", "off"))},
		{key: "dns.parent_ds_ttl", help: "how long resolvers may have the DS of a name after its removal: its TTL in the TLD, and the delay of the registry", value: duration(&c.ParentTTL.DS)},
		{key: "dns.parent_ns_ttl", help: "how long resolvers may have the name servers of a name after their change, likewise", value: duration(&c.ParentTTL.NS)},
		{key: "dns.resolvers", help: "recursive resolvers that look up the targets of ALIAS records: host:port, or system for those of the machine", value: resolvers(&c.Resolvers)},
		{key: "redirect.listen", help: "address where hosts with a FORWARD record are answered over HTTP; off turns it off", value: text(&c.RedirectListen, addressOrOff)},
		{key: "redirect.addresses", help: "addresses of such listeners, as the world sees them: what is served for FORWARD records", value: addresses(&c.RedirectAddresses)},
		{key: "redirect.tls_listen", help: "address where hosts with a FORWARD record are answered over HTTPS; needs redirect.acme_email; off turns it off", value: text(&c.RedirectTLSListen, addressOrOff)},
		{key: "redirect.acme_email", help: "contact of the account at the certificate authority; setting it agrees to the authority's terms", value: text(&c.ACMEEmail, emailOrNone)},
		{key: "redirect.acme_directory", help: "ACME directory of the certificate authority", value: text(&c.ACMEDirectory, directoryURL)},
		{key: "redirect.acme_roots", help: "PEM file with the roots that the authority's own certificate is checked with; default: those of the system", value: text(&c.ACMERoots, anything)},
		{key: "redirect.certificates_per_hour", help: "certificates that all nodes together may order in an hour", value: positive(&c.CertificatesHour)},
		{key: "dns.primary_listen", help: "address where secondaries fetch zones; off turns it off", value: text(&c.PrimaryListen, addressOrOff)},
		{key: "dns.primary_allow", help: "networks that may fetch zones without a key", value: prefixes(&c.PrimaryAllow)},
		{key: "dns.tsig", help: "file with the keys of transfers: name and base64 secret, one a line", value: text(&c.TSIG, anything)},
		{key: "dns.secondaries", help: "name servers that get NOTIFY of changes: name@host:port/key; without a key the notices are not signed", value: secondaries(&c.Secondaries)},
		{key: "metrics.listen", help: "address for operators: /metrics and /debug/pprof/; off turns it off", value: text(&c.MetricsListen, addressOrOff)},
		{key: "proxies", help: "networks of proxies whose X-Forwarded-For is believed", value: prefixes(&c.Proxies)},
		{key: "log.level", help: "debug, info, warn or error", value: level(&c.LogLevel)},
		{key: "log.format", help: "json, text, or auto: text on a terminal", value: text(&c.LogFormat, oneOf("auto", "json", "text"))},
		{key: "log.access", help: "true: log every response, with path, status, duration, client address and request id", value: boolean(&c.AccessLog)},
		{key: "limits.search", help: "searches a minute, per address", value: positive(&c.Limits.Search.Max)},
		{key: "limits.register", help: "orders a day, per address", value: positive(&c.Limits.Register.Max)},
		{key: "limits.dns", help: "DNS calls an hour, per wallet", value: positive(&c.Limits.DNS.Max)},
		{key: "limits.account", help: "account calls a minute, per wallet", value: positive(&c.Limits.Account.Max)},
		{key: "limits.signin", help: "sign-in calls a minute, per address", value: positive(&c.Limits.SignIn.Max)},
		{key: "limits.agents", help: "messages of MCP and A2A a minute, per address", value: positive(&c.Limits.Agents.Max)},
		{key: "catalog.markup", help: "what we add to wholesale prices", value: percent(&c.Pricing.Markup.BasisPoints)},
		{key: "catalog.fee_usd", help: "what we add after the markup", value: amount(&c.Pricing.Markup.Fee)},
		{key: "catalog.ceiling_usd", help: "no order may cost more", value: positiveAmount(&c.Pricing.Ceiling)},
	}
}

// isRegistrarKey reports whether the key is in a block [registrar.NAME]. Blocks can be
// set in the file only.
func isRegistrarKey(key string) bool {
	return strings.HasPrefix(key, "registrar.") && strings.Count(key, ".") == 2
}

// setRegistrar sets one key of a block. The registrar checks its values when it is
// opened.
func (c *config) setRegistrar(key, value string) error {
	parts := strings.SplitN(key, ".", 3)
	switch r := c.registrar(parts[1]); parts[2] {
	case "type":
		r.Type = value
	case "tlds":
		r.TLDs = listed(value)
	case "reserve_usd":
		if err := amount(&r.Reserve).Set(value); err != nil {
			return fmt.Errorf("%s: %w", key, plain(err))
		}
	case "markup", "fee_usd": // setMarkups
	case "delete_orphans":
		allowed, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Errorf("%s must be true or false", key)
		}
		r.DeleteOrphans = allowed
	default:
		r.Values[parts[2]] = value
	}
	return nil
}

// registrar returns the block of that name, which it adds if there is none.
func (c *config) registrar(name string) *app.RegistrarConfig {
	i := slices.IndexFunc(c.Registrars, func(r app.RegistrarConfig) bool { return r.Name == name })
	if i < 0 {
		i = len(c.Registrars)
		c.Registrars = append(c.Registrars, app.RegistrarConfig{Name: name, Values: map[string]string{}})
	}
	return &c.Registrars[i]
}

// setMarkups sets the markups of the file that override the general one, whose value the
// environment and the flags may have changed.
func (c *config) setMarkups(values map[string]string) error {
	for _, key := range slices.Sorted(maps.Keys(values)) {
		var err error
		switch parts := strings.SplitN(key, ".", 3); {
		case strings.HasPrefix(key, perTLD):
			err = c.setPerTLD(key, values[key])
		case isRegistrarKey(key) && (parts[2] == "markup" || parts[2] == "fee_usd"):
			err = c.setRegistrarMarkup(c.registrar(parts[1]), parts[2], values[key])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", key, plain(err))
		}
	}
	return nil
}

// setRegistrarMarkup sets what is added to the prices of one registrar.
func (c *config) setRegistrarMarkup(r *app.RegistrarConfig, key, value string) error {
	if r.Markup == nil {
		usual := c.Pricing.Markup
		r.Markup = &usual
	}
	if key == "markup" {
		return percent(&r.Markup.BasisPoints).Set(value)
	}
	return amount(&r.Markup.Fee).Set(value)
}

// perTLD is the prefix of keys such as catalog.tld.com.markup, which override the
// markup of one TLD. They can be set in the file only.
const perTLD = "catalog.tld."

// setPerTLD sets one key that begins with perTLD.
func (c *config) setPerTLD(key, value string) error {
	rest := strings.TrimPrefix(key, perTLD)
	dot := strings.LastIndexByte(rest, '.')
	if dot < 0 {
		return errors.New("write it as a table: [catalog.tld.com] with markup and fee_usd")
	}
	tld, err := deed.ParseTLD(rest[:dot])
	if err != nil {
		return err
	}
	m, ok := c.Pricing.PerTLD[tld]
	if !ok {
		m = c.Pricing.Markup
	}
	switch rest[dot+1:] {
	case "markup":
		err = percent(&m.BasisPoints).Set(value)
	case "fee_usd":
		err = amount(&m.Fee).Set(value)
	default:
		err = errors.New("a TLD has the keys markup and fee_usd")
	}
	if c.Pricing.PerTLD == nil {
		c.Pricing.PerTLD = map[deed.TLD]catalog.Markup{}
	}
	c.Pricing.PerTLD[tld] = m
	return err
}

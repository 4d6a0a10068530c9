package app

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"

	"deed.example/deed/internal/sqldb"
)

// warnings returns settings that the operator may not have intended.
func (c *Config) warnings() []string {
	var out []string
	if c.MetricsListen != off && !loopback(c.MetricsListen) {
		out = append(out, "metrics.listen "+c.MetricsListen+" can be reached from other machines: profiles show what this process does")
	}
	if c.ChainRPCURL == "" && c.Listen != off && !loopback(c.Listen) {
		out = append(out, "SANDBOX: callers from other machines reach a service that takes test money; set chain.rpc_url before anyone relies on it")
	}
	for _, r := range c.Registrars {
		if c.Hooks.Chain == nil && c.ChainRPCURL == "" && r.Type != localKind {
			out = append(out, "SANDBOX: registrar "+r.Name+" charges you for names that callers buy with test money, which anybody gets: set chain.rpc_url, unless it is a test system")
		}
	}
	out = append(out, c.unlistedTLDs()...)
	if c.SandboxPublic {
		out = append(out, "PUBLIC SANDBOX: whoever reaches it can take test money, move its clock and cause faults; the names are not real, and the money is worthless")
	}
	if c.ChainRPCURL == "" && !loopback(c.ChainListen) {
		out = append(out, "SANDBOX: chain.listen "+c.ChainListen+" lets other machines use the embedded chain")
	}
	if c.ChainRPCURL != "" && c.PayTo != "" && c.ChainFirst == 0 {
		out = append(out, "chain.from_block is 0: all earlier authorized transfers to pay_to are counted, and refunded if they belong to no order; set it to the newest block before the first start")
	}
	if c.Outside() && c.PayTo == "" {
		out = append(out, "pay_to is not set: this node sells nothing, and /readyz says 503")
	}
	if c.DatabaseURL != "" && c.CacheURL == "" {
		out = append(out, "database.url is shared but cache.url is not set: each node counts the short limits by itself")
	}
	if c.PrimaryListen != off && c.TSIG == "" && len(c.PrimaryAllow) == 0 {
		out = append(out, "dns.primary_listen is set but neither dns.tsig nor dns.primary_allow is: no name server may transfer zones")
	}
	if c.PrimaryListen == off && len(c.Secondaries) > 0 {
		out = append(out, "dns.secondaries is set but dns.primary_listen is not: they are told of changes, and cannot transfer zones from here")
	}
	if c.RedirectTLSListen == off && c.RedirectListen != off && c.ACMEEmail != "" {
		out = append(out, "redirect.acme_email is set but redirect.tls_listen is not: hosts with a FORWARD record are answered over HTTP only")
	}
	if c.RedirectTLSListen != off && len(c.RedirectAddresses) == 0 {
		out = append(out, "redirect.tls_listen is set but redirect.addresses is not: FORWARD records are refused")
	}
	return out
}

// warnOfLoss adds a warning if the database may lose what records real money.
func (a *App) warnOfLoss(ctx context.Context) error {
	if !a.config.Outside() {
		return nil
	}
	lossy, err := a.DB.LossySettings(ctx)
	if err != nil {
		return fmt.Errorf("read the settings of the database: %w", err)
	}
	for _, setting := range lossy {
		a.warnings = append(a.warnings, setting+" of PostgreSQL is off: a crash can lose or damage orders and payments that were recorded; turn it on")
	}
	return nil
}

// warnOfMissing adds a warning for each registrar that is missing in the configuration.
func (a *App) warnOfMissing(ctx context.Context) error {
	missing, err := a.missingRegistrars(ctx)
	for _, name := range missing {
		a.warnings = append(a.warnings, "registrar."+name+" is not configured, and has names or open orders: they cannot be renewed, changed or completed until its block is there again")
	}
	return err
}

// missingRegistrars returns the registrars that have names or open orders and are not
// configured.
func (a *App) missingRegistrars(ctx context.Context) ([]string, error) {
	all, err := sqldb.Registrations{DB: a.DB}.Backends(ctx)
	if err != nil {
		return nil, fmt.Errorf("read which registrars have names: %w", err)
	}
	return slices.DeleteFunc(all, func(name string) bool { _, err := a.registrar.Backend(name); return err == nil }), nil
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

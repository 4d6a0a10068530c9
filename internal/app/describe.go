package app

import (
	"fmt"
	"net/url"
	"strings"

	"deed.example/deed"
)

// DescribeDatabase says which database is used, without its password.
func (c *Config) DescribeDatabase() string {
	if c.DatabaseURL != "" {
		return "PostgreSQL at " + RedactURL(c.DatabaseURL)
	}
	return "SQLite in " + c.databaseFile()
}

// DescribeCache says which cache is used, without its password.
func (c *Config) DescribeCache() string {
	if c.CacheURL != "" {
		return "Redis at " + RedactURL(c.CacheURL)
	}
	return "the memory of this process"
}

// DescribeChain says which chain is used, without the password of its endpoint.
func (c *Config) DescribeChain() string {
	if c.ChainRPCURL != "" {
		return fmt.Sprintf("%d at %s", c.ChainID, RedactURL(c.ChainRPCURL))
	}
	return fmt.Sprintf("%d, embedded, with test money, in %s", c.ChainID, c.chainFolder())
}

// DescribeSigner says who signs for the gas wallet and the refund wallet, without the
// password of a service.
func (c *Config) DescribeSigner() string {
	switch {
	case c.SignerURL != "":
		return fmt.Sprintf("Web3Signer at %s, for %s (gas) and %s (refunds)", RedactURL(c.SignerURL), c.GasWallet, c.RefundWallet)
	case c.ChainRPCURL == "":
		return "keys of the sandbox in " + c.chainFolder()
	case c.PayTo == "":
		return "none: no payments are taken"
	}
	return fmt.Sprintf("keys in %s (gas) and %s (refunds)", c.GasKey, c.RefundKey)
}

// DescribeRedirects says where hosts with a FORWARD record are answered, and whose
// certificates they have; "" if nowhere.
func (c *Config) DescribeRedirects() string {
	switch {
	case c.RedirectListen == off && c.RedirectTLSListen == off:
		return ""
	case c.RedirectTLSListen == off:
		return "HTTP at " + c.RedirectListen
	case c.RedirectListen == off:
		return fmt.Sprintf("HTTPS at %s, certificates from %s for %s", c.RedirectTLSListen, c.ACMEDirectory, c.ACMEEmail)
	}
	return fmt.Sprintf("HTTP at %s, HTTPS at %s, certificates from %s for %s", c.RedirectListen, c.RedirectTLSListen, c.ACMEDirectory, c.ACMEEmail)
}

// RedactURL returns a URL without its password.
func RedactURL(s deed.Secret) string {
	if s == "" {
		return ""
	}
	u, err := url.Parse(s.Reveal())
	if err != nil {
		return redactHosts(s)
	}
	u.RawQuery, u.Fragment = "", ""                // they may have a password, too
	if u.Scheme == "http" || u.Scheme == "https" { // providers of endpoints put their keys anywhere
		u.User = nil
		if strings.Trim(u.Path, "/") != "" {
			u.Path, u.RawPath = "/xxxxx", ""
		}
	}
	return u.Redacted()
}

// redactHosts returns the URL of several hosts, which net/url cannot parse, without its
// password.
func redactHosts(s deed.Secret) string {
	text, _, _ := strings.Cut(s.Reveal(), "?")
	scheme, rest, isURL := strings.Cut(text, "://")
	at := strings.LastIndexByte(rest, '@')
	if !isURL || at < 0 {
		return s.LogValue().String() // a part of it may be a password
	}
	user, _, _ := strings.Cut(rest[:at], ":")
	return scheme + "://" + user + ":xxxxx" + rest[at:]
}

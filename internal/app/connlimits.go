package app

import (
	"net"
	"net/netip"

	"deed.example/deed/internal/connlimit"
	"deed.example/deed/internal/nameserver"
)

// The maximum numbers of connections where the process may open enough files.
const (
	maxCallers           = 16384 // of the API
	maxCallersPerClient  = 256
	maxVisitors          = 8192 // of each listener for redirects
	maxVisitorsPerClient = 64
)

// connLimits returns the limits of the API, and those of each listener for redirects.
// Together they have half of the files that the process may open: the other half is left
// for the database, the chain and the name server.
func (c *Config) connLimits() (callers, visitors connlimit.Limits) {
	redirects := 0
	for _, address := range []string{c.RedirectListen, c.RedirectTLSListen} {
		if address != off {
			redirects++
		}
	}
	all := c.maxFiles() / 2
	visitors = limitConns(min(maxVisitors, all/4), maxVisitorsPerClient)
	return limitConns(min(maxCallers, all-redirects*visitors.All), maxCallersPerClient), visitors
}

// dnsLimits returns the configuration of the name server, with at most an eighth of the
// files for its TCP connections.
func (c *Config) dnsLimits() nameserver.Config {
	conf := c.DNSAnswers
	limits := limitConns(min(conf.Conns, c.maxFiles()/8), conf.ConnsPerClient)
	conf.Conns, conf.ConnsPerClient = limits.All, limits.Client
	return conf
}

// maxFiles returns how many files the process may open.
func (c *Config) maxFiles() int {
	if c.Hooks.MaxFiles > 0 {
		return c.Hooks.MaxFiles
	}
	return connlimit.MaxFiles()
}

// limitConns gives one client at most a quarter of all connections.
func limitConns(all, client int) connlimit.Limits {
	return connlimit.Limits{Client: max(1, min(client, all/4)), All: max(1, all)}
}

// listenLimited opens a listener with limits, except for proxies, at the address of a
// setting.
func listenLimited(setting, address string, limits connlimit.Limits, proxies []netip.Prefix) (net.Listener, error) {
	l, err := listen(setting, address)
	if err != nil {
		return nil, err
	}
	return connlimit.Listen(l, limits, proxies), nil
}

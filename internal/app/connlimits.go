package app

import (
	"net"
	"net/netip"

	"deed.example/deed/internal/connlimit"
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
	files := c.Hooks.MaxFiles
	if files == 0 {
		files = connlimit.MaxFiles()
	}
	redirects := 0
	for _, address := range []string{c.RedirectListen, c.RedirectTLSListen} {
		if address != off {
			redirects++
		}
	}
	all := files / 2
	visitors = limitConns(min(maxVisitors, all/4), maxVisitorsPerClient)
	return limitConns(min(maxCallers, all-redirects*visitors.All), maxCallersPerClient), visitors
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

package nameserver

import (
	"net/netip"
	"runtime"
	"time"
)

// Config has the addresses of the server and its limits for untrusted clients.
// Start from Defaults.
type Config struct {
	Listen  string // address and port of UDP and TCP; port 0 binds a free one
	Sockets int    // UDP sockets that share the port, each with its own reader

	// RatePerSecond is the maximum number of responses per second over UDP to one
	// network, a /24 of IPv4 or a /56 of IPv6; 0 is unlimited. Of the responses
	// above it one in Slip is sent truncated, so that a real client retries over
	// TCP; with Slip 0 all are dropped. Exempt networks have no limit.
	RatePerSecond int
	Slip          int
	Exempt        []netip.Prefix

	// Amplification is the maximum ratio of the length of a response over UDP to
	// that of its query; a longer response is truncated. 0 is unlimited.
	Amplification int

	Conns          int           // concurrent TCP connections
	ConnsPerClient int           // of them, from one address of IPv4 or /56 of IPv6
	Idle           time.Duration // how long a connection may take to send its next query

	Now func() time.Time
}

// Defaults returns the settings of a public server, on the address of the sandbox.
// Loopback addresses are exempt from the rate limit: they cannot be spoofed from
// outside.
func Defaults() Config {
	return Config{
		Listen:        "127.0.0.1:5353",
		Sockets:       runtime.GOMAXPROCS(0),
		RatePerSecond: 200,
		Slip:          2,
		Exempt:        []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		Amplification: 10,

		Conns:          1024,
		ConnsPerClient: 64,
		Idle:           10 * time.Second,

		Now: time.Now,
	}
}

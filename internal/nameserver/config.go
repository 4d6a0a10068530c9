package nameserver

import (
	"crypto/rand"
	"net/netip"
	"runtime"
	"time"
)

// Config has the addresses of the server and its limits for untrusted clients.
// Start from Defaults.
type Config struct {
	Listen  string // address and port of UDP and TCP; port 0 binds a free one
	Sockets int    // UDP sockets that share the port, each with its own reader

	// RatePerSecond is the maximum number of equal responses per second over UDP to
	// one network, an IPv4Prefix or an IPv6Prefix; 0 is unlimited. Of the responses
	// above it one in Slip is sent truncated, so that a real client retries over
	// TCP; with Slip 0 all are dropped. Exempt networks have no limit, and neither
	// have clients with a valid cookie.
	RatePerSecond int
	Slip          int
	IPv4Prefix    int // 1 to 32
	IPv6Prefix    int // 1 to 64
	Exempt        []netip.Prefix

	// Cookies turns on DNS cookies (RFC 7873). Servers behind one address must have
	// the same CookieSecret.
	Cookies      bool
	CookieSecret [16]byte

	NSID string // what identifies this server (RFC 5001), at most 64 bytes; empty: nothing

	Conns          int           // concurrent TCP connections
	ConnsPerClient int           // of them, from one address of IPv4 or /56 of IPv6
	Idle           time.Duration // how long a connection may take to send its next query

	Now func() time.Time
}

// Defaults returns the settings of a public server, on the address of the sandbox.
// Loopback addresses are exempt from the rate limit: they cannot be spoofed from
// outside. The cookie secret is random.
func Defaults() Config {
	c := Config{
		Listen:        "127.0.0.1:5353",
		Sockets:       runtime.GOMAXPROCS(0),
		RatePerSecond: 200,
		Slip:          2,
		Exempt:        []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")},
		IPv4Prefix:    24,
		IPv6Prefix:    56,
		Cookies:       true,

		Conns:          1024,
		ConnsPerClient: 64,
		Idle:           10 * time.Second,

		Now: time.Now,
	}
	_, _ = rand.Read(c.CookieSecret[:]) // never fails
	return c
}

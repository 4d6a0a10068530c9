package nameserver

import (
	"net/netip"
	"runtime"
	"time"
)

// Config says where the server listens and what a stranger may take from it.
// Begin with Defaults.
type Config struct {
	Listen  string // address and port of UDP and TCP; port 0 takes a free one
	Sockets int    // UDP sockets that share the port, each with its own reader

	// RatePerSecond is how many answers one network, a /24 of IPv4 or a /56 of
	// IPv6, is sent over UDP in a second; 0 is any number. Of the answers above
	// it one in Slip is sent cut short, so that a real client comes back over
	// TCP; 0 drops all. Exempt networks have no limit.
	RatePerSecond int
	Slip          int
	Exempt        []netip.Prefix

	// Amplification is how many times longer than its query an answer over UDP
	// may be, before it is cut short; 0 is any number.
	Amplification int

	Conns          int           // TCP connections at once
	ConnsPerClient int           // of them, from one address of IPv4 or /56 of IPv6
	Idle           time.Duration // how long a connection may take to bring its next query

	Now func() time.Time
}

// Defaults returns the settings of a server that strangers can reach, on the
// address of the sandbox. Loopback addresses are exempt from the rate: nobody
// can forge them from outside.
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

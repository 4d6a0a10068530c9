// Package peer starts third-party name servers, to compare package nameserver with
// them: Knot, NSD, BIND and PowerDNS, as Debian packages them. Each runs as a plain
// process on a free loopback port, with one thread for queries and all its files in
// one directory, until it is stopped. It also starts Knot and BIND as secondaries,
// configured as in docs/secondaries.md.
package peer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/miekg/dns"
)

// A Peer is a running server.
type Peer struct {
	Name string
	*Daemon
}

// Names are the servers that Start supports.
var Names = []string{"knot", "nsd", "bind", "powerdns"}

// Package returns the Debian package of a server.
func Package(name string) string {
	switch name {
	case "bind":
		return "bind9"
	case "powerdns":
		return "pdns-server pdns-backend-bind"
	}
	return name
}

// Start starts the server with these zones, and returns when it serves all of them.
// The directory must be empty and stay until Stop.
func Start(name, dir string, zones []Zone) (*Peer, error) {
	for _, z := range zones {
		if err := z.Write(dir); err != nil {
			return nil, err
		}
	}
	return StartOn(name, dir, zones, timeout)
}

// StartOn is Start with zones whose files are in the directory already, written by
// Zone.Write, and with a time limit of its own. Of more than maxAsked zones, it asks the
// server for some, at equal distances in the list.
func StartOn(name, dir string, zones []Zone, within time.Duration) (*Peer, error) {
	r := recipes[name]
	d, err := NewDaemon(r.program, Package(name), dir)
	if err != nil {
		return nil, err
	}
	d.within = within
	for file, text := range r.files(dir, d.Addr.Port(), zones) {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	if err := d.Start(r.args(dir)...); err != nil {
		return nil, err
	}
	p := &Peer{Name: name, Daemon: d}
	if err := p.await(zones); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

// maxAsked is for how many zones at most a server is asked before it counts as started.
const maxAsked = 20_000

// await returns when the server serves all zones that it is asked for.
func (p *Peer) await(zones []Zone) error {
	deadline := time.Now().Add(p.within)
	client := dns.Client{Timeout: time.Second}
	step := max(1, len(zones)/maxAsked)
	for i := 0; i < len(zones); {
		m, _, err := client.Exchange(new(dns.Msg).SetQuestion(dns.Fqdn(zones[i].Origin), dns.TypeSOA), p.Addr.String())
		if err == nil && m.Rcode == dns.RcodeSuccess {
			i += step
			continue
		}
		if err := p.wait(deadline); err != nil {
			return fmt.Errorf("for %s: %w", zones[i].Origin, err)
		}
	}
	return nil
}

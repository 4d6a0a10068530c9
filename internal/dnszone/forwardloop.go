package dnszone

import (
	"net/url"
	"strings"

	"deed.example/deed"
)

// redirectHost returns the host that a canonical FORWARD record redirects to, absolute. The
// redirect servers answer there for the whole host, whatever the scheme, port and path are.
func (r Record) redirectHost() string {
	location, _ := r.Redirect()
	u, err := url.Parse(location)
	if err != nil {
		return "" // does not happen with a canonical record
	}
	return strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
}

// forwards has the host of each FORWARD record of a zone and the one that it redirects to,
// both absolute.
type forwards map[string]string

func newForwards(z Zone) forwards {
	f := forwards{}
	for _, r := range z.Records {
		if r.Type == TypeForward {
			f[absolute(r.Host, z.Name)] = r.redirectHost()
		}
	}
	return f
}

// loops reports whether visitors of a host come back to it.
func (f forwards) loops(host string) bool {
	to := host
	for range len(f) {
		next, ok := f[to]
		if !ok {
			return false
		}
		if to = next; to == host {
			return true
		}
	}
	return false
}

// checkForwardLoops refuses a zone in which FORWARD records redirect visitors in a circle
// that before does not have, such as example.com to www.example.com and back.
func checkForwardLoops(before, after Zone, refuse func(host string, err error)) {
	is := newForwards(after)
	if len(is) == 0 {
		return
	}
	was := newForwards(before)
	for _, r := range after.Records {
		host := absolute(r.Host, after.Name)
		if r.Type == TypeForward && is.loops(host) && !was.loops(host) {
			refuse(r.Host, deed.Invalid("value", "the FORWARD at %s leads back to itself through %s: visitors would be redirected for ever", deed.Quoted(host), deed.Quoted(r.Value)))
		}
	}
}

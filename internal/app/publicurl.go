package app

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"golang.org/x/net/idna"
)

// publicBase returns the public URL of the service.
func publicBase(c *Config, addr net.Addr) (*url.URL, error) {
	if c.PublicURL != "" {
		return ParsePublicURL(c.PublicURL)
	}
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return nil, fmt.Errorf("read our own address: %w", err)
	}
	if ip := net.ParseIP(host); ip.IsUnspecified() {
		host = "localhost" // 0.0.0.0 is not an address to connect to
	}
	base := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if origin, err := ParsePublicURL(base.String()); err == nil { // not for an address with a zone
		return origin, nil
	}
	return base, nil
}

// ParsePublicURL parses the base URL that callers use. It returns it as browsers write the
// origin of a page (WHATWG URL): in lower-case A-labels, without the default port. Wallets
// compare the domain of a sign-in message with that, and such a message has no other letters.
func ParsePublicURL(s string) (*url.URL, error) {
	bad := fmt.Errorf("%q is not a base address: write https://host", s)
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil || strings.ContainsAny(s, "?#") {
		return nil, bad
	}
	host, port := u.Hostname(), u.Port()
	if ip, err := netip.ParseAddr(host); err == nil && ip.Zone() == "" {
		host = ip.String()
	} else if host, err = hostNames.ToASCII(host); err != nil || host == "" || strings.Contains(host, ":") {
		return nil, bad
	}
	origin := &url.URL{Scheme: u.Scheme, Host: host}
	switch {
	case port != "" && port != map[string]string{"http": "80", "https": "443"}[u.Scheme]:
		origin.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		origin.Host = "[" + host + "]"
	}
	return origin, nil
}

// hostNames accepts also names with underscores, as those of containers may have.
var hostNames = idna.New(idna.MapForLookup(), idna.StrictDomainName(false))

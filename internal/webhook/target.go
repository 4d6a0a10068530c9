package webhook

import (
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"deed.example/deed"
)

const maxURLLength = 2048

// reserved are the addresses, beyond those that netip knows, that are not on the
// public internet (IANA special-purpose registries), or that hide another address.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("100.64.0.0/10"), // carrier-grade NAT, and the metadata service of one cloud
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"), // 6to4 relays
	netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("2001::/23"), // Teredo and others
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("2002::/16"), // 6to4: an IPv4 address inside
	netip.MustParsePrefix("3fff::/20"),
}

// globalUnicast is the IPv6 space that IANA has allocated. NAT64 (64:ff9b::/96), IPv4-mapped
// and IPv4-compatible addresses are outside.
var globalUnicast = netip.MustParsePrefix("2000::/3")

// Public reports whether an address is on the public internet, so that a webhook may
// be sent to it. It is stricter than the checks of addresses that are only published
// (lifecycle.NewGlue, aliases of zones), because we connect to this one ourselves: it
// refuses all that IANA has reserved, the addresses of documentation included.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// parseTarget checks the URL of a webhook and returns its host (see Webhook.Host). With
// local, which is for a sandbox, http and addresses of this machine are fine. What a name
// resolves to is checked whenever a connection is made, not here.
func parseTarget(text string, local bool) (host string, err error) {
	bad := func(reason string) (string, error) { return "", deed.Invalid("url", "%s", reason) }
	if len(text) > maxURLLength {
		return bad("must not be longer than " + strconv.Itoa(maxURLLength) + " characters")
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Opaque != "" {
		return bad("must be an absolute URL, as https://example.com/hook")
	}
	switch {
	case u.Scheme != "https" && !(local && u.Scheme == "http"):
		return bad("must start with https://")
	case u.User != nil:
		return bad("must not have a user or password: receivers check the signature")
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return bad("must not have a fragment")
	case !goodPort(u.Port(), local):
		return bad("the port must be 443, or 1024 or above")
	}
	host = strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if a, err := netip.ParseAddr(host); err == nil {
		if !local && !Public(a) {
			return bad("the address is not on the public internet")
		}
		host = a.Unmap().String() // however it is written, it is one host
	} else if !goodHost(host, local) {
		return bad("the host must be a full domain name in ASCII, as hooks.example.com")
	}
	if port := strings.TrimLeft(u.Port(), "0"); port != "" && port != defaultPorts[u.Scheme] {
		return net.JoinHostPort(host, port), nil
	}
	return host, nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80"}

func goodPort(port string, local bool) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0 && (n == 443 || n >= 1024 || local)
}

func goodHost(host string, local bool) bool {
	if len(host) > 253 || !local && (!strings.Contains(host, ".") || strings.HasSuffix(host, ".localhost") || endsInNumber(host)) {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' {
				return false
			}
		}
	}
	return true
}

// endsInNumber reports whether a host can be another spelling of an IPv4 address, such as
// 127.1 or 0x7f.0.0.1: a TLD begins with a letter (RFC 1123, 2.1).
func endsInNumber(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && last[0] >= '0' && last[0] <= '9'
}

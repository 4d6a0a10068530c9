package signin

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// The character classes of RFC 3986, section 2.
const (
	subDelims = "!$&'()*+,;="
	genDelims = ":/?#[]@"
)

func digit(c byte) bool        { return c >= '0' && c <= '9' }
func letter(c byte) bool       { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func alphanumeric(c byte) bool { return digit(c) || letter(c) }
func unreserved(c byte) bool   { return alphanumeric(c) || strings.IndexByte("-._~", c) >= 0 }

func all(s string, class func(byte) bool) bool {
	for i := range len(s) {
		if !class(s[i]) {
			return false
		}
	}
	return true
}

// encoded reports whether s has only unreserved characters, sub-delimiters, those
// in extra, and well-formed percent escapes.
func encoded(s, extra string) bool {
	for {
		plain, rest, escape := strings.Cut(s, "%")
		if !all(plain, func(c byte) bool { return unreserved(c) || strings.IndexByte(subDelims+extra, c) >= 0 }) {
			return false
		}
		if !escape {
			return true
		}
		if len(rest) < 2 || strings.Trim(rest[:2], "0123456789abcdefABCDEF") != "" {
			return false
		}
		s = rest[2:]
	}
}

// isStatement: the reserved and unreserved characters of RFC 3986, and spaces.
func isStatement(s string) bool {
	return all(s, func(c byte) bool {
		return c == ' ' || unreserved(c) || strings.IndexByte(subDelims+genDelims, c) >= 0
	})
}

// isPath: the characters of a path segment (pchar).
func isPath(s string) bool { return encoded(s, ":@") }

func isScheme(s string) bool {
	return s != "" && letter(s[0]) && all(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("+-.", c) >= 0 })
}

// isAuthority: a host with an optional port. EIP-4361 allows no user information.
func isAuthority(s string) bool {
	u, err := url.Parse("//" + s)
	return err == nil && u.Host == s && u.Host != "" && u.Hostname() != "" && u.User == nil && isHost(u.Host)
}

// isHost reports whether a host with or without a port is well-formed; url.Parse
// has checked the port.
func isHost(host string) bool {
	literal, bracketed := strings.CutPrefix(host, "[")
	if !bracketed {
		return encoded(host, ":")
	}
	literal, _, closed := strings.Cut(literal, "]")
	addr, err := netip.ParseAddr(literal)
	return closed && err == nil && addr.Is6() && addr.Zone() == ""
}

// isURI: an absolute URI (RFC 3986, 3). url.Parse splits it but accepts too many
// characters, so those are checked here.
func isURI(s string) bool {
	scheme, rest, found := strings.Cut(s, ":")
	if !found || !isScheme(scheme) {
		return false
	}
	u, err := url.Parse(s)
	if err != nil || u.Host != "" && !isHost(u.Host) {
		return false
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	path, query, _ := strings.Cut(rest, "?")
	if authority, ok := strings.CutPrefix(path, "//"); ok {
		authority, path, _ = strings.Cut(authority, "/")
		user, _, hasUser := strings.Cut(authority, "@")
		if hasUser && !encoded(user, ":") {
			return false
		}
	}
	return encoded(path, ":@/") && encoded(query, ":@/?") && encoded(fragment, ":@/?")
}

// rfc3339 is the strict syntax; time.Parse is more lenient, but checks the calendar. T and
// Z may be in lower case (RFC 3339, 5.6).
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

func parseTime(s string) (time.Time, error) {
	upper := strings.ToUpper(s)
	t, err := time.Parse(time.RFC3339Nano, upper)
	if err != nil || !rfc3339.MatchString(upper) {
		return time.Time{}, fmt.Errorf("%q is not a time of RFC 3339", s)
	}
	return t, nil
}

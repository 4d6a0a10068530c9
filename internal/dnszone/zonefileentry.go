package dnszone

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"deed.example/deed"
)

// directive handles a line that begins with "$".
func (p *zoneFileParser) directive(words []string) error {
	name := strings.ToUpper(words[0])
	switch name {
	case "$INCLUDE", "$GENERATE":
		return fmt.Errorf("%s is not supported: write the records themselves", name)
	case "$ORIGIN", "$TTL":
	default:
		return fmt.Errorf("%s is not a supported directive: use $ORIGIN and $TTL", deed.Quoted(words[0]))
	}
	if len(words) != 2 {
		return fmt.Errorf("%s takes one argument", name)
	}
	p.at = 1
	if name == "$ORIGIN" {
		return p.setOrigin(words[1])
	}
	ttl, err := parseTTL(words[1])
	p.ttl, p.fixed = ttl, true
	return err
}

func (p *zoneFileParser) setOrigin(name string) error {
	if name == "." {
		p.origin = ""
		return nil
	}
	origin, err := foldLabels(strings.TrimSuffix(p.whole(name), "."))
	if err != nil {
		return fmt.Errorf("$ORIGIN %s: %w", deed.Quoted(name), err)
	}
	p.origin = origin
	return nil
}

// A recordHead is what is between the host and the data of a record.
type recordHead struct {
	ttl   int
	kind  string
	ttlAt int // index of the TTL among the words, or of the type if there is none
	data  int // number of words before the data
}

// head parses the optional TTL and class in either order, and the type. With an
// error, the last word before data is the one it is about.
func (p *zoneFileParser) head(words []string) (h recordHead, err error) {
	h.ttl, h.ttlAt = -1, -1
	class := false
	for i, word := range words {
		upper := strings.ToUpper(word)
		h.data = i + 1
		switch {
		case h.ttl < 0 && word[0] >= '0' && word[0] <= '9':
			if h.ttl, err = parseTTL(word); err != nil {
				return h, err
			}
			h.ttlAt = i
		case !class && (upper == "IN" || upper == "CLASS1"):
			class = true
		case upper == "CH" || upper == "HS" || upper == "CS" || strings.HasPrefix(upper, "CLASS"):
			return h, fmt.Errorf("the class %s is not supported: write IN or no class", deed.Quoted(upper))
		default:
			h.ttl, h.kind = p.pickTTL(h.ttl), upper
			if h.ttlAt < 0 {
				h.ttlAt = i
			}
			return h, nil
		}
	}
	return h, errors.New("the record has no type")
}

// pickTTL returns the TTL of a record that has the given one, or -1 for none: then
// it is that of $TTL (RFC 2308, 4), or of the previous record.
func (p *zoneFileParser) pickTTL(given int) int {
	switch {
	case given >= 0:
		if !p.fixed {
			p.ttl = given
		}
		return given
	case p.ttl < 0:
		return defaultTTL
	}
	return p.ttl
}

// parseTTL parses seconds, or a sum of weeks, days, hours, minutes and seconds such
// as 1h30m.
func parseTTL(s string) (int, error) {
	units := map[byte]int{'w': 604800, 'd': 86400, 'h': 3600, 'm': 60, 's': 1}
	total, rest := 0, strings.ToLower(s)
	for rest != "" {
		length := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseUint(rest[:length], 10, 31)
		rest = rest[length:]
		unit := 1
		if rest != "" {
			unit, rest = units[rest[0]], rest[1:]
		} else if length < len(s) && total > 0 {
			unit = 0 // a number without a unit must be the only one
		}
		if err != nil || unit == 0 || total > math.MaxInt32 {
			return 0, fmt.Errorf("%s is not a TTL: write seconds, or units such as 1h30m", deed.Quoted(s))
		}
		total += int(n) * unit
	}
	return total, nil
}

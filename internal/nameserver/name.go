package nameserver

import (
	"errors"
	"fmt"
	"strings"
)

const maxName = 255 // bytes of a name on the wire (RFC 1035, 2.3.4)

// maxKey is the maximum length of a key: every byte of a name may become two.
const maxKey = 2 * maxName

// wireName returns an absolute name without its trailing dot in wire format. The
// names were validated before and have no escapes.
func wireName(name string) (string, error) {
	if name == "" {
		return "\x00", nil
	}
	var b strings.Builder
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || len(label) > 63 || strings.Contains(label, `\`) {
			return "", fmt.Errorf("%q is not a name", name)
		}
		b.WriteByte(byte(len(label)))
		b.WriteString(strings.ToLower(label))
	}
	b.WriteByte(0)
	if b.Len() > maxName {
		return "", fmt.Errorf("%q is longer than 255 bytes", name)
	}
	return b.String(), nil
}

// A key represents a name below an origin: its labels starting from the origin,
// each terminated by a zero byte. Sorted as bytes, keys are in the canonical order
// of names (RFC 4034, 6.1), and all names below a name have its key as a prefix. So
// that a label cannot contain the terminator, 0 is written as 1 1, and 1 as 1 2.
//
// appendKey appends the key of the labels in wire, which end where the origin
// begins.
func appendKey(key []byte, wire []byte) []byte {
	var starts [maxName / 2]uint8
	n := 0
	for i := 0; i < len(wire); i += 1 + int(wire[i]) {
		starts[n] = uint8(i)
		n++
	}
	for n--; n >= 0; n-- {
		i := int(starts[n])
		for _, c := range wire[i+1 : i+1+int(wire[i])] {
			if c <= 1 {
				key = append(key, 1, c+1)
				continue
			}
			key = append(key, c)
		}
		key = append(key, 0)
	}
	return key
}

// appendLabels appends the labels of a key in wire format, up to where the origin
// would follow.
func appendLabels(wire []byte, key []byte) []byte {
	for end := len(key); end > 0; {
		start := end - 1
		for start > 0 && key[start-1] != 0 {
			start--
		}
		at := len(wire)
		wire = append(wire, 0)
		for i := start; i < end-1; i++ {
			c := key[i]
			if c == 1 {
				i++
				c = key[i] - 1
			}
			wire = append(wire, c)
		}
		wire[at] = byte(len(wire) - at - 1)
		end = start
	}
	return wire
}

// sharedKey returns the length of the key of the closest common ancestor of both
// names, which may be one of them.
func sharedKey(a, b []byte) int {
	shared := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == 0 {
			shared = i + 1
		}
	}
	return shared
}

var errName = errors.New("it contains a malformed name")

// nameLength returns the length of the uncompressed name at the start of wire.
func nameLength(wire string) (int, error) {
	for i := 0; i < len(wire) && i < maxName; i += 1 + int(wire[i]) {
		if wire[i] == 0 {
			return i + 1, nil
		}
		if wire[i] > 63 {
			break
		}
	}
	return 0, errName
}

package nameserver

import "encoding/binary"

// Response codes (RFC 1035, 4.1.1; RFC 6891, 9).
const (
	rcodeOK      = 0
	rcodeFormat  = 1
	rcodeNoName  = 3
	rcodeNoImpl  = 4
	rcodeRefused = 5
	rcodeYXName  = 6 // a name that a DNAME leads to is too long (RFC 6672, 2.2)
	rcodeNotAuth = 9 // the key of a TSIG is unknown (RFC 8945, 5.2.1)
	rcodeBadVers = 16
)

const (
	minUDP     = 512  // every client accepts it (RFC 1035, 4.2.1)
	maxUDPSize = 1232 // avoids IP fragmentation
)

// A query is a parsed message. It is reused for the next one.
type query struct {
	id      uint16
	opcode  uint8
	rd      bool // copied into the response
	typ     uint16
	class   uint16
	name    [maxName]byte // in lower case
	nameLen int
	starts  [maxName/2 + 1]uint8 // offset of each label in name, the root's last
	labels  int                  // number of labels without the root
	end     int                  // of the question in the message; 0 when it could not be parsed
	edns    bool
	dnssec  bool // the DO bit (RFC 3225)
	version uint8
	size    int // the client's limit over UDP
	signed  bool
	tsig    keySignature // if signed

	// Options of EDNS. The cookie is a part of the message.
	cookie          []byte
	nsid, keepalive bool
}

// read parses a message. It returns rcodeOK or the error to respond with. ok is
// false for messages that are not queries and must not be answered at all.
func (q *query) read(msg []byte) (rcode int, ok bool) {
	if len(msg) < headerSize || msg[2]&0x80 != 0 {
		return 0, false
	}
	q.id = binary.BigEndian.Uint16(msg)
	q.opcode = msg[2] >> 3 & 0xf
	q.rd = msg[2]&1 != 0
	q.end, q.typ, q.edns, q.dnssec, q.version, q.size = 0, 0, false, false, 0, minUDP
	q.cookie, q.nsid, q.keepalive, q.signed = nil, false, false, false
	ok = q.readSections(msg)
	// One question and no answer (RFC 9619). An IXFR has a SOA in its authority
	// section, but it is refused whatever it contains.
	answers := binary.BigEndian.Uint16(msg[6:])
	switch {
	case ok && q.signed && q.version == 0:
		return rcodeNotAuth, true
	case q.opcode != 0:
		return rcodeNoImpl, true
	case !ok:
		return rcodeFormat, true
	case q.version != 0:
		return rcodeBadVers, true
	case q.typ == typeAXFR || q.typ == typeIXFR:
		return rcodeRefused, true
	case q.end == 0:
		return rcodeOK, true // asks for a cookie only
	case answers != 0 || msg[8] != 0 || msg[9] != 0 || q.typ == typeOPT:
		return rcodeFormat, true
	case q.class != classIN:
		return rcodeRefused, true
	}
	return rcodeOK, true
}

// readSections parses the whole message and reports whether it is well formed. One
// without a question is, if it has a cookie: it asks for a server cookie (RFC 7873,
// 5.4).
func (q *query) readSections(msg []byte) (ok bool) {
	questions := binary.BigEndian.Uint16(msg[4:])
	if questions > 1 || questions == 1 && !q.readQuestion(msg) {
		return false
	}
	at, ok := max(headerSize, q.end), true
	for n := int(binary.BigEndian.Uint16(msg[6:])) + int(binary.BigEndian.Uint16(msg[8:])); n > 0 && ok; n-- {
		at, ok = skipRR(msg, at)
	}
	for n := binary.BigEndian.Uint16(msg[10:]); n > 0 && ok; n-- {
		at, ok = q.readAdditional(msg, at)
	}
	return ok && at == len(msg) && (questions == 1 || q.cookie != nil)
}

// readQuestion parses the name in one pass: it lowers its case and records the
// offsets of the labels. A compression pointer is malformed, since there is nothing
// before it to point to.
func (q *query) readQuestion(msg []byte) bool {
	n, labels := 0, 0
	for rest := msg[headerSize:]; ; {
		if n >= len(rest) || n >= maxName {
			return false
		}
		l := int(rest[n])
		q.starts[labels] = uint8(n)
		if l == 0 {
			break
		}
		if l > 63 || n+1+l >= len(rest) || n+1+l >= maxName {
			return false
		}
		q.name[n] = byte(l)
		for i := n + 1; i <= n+l; i++ {
			c := rest[i]
			if c-'A' < 26 {
				c |= 0x20
			}
			q.name[i] = c
		}
		n += 1 + l
		labels++
	}
	q.name[n] = 0
	q.nameLen, q.labels = n+1, labels
	at := headerSize + q.nameLen
	if at+4 > len(msg) {
		return false
	}
	q.typ = binary.BigEndian.Uint16(msg[at:])
	q.class = binary.BigEndian.Uint16(msg[at+2:])
	q.end = at + 4
	return true
}

// readAdditional parses one record after the question. Only OPT matters, which may
// occur once, at the root (RFC 6891, 6.1.1 and 6.1.2), and a TSIG, which is the last record (RFC 8945, 5.1).
func (q *query) readAdditional(msg []byte, at int) (next int, ok bool) {
	next, ok = skipRR(msg, at)
	if !ok || q.signed {
		return next, false
	}
	fields, _, _ := skipName(msg, at)
	switch typ := binary.BigEndian.Uint16(msg[fields:]); {
	case typ == typeTSIG:
		return next, q.readTSIG(msg, at, next)
	case typ != typeOPT:
		return next, true
	case q.edns || msg[at] != 0:
		return next, false
	}
	q.edns = true
	q.size = max(minUDP, int(binary.BigEndian.Uint16(msg[at+3:])))
	q.version = msg[at+6]
	q.dnssec = msg[at+7]&0x80 != 0
	return next, q.readOptions(msg[at+11 : next])
}

// skipRR returns the end of the record that starts at at.
func skipRR(msg []byte, at int) (next int, ok bool) {
	at, _, ok = skipName(msg, at)
	if !ok || at+10 > len(msg) {
		return 0, false
	}
	next = at + 10 + int(binary.BigEndian.Uint16(msg[at+8:]))
	return next, next <= len(msg)
}

// skipName returns the end of the name that starts at at. A name ends at its first
// pointer, which leads to to, or -1 without one; pointers are not followed, so a loop of
// pointers does no harm.
func skipName(msg []byte, at int) (next, to int, ok bool) {
	for at < len(msg) && msg[at] != 0 {
		switch {
		case msg[at] > 63 && msg[at] < pointer:
			return 0, 0, false
		case msg[at] < pointer:
			at += 1 + int(msg[at])
		case at+2 > len(msg):
			return 0, 0, false
		default:
			return at + 2, int(binary.BigEndian.Uint16(msg[at:])) % maxPointer, true
		}
	}
	return at + 1, -1, at < len(msg)
}

package nameserver

import (
	"encoding/binary"
	"slices"
)

const errorBadKey = 17 // of a TSIG (RFC 8945, 3)

// A keySignature is the TSIG of a query (RFC 8945, 4.2). Its fields are parts of the
// message.
type keySignature struct {
	key       []byte // the name of the key
	algorithm []byte
	time      []byte // of signing, and how far clocks may differ
	id        []byte // of the message when it was signed
}

// readTSIG parses a TSIG whose owner is at at, and which ends at next.
func (q *query) readTSIG(msg []byte, at, next int) (ok bool) {
	fields, ok := q.readKey(msg, at)
	if !ok {
		return false
	}
	data := msg[fields+10 : next]
	n, to, ok := skipName(data, 0)
	if !ok || to >= 0 || n > maxName || len(data) < n+16 {
		return false
	}
	q.tsig.algorithm, data = data[:n], data[n:]
	id := 10 + int(binary.BigEndian.Uint16(data[8:])) // after the signature
	if len(data) < id+6 || len(data) != id+6+int(binary.BigEndian.Uint16(data[id+4:])) {
		return false
	}
	q.signed, q.tsig.time, q.tsig.id = true, data[:8], data[id:id+2]
	return true
}

// readKey parses the name of the key and returns its end. The response has it as it is, so
// it may point at a label of the question, which is at the same place there, and at nothing
// else.
func (q *query) readKey(msg []byte, at int) (end int, ok bool) {
	end, to, _ := skipName(msg, at)
	q.tsig.key = msg[at:end]
	if to < 0 {
		return end, len(q.tsig.key) <= maxName
	}
	start := to - headerSize
	if q.end == 0 || start < 0 || start >= q.nameLen || !slices.Contains(q.starts[:q.labels+1], uint8(start)) {
		return 0, false
	}
	return end, len(q.tsig.key)-2+q.nameLen-start <= maxName
}

// refusalSize is the length of what refuseKey writes.
func (s *keySignature) refusalSize() int {
	return len(s.key) + 10 + s.refusalDataSize()
}

func (s *keySignature) refusalDataSize() int {
	return len(s.algorithm) + len(s.time) + len(s.id) + 6
}

// refuseKey writes that the key is unknown, as any key is (RFC 8945, 5.2.1). The time is
// the client's, which would suspect its clock otherwise.
func (r *reply) refuseKey(s *keySignature) {
	out := append(r.buf[:r.n], s.key...)
	out = append(out, 0, typeTSIG, 0, classAny, 0, 0, 0, 0)
	out = binary.BigEndian.AppendUint16(out, uint16(s.refusalDataSize()))
	out = append(out, s.algorithm...)
	out = append(out, s.time...)
	out = append(out, 0, 0) // no signature
	out = append(out, s.id...)
	out = append(out, 0, errorBadKey, 0, 0)
	r.n = len(out)
	r.counts[additional]++
}

package nameserver_test

import (
	"encoding/binary"
	"testing"

	"github.com/miekg/dns"
)

// What follows the queries of a connection, and ends it, does not keep their answers back.
func TestQueriesBeforeAMalformedOneAreAnswered(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	const n = 10
	var queries []byte
	for i := range n {
		m := message(t, func(m *dns.Msg) { m.Id = uint16(i) })
		queries = append(binary.BigEndian.AppendUint16(queries, uint16(len(m))), m...)
	}
	answer := message(t, func(m *dns.Msg) { m.Response = true })
	for name, end := range map[string]string{
		"an empty message": "\x00\x00", "half a header": "\x00\x05abcde", "a message that is too long": "\xff\xff", "an answer": string(rune(0)) + string(rune(len(answer))) + string(answer),
	} {
		c := dial(t, "tcp", s)
		if _, err := c.Conn.Write(append(queries[:len(queries):len(queries)], end...)); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if m, err := c.ReadMsg(); err != nil || int(m.Id) != i {
				t.Errorf("before %s: answer %d: got %v, %v", name, i, m, err)
				break
			}
		}
		if m, err := c.ReadMsg(); err == nil || isTimeout(err) {
			t.Errorf("after %s: got %v, %v, want it closed", name, m, err)
		}
	}
}

package nameserver

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver/publishtest"
)

// FuzzQuery sends arbitrary messages. There is no response, or one that is well
// formed, matches the query and is within its limit.
func FuzzQuery(f *testing.F) {
	var zones table
	zones.open()
	z, err := pack(publishtest.Zone(f, "hotel.test", 1,
		"@ 300 NS ns.sub", "@ 300 MX 1 mail", "*.wild 300 CNAME c1", "c1 300 CNAME c2.wild", "sub 300 NS ns.sub", "ns.sub 300 A 192.0.2.1",
		"@ 300 NSEC \\000.hotel.test. NS SOA MX RRSIG NSEC", "deep.er.down 300 TXT text", "many 300 TXT "+longText))
	if err != nil {
		f.Fatal(err)
	}
	zones.put(z)
	for _, name := range []string{"hotel.test.", "x.wild.hotel.test.", "x.sub.hotel.test.", "er.down.HOTEL.test.", "many.hotel.test.", "no.hotel.test.", "a\\000\\001.hotel.test."} {
		for _, typ := range []uint16{typeA, typeMX, typeANY, typeDS, typeRRSIG, typeAXFR} {
			m, err := new(dns.Msg).SetQuestion(name, typ).SetEdns0(4096, typ != typeA).Pack()
			if err != nil {
				f.Fatal(err)
			}
			f.Add(m)
		}
	}
	signed, err := new(dns.Msg).SetQuestion("hotel.test.", typeA).SetEdns0(4096, true).SetTsig("key.hotel.test.", dns.HmacSHA256, 300, 1).Pack()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(signed)
	w := newWorker(math.MaxUint16)
	f.Fuzz(func(t *testing.T, msg []byte) {
		rcode, ok := w.q.read(msg)
		if !ok {
			return
		}
		for _, limit := range []int{minUDP, maxUDPSize, math.MaxUint16} {
			out := w.answer(&zones, msg, rcode, limit)
			var m dns.Msg
			if err := m.Unpack(out); err != nil {
				t.Fatalf("%x: got %x: %v", msg, out, err)
			}
			if len(out) > max(limit, w.q.end+optSize) || m.Id != binary.BigEndian.Uint16(msg) || !m.Response {
				t.Fatalf("%x: got %v in %d bytes of %d", msg, m, len(out), limit)
			}
		}
	})
}

// Nothing of the query before is left in the next one: a query without a question, which asks
// for a cookie, is answered after a transfer was refused.
func TestQueryIsReset(t *testing.T) {
	transfer, err := new(dns.Msg).SetAxfr("hotel.test.").Pack()
	if err != nil {
		t.Fatal(err)
	}
	m := new(dns.Msg).SetEdns0(1232, false)
	m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_COOKIE{Code: dns.EDNS0COOKIE, Cookie: "0123456789abcdef"}}
	cookie, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	var q query
	for _, c := range []struct {
		msg  []byte
		want int
	}{{transfer, rcodeRefused}, {cookie, rcodeOK}} {
		if rcode, ok := q.read(c.msg); rcode != c.want || !ok {
			t.Errorf("%x: got code %d, want %d", c.msg, rcode, c.want)
		}
	}
}

const longText = `"` + "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789" + `" "x"`

// Keys sort like names, and are converted back to the same labels.
func FuzzKey(f *testing.F) {
	f.Add([]byte("\x01a\x01b"), []byte("\x01b"))
	f.Add([]byte("\x03\x00\x01\x02"), []byte("\x02\x00\x01"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if !wellFormed(a) || !wellFormed(b) {
			return
		}
		ka, kb := appendKey(nil, a), appendKey(nil, b)
		if got := appendLabels(nil, ka); string(got) != string(a) {
			t.Fatalf("%x became %x", a, got)
		}
		if got, want := sign(string(ka), string(kb)), canonicalOrder(a, b); got != want {
			t.Fatalf("%x and %x: got order %d, want %d", a, b, got, want)
		}
	})
}

func wellFormed(labels []byte) bool {
	i := 0
	for i < len(labels) && labels[i] > 0 && labels[i] <= 63 {
		i += 1 + int(labels[i])
	}
	return i == len(labels) && i < maxName
}

// canonicalOrder compares label by label from the right (RFC 4034, 6.1).
func canonicalOrder(a, b []byte) int {
	x, y := labelsOf(a), labelsOf(b)
	for len(x) > 0 && len(y) > 0 {
		if s := sign(x[len(x)-1], y[len(y)-1]); s != 0 {
			return s
		}
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return min(1, max(-1, len(x)-len(y)))
}

func labelsOf(wire []byte) (labels []string) {
	for len(wire) > 0 {
		labels = append(labels, string(wire[1:1+wire[0]]))
		wire = wire[1+wire[0]:]
	}
	return labels
}

func sign(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

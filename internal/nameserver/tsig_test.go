package nameserver_test

import (
	"bytes"
	"encoding/binary"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

const tsigSecret = "c2VjcmV0"

// signedQuery signs the query with a key of this name, and returns it in wire format.
func signedQuery(t testing.TB, m *dns.Msg, key string) []byte {
	t.Helper()
	m.SetTsig(key, dns.HmacSHA256, 300, time.Now().Unix())
	msg, _, err := dns.TsigGenerate(m, tsigSecret, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

// responseTo sends the message and returns the response.
func responseTo(t testing.TB, network, addr string, msg []byte) *dns.Msg {
	t.Helper()
	c, err := dns.DialTimeout(network, addr, 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() // one response is enough
	c.UDPSize = 65535
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(msg); err != nil {
		t.Fatal(err)
	}
	m, err := readUnverified(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// readUnverified reads a message without verifying its TSIG.
func readUnverified(c *dns.Conn) (*dns.Msg, error) {
	msg, err := c.ReadMsgHeader(nil)
	if err != nil {
		return nil, err
	}
	m := new(dns.Msg)
	return m, m.Unpack(msg)
}

// The server has no keys, and says so, whatever is asked, to a client that signs.
func TestSignedQueries(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	for name, m := range map[string]*dns.Msg{
		"a query":           query("www.hotel.test", dns.TypeA),
		"with EDNS":         query("www.hotel.test", dns.TypeA).SetEdns0(1232, true),
		"a foreign name":    query("example.org", dns.TypeA),
		"an AXFR":           new(dns.Msg).SetAxfr("hotel.test."),
		"an UPDATE":         new(dns.Msg).SetUpdate("hotel.test."),
		"a key of the zone": query("www.hotel.test", dns.TypeTXT),
	} {
		key, question := "some-key.", m.Question[0]
		if name == "a key of the zone" {
			key = "key.WWW.hotel.test."
		}
		msg := signedQuery(t, m, key)
		if err := m.Unpack(msg); err != nil {
			t.Fatal(err)
		}
		for _, network := range []string{"udp", "tcp"} {
			got := responseTo(t, network, s.Addr().String(), msg)
			sig := got.IsTsig()
			if got.Rcode != dns.RcodeNotAuth || len(got.Question) != 1 || got.Question[0] != question || len(got.Answer) != 0 || (got.IsEdns0() != nil) != (m.IsEdns0() != nil) || sig == nil {
				t.Errorf("%s, %s: got %v, want NOTAUTH with a TSIG", name, network, got)
				continue
			}
			asked := m.IsTsig()
			if sig.Error != dns.RcodeBadKey || sig.Hdr.Name != asked.Hdr.Name || sig.Algorithm != asked.Algorithm || sig.TimeSigned != asked.TimeSigned || sig.OrigId != m.Id || sig.MACSize != 0 {
				t.Errorf("%s, %s: got %v, want BADKEY and what was sent, %v", name, network, sig, asked)
			}
		}
	}
}

// A refusal that does not fit is truncated, and whole over TCP.
func TestSignedQueryWithLongNames(t *testing.T) {
	s := serve(t, config())
	label := strings.Repeat("k", 63)
	long := strings.Repeat(label+".", 3) + strings.Repeat("k", 50) + "."
	msg := signedQuery(t, query(strings.Repeat("x", 63)+"."+long[64:], dns.TypeA), long)
	if got := responseTo(t, "udp", s.Addr().String(), msg); got.Rcode != dns.RcodeNotAuth || !got.Truncated || got.IsTsig() != nil {
		t.Errorf("got %v, want it truncated", got)
	}
	if got := responseTo(t, "tcp", s.Addr().String(), msg); got.Rcode != dns.RcodeNotAuth || got.Truncated || got.IsTsig() == nil || got.IsTsig().Hdr.Name != long {
		t.Errorf("got %v, want it whole", got)
	}
}

// A TSIG is the last record, and its fields fill it exactly (RFC 8945, 5.1).
func TestMalformedTSIG(t *testing.T) {
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	plain := message(t, same)
	whole := signedQuery(t, query("www.hotel.test", dns.TypeA), "k.")
	sig := whole[len(plain):] // 1 k 0, type, class, TTL, length, data
	data := sig[13:]
	record := func(owner string, data []byte) []byte {
		head := append([]byte(owner), 0, 250, 0, 255, 0, 0, 0, 0)
		return append(binary.BigEndian.AppendUint16(head, uint16(len(data))), data...)
	}
	with := func(records ...[]byte) []byte {
		return counted(append(bytes.Clone(plain), bytes.Join(records, nil)...), 1, 0, 0, uint16(len(records)))
	}
	otherLength := bytes.Clone(data)
	otherLength[len(data)-1] = 1
	for name, c := range map[string]struct {
		msg  []byte
		want int
	}{
		"whole":                           {with(sig), dns.RcodeNotAuth},
		"after an OPT":                    {with([]byte{0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0}, sig), dns.RcodeNotAuth},
		"its key points at the question":  {with(record("\xc0\x0c", data)), dns.RcodeNotAuth},
		"its key points into a label":     {with(record("\xc0\x0d", data)), dns.RcodeFormatError},
		"its key points at itself":        {with(record("\xc0"+string(rune(len(plain))), data)), dns.RcodeFormatError},
		"its key points at the header":    {with(record("\xc0\x04", data)), dns.RcodeFormatError},
		"its key is longer than a name":   {with(record(strings.Repeat("\x3f"+strings.Repeat("k", 63), 4)+"\x00", data)), dns.RcodeFormatError},
		"its key ends in a high byte":     {with(record("\x01\xc5\x00", data)), dns.RcodeNotAuth},
		"two":                             {with(sig, sig), dns.RcodeFormatError},
		"before an OPT":                   {with(sig, []byte{0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0}), dns.RcodeFormatError},
		"without data":                    {with(record("\x01k\x00", nil)), dns.RcodeFormatError},
		"without its last byte":           {with(record("\x01k\x00", data[:len(data)-1])), dns.RcodeFormatError},
		"with one byte more":              {with(record("\x01k\x00", append(bytes.Clone(data), 0))), dns.RcodeFormatError},
		"its other data is not there":     {with(record("\x01k\x00", otherLength)), dns.RcodeFormatError},
		"its algorithm is a pointer":      {with(record("\x01k\x00", append([]byte{0xc0, 0x0c}, data[13:]...))), dns.RcodeFormatError},
		"its signature is longer than it": {with(record("\x01k\x00", append([]byte("\x00timedsif\xff\xff"), make([]byte, 20)...))), dns.RcodeFormatError},
	} {
		if got := raw(t, s, c.msg); got == nil || got.Rcode != c.want || (got.IsTsig() != nil) != (c.want == dns.RcodeNotAuth) {
			t.Errorf("%s: got %v, want %s", name, got, dns.RcodeToString[c.want])
		}
	}
}

// BIND's dig, which signs, says that the key is unknown.
func TestDigReadsBadKey(t *testing.T) {
	dig, err := exec.LookPath("dig")
	if err != nil {
		t.Skip("dig is not installed")
	}
	s := serve(t, config())
	publish(t, s, "hotel.test", testZone...)
	out, _ := exec.CommandContext(t.Context(), dig, "-p", strconv.Itoa(int(s.Addr().Port())), "@127.0.0.1", "-y", "hmac-sha256:some-key:"+tsigSecret, "www.hotel.test", "A").CombinedOutput() // dig may fail
	for _, want := range []string{"status: NOTAUTH", "tsig indicates error", "BADKEY"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("got %s, want %q in it", out, want)
		}
	}
}

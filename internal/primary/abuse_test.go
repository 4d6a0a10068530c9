package primary_test

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// sign returns the message in wire format, signed with any key.
func sign(t *testing.T, m *dns.Msg, name, secret string) []byte {
	t.Helper()
	return signAt(t, m.SetTsig(name, dns.HmacSHA256, 300, time.Now().Unix()), secret)
}

func signAt(t *testing.T, m *dns.Msg, secret string) []byte {
	t.Helper()
	raw, _, err := dns.TsigGenerate(m, secret, "", false)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func pack(t *testing.T, m *dns.Msg) []byte {
	t.Helper()
	raw, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// send sends raw bytes and returns the response without verifying its signature. No
// response may be more than ten times as long as its query.
func (h *testPrimary) send(t *testing.T, network string, raw []byte) *dns.Msg {
	t.Helper()
	c, err := dns.DialTimeout(network, h.addr, patience)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(raw); err != nil {
		t.Fatal(err)
	}
	c.UDPSize = dns.MaxMsgSize
	answer, err := c.ReadMsgHeader(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer) > 10*len(raw) {
		t.Errorf("the response to %d bytes has %d", len(raw), len(answer))
	}
	r := new(dns.Msg)
	if err := r.Unpack(answer); err != nil {
		t.Fatal(err)
	}
	return r
}

// Unsigned queries of any type over any transport are refused.
func TestUnsigned(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	for _, network := range []string{"udp", "tcp"} {
		for _, origin := range []string{"example.com", catalog, "foreign.example"} {
			for _, m := range []*dns.Msg{
				question(origin+".", dns.TypeSOA), question(origin+".", dns.TypeAXFR), question(origin+".", dns.TypeANY), ixfr(origin, 1),
			} {
				m.RecursionDesired = true
				r := h.send(t, network, pack(t, m))
				if r.Rcode != dns.RcodeRefused || len(r.Answer)+len(r.Ns)+len(r.Extra) > 0 || r.RecursionAvailable {
					t.Errorf("%s %v: got %v", network, m.Question, r)
				}
			}
		}
	}
}

// An unauthenticated peer cannot hold a connection open.
func TestUnauthenticatedConnectionsAreClosed(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	for name, raw := range map[string][]byte{
		"unsigned":  pack(t, question("example.com.", dns.TypeSOA)),
		"wrong key": sign(t, question("example.com.", dns.TypeSOA), "unknown.", secret),
	} {
		c, err := dns.Dial("tcp", h.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil { // less than a secondary may be idle
			t.Fatal(err)
		}
		if _, err := c.Write(raw); err != nil {
			t.Fatal(err)
		}
		if _, err := c.ReadMsgHeader(nil); err != nil {
			t.Errorf("%s: got no answer: %v", name, err)
		}
		if _, err := c.Conn.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("%s: got %v, want the connection closed", name, err)
		}
	}
}

// The response to an invalid signature has its error and nothing else.
func TestBadSignatures(t *testing.T) {
	const other = "ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA="
	h := open(t)
	h.add(t, "example.com", "a1")
	validKey, now := keyName+".", time.Now()
	axfr := func() *dns.Msg { return question("example.com.", dns.TypeAXFR) }
	for _, c := range []struct {
		name string
		raw  []byte
		want uint16
	}{
		{"wrong key", sign(t, axfr(), "unknown.", secret), dns.RcodeBadKey},
		{"wrong secret", sign(t, axfr(), validKey, other), dns.RcodeBadSig},
		{"other algorithm", signAt(t, axfr().SetTsig(validKey, dns.HmacSHA512, 300, now.Unix()), secret), dns.RcodeBadKey},
		{"weaker algorithm", signAt(t, axfr().SetTsig(validKey, dns.HmacSHA1, 300, now.Unix()), secret), dns.RcodeBadKey},
		{"old time", signAt(t, axfr().SetTsig(validKey, dns.HmacSHA256, 300, now.Add(-time.Hour).Unix()), secret), dns.RcodeBadTime},
		{"future time", signAt(t, axfr().SetTsig(validKey, dns.HmacSHA256, 300, now.Add(time.Hour).Unix()), secret), dns.RcodeBadTime},
		{"changed question", changed(sign(t, axfr(), validKey, secret)), dns.RcodeBadSig},
		{"cut signature", cut(t, axfr()), dns.RcodeBadSig},
	} {
		for _, network := range []string{"udp", "tcp"} {
			r := h.send(t, network, c.raw)
			sig := r.IsTsig()
			if r.Rcode != dns.RcodeNotAuth || len(r.Answer) > 0 || sig == nil || sig.Error != c.want {
				t.Errorf("%s over %s: got %v, want NOTAUTH with the error %d", c.name, network, r, c.want)
				continue
			}
			if isSigned := sig.MACSize > 0; isSigned != (c.want == dns.RcodeBadTime) {
				t.Errorf("%s: the answer is signed: %t", c.name, isSigned)
			}
			if c.want == dns.RcodeBadTime {
				checkTime(t, sig, now)
			} else if sig.TimeSigned < uint64(now.Unix()) {
				t.Errorf("%s: got the time %d, which secondaries take for the error", c.name, sig.TimeSigned)
			}
		}
	}
}

// checkTime checks that the refusal has the primary's time (RFC 8945, 5.2.3).
func checkTime(t *testing.T, sig *dns.TSIG, now time.Time) {
	t.Helper()
	unix, err := strconv.ParseInt(sig.OtherData, 16, 64)
	if err != nil || unix < now.Unix() || unix > time.Now().Unix() {
		t.Errorf("old time: got the primary's time %s, %v", sig.OtherData, err)
	}
}

// changed alters the name in a signed query.
func changed(raw []byte) []byte {
	raw[13] ^= 1
	return raw
}

// cut truncates a valid signature to its first half.
func cut(t *testing.T, m *dns.Msg) []byte {
	t.Helper()
	r := new(dns.Msg)
	if err := r.Unpack(sign(t, m, keyName+".", secret)); err != nil {
		t.Fatal(err)
	}
	sig := r.IsTsig()
	sig.MAC, sig.MACSize = sig.MAC[:len(sig.MAC)/2], sig.MACSize/2
	return pack(t, r)
}

// Even a peer with the key gets only transfers, and only of hosted zones.
func TestSignedRefusals(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	h.add(t, "sold.example", "b2")
	h.remove("sold.example")
	chaos := question("example.com.", dns.TypeAXFR)
	chaos.Question[0].Qclass = dns.ClassCHAOS
	bare, wrong := ixfr("example.com", 1), ixfr("example.com", 1)
	bare.Ns, wrong.Ns[0].Header().Name = nil, "example.org."
	later := question("example.com.", dns.TypeSOA)
	later.SetEdns0(1232, false)
	later.IsEdns0().SetVersion(1)
	update, notice := new(dns.Msg).SetUpdate("example.com."), new(dns.Msg).SetNotify("example.com.")
	for _, c := range []struct {
		name, network string
		m             *dns.Msg
		want          int
	}{
		{"foreign SOA", "udp", question("example.org.", dns.TypeSOA), dns.RcodeNotAuth},
		{"foreign AXFR", "tcp", question("example.org.", dns.TypeAXFR), dns.RcodeNotAuth},
		{"foreign IXFR", "tcp", ixfr("example.org", 1), dns.RcodeNotAuth},
		{"name inside", "tcp", question("www.example.com.", dns.TypeAXFR), dns.RcodeNotAuth},
		{"removed SOA", "udp", question("sold.example.", dns.TypeSOA), dns.RcodeNotAuth},
		{"removed AXFR", "tcp", question("sold.example.", dns.TypeAXFR), dns.RcodeNotAuth},
		{"removed IXFR", "tcp", ixfr("sold.example", 100), dns.RcodeNotAuth},
		{"root", "tcp", question(".", dns.TypeAXFR), dns.RcodeNotAuth},
		{"AXFR over UDP", "udp", question("example.com.", dns.TypeAXFR), dns.RcodeRefused},
		{"ANY", "tcp", question("example.com.", dns.TypeANY), dns.RcodeRefused},
		{"A", "udp", question("example.com.", dns.TypeA), dns.RcodeRefused},
		{"other class", "tcp", chaos, dns.RcodeRefused},
		{"IXFR without SOA", "tcp", bare, dns.RcodeFormatError},
		{"IXFR with another's SOA", "tcp", wrong, dns.RcodeFormatError},
		{"EDNS 1", "udp", later, dns.RcodeBadVers},
		{"UPDATE", "tcp", update, dns.RcodeNotImplemented},
		{"NOTIFY", "udp", notice, dns.RcodeNotImplemented},
	} {
		r := h.send(t, c.network, sign(t, c.m, keyName+".", secret))
		if r.Rcode != c.want || len(r.Answer) > 0 {
			t.Errorf("%s: got %v, want %s", c.name, r, dns.RcodeToString[c.want])
		}
	}
}

func TestBrokenStore(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	h.failAll()
	for _, m := range []*dns.Msg{
		question("example.com.", dns.TypeSOA), question("example.com.", dns.TypeAXFR), ixfr("example.com", 1),
		question(catalog+".", dns.TypeSOA), question(catalog+".", dns.TypeAXFR), ixfr(catalog, 1),
	} {
		if r := h.ask(t, "tcp", signed(m)); r.Rcode != dns.RcodeServerFailure {
			t.Errorf("%v: got %v", m.Question, r)
		}
	}
}

// Malformed queries get a short FORMERR.
func TestMalformed(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	good := pack(t, question("example.com.", dns.TypeSOA))
	counts := func(questions uint16) []byte {
		raw := append([]byte(nil), good...)
		binary.BigEndian.PutUint16(raw[4:], questions)
		if questions == 2 {
			raw = append(raw, good[12:]...)
		}
		return raw
	}
	loop, err := hex.DecodeString("000100000001000000000000" + "c00c" + "00060001")
	if err != nil {
		t.Fatal(err)
	}
	for name, raw := range map[string][]byte{
		"no question": counts(0), "two questions": counts(2), "cut": good[:len(good)-3], "compression loop": loop,
	} {
		for _, network := range []string{"udp", "tcp"} {
			if r := h.send(t, network, raw); r.Rcode != dns.RcodeFormatError || len(r.Answer)+len(r.Extra) > 0 {
				t.Errorf("%s over %s: got %v", name, network, r)
			}
		}
	}
	if r := h.ask(t, "udp", signed(question("example.com.", dns.TypeSOA))); r.Rcode != dns.RcodeSuccess {
		t.Errorf("after all that: got %v", r)
	}
}

// The primary survives corrupted queries: a panic would end this test.
func TestCorruptedQueries(t *testing.T) {
	h := open(t)
	h.add(t, "example.com", "a1")
	rng := rand.New(rand.NewPCG(7, 8))
	c, err := dns.Dial("udp", h.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for i := range 3000 {
		m := ixfr("example.com", 1)
		m.SetEdns0(1232, i%2 == 0)
		raw := sign(t, m, keyName+".", secret)
		for range 1 + rng.IntN(4) {
			raw[rng.IntN(len(raw))] = byte(rng.Uint32())
		}
		if _, err := c.Write(raw[:1+rng.IntN(len(raw))]); err != nil {
			t.Fatal(err)
		}
	}
	if r := h.ask(t, "tcp", signed(question("example.com.", dns.TypeSOA))); r.Rcode != dns.RcodeSuccess {
		t.Errorf("after all that: got %v", r)
	}
}

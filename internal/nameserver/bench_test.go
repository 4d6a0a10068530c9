package nameserver

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/nameserver/publishtest"
)

// tenRecords is the zone of the benchmarks.
func tenRecords(b testing.TB, origin string) dnssec.ServedZone {
	return publishtest.Zone(b, origin, 1,
		"@ 300 NS ns1.example.net.", "@ 300 NS ns2.example.net.", "@ 300 A 192.0.2.1", "@ 300 MX 10 mail",
		"www 300 CNAME @", "mail 300 A 192.0.2.2", `@ 300 TXT "v=spf1 mx -all"`, "api 300 A 192.0.2.3", "*.dev 300 A 192.0.2.4")
}

// BenchmarkAnswer measures responses without sockets. They must not allocate.
func BenchmarkAnswer(b *testing.B) {
	var zones table
	zones.open()
	for i := range 1000 {
		z, err := pack(tenRecords(b, fmt.Sprintf("zone%d.test", i)))
		if err != nil {
			b.Fatal(err)
		}
		zones.put(z)
	}
	for _, c := range []struct {
		what, name string
	}{{"address", "api.zone%d.test."}, {"chain", "www.zone%d.test."}, {"wildcard", "x.dev.zone%d.test."}, {"no such name", "missing.zone%d.test."}, {"foreign", "www.zone%d.example."}} {
		b.Run(c.what, func(b *testing.B) {
			msgs := make([][]byte, 1000)
			for i := range msgs {
				m, err := new(dns.Msg).SetQuestion(fmt.Sprintf(c.name, i), dns.TypeA).SetEdns0(1232, false).Pack()
				if err != nil {
					b.Fatal(err)
				}
				msgs[i] = m
			}
			w := newWorker(math.MaxUint16)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				msg := msgs[i%len(msgs)]
				rcode, _ := w.q.read(msg)
				w.answer(&zones, msg, rcode, maxUDPSize)
			}
		})
	}
}

// Responses do not allocate: a flood of queries causes no garbage collection.
func TestAnswersWithoutAllocating(t *testing.T) {
	var zones table
	zones.open()
	for _, from := range []dnssec.ServedZone{tenRecords(t, "hotel.test"), signed(t, tenRecords(t, "safe.test"))} {
		z, err := pack(from)
		if err != nil {
			t.Fatal(err)
		}
		if !z.short {
			t.Errorf("%s: its signatures are not in the short form", from.Origin)
		}
		zones.put(z)
	}
	w := newWorker(maxUDPSize)
	for _, name := range []string{"hotel.test.", "www.hotel.test.", "x.dev.hotel.test.", "missing.hotel.test.", "example.", "api.safe.test.", "x.dev.safe.test.", "missing.safe.test."} {
		msg, err := new(dns.Msg).SetQuestion(name, dns.TypeA).SetEdns0(1232, true).Pack()
		if err != nil {
			t.Fatal(err)
		}
		if n := testing.AllocsPerRun(100, func() {
			rcode, _ := w.q.read(msg)
			w.answer(&zones, msg, rcode, maxUDPSize)
		}); n != 0 {
			t.Errorf("%s: got %v allocations, want none", name, n)
		}
	}
}

// signed returns the zone, signed as production does.
func signed(t testing.TB, z dnssec.ServedZone) dnssec.ServedZone {
	t.Helper()
	key, err := dnssec.DeriveKey("0123456789abcdef0123456789abcdef", z.Origin, 1)
	if err == nil {
		z, err = dnssec.Sign(dnssec.ServedZone{}, z, dnssec.Signing{Keys: []dnssec.Key{key}, Now: time.Now()})
	}
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// BenchmarkHundredThousandZones measures the time to publish them and their memory.
func BenchmarkHundredThousandZones(b *testing.B) {
	const n = 100_000
	template := tenRecords(b, "zone.test")
	for b.Loop() {
		before := heap()
		var took time.Duration
		var zones table
		zones.open()
		for i := range n {
			z := renamed(template, fmt.Sprintf("zone%06d.test", i))
			began := time.Now()
			packed, err := pack(z)
			if err != nil {
				b.Fatal(err)
			}
			zones.put(packed)
			took += time.Since(began)
		}
		b.ReportMetric(float64(heap()-before)/1e6, "MB")
		b.ReportMetric(took.Seconds(), "s-to-publish")
		runtime.KeepAlive(&zones)
	}
}

// renamed returns a copy of the zone under another origin.
func renamed(z dnssec.ServedZone, origin string) dnssec.ServedZone {
	rrs := make([]dnszone.RR, len(z.RRs))
	old, _ := wireName(z.Origin)
	wire, _ := wireName(origin)
	for i, rr := range z.RRs {
		rr.Owner = rr.Owner[:len(rr.Owner)-len(z.Origin)] + origin
		if data, below := strings.CutSuffix(rr.Data, old); below {
			rr.Data = data + wire
		}
		rrs[i] = rr
	}
	return dnssec.ServedZone{Origin: origin, Serial: z.Serial, RRs: rrs}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

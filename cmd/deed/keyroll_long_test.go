//go:build long

package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed/api"
	"deed.example/deed/internal/nameserver/peer"
)

// A rollTimeline is a service whose name rolled.com is asked for all the time, through
// an Unbound that validates and has what it learned for up to maxTTL seconds.
type rollTimeline struct {
	*node
	environ  []string
	dir      string
	ours     string
	resolver *peer.Daemon
	seen     *timeline
	stop     func()
}

func openRollTimeline(t *testing.T, maxTTL int) *rollTimeline {
	t.Helper()
	l := &rollTimeline{dir: t.TempDir(), environ: append(databaseOf(t, "postgres"), "DEED_LIMITS_REGISTER=1000", "DEED_LIMITS_DNS=100000")}
	l.node = start(t, l.dir, l.environ...)
	c := l.owner(t)
	l.ours = l.sandbox(t).DNS
	ttl := 60
	sell(t, c, "rolled.com", api.RecordRequest{Type: "A", Host: "*", Value: "192.0.2.1", TTL: &ttl})
	waitFor(t, func() bool { return len(l.records(t, l.ours, dns.TypeDS)) == 1 })
	l.resolver = startCachingResolver(t, l.ours, maxTTL, stubZone{name: "com", server: strings.ReplaceAll(l.ours, ":", "@")})
	l.seen, l.stop = watch(t, l.resolver, "rolled.com.", false)
	l.seen.is(t, "192.0.2.1+ad")
	return l
}

// records returns the keys or DS records of rolled.com that a server answers with.
func (l *rollTimeline) records(t *testing.T, server string, kind uint16) (found []string) {
	t.Helper()
	m := ask("rolled.com.", kind)
	m.RecursionDesired, m.CheckingDisabled = true, true
	for _, rr := range exchange(t, m, server).Answer {
		if rr.Header().Rrtype == kind {
			found = append(found, rr.String()[len(rr.Header().String()):])
		}
	}
	return found
}

// step waits until the roll is in the step and its end is known, "" for none.
func (l *rollTimeline) step(t *testing.T, want string) {
	t.Helper()
	waitFor(t, func() bool {
		var d api.Domain
		l.call(t, "GET", "/domains/rolled.com", "", nil, &d)
		if roll := d.DNSSEC.KeyRoll; roll != nil {
			return roll.Step == want && roll.EffectiveAt != nil
		}
		return want == ""
	})
}

func (l *rollTimeline) roll(t *testing.T) {
	t.Helper()
	cmd := exec.Command(binary, "admin", "dnskey", "roll", "rolled.com", "--data", l.dir)
	cmd.Env = l.environ
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "the keys of 1 zones") {
		t.Fatalf("%v: %s", err, out)
	}
}

// A resolver that caches validates every answer while the key of a zone is replaced, and
// while the clock passes months in which signatures are renewed.
func TestResolverDuringAKeyRoll(t *testing.T) {
	l := openRollTimeline(t, 5)
	resolver := l.resolver.Addr.String()
	old := l.records(t, resolver, dns.TypeDS)
	l.roll(t)
	l.step(t, "introducing")
	waitFor(t, func() bool { return len(l.records(t, resolver, dns.TypeDNSKEY)) == 2 }) // as after an hour
	l.age(t, "61m")
	l.step(t, "replacing")
	waitFor(t, func() bool {
		ds := l.records(t, resolver, dns.TypeDS)
		return len(ds) == 1 && ds[0] != old[0]
	})
	before := l.seen.secure.Load()
	waitFor(t, func() bool { return l.seen.secure.Load() > before+100 })
	l.age(t, "26h")
	l.step(t, "")
	waitFor(t, func() bool { return len(l.records(t, resolver, dns.TypeDNSKEY)) == 1 })
	for range 20 { // of nine days each
		now := l.age(t, "9d")
		waitFor(t, func() bool { return l.signedUntil(t).After(now.AddDate(0, 0, 5)) })
		before := l.seen.secure.Load()
		waitFor(t, func() bool { return l.seen.secure.Load() > before+10 })
	}
	l.stop()
	if n := l.seen.bogus.Load() + l.seen.failed.Load() + l.seen.insecure.Load(); n > 0 {
		t.Errorf("%d answers failed or were insecure, %d were secure", n, l.seen.secure.Load())
	}
	t.Logf("%d answers secure, %d insecure, %d bogus", l.seen.secure.Load(), l.seen.insecure.Load(), l.seen.bogus.Load())
	l.node.stop(t)
}

// signedUntil returns when the signature of the SOA expires.
func (l *rollTimeline) signedUntil(t *testing.T) time.Time {
	t.Helper()
	for _, rr := range exchange(t, ask("rolled.com.", dns.TypeSOA), l.ours).Answer {
		if sig, ok := rr.(*dns.RRSIG); ok {
			return time.Unix(int64(sig.Expiration), 0)
		}
	}
	return time.Time{}
}

// The same timeline is bogus when the clock skips the waits while the resolver still has
// the old key and DS.
func TestResolverDuringAHastyKeyRoll(t *testing.T) {
	l := openRollTimeline(t, 600)
	l.roll(t)
	l.step(t, "introducing")
	l.age(t, "61m")
	l.step(t, "replacing")
	l.age(t, "26h")
	l.step(t, "")
	waitFor(t, func() bool { return l.seen.bogus.Load() > 0 })
	l.stop()
	t.Logf("%d answers secure, %d insecure, %d bogus", l.seen.secure.Load(), l.seen.insecure.Load(), l.seen.bogus.Load())
	l.node.stop(t)
}

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// A change on one node is served by the other node's name server: after a
// notification, or at its next poll.
func TestTwoNodesServe(t *testing.T) {
	s := openEnv(t, options{db: sqldbtest.Postgres(t)})
	other := s.secondNode(t)
	token := s.bearer(t, s.bought(t, "first.com"))
	add := func(host string) {
		t.Helper()
		created(t, s.try(t, "POST", "/dns/first.com", fmt.Sprintf(`{"type":"A","host":%q,"value":"192.0.2.10"}`, host), token).send(t, s))
	}
	answers := func(host string) bool {
		_, found := other.dig(t, host+".first.com", "A")
		return len(found) == 1
	}
	add("looked")
	if answers("looked") {
		t.Error("the other node has not looked yet")
	}
	if err := other.follower.Follow(t.Context()); err != nil || !answers("looked") {
		t.Errorf("the other node has looked, and does not answer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done, heard := make(chan struct{}), make(chan string, 100)
	go func() {
		defer close(done)
		s.db.Listen(ctx, sqldb.ZoneChannel, func(origin string) {
			if err := other.follower.HandleNotification(ctx, origin); err != nil {
				t.Error(err)
			}
			heard <- origin
		}, func(err error) { t.Error(err) })
	}()
	defer func() { cancel(); <-done }()
	if word := <-heard; word != "" {
		t.Errorf("heard %q first", word)
	}
	for i := range 10 {
		host := fmt.Sprintf("heard%d", i)
		add(host)
		serial := read[api.RecordList](t, s.get(t, "/dns/first.com", "Authorization", token)).Revision
		for notice := fmt.Sprint("first.com ", serial); <-heard != notice; { // one of an earlier change may come late
		}
		if !answers(host) {
			t.Errorf("%s: the other node has heard of it, and does not answer", host)
		}
	}
	list := read[api.RecordList](t, other.get(t, "/dns/first.com", "Authorization", token))
	if p := read[api.Propagation](t, other.get(t, "/dns/first.com/propagation", "Authorization", token)); p.Serial != list.Revision || !p.Servers[0].InSync {
		t.Errorf("got %+v, want %d", p, list.Revision)
	}
	s.runWorker(t)
	s.audit(t)
}

// A recorder is a publisher that counts its calls.
type recorder struct{ published, withdrawn atomic.Int64 }

func (r *recorder) Publish(context.Context, dnssec.ServedZone) error { r.published.Add(1); return nil }
func (r *recorder) Withdraw(context.Context, string) error           { r.withdrawn.Add(1); return nil }

// A change is published with its order, and no poll reads it again.
func TestFollowerStopsRereading(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		r := &recorder{}
		s.follower.Publishers = []dnssec.Publisher{r}
		s.bought(t, "first.com")
		if r.published.Load() == 0 {
			t.Error("it was not published")
		}
		for i := range 4 { // although polls overlap a little
			r.published.Store(0)
			if err := s.follower.Follow(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := r.published.Load(); got != 0 {
				t.Errorf("poll %d: %d zones", i, got)
			}
			s.clock.advance(time.Hour)
		}
	})
}

// Two nodes change one zone concurrently: every paid change is made, and each
// increments the serial.
func TestTwoNodesChangeOneZone(t *testing.T) {
	s := openEnv(t, options{db: sqldbtest.Postgres(t)})
	nodes := []*env{s, s.secondNode(t)}
	token := s.bearer(t, s.bought(t, "first.com"))
	tries := make(chan dnsTry, 40)
	for i := range cap(tries) {
		tries <- s.try(t, "POST", "/dns/first.com", fmt.Sprintf(`{"type":"A","host":"h%d","value":"192.0.2.10"}`, i), token)
	}
	if count := race(cap(tries), func() int {
		c := <-tries
		return c.send(t, nodes[strings.Count(c.body, "1")%2]).status
	}); count[201] != 40 {
		t.Errorf("got %v", count)
	}
	s.runWorker(t)
	history := read[api.Revisions](t, s.get(t, "/dns/first.com/revisions", "Authorization", token)).Revisions
	if len(history) != 41 {
		t.Errorf("got %d revisions", len(history))
	}
	for i := 1; i < len(history); i++ {
		if history[i-1].Revision <= history[i].Revision || history[i-1].Records != history[i].Records+1 {
			t.Errorf("%+v came after %+v", history[i-1], history[i])
		}
	}
	s.audit(t)
}

package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/zone"
)

// wireDNS gives the service of a env a name server, and what changes zones.
func (s *env) wireDNS(t *testing.T, zones sqldb.Zones) {
	t.Helper()
	conf := nameserver.Defaults()
	conf.Listen, conf.Sockets = "127.0.0.1:0", 1
	server, err := nameserver.Open(conf)
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve()                    // Close tells what matters
	t.Cleanup(func() { server.Close() }) // it goes away with the test
	s.dns = server
	s.follower = &zone.Follower{Zones: sqldb.Served{DB: s.db}, Publishers: []dnssec.Publisher{server}, Now: s.clock.Now}
	s.api.Zones = &zone.Service{
		Store: zones, Names: sqldb.Registrations{DB: s.db, Now: s.clock.Now, Zones: zones}, History: zones,
		Publish: func(ctx context.Context, name deed.Name) {
			if err := s.follower.Refresh(context.WithoutCancel(ctx), string(name)); err != nil {
				t.Error(err)
			}
		},
		NewID: sqldb.NewRecordID,
		Now:   s.clock.Now, RegistryNow: s.clock.Now, Grace: s.api.Catalog.GraceDays,
	}
	s.api.Propagation = func(_ context.Context, name deed.Name, serial uint32) (uint32, []api.ServerPropagation) {
		has, _ := server.Serial(string(name))
		return serial, []api.ServerPropagation{{Server: "embedded", Serial: has, InSync: has == serial}}
	}
}

// dig asks the env's name server and returns the answer, without signatures.
func (s *env) dig(t *testing.T, name, kind string) (rcode string, answers []string) {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(name), dns.StringToType[kind])
	c := dns.Client{Net: "tcp", Timeout: time.Minute}
	in, _, err := c.Exchange(m, s.dns.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range in.Answer {
		answers = append(answers, strings.ReplaceAll(rr.String(), "\t", " "))
	}
	return dns.RcodeToString[in.Rcode], answers
}

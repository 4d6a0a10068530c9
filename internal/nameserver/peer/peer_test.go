package peer_test

import (
	"errors"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/internal/nameserver/peer"
)

// Every supported server serves the zone it was given.
func TestPeersAnswer(t *testing.T) {
	zone := peer.Zone{Origin: "example.com", File: `$ORIGIN example.com.
@ 300 IN SOA ns1.example.net. hostmaster.example.net. 1 3600 600 1209600 300
@ 300 IN NS ns1.example.net.
www 300 IN A 192.0.2.1
`}
	for _, name := range peer.Names {
		t.Run(name, func(t *testing.T) {
			p, err := peer.Start(name, t.TempDir(), []peer.Zone{zone})
			if errors.Is(err, peer.ErrMissing) {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			m, err := dns.Exchange(new(dns.Msg).SetQuestion("www.example.com.", dns.TypeA), p.Addr.String())
			if err != nil || len(m.Answer) != 1 || !m.Authoritative {
				t.Errorf("got %v, %v, want one record", m, err)
			}
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

package epp_test

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"deed.example/deed/internal/registrar/epp/epptest"
)

// Debian's Net::EPP gets on with the registry of these tests, so that it and the
// backend are not wrong in the same way.
func TestNetEPP(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "perl", "-MNet::EPP::Client", "-e", "1").Run(); err != nil {
		t.Skip("Net::EPP is not installed: apt-get install libnet-epp-perl")
	}
	e := open(t, func(s *epptest.Config, _ *eppConfig) {
		s.Without = []string{"urn:ietf:params:xml:ns:epp:fee-1.0"} // Net::EPP knows none
	})
	code, err := e.registry.Elsewhere(t.Context(), "peer-elsewhere.com")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(e.server.Addr())
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "perl", "testdata/peer.pl", port, e.config.CertFile, e.config.KeyFile, e.config.CAFile, code.Reveal()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d steps", strings.Count(string(out), "\n"))
	if h, err := e.Holding(t.Context(), "peer-elsewhere.com"); err != nil || h.Expires.Before(e.Now().AddDate(1, 0, 0)) {
		t.Errorf("got %+v, %v, want it with another year", h, err)
	}
	if a, err := e.Available(t.Context(), "peer.com"); err != nil || !a.Available {
		t.Errorf("got %+v, %v, want it to be free", a, err)
	}
}

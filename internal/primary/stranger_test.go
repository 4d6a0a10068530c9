package primary_test

import (
	"net/netip"
	"testing"

	"github.com/miekg/dns"
)

// A message that ends after its header, although that says that there is a question, is
// malformed, also from a peer that needs no signature: its address may be spoofed over UDP,
// and a panic would end the process.
func TestHeaderAlone(t *testing.T) {
	h := open(t, netip.MustParsePrefix("127.0.0.0/8"))
	h.add(t, "example.com", "a1")
	header := pack(t, question("example.com.", dns.TypeSOA))[:12]
	for _, network := range []string{"udp", "tcp"} {
		if r := h.send(t, network, header); r.Rcode != dns.RcodeFormatError {
			t.Errorf("over %s: got %v", network, r)
		}
	}
}

package e2e_test

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

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

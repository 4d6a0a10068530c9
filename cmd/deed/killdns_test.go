package main

import (
	"crypto/ecdsa"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// recordCase changes the DNS of a name, and is paid by who does not own it.
var recordCase = killCase{path: "/dns/killed.com", done: 201, owned: true, seen: readRecords,
	prepare: func(t *testing.T, n *node, owner *ecdsa.PrivateKey) (string, deed.USDC) {
		_, cost := buyNames(t, n, owner)
		return `{"type":"A","host":"www","value":"192.0.2.10"}`, cost
	}}

// readRecords wants the record in the DNS, once.
func readRecords(t *testing.T, n *node) {
	t.Helper()
	if got := n.dig(t, "www.killed.com"); len(got) != 1 || got[0] != "192.0.2.10" {
		t.Errorf("the name server says %v", got)
	}
}

// dig asks the node's name server for addresses.
func (n *node) dig(t *testing.T, host string) (addresses []string) {
	t.Helper()
	m := new(dns.Msg)
	m.SetQuestion(dns.Fqdn(host), dns.TypeA)
	c := dns.Client{Net: "tcp", Timeout: time.Minute}
	in, _, err := c.Exchange(m, n.dns)
	if err != nil {
		t.Fatal(err)
	}
	for _, rr := range in.Answer {
		if a, ok := rr.(*dns.A); ok {
			addresses = append(addresses, strings.TrimSpace(a.A.String()))
		}
	}
	return addresses
}

// What one process changes the other answers, having heard of it.
func TestTwoProcessesServe(t *testing.T) {
	dir := t.TempDir()
	environ := []string{"DEED_DATABASE_URL=" + sqldbtest.MigratedPostgresURL(t), "DEED_SIGNIN_KEYS=" + filepath.Join(dir, "keys"), "DEED_DNS_KEY=" + filepath.Join(dir, "dns.key")}
	one := start(t, t.TempDir(), environ...)
	two := start(t, t.TempDir(), append(environ, "DEED_CHAIN_RPC_URL="+one.sandbox(t).RPCURL, "DEED_REGISTRAR_ALLOW_EMBEDDED=true")...)
	owner := newKey(t)
	order, _ := recordCase.prepare(t, one, owner)
	one.token = one.signIn(t, owner).AccessToken
	for _, host := range []string{"www", "second", "third"} {
		order := strings.Replace(order, "www", host, 1)
		payment, _ := one.payment(t, owner, recordCase.path, order)
		if status, body := one.send(t, recordCase.path, order, payment); status != 201 {
			t.Fatalf("got %d %s", status, body)
		}
		for _, n := range []*node{one, two} {
			waitFor(t, func() bool { return len(n.dig(t, host+".killed.com")) == 1 })
		}
	}
	// A third one with a key of its own would sign what no parent vouches for.
	cmd := exec.Command(binary, "serve", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--metrics-listen", "off", "--chain-listen", "127.0.0.1:0", "--dns-listen", "off")
	cmd.Env = append(environ[:2:2], "DEED_DATABASE_TIMEOUT=2m", "DEED_DATABASE_IDLE_TIMEOUT=2m") // on a busy machine, too
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "dns.key") {
		t.Errorf("got %v: %s", err, out)
	}
	two.stop(t)
	one.stop(t)
}

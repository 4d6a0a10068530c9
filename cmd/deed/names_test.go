package main

import (
	"crypto/ecdsa"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
)

// rich returns the key of a wallet with test money.
func (n *node) rich(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key := newKey(t)
	n.call(t, "POST", "/sandbox/faucet", "", api.FaucetRequest{WalletAddress: crypto.PubkeyToAddress(key.PublicKey).Hex()}, nil)
	return key
}

// buy pays for an order and returns its answer.
func (n *node) buy(t *testing.T, key *ecdsa.PrivateKey, path string, in map[string]string, want int) (out api.Registration) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	payment, _ := n.payment(t, key, path, string(body))
	status, answer := n.send(t, path, string(body), payment)
	if status != want {
		t.Fatalf("%s of %v: got %d %s, want %d", path, in, status, answer, want)
	}
	if err := json.Unmarshal([]byte(answer), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// age moves the calendar of the sandbox.
func (n *node) age(t *testing.T, advance string) time.Time {
	t.Helper()
	var c api.Clock
	if status := n.call(t, "POST", "/sandbox/clock", "", api.ClockRequest{Advance: advance}, &c); status != 200 {
		t.Fatalf("move the clock by %s: got %d", advance, status)
	}
	return c.Now
}

// see returns a name, and fails unless it has the status; "" if it is not ours.
func (n *node) see(t *testing.T, domain, want string) (d api.Domain) {
	t.Helper()
	status := n.call(t, "GET", "/domains/"+domain, "", nil, &d)
	if d.Status != want || (status == 404) != (want == "") {
		t.Errorf("%s: got %d %+v, want %q", domain, status, d, want)
	}
	return d
}

// The sandbox of one command: a name is bought and renewed, grows old, is
// restored, lost, and sold again; the calendar outlives a restart.
func TestSandboxLifecycle(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir, "DEED_LIMITS_REGISTER=1000")
	key := n.rich(t)
	name := map[string]string{"domain": "ageing.com"}
	first := n.buy(t, key, "/domains/register", name, 201)
	if d := n.see(t, "ageing.com", "active"); !d.ExpiresAt.Equal(first.ExpiresAt) || !d.Locked {
		t.Errorf("got %+v", d)
	}
	var record api.RDAPDomain
	if status := n.call(t, "GET", "/rdap/domain/ageing.com", "", nil, &record); status != 200 || record.LDHName != "ageing.com" {
		t.Errorf("got %d %+v", status, record)
	}
	if r := n.buy(t, key, "/domains/renew", name, 200); !r.ExpiresAt.Equal(first.ExpiresAt.AddDate(1, 0, 0)) {
		t.Errorf("got %+v", r)
	}
	before := n.sandbox(t).Now
	if now := n.age(t, "1d"); now.Sub(before) < 24*time.Hour {
		t.Errorf("a day after %s it is %s", before, now)
	}
	n.see(t, "ageing.com", "active")
	n.age(t, "400d") // 401 of 730
	n.see(t, "ageing.com", "active")
	n.age(t, "340d") // 11 too many
	if d := n.see(t, "ageing.com", "expired"); d.Grace == nil || d.Grace.Price != "13.06" {
		t.Errorf("got %+v", d)
	}
	n.age(t, "25d")
	if d := n.see(t, "ageing.com", "redemption"); d.Grace == nil || d.Grace.Price != "67.56" {
		t.Errorf("got %+v", d)
	}
	n.buy(t, key, "/domains/renew", name, 200)
	restored := n.see(t, "ageing.com", "active")
	if !restored.ExpiresAt.Equal(first.ExpiresAt.AddDate(2, 0, 0)) || !slices.IsSortedFunc(restored.Events, func(a, b api.DomainEvent) int { return a.At.Compare(b.At) }) {
		t.Errorf("got %+v", restored)
	}
	n.stop(t)

	then := n
	n = start(t, dir, "DEED_LIMITS_REGISTER=1000", "DEED_PUBLIC_URL="+then.callers)
	if now := n.sandbox(t).Now; now.Before(before.AddDate(0, 0, 766)) {
		t.Errorf("after a restart it is %s", now)
	}
	n.see(t, "ageing.com", "active")
	n.age(t, "400d") // 71 days after its expiry
	n.see(t, "ageing.com", "")
	heir := n.rich(t)
	n.buy(t, heir, "/domains/register", name, 201)
	if d := n.see(t, "ageing.com", "active"); d.WalletAddress != strings.ToLower(crypto.PubkeyToAddress(heir.PublicKey).Hex()) {
		t.Errorf("got %+v", d)
	}
	n.audited(t, dir)
	n.stop(t)
}

// audited fails unless every dollar is accounted for.
func (n *node) audited(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command(binary, "admin", "audit", "--data", dir, "--chain-listen", strings.TrimPrefix(n.sandbox(t).RPCURL, "http://")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), " 0 payments and jobs are open") {
		t.Errorf("audit: %v: %s", err, out)
	}
}

// A name comes from another registrar, and leaves to it again; one that the
// other side keeps costs nothing.
func TestSandboxTransfers(t *testing.T) {
	dir := t.TempDir()
	n := start(t, dir, "DEED_LIMITS_REGISTER=1000")
	key := n.rich(t)
	order := func(domain string) map[string]string {
		var there api.Elsewhere
		if status := n.call(t, "POST", "/sandbox/elsewhere", "", api.ElsewhereRequest{Domain: domain}, &there); status != 200 || there.AuthCode == "" {
			t.Fatalf("got %d %+v", status, there)
		}
		return map[string]string{"domain": domain, "authCode": there.AuthCode}
	}
	decide := func(domain string, approve bool) {
		if status := n.call(t, "POST", "/sandbox/transfers", "", api.DecisionRequest{Domain: domain, Approve: &approve}, nil); status != 200 {
			t.Errorf("decide on %s: got %d", domain, status)
		}
	}
	n.buy(t, key, "/domains/transfer", order("moving.com"), 202)
	n.see(t, "moving.com", "")
	n.age(t, "121h")
	if d := n.see(t, "moving.com", "active"); d.Events[0].Type != "transferred_in" {
		t.Errorf("got %+v", d)
	}
	n.buy(t, key, "/domains/transfer", order("quick.com"), 202)
	decide("quick.com", true)
	n.see(t, "quick.com", "active")

	kept := n.buy(t, key, "/domains/transfer", order("kept.com"), 202)
	decide("kept.com", false)
	var job api.Job
	waitFor(t, func() bool {
		n.call(t, "GET", "/domains/status/"+kept.JobID, "", nil, &job)
		return job.Status == "failed" && job.Refund != nil && job.Refund.Status == "confirmed"
	})
	n.see(t, "kept.com", "")

	n.age(t, "61d")
	token := n.signIn(t, key).AccessToken
	var code api.AuthCode
	if status := n.call(t, "POST", "/domains/moving.com/authcode", token, nil, &code); status != 200 {
		t.Fatalf("got %d", status)
	}
	leave := func(code string) int {
		return n.call(t, "POST", "/sandbox/elsewhere", "", api.ElsewhereRequest{Domain: "moving.com", AuthCode: code}, nil)
	}
	if status := leave("wrong"); status != 400 {
		t.Errorf("with a wrong code: got %d", status)
	}
	if status := leave(code.AuthCode); status != 200 {
		t.Errorf("got %d", status)
	}
	n.see(t, "moving.com", "transferring")
	decide("moving.com", true)
	n.see(t, "moving.com", "")
	var list api.AccountDomains
	if n.call(t, "GET", "/account/domains", token, nil, &list); list.Total != 1 || list.Domains[0].Domain != "quick.com" {
		t.Errorf("got %+v", list)
	}
	n.audited(t, dir)
	n.stop(t)
}

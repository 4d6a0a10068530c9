//go:build unix

package app

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/keyfile"
	"deed.example/deed/internal/postgrestest"
	"deed.example/deed/internal/registrar/local"
)

// A rotation has two nodes with the same files behind one address, and replaces a file
// while one of them always serves.
type rotation struct {
	t      *testing.T
	c      Config
	dir    string // of the files
	faults local.Faults
	nodes  [2]*App
	serves atomic.Int32 // the node that callers reach
	buyer  *client.Client
	paid   int // orders and changes
	fund   func(keys ...*ecdsa.PrivateKey)
}

func openRotation(t *testing.T) *rotation {
	t.Helper()
	r := &rotation{t: t, dir: t.TempDir()}
	c, fund := onOtherChain(t)
	gas, refund, key := newKey(t), newKey(t), newKey(t)
	fund(gas, refund, key)
	r.fund = fund
	server := postgrestest.Start(t)
	c.DatabaseURL = deed.Secret(postgrestest.URL("postgres", server))
	c.GasKey, c.RefundKey = r.write("gas.key", hex.EncodeToString(crypto.FromECDSA(gas))), r.write("refund.key", hex.EncodeToString(crypto.FromECDSA(refund)))
	c.SigninKeys, c.AgentKey, c.DNSKey = filepath.Join(r.dir, "signin.keys"), filepath.Join(r.dir, "agent.key"), filepath.Join(r.dir, "dns.key")
	c.TSIG, c.PrimaryListen = r.write("tsig", tsigLine("one")), "127.0.0.1:0"
	c.Hooks.Faults, c.Limits.Register.Max = &r.faults, 100
	r.c = c
	for i := range r.nodes {
		r.open(i)
	}
	t.Cleanup(func() { r.close(0); r.close(1) })
	front := httptest.NewServer(r)
	t.Cleanup(front.Close)
	var err error
	if r.buyer, err = client.New(front.URL, client.WithWallet(client.NewKey(key)), client.WithMaxPayment(100*client.Dollar)); err != nil {
		t.Fatal(err)
	}
	return r
}

func tsigLine(name string) string { return name + " " + strings.Repeat("c2VjcmV0c2Vj", 4) + "\n" }

func (r *rotation) write(name, text string) (path string) {
	r.t.Helper()
	path = filepath.Join(r.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

func (r *rotation) read(name string) string {
	r.t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(raw)
}

func (r *rotation) open(i int) {
	r.t.Helper()
	c := r.c
	c.Data = r.t.TempDir()
	a, err := Open(r.t.Context(), c)
	if err == nil {
		err = a.Start(r.t.Context())
	}
	if err != nil {
		r.t.Fatal(err)
	}
	r.nodes[i] = a
}

func (r *rotation) close(i int) {
	r.t.Helper()
	if err := r.nodes[i].Close(); err != nil {
		r.t.Error(err)
	}
}

// roll restarts one node after the other, with what the files have now. Whatever node
// serves, and whatever file it has, callers buy and change names.
func (r *rotation) roll(what string) {
	r.t.Helper()
	for i := range r.nodes {
		r.serves.Store(int32(1 - i))
		r.close(i)
		r.open(i)
		domain := what + "-" + string(rune('a'+i)) + ".com"
		r.serves.Store(int32(i))
		r.register(domain) // on a node with the new file
		r.serves.Store(int32(1 - i))
		r.change(domain) // on the other one
	}
}

func (r *rotation) register(domain string) {
	r.t.Helper()
	if err := buyName(r.t, r.buyer, domain); err != nil {
		r.t.Fatalf("%s: %v", domain, err)
	}
	r.paid++
}

func (r *rotation) change(domain string) {
	r.t.Helper()
	if _, err := r.buyer.AddRecord(r.t.Context(), domain, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.9"}); err != nil {
		r.t.Fatalf("change %s: %v", domain, err)
	}
	r.paid++
}

func (r *rotation) body(path string) string {
	r.t.Helper()
	w := httptest.NewRecorder()
	r.ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	return w.Body.String()
}

// ServeHTTP is the load balancer.
func (r *rotation) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.nodes[r.serves.Load()].API.Handler().ServeHTTP(w, req)
}

// verifies reports whether the published keys have the one that signed the card.
func (r *rotation) verifies(card string) bool {
	r.t.Helper()
	var signed struct {
		Signatures []api.AgentCardSignature `json:"signatures"`
	}
	var header api.JOSEHeader
	var keys api.JWKS
	err := json.Unmarshal([]byte(card), &signed)
	if err == nil && len(signed.Signatures) == 1 {
		raw, _ := base64.RawURLEncoding.DecodeString(signed.Signatures[0].Protected) // else it is no JSON
		err = errors.Join(json.Unmarshal(raw, &header), json.Unmarshal([]byte(r.body("/.well-known/jwks.json")), &keys))
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return slices.ContainsFunc(keys.Keys, func(k api.JWK) bool { return k.KeyID == header.KeyID })
}

// Every key is replaced while callers buy names and change zones, on nodes with the old
// and with the new file. Nothing fails, nobody has to sign in again, and the books are
// right in the end.
func TestEveryKeyIsRotatedWithoutDowntime(t *testing.T) {
	r := openRotation(t)
	r.register("first.com")
	session, err := r.buyer.SignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}

	gas, refund := newKey(t), newKey(t)
	r.fund(gas, refund)
	r.write("gas.key", hex.EncodeToString(crypto.FromECDSA(gas)))
	r.write("refund.key", hex.EncodeToString(crypto.FromECDSA(refund)))
	r.write("tsig", tsigLine("two")+tsigLine("one"))
	if err := keyfile.Rotate(r.c.SigninKeys); err != nil { // running nodes read it again
		t.Fatal(err)
	}
	r.roll("wallets")
	r.refunded("returned.com")
	r.rotateAgentKey()
	r.rotateZoneSecret()
	if status := r.asSession(session); status != 200 {
		t.Errorf("the session of the start: got %d", status)
	}
	for _, a := range r.nodes { // also a node that had an older secret when the name was bought
		waitFor(t, func() bool { return resolves(t, a, "www.dns-a.com.") && resolves(t, a, "www.wallets-b.com.") })
	}
	r.c.Data = r.nodes[0].config.Data
	audited(t, r.c, r.paid, 1)
}

// refunded orders a name that the registry refuses.
func (r *rotation) refunded(domain string) {
	r.t.Helper()
	if err := r.faults.Set(local.FaultRefuse, 1); err != nil {
		r.t.Fatal(err)
	}
	if err := buyName(r.t, r.buyer, domain); err == nil {
		r.t.Fatal("it was sold")
	}
	r.paid++
}

// rotateAgentKey publishes a new key, signs with it, and forgets the old one. Cards that
// are in caches verify until then.
func (r *rotation) rotateAgentKey() {
	r.t.Helper()
	cards := []string{r.body("/.well-known/agent-card.json")}
	old := r.read("agent.key")
	other := filepath.Join(r.t.TempDir(), "agent.key")
	if _, err := keyfile.OpenSigning(other); err != nil {
		r.t.Fatal(err)
	}
	raw, err := os.ReadFile(other)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, text := range []string{old + string(raw), string(raw) + old} {
		r.write("agent.key", text)
		for i := range r.nodes {
			r.close(i)
			r.open(i)
			for n := range r.nodes {
				r.serves.Store(int32(n))
				cards = append(cards, r.body("/.well-known/agent-card.json"))
				for _, card := range cards {
					if i == 1 && !r.verifies(card) { // every node has the file
						r.t.Errorf("with %d keys: a card does not verify", strings.Count(text, "BEGIN"))
					}
				}
			}
		}
	}
}

// rotateZoneSecret has new zones derive their keys from another secret.
func (r *rotation) rotateZoneSecret() {
	r.t.Helper()
	secret := r.read("dns.key")
	r.write("dns.key", strings.Repeat("5a", 32)+"\n"+secret)
	r.roll("dns")
}

// asSession reads the account with the tokens.
func (r *rotation) asSession(tokens client.Tokens) int {
	r.t.Helper()
	req := httptest.NewRequest("GET", "/account", nil)
	req.Header.Set("Authorization", "Bearer "+tokens.Access)
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	return w.Code
}

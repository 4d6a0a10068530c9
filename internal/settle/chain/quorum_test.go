package chain_test

import (
	"encoding/json"
	"errors"
	"net/http/httptest"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/settle/settletest"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// forgetful returns an endpoint of the same chain that has no logs and no receipts.
func (env *testEnv) forgetful(t *testing.T) (url string) {
	t.Helper()
	other := &proxy{next: env.Handler()}
	other.refusing(func(method string, _ []json.RawMessage) *refusal {
		switch method {
		case "eth_getLogs":
			return &refusal{object: "[]"}
		case "eth_getTransactionReceipt":
			return &refusal{object: "null"}
		}
		return nil
	})
	server := httptest.NewServer(other)
	t.Cleanup(server.Close)
	return server.URL
}

// agreeing makes settlers use these endpoints, of which two must agree.
func (env *testEnv) agreeing(urls ...string) {
	env.cfg.Client = patient(urls...)
	env.cfg.Client.Quorum = 2
}

// What only one endpoint says of money is not believed, if two must agree: neither that a
// payment was settled, nor that money came that would be refunded.
func TestQuorum(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		paid := env.pay("1")
		env.thirdParty(paid)
		second, third := env.forgetful(t), env.forgetful(t)

		env.cfg.Client = patient(env.url, second)
		env.seen(env.settler(), paid) // without a quorum

		env.agreeing(env.url, second)
		two := env.settler()
		if got, err := two.Incoming(t.Context(), 0); err == nil {
			t.Errorf("of two that contradict each other: got %+v, want an error", got)
		}
		waiting := env.settleLater(two, paid)
		env.rounds()
		select {
		case got := <-waiting:
			t.Errorf("of two that contradict each other: settled by %q, %v", got.txHash, got.err)
		default:
		}

		env.agreeing(env.url, second, third)
		env.seen(env.settler()) // two of three say that nothing came
	})
}

// The newest block is one that both endpoints have.
func TestQuorumOfTheHead(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	honest := httptest.NewServer(env.Handler())
	defer honest.Close()
	c := patient(honest.URL, env.url)
	before, err := c.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var old json.RawMessage
	env.rpc(&old, "eth_getBlockByNumber", "latest", false)
	env.mine(3)
	env.lie(string(old))
	if got, err := c.Newest(t.Context()); err != nil || got.Number != before.Number+3 {
		t.Fatalf("without a quorum: got block %d, %v, want %d", got.Number, err, before.Number+3)
	}
	c.Quorum = 2
	if got, err := c.Newest(t.Context()); err != nil || got != before {
		t.Errorf("got block %d, %v, want %d", got.Number, err, before.Number)
	}
}

// While one of two endpoints cannot be used, no payment is accepted, and none is decided.
func TestQuorumIsMissing(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	gone := httptest.NewServer(env.Handler())
	env.agreeing(env.url, gone.URL)
	s := env.settler()
	if _, err := s.Check(t.Context(), env.pay("1"), nil); err != nil {
		t.Fatal(err)
	}
	gone.Close()
	if _, err := s.Incoming(t.Context(), 0); err == nil {
		t.Error("what one endpoint says is believed")
	}
	if _, err := s.Check(t.Context(), env.pay("1"), nil); err == nil || deed.CodeOf(err) != deed.CodeUnavailable || errors.Is(err, chain.ErrWrongChain) {
		t.Errorf("a payment is checked: got %v, want that the service is unavailable", err)
	}
}

// A settler whose endpoints agree does all that one with a single endpoint does.
func TestSettlerWithQuorum(t *testing.T) {
	settletest.Run(t, func(t *testing.T) settletest.Fixture {
		env := newEnv(t, sqldbtest.SQLite(t))
		second := httptest.NewServer(env.proxy)
		t.Cleanup(func() { env.proxy.repair(); second.Close() })
		env.agreeing(env.url, second.URL)
		return env.fixture()
	})
}

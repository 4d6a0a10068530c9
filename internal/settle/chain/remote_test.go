package chain_test

import (
	"crypto/ecdsa"
	"net/http/httptest"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle/settletest"
	"deed.example/deed/internal/signer/signertest"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// signRemotely makes settlers sign with a Web3Signer from now on.
func (env *testEnv) signRemotely(chainID uint64) *signertest.Web3Signer {
	service := &signertest.Web3Signer{ChainID: chainID, Keys: []*ecdsa.PrivateKey{env.gasKey, env.refundKey}}
	server := httptest.NewServer(service)
	env.t.Cleanup(server.Close)
	env.cfg.GasSigner = &signertest.Remote{URL: server.URL, Wallet: walletAt(addressOfKey(env.gasKey))}
	env.cfg.RefundSigner = &signertest.Remote{URL: server.URL, Wallet: walletAt(addressOfKey(env.refundKey))}
	return service
}

func TestSuiteWithARemoteSigner(t *testing.T) {
	settletest.Run(t, func(t *testing.T) settletest.Fixture {
		env := newEnv(t, sqldbtest.SQLite(t))
		env.signRemotely(network.EmbeddedChainID)
		return env.fixture()
	})
}

// A signer that is down, or whose answer is lost, delays a payment and a refund, and
// each is still made once.
func TestRemoteSignerFails(t *testing.T) {
	const payee = deed.Wallet("0x00000000000000000000000000000000000000bb")
	eachEnv(t, func(t *testing.T, env *testEnv) {
		service := env.signRemotely(network.EmbeddedChainID)
		s := env.settler()
		for i, broken := range []interface{ Store(bool) }{&service.Down, &service.Lost} {
			broken.Store(true)
			payment := env.settleLater(s, env.pay([]string{"1", "2"}[i]))
			env.wait(func() bool { return s.Cause() != nil })
			if got := <-env.refundLater(s, refundOf(payee, i, 7)); got.err == nil {
				t.Errorf("got %s without a signer", got.txHash)
			}
			if env.moved() != i || env.nonceOf(env.gasKey) != uint64(i) {
				t.Errorf("got %d transfers in %d transactions without a signer, want %d", env.moved(), env.nonceOf(env.gasKey), i)
			}
			broken.Store(false)
			env.settled(payment)
			env.settled(env.refundLater(s, refundOf(payee, i, 7)))
		}
		if env.moved() != 2 || env.usdc(payee) != 14 {
			t.Errorf("got %d transfers and %s back, want 2 and 0.000014", env.moved(), env.usdc(payee))
		}
		env.noGap(env.gasKey)
		env.noGap(env.refundKey)
	})
}

// What a signer for another chain signs is not stored, and so never sent.
func TestSignerOfAnotherChain(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		service := env.signRemotely(8453)
		s := env.settler()
		payment := env.settleLater(s, env.pay("1"))
		env.wait(func() bool { return s.Cause() != nil })
		if err := s.Cause(); !strings.Contains(err.Error(), "was not asked for") {
			t.Errorf("got %v, want that the signer signed something else", err)
		}
		if all := env.signedBy(env.gasKey); len(all) != 0 || service.Signed.Load() == 0 {
			t.Errorf("got %d transactions in the store of %d signed, want none", len(all), service.Signed.Load())
		}
		// The operator configures the right one.
		right := env.signRemotely(network.EmbeddedChainID)
		env.settled(env.settleLater(env.settler(), env.pay("1")))
		if env.settled(payment); env.moved() != 1 || right.Signed.Load() == 0 {
			t.Errorf("got %d transfers, want 1", env.moved())
		}
	})
}

package httpapi

import (
	"context"
	"net"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
)

// A Sandbox is the embedded chain with its play money.
type Sandbox struct {
	ChainID uint64
	RPCURL  string
	USDC    string // address of the token

	// Faucet gives a wallet play USDC and returns, once it is there, the
	// transaction and the wallet's balance.
	Faucet func(ctx context.Context, w deed.Wallet, amount deed.USDC) (txHash string, balance deed.USDC, err error)

	// Faults breaks the embedded registry on demand.
	Faults interface {
		Set(kind string, times int) error // times 0 is until it is set again
		On() string
	}
}

// What the faucet gives when it is not told how much, and at the most.
const (
	faucetGift deed.USDC = 1_000_000_000
	faucetMost deed.USDC = 1_000_000_000_000
)

// sandboxed lets callers on this machine through to h, in a sandbox. For all
// others there is no such path.
func (s *Server) sandboxed(h handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		if s.Sandbox == nil || local == nil || !local.IP.IsLoopback() {
			return refuse(http.StatusNotFound, "there is nothing at %s: the sandbox is on a loopback address only", r.URL.Path)
		}
		return h(w, r)
	})
}

func (s *Server) showSandbox(w http.ResponseWriter, _ *http.Request) error {
	s.reply(w, http.StatusOK, api.Sandbox{ChainID: s.Sandbox.ChainID, RPCURL: s.Sandbox.RPCURL, USDC: s.Sandbox.USDC, Now: s.Now().UTC(), Faults: s.faults()})
	return nil
}

func (s *Server) faults() api.SandboxFaults {
	return api.SandboxFaults{Registrar: s.Sandbox.Faults.On()}
}

func (s *Server) setFaults(w http.ResponseWriter, r *http.Request) error {
	var in api.FaultsRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if in.Times < 0 {
		return deed.Invalid("times", "must be 0 or above; 0 is until it is set again")
	}
	if err := s.Sandbox.Faults.Set(in.Registrar, in.Times); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, s.faults())
	return nil
}

func (s *Server) faucet(w http.ResponseWriter, r *http.Request) error {
	var in api.FaucetRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	wallet, err := deed.ParseWallet(in.WalletAddress)
	if err != nil {
		return err
	}
	amount := faucetGift
	if in.Amount != "" {
		if amount, err = deed.ParseUSDC(in.Amount); err != nil {
			return err
		}
	}
	if amount <= 0 || amount > faucetMost {
		return deed.Invalid("amount_usd", "must be above 0 and at most %s", faucetMost)
	}
	txHash, balance, err := s.Sandbox.Faucet(r.Context(), wallet, amount)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Faucet{TxHash: txHash, Balance: balance.String()})
	return nil
}

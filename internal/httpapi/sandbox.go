package httpapi

import (
	"context"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/ratelimit"
)

// A Sandbox is the embedded chain with test money, and the embedded registry.
type Sandbox struct {
	ChainID uint64
	RPCURL  string
	USDC    string // address of the token
	DNS     string // address of the name server
	Public  bool   // other machines may use it, too

	// Faucet sends test USDC to a wallet. It returns the transaction and the
	// wallet's balance once the transaction is confirmed.
	Faucet func(ctx context.Context, w deed.Wallet, amount deed.USDC) (txHash string, balance deed.USDC, err error)

	// Registry controls the embedded registry's clock and the names at other
	// registrars.
	Registry SandboxRegistry

	// Faults injects faults into the embedded registry.
	Faults interface {
		Set(kind string, times int) error // times 0: until the next Set
		On() string
	}
}

// A SandboxRegistry simulates time and other registrars.
type SandboxRegistry interface {
	// Now returns the time of the registry's clock, and Advance moves it forward.
	// When Advance returns, everything due by then has happened.
	Now() time.Time
	Advance(ctx context.Context, d time.Duration) (time.Time, error)

	// ChainNow returns the time of the embedded chain's clock. AdvanceAll moves it as
	// much as the registry's: then wallets that go by their own clock cannot pay.
	ChainNow() time.Time
	AdvanceAll(ctx context.Context, d time.Duration) (time.Time, error)

	// Elsewhere registers a name at another registrar and returns its auth code.
	Elsewhere(ctx context.Context, name deed.Name) (deed.Secret, error)

	// Leave starts the transfer of a name to another registrar, with its auth code.
	Leave(ctx context.Context, name deed.Name, code deed.Secret) error

	// Decide approves or rejects a pending transfer.
	Decide(ctx context.Context, name deed.Name, approve bool) error
}

// The default and the largest amount that the faucet sends.
const (
	faucetDefault deed.USDC = 1_000_000_000
	faucetMax     deed.USDC = 1_000_000_000_000
)

// sandboxLimit is for callers of a public sandbox on other machines, per address.
var sandboxLimit = deed.Limit{Name: "sandbox", Max: 60, Window: time.Minute}

// sandboxed restricts h to loopback connections of a sandbox, unless it is public.
// Everyone else gets 404.
func (s *Server) sandboxed(h handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
		switch here := local != nil && local.IP.IsLoopback(); {
		case s.Sandbox == nil || !here && !s.Sandbox.Public:
			return refuse(http.StatusNotFound, "there is nothing at %s: the sandbox is on a loopback address only, unless sandbox.public is set", shownPath(r))
		case !here:
			if _, err := s.Limiter.Spend(r.Context(), sandboxLimit, ratelimit.AddressKey(clientAddr(r, s.Trusted))); err != nil {
				return &deed.Error{Code: deed.CodeUnavailable, Message: "a public sandbox takes 60 calls a minute of one address: try again in a minute", Retry: time.Minute}
			}
		}
		return h(w, r)
	})
}

func (s *Server) showSandbox(w http.ResponseWriter, _ *http.Request) error {
	box := s.Sandbox
	out := api.Sandbox{
		ChainID: box.ChainID, RPCURL: box.RPCURL, USDC: box.USDC, DNS: box.DNS,
		Now: box.Registry.Now().UTC(), ChainNow: box.Registry.ChainNow().UTC(), Faults: s.faults(),
	}
	if out.ChainNow.Sub(s.Now()) > time.Hour {
		out.Note = "the clock of the chain is ahead: wallets that sign by their own clock cannot pay any more, only mandates can"
	}
	s.reply(w, http.StatusOK, out)
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
	times := 0 // until the next call
	if in.Times != nil {
		if times = *in.Times; times < 1 {
			return deed.Invalid("times", "must be 1 or above: leave it out to have it fail until it is set again")
		}
	}
	if err := s.Sandbox.Faults.Set(in.Registrar, times); err != nil {
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
	if wallet == deed.ZeroWallet {
		return deed.Invalid("walletAddress", "nobody has the key of %s, and the token sends it nothing", wallet)
	}
	amount := faucetDefault
	if in.Amount != "" {
		if amount, err = deed.ParseUSDC(in.Amount); err != nil {
			e, _ := shown(err)
			return deed.Invalid("amount_usd", "%s", e.Message)
		}
	}
	if amount <= 0 || amount > faucetMax {
		return deed.Invalid("amount_usd", "must be above 0 and at most %s", faucetMax)
	}
	txHash, balance, err := s.Sandbox.Faucet(r.Context(), wallet, amount)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Faucet{TxHash: txHash, Balance: balance.String()})
	return nil
}

// resetLimits gives every caller a fresh window.
func (s *Server) resetLimits(w http.ResponseWriter, r *http.Request) error {
	if err := s.Limiter.Reset(r.Context()); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.LimitsReset{Message: "all limits are reset"})
	return nil
}

// maxAdvance is how far one call can move the clock: ten years and the phases
// after expiry.
const maxAdvance = 4000 * 24 * time.Hour

var inDays = regexp.MustCompile(`^([0-9]{1,4})d$`)

// parseAdvance reads "36h" or "400d".
func parseAdvance(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if m := inDays.FindStringSubmatch(s); m != nil {
		days, _ := strconv.Atoi(m[1]) // four digits
		d, err = time.Duration(days)*24*time.Hour, nil
	}
	if err != nil || d <= 0 || d > maxAdvance {
		return 0, deed.Invalid("advance", "is a time forward like 36h or 400d, at most 4000d")
	}
	return d, nil
}

func (s *Server) moveClock(w http.ResponseWriter, r *http.Request) error {
	var in api.ClockRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	d, err := parseAdvance(in.Advance)
	if err != nil {
		return err
	}
	advance := s.Sandbox.Registry.Advance
	if in.Chain {
		advance = s.Sandbox.Registry.AdvanceAll
	}
	now, err := advance(r.Context(), d)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Clock{Now: now.UTC(), ChainNow: s.Sandbox.Registry.ChainNow().UTC()})
	return nil
}

// elsewhere registers a name at another registrar, to be transferred in. With an
// auth code, it starts the transfer of a name to another registrar.
func (s *Server) elsewhere(w http.ResponseWriter, r *http.Request) error {
	var in api.ElsewhereRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	name, err := deed.ParseName(in.Domain)
	if err != nil {
		return err
	}
	out := api.Elsewhere{Domain: string(name), Message: "another registrar has asked for the name: it leaves in five days, unless the transfer is decided before"}
	if in.AuthCode != "" {
		err = s.Sandbox.Registry.Leave(r.Context(), name, deed.Secret(in.AuthCode))
	} else {
		var code deed.Secret
		code, err = s.Sandbox.Registry.Elsewhere(r.Context(), name)
		out.AuthCode, out.Message = code.Reveal(), "the name is at another registrar: POST /domains/transfer brings it here with this code"
	}
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, out)
	return nil
}

func (s *Server) decideTransfer(w http.ResponseWriter, r *http.Request) error {
	var in api.DecisionRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	name, err := deed.ParseName(in.Domain)
	if err != nil {
		return err
	}
	if in.Approve == nil {
		return deed.Invalid("approve", "is required: send true or false")
	}
	if err := s.Sandbox.Registry.Decide(r.Context(), name, *in.Approve); err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Elsewhere{Domain: string(name), Message: "decided"})
	return nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// A finding is the result of one check, and what to do if it is bad.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // "ok", "warning" or "failed"
	Detail string `json:"detail"`
	Advice string `json:"advice,omitzero"`
}

// The states of a finding.
const (
	stateOK      = "ok"
	stateWarning = "warning"
	stateFailed  = "failed"
)

// errUnhealthy is returned if a check failed.
var errUnhealthy = errors.New("something is wrong: see the advice above")

func doctorCommand() *cobra.Command {
	var rpc string
	cmd := command("doctor", "Check service, clock, chain, wallet, limits and DNS", cobra.NoArgs, func(s *session, _ []string) error {
		found := s.examine(rpc)
		l := list{heads: []string{"CHECK", "STATE", "DETAIL"}}
		for _, f := range found {
			l.add(f.Check, f.State, f.Detail)
		}
		if err := s.show(map[string]any{"server": s.server, "checks": found}, l); err != nil {
			return err
		}
		for _, f := range found {
			if f.Advice != "" {
				fmt.Fprintf(s.errs, "%s: %s\n", f.Check, clean(f.Advice))
			}
		}
		if slices.ContainsFunc(found, func(f finding) bool { return f.State == stateFailed }) {
			return errUnhealthy
		}
		return nil
	})
	cmd.Flags().StringVar(&rpc, "rpc", "", "JSON-RPC URL of the chain, to read the balance (default: that of the sandbox)")
	return cmd
}

// doctorTimeout limits each check.
const doctorTimeout = 10 * time.Second

// examine makes all checks. Without a service only the first one and the wallet
// say anything.
func (s *session) examine(rpc string) []finding {
	c, err := s.open()
	if err != nil {
		return []finding{{"service", stateFailed, err.Error(), "set --server, DEED_SERVER, or a context (deed context set)"}}
	}
	ctx, cancel := context.WithTimeout(s.ctx, doctorTimeout)
	defer cancel()
	sent := time.Now()
	a, err := c.Raw(ctx, client.Raw{Method: "GET", Path: "/health"})
	if err != nil {
		return []finding{{"service", stateFailed, newReport(err).Message, "is it running? Set --server or DEED_SERVER, or start one with `deed serve`"}, s.examineWallet()}
	}
	h, ok := readHealth(a.Body)
	if !ok {
		return []finding{{"service", stateFailed, fmt.Sprintf("%s answered %d, but not like a Deed service", s.server, a.Status), "check the address in --server or DEED_SERVER"}, s.examineWallet()}
	}
	found := []finding{serviceFinding(s.server, h, time.Since(sent)), clockFinding(a.Header, time.Now())}
	found = append(found, partFindings(h)...)
	return append(found, s.examineWallet(), s.examineBalance(c, rpc), s.examineSignIn(), s.examineLimits(c), s.examineDNS(c))
}

// readHealth returns the health of a service, whether it is well or not. Other answers, such as
// that of another program, are not ok.
func readHealth(body []byte) (h api.Health, ok bool) {
	ok = json.Unmarshal(body, &h) == nil && h.Status != ""
	return h, ok
}

func serviceFinding(server string, h api.Health, took time.Duration) finding {
	f := finding{"service", stateOK, fmt.Sprintf("%s, version %s, answered in %d ms", server, h.Version, took.Milliseconds()), ""}
	switch h.Status {
	case "degraded":
		f.State, f.Advice = stateWarning, "a part is failing (see below); what does not need it works"
	case "down":
		f.State, f.Advice = stateFailed, "the service cannot do its job now; try again later, or tell its operator"
	}
	return f
}

// maxClockError is how wrong the clock may be. Sign-in messages and payments have
// times in them, and the service allows a few minutes.
const maxClockError = time.Minute

func clockFinding(h http.Header, now time.Time) finding {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return finding{"clock", stateWarning, "the service does not say what time it is", ""}
	}
	off := now.Sub(at).Round(time.Second)
	f := finding{"clock", stateOK, fmt.Sprintf("%s apart from the service", off.Abs()), ""}
	if off.Abs() > maxClockError {
		f.State, f.Advice = stateFailed, "set the clock of this machine (timedatectl set-ntp true): signatures have times in them and would be refused"
	}
	return f
}

// partFindings returns the parts of the service that users depend on, and all others
// that fail.
func partFindings(h api.Health) []finding {
	var out []finding
	for _, name := range slices.Sorted(maps.Keys(h.Checks)) {
		part := h.Checks[name]
		switch {
		case part.Status != "ok":
			out = append(out, finding{name, stateWarning, part.Status, "the service cannot reach its " + name + " now; orders wait or are refused, and nothing is lost"})
		case name == "chain" || name == "registrar":
			out = append(out, finding{name, stateOK, part.Status, ""})
		}
	}
	return out
}

func (s *session) examineWallet() finding {
	w, err := s.signer()
	if err != nil {
		return finding{"wallet", stateWarning, err.Error(), "make a wallet with `deed wallet new`, or name one with --wallet; searching works without"}
	}
	return finding{"wallet", stateOK, w.Address().Hex(), ""}
}

func (s *session) examineBalance(c *client.Client, rpc string) finding {
	w, err := s.signer()
	if err != nil {
		return finding{"balance", stateWarning, "no wallet", ""}
	}
	ctx, cancel := context.WithTimeout(s.ctx, doctorTimeout)
	defer cancel()
	balance, err := c.Balance(ctx, rpc, w.Address())
	switch {
	case client.CodeOf(err) == client.CodeNotFound && rpc == "":
		return finding{"balance", stateWarning, "not read: this service is not a sandbox", "name a JSON-RPC endpoint of its chain with --rpc to read the balance"}
	case err != nil:
		return finding{"balance", stateWarning, err.Error(), "name another JSON-RPC endpoint with --rpc"}
	case balance == 0:
		return finding{"balance", stateWarning, "0.00 USDC", "in a sandbox: `deed wallet faucet`; for real names send USDC on Base to " + w.Address().Hex()}
	}
	return finding{"balance", stateOK, balance.String() + " USDC", ""}
}

func (s *session) examineSignIn() finding {
	if !s.signedIn() {
		return finding{"sign-in", stateOK, "not signed in; commands sign in when they need to", ""}
	}
	return finding{"sign-in", stateOK, "there is a stored sign-in for this service", ""}
}

// examineLimits reads how many searches are left. It uses one of them.
func (s *session) examineLimits(c *client.Client) finding {
	ctx, cancel := context.WithTimeout(s.ctx, doctorTimeout)
	defer cancel()
	a, err := c.Raw(ctx, client.Raw{Method: "GET", Path: "/domains/check", Query: map[string][]string{"domains": {"example.com"}}})
	if err != nil {
		return finding{"limits", stateWarning, err.Error(), ""}
	}
	left, limit := a.Header.Get("X-RateLimit-Remaining"), a.Header.Get("X-RateLimit-Limit")
	if a.Status == http.StatusTooManyRequests {
		return finding{"limits", stateWarning, "no searches left for this address", fmt.Sprintf("wait %s seconds; docs/limits.md has all limits", a.Header.Get("Retry-After"))}
	}
	return finding{"limits", stateOK, fmt.Sprintf("%s of %s searches a minute left", orDash(left), orDash(limit)), ""}
}

// examineDNS asks the name server of a sandbox, or the resolver of this machine for
// a service in the public DNS.
func (s *session) examineDNS(c *client.Client) finding {
	ctx, cancel := context.WithTimeout(s.ctx, doctorTimeout)
	defer cancel()
	box, err := c.Sandbox(ctx)
	if err != nil {
		if _, err := net.DefaultResolver.LookupNS(ctx, "com."); err != nil {
			return finding{"DNS", stateWarning, err.Error(), "the resolver of this machine does not answer"}
		}
		return finding{"DNS", stateOK, "the resolver of this machine answers", ""}
	}
	if box.DNS == "" {
		return finding{"DNS", stateWarning, "this sandbox has no name server", "start it with --dns-listen 127.0.0.1:5353"}
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", box.DNS)
	if err != nil {
		return finding{"DNS", stateFailed, err.Error(), "the name server of the sandbox does not answer: see the output of `deed serve`"}
	}
	conn.Close() // nothing was sent
	return finding{"DNS", stateOK, "the name server at " + box.DNS + " answers", ""}
}

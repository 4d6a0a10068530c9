package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/client"
	"deed.example/deed/internal/agent"
)

// A Speak serves agents on two streams, until the first ends or ctx does. It
// tells them what they may spend.
type Speak func(ctx context.Context, d *agent.Executor, c agent.Consent, in io.ReadCloser, out io.WriteCloser) error

func mcpCommand(speak Speak) *cobra.Command {
	cmd := command("mcp", "Serve an agent on stdin and stdout (MCP); it spends nothing without --max-price and --budget", cobra.NoArgs, func(s *session, _ []string) error {
		s.yes = true // stdin is the agent's: nobody is there to ask
		caller, consent, err := s.openAgent()
		if err != nil {
			return err
		}
		fmt.Fprintln(s.errs, "deed mcp: "+clean(announce(consent)))
		d := &agent.Executor{Caller: caller, Now: time.Now, WaitSlots: make(chan struct{}, 16), Pause: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		}}
		return speak(s.ctx, d, consent, io.NopCloser(s.in), unclosed{s.out})
	})
	cmd.Flags().String("budget", "", "the most USDC that all calls of this run may cost together (DEED_BUDGET)")
	return cmd
}

// unclosed is a stream that outlives its user.
type unclosed struct{ io.Writer }

// Close leaves the stream open.
func (unclosed) Close() error { return nil }

// announce says at the start what an agent may spend, for whoever started it.
func announce(c agent.Consent) string {
	switch {
	case c.Wallet == "":
		return "nothing can be spent, and tools that cost money are not offered: " + c.Problem
	case !c.Spends():
		return "nothing is spent from " + c.Wallet + " until both --max-price and --budget are given; tools that cost money only quote"
	}
	return fmt.Sprintf("agents may spend up to %s USDC in one call and %s USDC in this run, from %s, without asking", c.MaxPrice, c.Budget, c.Wallet)
}

// openAgent returns what makes an agent's calls, and what it may spend.
func (s *session) openAgent() (localCaller, agent.Consent, error) {
	w, consent := s.agentWallet()
	consent.MaxPrice, consent.Budget = limitText(s.maxPrice), limitText(s.budget)
	if !consent.Spends() {
		s.maxPrice, s.budget = nil, nil // then the client pays nothing, whatever it is asked
	}
	c, err := s.client(w)
	return localCaller{client: c, consent: consent}, consent, err
}

// agentWallet returns the wallet, unlocked: nobody could be asked for a password
// later. Where there is none that can sign, the consent says why.
func (s *session) agentWallet() (client.Signer, agent.Consent) {
	w, err := s.signer()
	if locked, ok := w.(*lockedSigner); ok && err == nil {
		_, err = locked.unlock()
	}
	if err != nil {
		why := strings.TrimSuffix(err.Error(), ": "+client.ErrNotSignedIn.Error()) // that is what it means
		return nil, agent.Consent{Problem: "no wallet can sign here: " + clean(why)}
	}
	return w, agent.Consent{Wallet: w.Address().Hex()}
}

// limitText writes a limit. One of nothing allows nothing, as does none.
func limitText(limit *client.USDC) string {
	if limit == nil || *limit == 0 {
		return ""
	}
	return limit.String()
}

package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/client"
	"deed.example/deed/internal/agent"
)

// A Speak serves an agent on two streams until the input ends or ctx is done. It
// tells the agent what it may spend.
type Speak func(ctx context.Context, a Agent, in io.ReadCloser, out io.WriteCloser) error

// An Agent is what a Speak serves.
type Agent struct {
	Executor *agent.Executor
	Consent  agent.Consent
	Sandbox  bool // the service has test money
}

func mcpCommand(speak Speak) *cobra.Command {
	cmd := command("mcp", "Serve an agent on stdin and stdout (MCP), within limits", cobra.NoArgs, func(s *session, _ []string) error {
		s.yes = true // stdin belongs to the agent: there is no one to ask
		caller, consent, err := s.openAgent()
		if err != nil {
			return err
		}
		fmt.Fprintln(s.errs, "deed mcp: "+clean(announce(consent)))
		d := &agent.Executor{Caller: caller, Now: time.Now, WaitSlots: make(chan struct{}, 16), Stopping: func() bool { return s.ctx.Err() != nil }, Pause: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		}}
		return speak(s.ctx, Agent{d, consent, s.isSandbox(caller.client)}, io.NopCloser(s.in), unclosed{s.out})
	})
	cmd.Flags().String("budget", "", "maximum total of all payments of this run, in USDC (DEED_BUDGET)")
	cmd.Flags().String("ask-above", "", "ask about each payment above this many USDC, if the agent's client can ask (DEED_ASK_ABOVE, default 0)")
	return cmd
}

// unclosed is a writer with a Close method that does nothing.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

// announce returns the line at the start that says what the agent may spend.
func announce(c agent.Consent) string {
	switch {
	case c.Wallet == "":
		return "nothing can be spent, and tools that cost money are not offered: " + c.Problem
	case !c.Spends():
		return "nothing is spent from " + c.Wallet + " until both --max-price and --budget are given; tools that cost money only quote"
	}
	return fmt.Sprintf("agents may spend up to %s USDC in one call and %s USDC in this run, from %s; above %s USDC you are asked first, if the agent's client can ask", c.MaxPrice, c.Budget, c.Wallet, c.AskAbove)
}

// openAgent returns the caller for an agent, and what it may spend.
func (s *session) openAgent() (localCaller, agent.Consent, error) {
	w, consent := s.agentWallet()
	consent.MaxPrice, consent.Budget = limitText(s.maxPrice), limitText(s.budget)
	if !consent.Spends() {
		s.maxPrice, s.budget = nil, nil // makes the client refuse all payments
	}
	above := client.USDC(0)
	if s.askAbove != nil {
		above = *s.askAbove
	}
	consent.AskAbove = above.String()
	c, err := s.client(w)
	return localCaller{client: c, consent: consent, askAbove: above}, consent, err
}

// sandboxTimeout limits the question at the start. A service that does not answer
// in time is not offered as a sandbox.
const sandboxTimeout = 3 * time.Second

// isSandbox reports whether the service has test money.
func (s *session) isSandbox(c *client.Client) bool {
	ctx, cancel := context.WithTimeout(s.ctx, sandboxTimeout)
	defer cancel()
	_, err := c.Sandbox(ctx)
	return err == nil
}

// agentWallet returns the unlocked wallet, because there is no prompt for a
// password later. If there is no usable wallet, the consent has the reason.
func (s *session) agentWallet() (client.Signer, agent.Consent) {
	w, err := s.signer()
	if locked, ok := w.(*lockedSigner); ok && err == nil {
		_, err = locked.unlock()
	}
	if err != nil {
		return nil, agent.Consent{Problem: "no wallet can sign here: " + clean(err.Error())}
	}
	return w, agent.Consent{Wallet: w.Address().Hex()}
}

// limitText formats a limit. A limit of 0 allows nothing, like no limit at all.
func limitText(limit *client.USDC) string {
	if limit == nil || *limit == 0 {
		return ""
	}
	return limit.String()
}

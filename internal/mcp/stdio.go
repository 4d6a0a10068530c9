package mcp

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"deed.example/deed/internal/agent"
)

// A Stdio serves one agent on two streams, on the user's machine and with the
// user's wallet. Set every field.
//
// Its instructions and tool descriptions say that a paid call buys at once,
// without an offer to accept first. So they state how much may be spent, offer
// only quotes if a limit is missing, and no paid tool if there is no wallet that
// can sign. If the agent's client can ask the user (elicitation), a price above
// Consent.AskAbove is asked about. The Caller of the Executor, which signs, enforces
// the limits and asks.
type Stdio struct {
	Executor *agent.Executor
	Consent  agent.Consent
	Version  string
	Sandbox  bool // the service has test money
}

// Serve serves the protocol until the input ends, and what it asked for is answered, or
// ctx is done.
func (s Stdio) Serve(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	server := newServer(s.Executor, s.Version, options{
		instructions: s.instructions(),
		quickStart:   strings.ReplaceAll(quickStartStdio, "{{paying}}", s.paying()),
		prompt:       s.Consent.Spends(),
		sandbox:      s.Sandbox,
		questions:    newQuestions(),
		present:      s.present,
	})
	streams := newDrain(ctx, in, out)
	return server.Run(ctx, &mcp.IOTransport{Reader: streams, Writer: streams, MaxLineLength: maxMessage})
}

//go:embed quickstart_stdio.md
var quickStartStdio string

// spendingHelp says how the user allows an agent to spend money.
const spendingHelp = "a person allows it by starting `deed mcp` with both --max-price (USDC for one call) and --budget (USDC for all calls of the run)"

// paying explains which tools cost money, and how much may be spent.
func (s Stdio) paying() string {
	c := s.Consent
	switch {
	case c.Wallet == "":
		return "Nothing can be bought here: " + c.Problem + ". Tools that cost money are not offered; prices are free to ask for (check_domains, get_pricing)."
	case !c.Spends():
		return "Nothing is spent here: " + spendingHelp + ". Until then the tools that buy only quote (dry_run true), " +
			"and tools that cannot quote are not offered."
	}
	return fmt.Sprintf("A tool that costs money BUYS AT ONCE: the call itself signs a payment with this wallet, there is no offer to accept first, and money that is spent does not come back. "+
		"At most %s USDC are signed for in one call, and %s USDC in all calls of this run. The person is asked about each price above %s USDC if your client can ask (elicitation); if it cannot, know the price first (dry_run, check_domains) and have the person agree to it. "+
		"max_price_usd lowers the limit of a call and never raises it. When an answer was lost, make the same call with the same arguments again: it repeats the same payment.", c.MaxPrice, c.Budget, c.AskAbove)
}

func (s Stdio) instructions() string {
	wallet := "This server runs beside the person you work for."
	if s.Consent.Wallet != "" {
		wallet = "This server runs beside the person you work for, with their wallet " + s.Consent.Wallet + ": it owns what is bought, and signs in by itself for DNS and account tools."
	}
	return "Deed sells domain names and runs their DNS. Prices are in USDC. Searching, checking and prices are free.\n" + wallet + "\n" + s.paying()
}

// present returns a tool with a description that fits the local wallet.
func (s Stdio) present(t agent.Tool) (agent.Tool, string) {
	c := s.Consent
	t.Description = t.Purpose
	t = t.WithoutArgument(agent.TokenArgument) // the wallet signs in by itself
	switch {
	case !t.Paid:
		return t, ""
	case c.Wallet == "":
		return t, c.Problem
	case !c.Spends() && !t.Quotes():
		return t, "nothing may be spent, and it cannot quote; " + spendingHelp
	case !c.Spends():
		t.Description += " HERE IT ONLY QUOTES: call it with dry_run true."
		t.ReadOnly, t.Destructive, t.Idempotent = true, false, true
	default:
		t.Description += fmt.Sprintf(" IT BUYS AT ONCE with the local wallet: at most %s USDC now, %s in this run.", c.MaxPrice, c.Budget)
	}
	return t, ""
}

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/agent"
)

// A Speak serves agents on two streams, until the first ends or ctx does.
type Speak func(ctx context.Context, d *agent.Desk, in io.ReadCloser, out io.WriteCloser) error

func mcpCommand(speak Speak) *cobra.Command {
	return command("mcp", "Serve an agent on stdin and stdout (MCP)", cobra.NoArgs, func(s *session, _ []string) error {
		s.yes = true // stdin is the agent's: nobody is there to ask
		caller, err := s.openAgent()
		if err != nil {
			return err
		}
		d := &agent.Desk{Caller: caller, Now: time.Now, Seats: make(chan struct{}, 16), Pause: func(ctx context.Context, d time.Duration) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(d):
				return nil
			}
		}}
		return speak(s.ctx, d, io.NopCloser(s.in), unclosed{s.out})
	})
}

// unclosed is a stream that outlives its user.
type unclosed struct{ io.Writer }

// Close leaves the stream open.
func (unclosed) Close() error { return nil }

// openAgent returns what makes an agent's calls. Without a wallet it makes those
// that everyone may.
func (s *session) openAgent() (far, error) {
	w, err := s.signer()
	if errors.Is(err, client.ErrNotSignedIn) {
		c, err := s.open()
		return far{client: c}, err
	}
	if err != nil {
		return far{}, err
	}
	c, err := s.client(w)
	return far{client: c, wallet: true, cap: s.maxPrice}, err
}

// callFor is how long one call may take. A payment whose outcome is not known by
// then is in the journal, and the same call repeats it.
const callFor = 90 * time.Second

// A far service is called for an agent. Its wallet signs in, and pays below a
// cap that a person set: what the agent says about prices is no consent.
type far struct {
	client *client.Client
	wallet bool         // there is one
	cap    *client.USDC // nil: it pays nothing
}

// Call implements agent.Caller.
func (f far) Call(ctx context.Context, c agent.Call) (agent.Answer, error) {
	r := client.Raw{Method: c.Method, Path: c.Path, Query: c.Query, Body: c.Body, Header: http.Header{}}
	r.SignIn = c.SignedIn && c.Bearer == "" && f.wallet
	r.MayCost = c.Paid && c.Payment.Header == "" && f.wallet && f.cap != nil
	c.SetHeaders(r.Header)
	ctx, cancel := context.WithTimeout(ctx, callFor)
	defer cancel()
	a, err := f.client.Raw(ctx, r)
	if over, ok := errors.AsType[*client.OverCap](err); ok {
		return tooMuch(over), nil
	}
	if err != nil {
		return agent.Answer{}, err
	}
	out := agent.Answer{Status: a.Status, Header: a.Header, Body: a.Body}
	if a.Status == http.StatusPaymentRequired && c.Payment.Header == "" && !r.MayCost {
		out.Body = f.withHint(out.Body)
	}
	return out, nil
}

// tooMuch is the answer to what costs more than a person allowed.
func tooMuch(e *client.OverCap) agent.Answer {
	body, _ := json.Marshal(api.Error{ // strings always can be
		Error: "Payment required", Code: client.CodePaymentRequired, Message: e.Error(),
		Hint: fmt.Sprintf("nothing was signed. Only a person can raise the limit: deed mcp --max-price %s", e.Offer.Price),
	})
	return agent.Answer{Status: http.StatusPaymentRequired, Header: http.Header{}, Body: body}
}

// withHint says with an offer why the local wallet did not take it.
func (f far) withHint(body []byte) []byte {
	var said map[string]any
	if json.Unmarshal(body, &said) != nil {
		return body
	}
	said["hint"] = "the local wallet pays nothing until a person says how much: deed mcp --max-price 15"
	if !f.wallet {
		said["hint"] = "there is no local wallet to pay with: a person makes one with deed wallet new, and says how much it may pay with deed mcp --max-price 15"
	}
	if with, err := json.Marshal(said); err == nil {
		return with
	}
	return body
}

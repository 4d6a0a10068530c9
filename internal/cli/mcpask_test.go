package cli_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A user answers the questions of a client, and keeps them.
type user struct {
	mu     sync.Mutex // guards the fields below
	asked  []string
	answer string // "accept", "decline" or "cancel"
}

func (u *user) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.asked = append(u.asked, req.Params.Message)
		return &mcp.ElicitResult{Action: u.answer}, nil
	}}
}

// expect fails unless the user has been asked these questions since the last call.
func (u *user) expect(t *testing.T, parts ...string) {
	t.Helper()
	u.mu.Lock()
	defer u.mu.Unlock()
	if len(u.asked) != len(parts) {
		t.Errorf("got %d questions %q, want %d", len(u.asked), u.asked, len(parts))
	}
	for i, part := range parts {
		if i < len(u.asked) && !strings.Contains(u.asked[i], part) {
			t.Errorf("got the question %q, want %q", u.asked[i], part)
		}
	}
	u.asked = nil
}

func (u *user) says(answer string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.answer = answer
}

// A purchase within the limits is asked about once, with its price; nothing is
// signed if the user declines, and small amounts are not asked about if the user
// said so.
func TestMCPAsksBeforePaying(t *testing.T) {
	w, u := newFundedWallet(t), &user{answer: "decline"}
	s := serveAsking(t, u.options(), w.environ(), "--max-price", "20", "--budget", "30", "--ask-above", "0.10")
	s.said.await(t, "above 0.10 USDC you are asked first")
	order := `{"domain":"` + w.label + `.com"}`
	if r, text := s.use(t, "register_domain", order); !r.IsError || !strings.Contains(text, "PAYMENT_REQUIRED") || !strings.Contains(text, "did not agree") {
		t.Errorf("declined: got %s", text)
	}
	u.expect(t, "Pay 13.06 USDC from "+w.address+"? "+w.label+".com for 1 year.")
	u.says("cancel")
	if r, text := s.use(t, "register_domain", order); !r.IsError {
		t.Errorf("canceled: got %s", text)
	}
	u.expect(t, "13.06")
	w.spent(t, 0)
	u.says("accept")
	if r, text := s.use(t, "register_domain", `{"domain":"`+w.label+`.com","dry_run":true}`); r.IsError {
		t.Errorf("a quote: got %s", text)
	}
	u.expect(t)
	if r, text := s.use(t, "register_domain", order); r.IsError || !strings.Contains(text, `"status":"active"`) {
		t.Errorf("accepted: got %s", text)
	}
	u.expect(t, "13.06")
	if r, text := s.use(t, "add_dns_record", `{"domain":"`+w.label+`.com","type":"A","host":"@","value":"192.0.2.1"}`); r.IsError {
		t.Errorf("a small amount: got %s", text)
	}
	u.expect(t)
	// A price above a limit is refused without a question.
	if r, text := s.use(t, "register_domain", `{"domain":"`+w.label+`a.com","years":2}`); !r.IsError || !strings.Contains(text, "--max-price") {
		t.Errorf("got %s", text)
	}
	u.expect(t)
}

// A name is not given away without the user, whatever the agent's client can do.
func TestMCPAsksBeforeGivingNameAway(t *testing.T) {
	w, u := newFundedWallet(t), &user{answer: "decline"}
	s := serveAsking(t, u.options(), w.environ(), "--max-price", "20", "--budget", "30", "--ask-above", "20")
	if r, text := s.use(t, "register_domain", `{"domain":"`+w.label+`.com"}`); r.IsError {
		t.Fatalf("got %s", text)
	}
	u.expect(t)
	away := `{"domain":"` + w.label + `.com","wallet_address":"0x71C7656EC7ab88b098defB751B7401B5f6d8976F"}`
	if r, text := s.use(t, "change_owner", away); !r.IsError || !strings.Contains(text, "did not agree") {
		t.Errorf("got %s", text)
	}
	u.expect(t, "Give "+w.label+".com to 0x71C7656EC7ab88b098defB751B7401B5f6d8976F?")
	silent := serveAgent(t, w.environ(), "--max-price", "20", "--budget", "30")
	for tool, args := range map[string]string{"change_owner": away, "get_auth_code": `{"domain":"` + w.label + `.com"}`} {
		if r, text := silent.use(t, tool, args); !r.IsError || !strings.Contains(text, "nothing was done") {
			t.Errorf("%s without a user: got %s", tool, text)
		}
	}
	u.says("accept")
	if r, text := s.use(t, "get_auth_code", `{"domain":"`+w.label+`.com"}`); r.IsError || !strings.Contains(text, "authCode") {
		t.Errorf("got %s", text)
	}
	u.expect(t, "transfer code")
}

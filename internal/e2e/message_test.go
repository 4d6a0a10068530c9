package e2e_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
	deeda2a "deed.example/deed/internal/a2a"
	"deed.example/deed/internal/registrar/local"
)

// agentMessages has a small message for each endpoint for agents.
var agentMessages = map[string]string{
	"/mcp": `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
	"/a2a": `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","parts":[{"text":"hello"}]}}}`,
}

// sendMessage sends a message.
func (h *service) sendMessage(t *testing.T, path, message string, headers ...string) answer {
	t.Helper()
	return h.do(t, "POST", path, message, append([]string{"Accept", "application/json, text/event-stream"}, headers...)...)
}

// Messages of both protocols share one limit per address; the calls in them have
// the limits of their HTTP calls, and each is counted once.
func TestLimitOfMessages(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		limits := oneWindow()
		limits.Agents.Max = 6
		o.limits, o.trusted = limits, loopback
		h := open(t, o)
		h.enableMCP(func() {})
		h.enableA2A(func() {})
		addr, _ := caller(t)
		search := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_domains","arguments":{"query":"a","tlds":["com"]}}}`
		for i, message := range []struct{ path, text string }{
			{"/mcp", agentMessages["/mcp"]}, {"/a2a", agentMessages["/a2a"]}, {"/mcp", search}, {"/a2a", agentMessages["/a2a"]}, {"/mcp", "{"}, {"/mcp", "[]"},
		} {
			got := h.sendMessage(t, message.path, message.text, "X-Forwarded-For", addr)
			if got.status == 429 || got.header.Get("X-RateLimit-Limit") != "6" || got.header.Get("X-RateLimit-Remaining") != strconv.Itoa(5-i) {
				t.Errorf("message %d: got %d %v", i+1, got.status, got.header)
			}
		}
		for path, message := range agentMessages {
			got := h.sendMessage(t, path, message, "X-Forwarded-For", addr)
			got.expect(t, 429, deed.CodeRateLimited)
			checkWait(t, got)
		}
		if left := remaining(t, h.get(t, "/domains/search?query=a&tlds=com", "X-Forwarded-For", addr)); left != limits.Search.Max-2 {
			t.Errorf("got %d searches left, want %d", left, limits.Search.Max-2)
		}
		other, _ := caller(t)
		for path, message := range agentMessages {
			if got := h.sendMessage(t, path, message, "X-Forwarded-For", other); got.status != 200 {
				t.Errorf("another caller: got %d %s", got.status, got.body)
			}
		}
	})
}

// Batches, and messages that are too large or too deep, are rejected with the
// usual error body before they reach the protocol.
func TestInvalidMessages(t *testing.T) {
	h := open(t, options{limits: generous()})
	h.enableMCP(func() {})
	h.enableA2A(func() {})
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"deep":` + strings.Repeat("[", n-3) + strings.Repeat("]", n-3) + `}}}`
	}
	for path, message := range agentMessages {
		for name, bad := range map[string]string{
			"a list":           "[" + message + "]",
			"a list, later":    strings.Repeat(" ", 1000) + "[" + message + "," + message + "]",
			"two":              message + message,
			"more after it":    message + "\n}",
			"65 levels":        deep(65),
			"a key twice":      strings.Replace(deep(65), `"id":1`, `"id":1,"id":2`, 1),
			"60,000 levels":    deep(60_000),
			"many, and broken": deep(60_000)[:60_000],
		} {
			if got := h.sendMessage(t, path, bad); got.status != 400 || got.error(t).Code != string(deed.CodeValidation) || len(got.body) > 300 {
				t.Errorf("%s: %s: got %d %.300s", path, name, got.status, got.body)
			}
		}
		for _, size := range []int{128<<10 + 1, 100 << 20} {
			large := strings.Replace(message, "{", "{"+strings.Repeat(" ", size-len(message)), 1)
			if size > 1<<20 {
				h.refusesAtOnce(t, path, large)
				continue
			}
			h.sendMessage(t, path, large).expect(t, 413, deed.CodeValidation)
			if got := h.sendMessage(t, path, strings.Replace(large, " ", "", 1)); got.status != 200 {
				t.Errorf("%s: %d bytes: got %d %s", path, size-1, got.status, got.body)
			}
		}
	}
	if got := h.sendMessage(t, "/mcp", deep(64)); got.status != 200 {
		t.Errorf("64 levels: got %d %s", got.status, got.body)
	}
}

// refusesAtOnce sends a body that is not read completely: it is rejected, or the
// connection is closed.
func (h *service) refusesAtOnce(t *testing.T, path, body string) {
	t.Helper()
	res, err := http.Post("http://"+h.addr+path, "application/json", strings.NewReader(body))
	if err != nil {
		return
	}
	defer res.Body.Close() // only its status counts
	if res.StatusCode != 413 {
		t.Errorf("%s: %d bytes: got %d", path, len(body), res.StatusCode)
	}
}

// The number of concurrent streams per address is limited, without effect on other
// addresses.
func TestStreamsPerAddress(t *testing.T) {
	const limit = 32
	s := openEnv(t, options{trusted: loopback})
	shut := make(chan struct{})
	s.enableA2A(func() { <-shut })
	s.api.A2A.(*deeda2a.Server).Executor.WaitSlots = make(chan struct{}, 2*limit)
	s.enableMCP(func() {})
	s.faults.Set(local.FaultLate, 1)
	from, _ := caller(t)
	other, _ := caller(t)
	task := s.peer(t, "X-Forwarded-For", from).task(t, ask("register_domain", `{"domain":"first.com"}`, object(t, s.promise(s.buyer(t), comPrice).header(t))))
	follow := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":%q}}`, task.ID)
	ctx, hangUp := context.WithCancel(t.Context())
	for i := range limit {
		if status := s.stream(ctx, t, follow, from); status != 200 {
			t.Fatalf("stream %d: got %d", i+1, status)
		}
	}
	if status := s.stream(ctx, t, follow, from); status != 429 {
		t.Errorf("one more: got %d", status)
	}
	for path, message := range agentMessages {
		got := s.sendMessage(t, path, message, "X-Forwarded-For", from)
		got.expect(t, 429, deed.CodeRateLimited)
		checkWait(t, got)
		if got := s.sendMessage(t, path, message, "X-Forwarded-For", other); got.status != 200 {
			t.Errorf("another caller: got %d %s", got.status, got.body)
		}
	}
	hangUp()
	close(shut)
	for s.sendMessage(t, "/mcp", agentMessages["/mcp"], "X-Forwarded-For", from).status != 200 {
		time.Sleep(time.Millisecond) // until the server has seen it; the test's own time is the limit
	}
}

// stream opens a stream, reads its first line and leaves it open until ctx is
// done. It does not use s.client, which reads whole responses.
func (h *service) stream(ctx context.Context, t *testing.T, message, from string) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, "POST", "http://"+h.addr+"/a2a", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header = http.Header{"Content-Type": {"application/json"}, "X-Forwarded-For": {from}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() }) // it is closed already
	if _, err := bufio.NewReader(res.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}

// The number of job streams per address is limited; above it the error says to
// poll.
func TestJobStreamsPerAddress(t *testing.T) {
	const limit = 32
	s := openEnv(t, options{trusted: loopback})
	s.faults.Set(local.FaultLate, 1)
	var job api.PendingOrder
	if err := json.Unmarshal([]byte(s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).body), &job); err != nil {
		t.Fatal(err)
	}
	from, _ := caller(t)
	other, _ := caller(t)
	watch := func(addr string) int {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+s.addr+"/domains/status/"+job.JobID, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{"Accept": {"text/event-stream"}, "X-Forwarded-For": {addr}}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() }) // it stays open as long as the job
		return res.StatusCode
	}
	for i := range limit {
		if status := watch(from); status != 200 {
			t.Fatalf("stream %d: got %d", i+1, status)
		}
	}
	if one, two := watch(from), watch(other); one != 503 || two != 200 {
		t.Errorf("one more: got %d; another caller: got %d", one, two)
	}
	if got := s.get(t, "/domains/status/"+job.JobID, "X-Forwarded-For", from); got.status != 200 {
		t.Errorf("polling: got %d %s", got.status, got.body)
	}
}

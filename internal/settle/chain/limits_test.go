package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common/hexutil"

	"deed.example/deed"
	"deed.example/deed/internal/devchain"
	"deed.example/deed/internal/network"
	"deed.example/deed/internal/settle/chain"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// rangeLimit refuses questions for logs of more blocks.
func rangeLimit(limit uint64) func(string, []json.RawMessage) *refusal {
	return func(method string, params []json.RawMessage) *refusal {
		var f struct{ FromBlock, ToBlock hexutil.Uint64 }
		if method != "eth_getLogs" || json.Unmarshal(params[0], &f) != nil || uint64(f.ToBlock-f.FromBlock) < limit {
			return nil
		}
		return &refusal{code: -32005, message: fmt.Sprintf("block range is limited to %d", limit)}
	}
}

func TestLogRangesAreHalved(t *testing.T) {
	for limit, blocks := range map[uint64]int{500: 510, 1: 30} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			eachEnv(t, func(t *testing.T, env *testEnv) {
				first, last, mined := env.pay("first"), env.pay("last"), env.pay("mined before")
				env.thirdParty(first)
				env.mine(blocks)
				env.settled(env.refundLater(env.settler(), refundOf("0x00000000000000000000000000000000000000bb", 1, 7)))
				hash := env.thirdParty(mined)
				env.mine(60)
				env.thirdParty(last)
				env.proxy.refusing(rangeLimit(limit))
				s := env.settler()
				env.seen(s, first, mined, last)
				payouts := 0
				for from := uint64(0); ; {
					some, unread, next, err := s.Outgoing(t.Context(), from)
					if err != nil || len(unread) != 0 {
						t.Fatal(unread, err)
					}
					if payouts += len(some); next == from {
						break
					}
					from = next
				}
				if payouts != 1 {
					t.Errorf("got %d payouts, want 1", payouts)
				}
				// 60 blocks down, by the state of old blocks when ranges are short.
				env.proxy.counted()
				if got := env.settled(env.settleLater(s, mined)); got != hash {
					t.Errorf("got %s, want %s", got, hash)
				}
				n, _ := env.proxy.counted()
				t.Logf("limit %d: %d calls to prove a payment 60 blocks down, span %d", limit, n, s.Span())
				if s.Span() > limit {
					t.Errorf("it still asks for %d blocks", s.Span())
				}
			})
		})
	}
}

// An endpoint that is too busy for every second call delays, and stops nothing.
func TestEverySecondCallIsRefused(t *testing.T) {
	for name, busy := range map[string]*refusal{
		"429":      {status: http.StatusTooManyRequests},
		"503":      {status: http.StatusServiceUnavailable, retryAfter: "0"},
		"JSON-RPC": {code: -32005, message: "request rate exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, env *testEnv) {
				env.cfg.Client.Retry, env.cfg.Client.Backoff = time.Minute, time.Millisecond
				var n atomic.Int64
				env.proxy.refusing(func(string, []json.RawMessage) *refusal {
					if n.Add(1)%2 == 0 {
						return busy
					}
					return nil
				})
				s := env.settler()
				env.settled(env.settleLater(s, env.pay("1")))
				env.settled(env.refundLater(s, refundOf("0x00000000000000000000000000000000000000bb", 1, 7)))
				env.seen(s, env.pay("1"))
			})
		})
	}
}

// An endpoint that answers no question for logs is out of order, and one that does not have
// a block yet is behind: nothing is put aside for that.
func TestNoLogsAtAllIsNoLargeBlock(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.thirdParty(env.pay("1"))
		for name, r := range map[string]*refusal{"refused": {code: -32000, message: "no"}, "not allowed": {status: http.StatusUnauthorized}} {
			env.proxy.refusing(func(method string, _ []json.RawMessage) *refusal {
				if method == "eth_getLogs" {
					return r
				}
				return nil
			})
			if got, err := s.Incoming(t.Context(), 0); err == nil || got.Next != 0 || len(got.Unread) != 0 {
				t.Errorf("%s: got %+v, %v, want an error", name, got, err)
			}
		}
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getLogs" && !bytes.Contains(params[0], []byte(`"toBlock":"0x0"`)) {
				return &refusal{code: -32000, message: "block range extends beyond current head block"}
			}
			return nil
		})
		if got, err := s.Incoming(t.Context(), 1); err == nil || got.Next != 1 || len(got.Unread) != 0 {
			t.Errorf("behind: got %+v, %v, want an error", got, err)
		}
		env.proxy.refusing(nil)
		env.seen(s, env.pay("1"))
	})
}

// journal keeps what is logged.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(b []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(b)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// Without a safe block a depth stands in, and it is said.
func TestNoSafeBlock(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
			if method == "eth_getBlockByNumber" && string(params[0]) == `"safe"` {
				return &refusal{code: -32602, message: "unknown block tag"}
			}
			return nil
		})
		var said journal
		env.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
		env.cfg.Network.Finality, env.cfg.SafeDepth = network.Blocks(network.Safe), 3
		s := env.settler()
		if !strings.Contains(said.String(), "safe block") {
			t.Errorf("it said %q", said.String())
		}
		c := env.settleLater(s, env.pay("1"))
		env.wait(func() bool { return env.moved() == 1 })
		env.mine(1)
		env.rounds()
		select {
		case got := <-c:
			t.Errorf("got %q, %v at depth 2, want no answer", got.txHash, got.err)
		default:
		}
		env.mine(1)
		env.settled(c)
		env.seen(s, env.pay("1"))
	})
}

// otherChain opens another chain with the same id.
func otherChain(t *testing.T, handler func(http.Handler) http.Handler) string {
	t.Helper()
	c, err := devchain.Open(devchain.Config{Dir: t.TempDir(), Now: func() time.Time { return time.Now().Add(-time.Hour) }})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler(c.Handler()))
	t.Cleanup(func() { server.Close(); c.Close() })
	return server.URL
}

// A second endpoint on another chain, or on a chain that only has the same id,
// is not used, also when the first is down; and it is said.
func TestSecondEndpointOnAnotherChain(t *testing.T) {
	renumbered := func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			rec := httptest.NewRecorder()
			h.ServeHTTP(rec, r)
			w.Write(bytes.ReplaceAll(rec.Body.Bytes(), []byte(hexutil.EncodeUint64(devchain.ChainID)), []byte(hexutil.EncodeUint64(8453))))
		})
	}
	same := func(h http.Handler) http.Handler { return h }
	for name, change := range map[string]func(http.Handler) http.Handler{"another id": renumbered, "another first block": same} {
		t.Run(name, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, env *testEnv) {
				var said journal
				env.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
				env.cfg.Client = chain.Dial(env.url, otherChain(t, change))
				env.cfg.Client.Retry = 0
				s := env.settler()
				if !strings.Contains(said.String(), "another chain") || strings.Contains(said.String(), "http://") {
					t.Errorf("it said %q", said.String())
				}
				env.proxy.cut()
				if _, err := s.Check(t.Context(), env.pay("1"), nil); deed.CodeOf(err) != deed.CodeUnavailable {
					t.Errorf("got %v, want that nobody knows", err)
				}
				env.proxy.repair()
				env.settled(env.settleLater(s, env.pay("1")))
			})
		})
	}
}

// The first endpoint is used again when it is back.
func TestFirstEndpointIsBack(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		second := &proxy{next: env.Handler()}
		server := httptest.NewServer(second)
		t.Cleanup(server.Close)
		env.cfg.Client = chain.Dial(env.url, server.URL)
		env.cfg.Client.ProbeAfter(time.Millisecond)
		s := env.settler()
		ping := func() {
			t.Helper()
			if err := s.Client.Ping(t.Context(), devchain.ChainID); err != nil {
				t.Fatal(err)
			}
		}
		env.proxy.cut()
		env.settled(env.settleLater(s, env.pay("1")))
		if n, _ := second.counted(); n == 0 {
			t.Error("the second was not asked")
		}
		env.proxy.repair()
		env.wait(func() bool { ping(); return s.Client.EndpointsUp()[0] })
		s.Client.ProbeAfter(time.Hour) // which is not a use
		env.wait(func() bool {
			second.counted()
			ping()
			n, _ := second.counted()
			return n == 0
		})
	})
}

// An endpoint that is not needed, because the first one works, is watched too: it
// would be missed only when it is needed.
func TestIdleEndpointIsWatched(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	var said journal
	env.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
	second := &proxy{next: env.Handler()}
	server := httptest.NewServer(second)
	t.Cleanup(server.Close)
	env.cfg.Client = chain.Dial(env.url, server.URL)
	env.cfg.Client.ProbeAfter(time.Millisecond)
	s := env.settler()
	up := func(want bool) func() bool {
		return func() bool {
			if err := s.Client.Ping(t.Context(), devchain.ChainID); err != nil {
				t.Error(err)
			}
			return s.Client.EndpointsUp()[1] == want
		}
	}
	env.wait(up(true))
	second.cut()
	env.wait(up(false))
	if !strings.Contains(said.String(), `msg="an RPC endpoint is not used" endpoint=2`) {
		t.Errorf("it said %q", said.String())
	}
	second.repair()
	env.wait(up(true))
	if !s.Client.EndpointsUp()[0] {
		t.Error("the first is not used")
	}
}

// latest responds with this block, of so long after now, when it is asked for the newest one.
func latest(t *testing.T, block map[string]any, after time.Duration) func(string, []json.RawMessage) *refusal {
	t.Helper()
	block["timestamp"] = fmt.Sprintf("0x%x", time.Now().Add(after).Unix())
	object, err := json.Marshal(block)
	if err != nil {
		t.Fatal(err)
	}
	return func(method string, params []json.RawMessage) *refusal {
		if method == "eth_getBlockByNumber" && string(params[0]) == `"latest"` {
			return &refusal{object: string(object)}
		}
		return nil
	}
}

// An endpoint that serves no call any more, or has lost its peers, responds nevertheless. The
// other one is used, until the first serves again.
func TestFirstEndpointServesNothing(t *testing.T) {
	for name, broken := range map[string]func(env *testEnv) func(method string, params []json.RawMessage) *refusal{
		"refused": func(*testEnv) func(string, []json.RawMessage) *refusal {
			return func(string, []json.RawMessage) *refusal {
				return &refusal{code: -32000, message: "the project is disabled"}
			}
		},
		"behind": func(env *testEnv) func(string, []json.RawMessage) *refusal {
			var old map[string]any
			env.rpc(&old, "eth_getBlockByNumber", "latest", false)
			return latest(env.t, old, -2*time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := newEnv(t, sqldbtest.SQLite(t))
			var said journal
			env.cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
			second := httptest.NewServer(env.Handler())
			t.Cleanup(second.Close)
			env.cfg.Client = patient(env.url, second.URL)
			env.cfg.Client.ProbeAfter(time.Millisecond)
			s := env.settler()
			first := func(up bool) func() bool {
				return func() bool {
					if _, err := s.Client.Newest(t.Context()); err != nil {
						t.Fatal(err)
					}
					return s.Client.EndpointsUp()[0] == up
				}
			}
			env.wait(first(true))
			env.proxy.refusing(broken(env))
			env.settled(env.settleLater(s, env.pay("1")))
			env.wait(first(false))
			if !strings.Contains(said.String(), `msg="an RPC endpoint is not used" endpoint=1`) {
				t.Errorf("it said %q", said.String())
			}
			env.proxy.refusing(nil)
			env.wait(first(true))
			env.settled(env.settleLater(s, env.pay("2")))
		})
	}
}

// An endpoint whose newest block is of the future does not make the others late.
func TestEndpointOfTheFuture(t *testing.T) {
	env := newEnv(t, sqldbtest.SQLite(t))
	second := httptest.NewServer(env.Handler())
	t.Cleanup(second.Close)
	env.cfg.Client = patient(second.URL, env.url)
	env.cfg.Client.ProbeAfter(time.Millisecond)
	s := env.settler()
	var block map[string]any
	env.rpc(&block, "eth_getBlockByNumber", "latest", false)
	var asked atomic.Int64
	future := latest(t, block, 24*time.Hour)
	env.proxy.refusing(func(method string, params []json.RawMessage) *refusal {
		r := future(method, params)
		if r != nil {
			asked.Add(1)
		}
		return r
	})
	env.wait(func() bool { // until the second has said so
		if _, err := s.Client.Newest(t.Context()); err != nil {
			t.Fatal(err)
		}
		return asked.Load() > 1
	})
	if _, err := s.Client.Newest(t.Context()); err != nil || !s.Client.EndpointsUp()[0] {
		t.Errorf("the first endpoint is not used any more: %v", err)
	}
}

// Why something waits is in the error of whoever stops waiting.
func TestCauseIsTold(t *testing.T) {
	eachEnv(t, func(t *testing.T, env *testEnv) {
		s := env.settler()
		env.Pause()
		ctx, cancel := context.WithCancel(t.Context())
		c := later(func() (string, error) { return s.Settle(ctx, env.pay("1")) })
		env.wait(func() bool { return s.Cause() != nil })
		cancel()
		if got := <-c; !errors.Is(got.err, context.Canceled) || !strings.Contains(got.err.Error(), "is not final yet") {
			t.Errorf("got %v", got.err)
		}
		env.Resume()
		env.settled(env.settleLater(s, env.pay("1")))
		env.proxy.refusing(func(method string, _ []json.RawMessage) *refusal {
			if method == "eth_getTransactionCount" {
				return &refusal{code: -32000, message: "no such luck"}
			}
			return nil
		})
		ctx, cancel = context.WithCancel(t.Context())
		c = later(func() (string, error) {
			return s.Refund(ctx, refundOf("0x00000000000000000000000000000000000000bb", 1, 7))
		})
		env.wait(func() bool { return s.Cause() != nil })
		cancel()
		if got := <-c; !strings.Contains(got.err.Error(), "no such luck") {
			t.Errorf("got %v", got.err)
		}
	})
}

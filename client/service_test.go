package client_test

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/apitest"
	"deed.example/deed/internal/servicetest"
)

// service is the URL of a complete sandbox: the command itself, so that tests
// reach every route.
var service string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deed-client")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) // it is temporary
		s, err := servicetest.Start(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer s.Stop()
		service = s.URL
		return m.Run()
	}())
}

// A wire is the transport between a client and the service. It validates every
// exchange against openapi.yaml, counts requests and injects network faults.
type wire struct {
	base http.RoundTripper

	mu    sync.Mutex // guards the fields below
	calls map[string]int
	spoil func(req *http.Request, res *http.Response) error // called after the response; may be nil
	block func(req *http.Request) error                     // called before the request is sent; may be nil
}

func newWire(t *testing.T) *wire {
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	return &wire{base: apitest.Transport(t, base), calls: map[string]int{}}
}

func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	paid := ""
	if paying(req) {
		paid = " paid"
	}
	w.calls[req.Method+" "+req.URL.Path+paid]++
	block, spoil := w.block, w.spoil
	w.mu.Unlock()
	if block != nil {
		if err := block(req); err != nil {
			return nil, err
		}
	}
	res, err := w.base.RoundTrip(req)
	if err != nil || spoil == nil {
		return res, err
	}
	if err := spoil(req, res); err != nil {
		res.Body.Close() // nobody reads it
		return nil, err
	}
	return res, nil
}

func (w *wire) count(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[call]
}

func (w *wire) set(block func(*http.Request) error, spoil func(*http.Request, *http.Response) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.block, w.spoil = block, spoil
}

var errCut = errors.New("the connection was cut")

// paying reports whether a request has a payment.
func paying(req *http.Request) bool { return req.Header.Get("PAYMENT-SIGNATURE") != "" }

// newKey returns a wallet without money.
func newKey(t *testing.T) *client.Key {
	t.Helper()
	key, err := crypto.GenerateKey()
	if err != nil {
		t.Fatal(err)
	}
	return client.NewKey(key)
}

func open(t *testing.T, w *wire, opts ...client.Option) *client.Client {
	t.Helper()
	c, err := client.New(service, append([]client.Option{client.WithHTTPClient(&http.Client{Transport: w})}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// buyer is a wallet with 1000 USDC and a client with a limit of 50 USDC per call.
type buyer struct {
	*client.Client
	key  *client.Key
	wire *wire
}

func newBuyer(t *testing.T, opts ...client.Option) *buyer {
	t.Helper()
	s := &buyer{key: newKey(t), wire: newWire(t)}
	s.Client = open(t, s.wire, append([]client.Option{client.WithWallet(s.key), client.WithMaxPayment(50 * client.Dollar)}, opts...)...)
	if _, err := s.Faucet(t.Context(), api.FaucetRequest{WalletAddress: s.key.Address().Hex()}); err != nil {
		t.Fatal(err)
	}
	return s
}

// comPrice is the price of a .com name for a year.
const comPrice = 13_060_000 * client.USDC(1)

// spent fails unless the wallet paid exactly this amount in this many payments.
func (s *buyer) spent(t *testing.T, want client.USDC, payments int) {
	t.Helper()
	got, err := s.Faucet(t.Context(), api.FaucetRequest{WalletAddress: s.key.Address().Hex(), Amount: "1.00"})
	if err != nil {
		t.Fatal(err)
	}
	if left := (1001*client.Dollar - want).String(); got.Balance != left {
		t.Errorf("got a balance of %s, want %s", got.Balance, left)
	}
	page, err := s.TransactionPage(t.Context(), client.Page{})
	if err != nil {
		t.Fatal(err)
	}
	if int(page.Total) != payments {
		t.Errorf("got %d payments, want %d: %+v", page.Total, payments, page.Transactions)
	}
}

// fresh returns an unregistered name.
func fresh(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("n%x.com", newKey(t).Address().Bytes()[:8])
}

// refused fails unless err is an Error with the status and the code.
func refused(t *testing.T, err error, status int, code string) *client.Error {
	t.Helper()
	e, ok := errors.AsType[*client.Error](err)
	if !ok || e.Status != status || e.Code != code {
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
	return e
}

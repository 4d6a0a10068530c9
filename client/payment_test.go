package client_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/go-json-experiment/json"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func TestRegisterPaysOnce(t *testing.T) {
	s := newBuyer(t)
	name := fresh(t)
	order, err := s.Register(t.Context(), api.RegisterRequest{Domain: name})
	if err != nil {
		t.Fatal(err)
	}
	if order.Done == nil || order.Domain != name || order.Done.WalletAddress != strings.ToLower(s.key.Address().Hex()) {
		t.Errorf("got %+v", order)
	}
	if order.Receipt == nil || !order.Receipt.Success || order.Receipt.Transaction != *order.Done.Payment.TxHash {
		t.Errorf("got receipt %+v", order.Receipt)
	}
	s.spent(t, comPrice, 1)
	if _, err := s.Register(t.Context(), api.RegisterRequest{Domain: name}); err == nil {
		t.Error("the name was sold twice")
	} else {
		refused(t, err, 409, client.CodeDomainUnavailable)
	}
	s.spent(t, comPrice-client.Dollar, 1)
}

func TestNothingIsSignedWithoutPermission(t *testing.T) {
	no := errors.New("no")
	for name, c := range map[string]struct {
		opts []client.Option
		in   api.RegisterRequest
		want func(t *testing.T, err error)
	}{
		"no cap": {nil, api.RegisterRequest{}, func(t *testing.T, err error) {
			if o := refused(t, err, 402, client.CodePaymentRequired).Offer; o == nil || o.Price != comPrice || o.Years != 1 || o.Network != "eip155:84532" {
				t.Errorf("got offer %+v", o)
			}
		}},
		"above the client's cap": {[]client.Option{client.WithMaxPayment(comPrice - 1)}, api.RegisterRequest{}, overCap(comPrice - 1)},
		"above the call's cap":   {[]client.Option{client.WithMaxPayment(comPrice)}, api.RegisterRequest{MaxPrice: new("13.05")}, overCapOrRefused},
		"not confirmed": {[]client.Option{client.WithMaxPayment(comPrice), client.WithConfirm(func(_ context.Context, o client.Offer) error { return no })}, api.RegisterRequest{}, func(t *testing.T, err error) {
			if !errors.Is(err, no) {
				t.Errorf("got %v", err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w, signer := newWire(t), &counting{Key: newKey(t)}
			caller := open(t, w, append(c.opts, client.WithWallet(signer))...)
			c.in.Domain = fresh(t)
			_, err := caller.Register(t.Context(), c.in)
			c.want(t, err)
			if signer.signed != 0 || w.count("POST /domains/register paid") != 0 {
				t.Errorf("it signed %d times", signer.signed)
			}
		})
	}
}

func overCap(limit client.USDC) func(*testing.T, error) {
	return func(t *testing.T, err error) {
		e, ok := errors.AsType[*client.OverCap](err)
		if !ok || e.Cap != limit || e.Offer.Price != comPrice {
			t.Errorf("got %v", err)
		}
	}
}

// The client sends a call's price limit, so that the service may reject it first.
func overCapOrRefused(t *testing.T, err error) {
	if _, ok := errors.AsType[*client.OverCap](err); !ok && client.CodeOf(err) != client.CodeTooExpensive && client.CodeOf(err) != client.CodeValidation {
		t.Errorf("got %v", err)
	}
}

// counting counts the signatures of a key.
type counting struct {
	*client.Key
	mu     sync.Mutex // guards signed
	signed int
}

func (c *counting) SignMessage(ctx context.Context, text string) ([]byte, error) {
	c.count()
	return c.Key.SignMessage(ctx, text)
}

func (c *counting) SignTypedData(ctx context.Context, data client.TypedData) ([]byte, error) {
	c.count()
	return c.Key.SignTypedData(ctx, data)
}

func (c *counting) count() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.signed++
}

func TestWithoutWalletTheOfferIsReturned(t *testing.T) {
	c := open(t, newWire(t), client.WithMaxPayment(50*client.Dollar))
	name := fresh(t)
	_, err := c.Register(t.Context(), api.RegisterRequest{Domain: name})
	if o := refused(t, err, 402, client.CodePaymentRequired).Offer; o == nil || o.Domain != name || o.Price != comPrice {
		t.Errorf("got offer %+v", o)
	}
}

func TestPoorWallet(t *testing.T) {
	c := open(t, newWire(t), client.WithWallet(newKey(t)), client.WithMaxPayment(50*client.Dollar))
	_, err := c.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
	refused(t, err, 402, client.CodePaymentInsufficient)
}

// After a lost response the client repeats the same payment, whether the service
// had processed it or never received it.
func TestLostAnswers(t *testing.T) {
	times := func(n int, f func(*http.Request) error) func(*http.Request) error {
		var mu sync.Mutex
		return func(req *http.Request) error {
			mu.Lock()
			defer mu.Unlock()
			if n == 0 || !paying(req) {
				return nil
			}
			n--
			return f(req)
		}
	}
	cut := func(*http.Request) error { return errCut }
	for name, breakIt := range map[string]func(*wire){
		"failed, not done": func(w *wire) { w.set(times(2, cut), nil) },
		"failed, but done": func(w *wire) {
			lose := times(2, cut)
			w.set(nil, func(req *http.Request, _ *http.Response) error { return lose(req) })
		},
		"answered 503 while it settles": func(w *wire) { w.set(nil, answering(times(1, cut), 503, pendingBody)) },
		"a proxy's own 502":             func(w *wire) { w.set(nil, answering(times(1, cut), 502, "<html>bad gateway</html>")) },
		"a proxy's own 200":             func(w *wire) { w.set(nil, answering(times(1, cut), 200, "<html>accept our terms</html>")) },
	} {
		t.Run(name, func(t *testing.T) {
			s := newBuyer(t)
			breakIt(s.wire)
			order, err := s.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
			if err != nil || order.Done == nil {
				t.Fatalf("got %+v, %v", order, err)
			}
			if n := s.wire.count("POST /domains/register paid"); n < 2 {
				t.Errorf("got %d tries", n)
			}
			s.wire.set(nil, nil)
			s.spent(t, comPrice, 1)
		})
	}
}

const pendingBody = `{"error":"Service unavailable","message":"the payment is being settled","code":"SERVICE_UNAVAILABLE"}`

// answering replaces the responses that when selects by another one.
func answering(when func(*http.Request) error, status int, body string) func(*http.Request, *http.Response) error {
	return func(req *http.Request, res *http.Response) error {
		if when(req) == nil {
			return nil
		}
		res.Body.Close() // nobody reads it
		res.StatusCode, res.Header, res.Body = status, http.Header{}, io.NopCloser(strings.NewReader(body))
		return nil
	}
}

// An error that is not of the service does not say what became of the payment: the same
// call repeats it, and does not pay again.
func TestRefusedByAProxy(t *testing.T) {
	s := newBuyer(t)
	in := api.RegisterRequest{Domain: fresh(t)}
	s.wire.set(nil, answering(func(req *http.Request) error {
		if !paying(req) {
			return nil
		}
		return errCut
	}, 403, "<html>forbidden</html>"))
	_, err := s.Register(t.Context(), in)
	refused(t, err, 403, "")
	s.wire.set(nil, nil)
	order, err := s.Register(t.Context(), in)
	if err != nil || order.Done == nil {
		t.Fatalf("got %+v, %v", order, err)
	}
	s.spent(t, comPrice, 1)
}

// A session that ends while the outcome is unknown does not end the payment, whatever the
// service says to the new sign-in: the same call repeats it, and does not pay again.
func TestSignInFailsWhileTheOutcomeIsUnknown(t *testing.T) {
	s, name := owned(t)
	in := api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.10"}
	lost := false
	s.wire.set(nil, func(req *http.Request, res *http.Response) error {
		all := func(*http.Request) error { return errCut }
		switch {
		case paying(req) && !lost:
			lost = true
			return errCut
		case !lost:
		case paying(req), req.URL.Path == "/auth/refresh":
			return answering(all, 401, `{"error":"Token invalid","message":"it was revoked","code":"TOKEN_INVALID"}`)(req, res)
		case req.URL.Path == "/auth/verify":
			return answering(all, 400, `{"error":"Invalid request","message":"check your clock","code":"VALIDATION_ERROR"}`)(req, res)
		}
		return nil
	})
	_, err := s.AddRecord(t.Context(), name, in)
	refused(t, err, 400, client.CodeValidation)
	s.wire.set(nil, nil)
	if rec, err := s.AddRecord(t.Context(), name, in); err != nil || rec.Host != "www" {
		t.Fatalf("got %+v, %v", rec, err)
	}
	s.spent(t, comPrice+client.Dollar/10, 2)
}

// cutAndLeave loses the response to a payment and ends its caller.
func cutAndLeave(leave func()) func(*http.Request, *http.Response) error {
	return func(req *http.Request, _ *http.Response) error {
		if !paying(req) {
			return nil
		}
		leave()
		return errCut
	}
}

// A caller that stops while the outcome is unknown can resume: the same call
// repeats the payment, even with another price limit.
func TestUnknownOutcomeIsResumed(t *testing.T) {
	s := newBuyer(t)
	in := api.RegisterRequest{Domain: fresh(t)}
	ctx, leave := context.WithCancel(t.Context())
	s.wire.set(nil, cutAndLeave(leave))
	_, err := s.Register(ctx, in)
	if u, ok := errors.AsType[*client.Unknown](err); !ok || u.Payment == "" || !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	s.wire.set(nil, nil)
	before := s.wire.count("POST /domains/register")
	in.MaxPrice = new("19.00")
	order, err := s.Register(t.Context(), in)
	if err != nil || order.Done == nil {
		t.Fatalf("got %+v, %v", order, err)
	}
	if n := s.wire.count("POST /domains/register"); n != before {
		t.Errorf("it asked for %d new offers", n-before)
	}
	s.spent(t, comPrice, 1)
}

// A caller that stops while the outcome of a renewal is unknown, and then reads the
// expiry again before it repeats the call, pays once.
func TestUnknownRenewalIsResumed(t *testing.T) {
	s, name := owned(t)
	expiry := func() time.Time {
		d, err := s.Domain(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return d.ExpiresAt
	}
	first := expiry()
	ctx, leave := context.WithCancel(t.Context())
	s.wire.set(nil, cutAndLeave(leave))
	_, err := s.Renew(ctx, api.RenewRequest{Domain: name, ExpectedExpiresAt: first})
	if _, ok := errors.AsType[*client.Unknown](err); !ok {
		t.Fatalf("got %v", err)
	}
	s.wire.set(nil, nil)
	order, err := s.Renew(t.Context(), api.RenewRequest{Domain: name, ExpectedExpiresAt: expiry(), MaxPrice: new("19.00")})
	if err != nil || order.Done == nil || order.JobID != order.Done.JobID {
		t.Fatalf("got %+v, %v", order, err)
	}
	if want := first.AddDate(1, 0, 0); !order.Done.NewExpiresAt.Equal(want) || !expiry().Equal(want) {
		t.Errorf("it expires at %s, %s in the answer, want %s", expiry(), order.Done.NewExpiresAt, want)
	}
	s.spent(t, 2*comPrice, 2)
	// The outcome is known: the next call is another renewal.
	if _, err := s.Renew(t.Context(), api.RenewRequest{Domain: name, ExpectedExpiresAt: expiry()}); err != nil {
		t.Fatal(err)
	}
	s.spent(t, 3*comPrice-client.Dollar, 3)
}

// Identical concurrent calls buy one name for one price.
func TestRace(t *testing.T) {
	s := newBuyer(t)
	in := api.RegisterRequest{Domain: fresh(t)}
	var wg sync.WaitGroup
	done := make(chan string, 20)
	for range cap(done) {
		wg.Go(func() {
			order, err := s.Register(t.Context(), in)
			if err == nil {
				done <- order.JobID
			} else if client.CodeOf(err) != client.CodeDomainUnavailable {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	close(done)
	jobs := map[string]bool{}
	for id := range done {
		jobs[id] = true
	}
	if len(jobs) != 1 {
		t.Errorf("got %d jobs, want 1", len(jobs))
	}
	got, err := s.Faucet(t.Context(), api.FaucetRequest{WalletAddress: s.key.Address().Hex(), Amount: "1.00"})
	if want := (1001*client.Dollar - comPrice).String(); err != nil || got.Balance != want {
		t.Errorf("got a balance of %s, want %s, %v", got.Balance, want, err)
	}
}

// An offer for another token, to an invalid payee, or with inconsistent amounts
// is never signed.
func TestUnsafeOffers(t *testing.T) {
	for name, change := range map[string]func(*api.RequirementsV2){
		"another token":      func(r *api.RequirementsV2) { r.Asset = "0x00000000000000000000000000000000000000aa" },
		"another name of it": func(r *api.RequirementsV2) { r.Extra.Name = "Tether" },
		"another version":    func(r *api.RequirementsV2) { r.Extra.Version = "3" },
		"nobody":             func(r *api.RequirementsV2) { r.PayTo = common.Address{}.Hex() },
		"the token itself":   func(r *api.RequirementsV2) { r.PayTo = r.Asset },
		"not an address":     func(r *api.RequirementsV2) { r.PayTo = "deed.eth" },
		"no amount":          func(r *api.RequirementsV2) { r.Amount = "0" },
		"negative":           func(r *api.RequirementsV2) { r.Amount = "-1" },
		"more than it says":  func(r *api.RequirementsV2) { r.Amount = "13060001" },
		"for ever":           func(r *api.RequirementsV2) { r.MaxTimeoutSeconds = 1 << 30 },
		"another network":    func(r *api.RequirementsV2) { r.Network = "eip155:8453" },
	} {
		t.Run(name, func(t *testing.T) {
			w, signer := newWire(t), &counting{Key: newKey(t)}
			c := open(t, w, client.WithWallet(signer), client.WithMaxPayment(50*client.Dollar))
			w.set(nil, func(_ *http.Request, res *http.Response) error { return rewriteOffer(res, change) })
			_, err := c.Register(t.Context(), api.RegisterRequest{Domain: fresh(t)})
			if !errors.Is(err, client.ErrBadOffer) {
				t.Errorf("got %v", err)
			}
			if signer.signed != 0 {
				t.Error("it signed")
			}
		})
	}
}

func rewriteOffer(res *http.Response, change func(*api.RequirementsV2)) error {
	raw, err := base64.StdEncoding.DecodeString(res.Header.Get("PAYMENT-REQUIRED"))
	if err != nil {
		return err
	}
	var offer api.PaymentOffer
	if err := json.Unmarshal(raw, &offer); err != nil {
		return err
	}
	change(&offer.Accepts[0])
	if raw, err = json.Marshal(offer); err != nil {
		return err
	}
	res.Header.Set("PAYMENT-REQUIRED", base64.StdEncoding.EncodeToString(raw))
	return nil
}

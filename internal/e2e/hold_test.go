package e2e_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/registrar"
)

// reprice restarts the env with another fee on every price.
func (s *env) reprice(t *testing.T, fee deed.USDC) {
	t.Helper()
	s.config.Pricing.Markup.Fee = fee
	s.wire(t)
}

// A quoted price is accepted for 300 seconds after it changed, and no longer. The
// offer always has the new price.
func TestFormerPriceIsHeld(t *testing.T) {
	const dearer, newOffer = comPrice + 100*deed.Cent, `"maxAmountRequired":"14060000"`
	eachEnv(t, func(t *testing.T, s *env) {
		s.reprice(t, 50*deed.Cent)
		s.bought(t, "held.com")
		code, err := s.registry.Elsewhere(t.Context(), "moving.com")
		if err != nil {
			t.Fatal(err)
		}
		early := s.promise(s.buyer(t), comPrice) // signed before the change
		s.reprice(t, 150*deed.Cent)
		offer := s.register(t, "first.com", "")
		offer.expect(t, 402, deed.CodePaymentRequired)
		if !strings.Contains(offer.body, newOffer) || !strings.Contains(offer.body, `"price_usd":"14.06"`) {
			t.Errorf("got %s", offer.body)
		}
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice-1).header(t)).expect(t, 402, deed.CodePaymentInvalid)
		s.register(t, "first.com", s.promise(s.buyer(t), comPrice+1).header(t)).expect(t, 402, deed.CodePaymentInvalid)
		if got := s.register(t, "first.com", early.header(t)); got.status != 201 {
			t.Errorf("at the old price: got %d %s", got.status, got.body)
		}
		s.clock.advance(order.HoldPrice - time.Second)
		for path, body := range map[string]string{
			"/domains/register": `{"domain":"second.com"}`, "/domains/renew": `{"domain":"held.com"}`, "/domains/transfer": `{"domain":"moving.com","authCode":"` + code.Reveal() + `"}`,
		} {
			if got := s.paid(t, path, body, s.promise(s.buyer(t), comPrice).header(t)); got.status > 202 {
				t.Errorf("%s at the old price, in time: got %d %s", path, got.status, got.body)
			}
		}
		s.clock.advance(2 * time.Second) // prices are held to the next whole second
		for path, body := range map[string]string{"/domains/register": `{"domain":"third.com"}`, "/domains/renew": `{"domain":"held.com"}`} {
			taken := s.balance(t, s.payTo)
			got := s.paid(t, path, body, s.promise(s.buyer(t), comPrice).header(t))
			got.expect(t, 402, deed.CodePaymentInvalid)
			if !strings.Contains(got.body, newOffer) || s.balance(t, s.payTo) != taken {
				t.Errorf("%s at the old price, too late: got %s", path, got.body)
			}
			if got := s.paid(t, path, body, s.promise(s.buyer(t), dearer).header(t)); got.status > 201 {
				t.Errorf("%s at the new price: got %d %s", path, got.status, got.body)
			}
		}
		s.pass(t, 5*day+time.Minute)
		s.runWorker(t)
		s.audit(t)
	})
}

// After two changes within 300 seconds both former prices are accepted, each for
// its own period, also with a price limit.
func TestPricesReplacedTwice(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.reprice(t, 50*deed.Cent)
		s.reprice(t, 150*deed.Cent)
		s.clock.advance(100 * time.Second)
		s.reprice(t, 250*deed.Cent)
		buy := func(domain string, price deed.USDC) answer {
			body := `{"domain":"` + domain + `","maxPriceUsd":"` + price.String() + `"}`
			return s.paid(t, "/domains/register", body, s.promise(s.buyer(t), price).header(t))
		}
		s.clock.advance(199 * time.Second)
		for domain, price := range map[string]deed.USDC{"one.com": comPrice, "two.com": comPrice + 100*deed.Cent, "three.com": comPrice + 200*deed.Cent} {
			if got := buy(domain, price); got.status != 201 {
				t.Errorf("%s for %s: got %d %s", domain, price, got.status, got.body)
			}
		}
		if got := buy("four.com", comPrice+1); got.status != 400 {
			t.Errorf("more than it ever cost, and less than it costs: got %d %s", got.status, got.body)
		}
		s.clock.advance(2 * time.Second) // prices are held to the next whole second
		if got := buy("five.com", comPrice); got.status != 400 || !strings.Contains(got.body, "15.06") {
			t.Errorf("at the first price, too late: got %d %s", got.status, got.body)
		}
		if got := buy("six.com", comPrice+100*deed.Cent); got.status != 201 {
			t.Errorf("at the second, in time: got %d %s", got.status, got.body)
		}
		s.audit(t)
	})
}

// varyingPremium is a registry with changing prices of premium names.
type varyingPremium struct {
	registrar.Registrar
	more deed.USDC
}

func (m *varyingPremium) Available(ctx context.Context, name deed.Name) (registrar.Availability, error) {
	a, err := m.Registrar.Available(ctx, name)
	if a.Premium {
		a.Wholesale += m.more
	}
	return a, err
}

// The offered price of a premium name is accepted for 300 seconds, whatever the
// registry's price and the markup are by then; a price that was never offered is
// not.
func TestPremiumPricesAreHeld(t *testing.T) {
	const first, second, third = 300_500_000, 312_500_000, 313_500_000
	eachEnv(t, func(t *testing.T, s *env) {
		s.reprice(t, 50*deed.Cent)
		mood := &varyingPremium{Registrar: s.registry}
		s.api.Registrations.Registrar = mood
		offered := func(domain string) string {
			got := s.register(t, domain, "")
			got.expect(t, 402, deed.CodePaymentRequired)
			return got.body
		}
		buy := func(domain string, price deed.USDC) int {
			return s.register(t, domain, s.promise(s.buyer(t), price).header(t)).status
		}
		for _, domain := range []string{"aa.io", "bb.io", "cc.io"} {
			if got := offered(domain); !strings.Contains(got, `"300.50"`) {
				t.Fatalf("%s: got %s", domain, got)
			}
		}
		mood.more = 10_000_000 // twelve with the markup
		if got := offered("aa.io"); !strings.Contains(got, `"312.50"`) {
			t.Errorf("the registry asks ten more: got %s", got)
		}
		s.clock.advance(order.HoldPrice - time.Second)
		s.reprice(t, 150*deed.Cent)
		s.api.Registrations.Registrar = mood
		for _, c := range []struct {
			name   string
			domain string
			price  deed.USDC
			want   int
		}{
			{"neither offer", "aa.io", first + 1, 402},
			{"of another name", "bb.io", second, 402},
			{"the second offer", "aa.io", second, 201},
			{"the first offer, a second before its end", "bb.io", first, 201},
			{"never offered", "dd.io", first, 402},
			{"today's price", "dd.io", third, 201},
		} {
			if got := buy(c.domain, c.price); got != c.want {
				t.Errorf("%s: %s for %s: got %d, want %d", c.name, c.domain, c.price, got, c.want)
			}
		}
		s.clock.advance(2 * time.Second) // prices are held to the next whole second
		if got := buy("cc.io", first); got != 402 {
			t.Errorf("the first offer, after its end: got %d", got)
		}
		s.audit(t)
	})
}

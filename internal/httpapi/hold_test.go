package httpapi_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
	"deed.example/deed/internal/sqldb"
)

// reprice starts the shop again with another fee on every price.
func (s *shop) reprice(t *testing.T, fee deed.USDC) {
	t.Helper()
	p := catalog.DefaultPricing()
	p.Markup.Fee = fee
	prices, err := catalog.New(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := prices.Publish(t.Context(), sqldb.Prices{DB: s.db}, s.clock.Now); err != nil {
		t.Fatal(err)
	}
	s.api.Catalog = prices
	s.wire(t)
}

// A price that was quoted can be paid for 300 seconds after it changed, and no
// longer. The offer is always the new one.
func TestReplacedPriceIsTakenForAWhile(t *testing.T) {
	const dearer, newOffer = comPrice + 100*deed.Cent, `"maxAmountRequired":"14060000"`
	eachShop(t, func(t *testing.T, s *shop) {
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
		s.clock.advance(deed.HoldPrice - time.Second)
		for path, body := range map[string]string{
			"/domains/register": `{"domain":"second.com"}`, "/domains/renew": `{"domain":"held.com"}`, "/domains/transfer": `{"domain":"moving.com","authCode":"` + code.Reveal() + `"}`,
		} {
			if got := s.paid(t, path, body, s.promise(s.buyer(t), comPrice).header(t)); got.status > 202 {
				t.Errorf("%s at the old price, in time: got %d %s", path, got.status, got.body)
			}
		}
		s.clock.advance(time.Second)
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
		s.work(t)
		s.audit(t)
	})
}

package e2e_test

import (
	"context"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/settle"
)

// wrongRefunds is a faulty Refunder.
type wrongRefunds func(ctx context.Context, r settle.Refund) (string, error)

func (f wrongRefunds) Refund(ctx context.Context, r settle.Refund) (string, error) { return f(ctx, r) }

// Transfers to the treasury before the first block of the service are neither
// counted nor refunded.
func TestTransfersBeforeStartAreIgnored(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		a, b := s.buyer(t), s.buyer(t)
		s.broadcast(t, s.promise(a, comPrice))
		found, err := s.settler.Incoming(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		s.api.Payments.Terms.First = found.Next
		before := s.balance(t, common.HexToAddress(string(a.wallet)))
		s.broadcast(t, s.promise(b, comPrice)) // this one is counted and refunded
		s.runWorker(t)
		s.readChain(t)
		if c := s.compare(t); c.Transfers != 1 || c.Payouts != 1 || !c.Sound() || s.balance(t, common.HexToAddress(string(a.wallet))) != before {
			t.Errorf("got %+v", c)
		}
	})
}

// The audit requires one transfer to the payer for every refund, and a refund for
// every transfer from the refund wallet. It reports exactly the violations.
func TestAuditOfRefunds(t *testing.T) {
	const other = deed.Wallet("0x00000000000000000000000000000000000000cc")
	type refunding = func(ctx context.Context, r settle.Refund) (string, error)
	for name, tt := range map[string]struct {
		refund         func(s *env) refunding
		payouts        int
		unowed, unpaid string // a part of the one line
	}{
		"sound": {func(s *env) refunding { return s.settler.Refund }, 1, "", ""},
		"in the books only": {func(*env) refunding {
			return func(context.Context, settle.Refund) (string, error) {
				return "0x" + strings.Repeat("fe", 32), nil
			}
		}, 0, "", "in 0xfefe"},
		"paid twice": {func(s *env) refunding {
			return func(ctx context.Context, r settle.Refund) (string, error) {
				again := r
				again.Nonce = "0x" + strings.Repeat("ab", 32)
				if _, err := s.settler.Refund(ctx, again); err != nil {
					return "", err
				}
				return s.settler.Refund(ctx, r)
			}
		}, 2, "13.06 to 0x", ""},
		"to another payee": {func(s *env) refunding {
			return func(ctx context.Context, r settle.Refund) (string, error) {
				r.Payer = other
				return s.settler.Refund(ctx, r)
			}
		}, 1, "13.06 to " + string(other), "13.06 to 0x"},
		"too much": {func(s *env) refunding {
			return func(ctx context.Context, r settle.Refund) (string, error) {
				return s.settler.Refund(ctx, settle.Refund{PaymentID: r.PaymentID, Payer: r.Payer, Nonce: r.Nonce, Amount: r.Amount + 1})
			}
		}, 1, "13.060001 to 0x", "13.06 to 0x"},
	} {
		t.Run(name, func(t *testing.T) {
			eachEnv(t, func(t *testing.T, s *env) {
				s.api.Payments.Refunder = wrongRefunds(tt.refund(s))
				s.faults.Set(local.FaultRefuse, 1)
				s.register(t, "first.com", s.promise(s.buyer(t), comPrice).header(t)).expect(t, 500, deed.CodeRegistrationFailed)
				s.runWorker(t)
				c := s.compare(t)
				one := func(lines []string, part string) bool {
					return part == "" && len(lines) == 0 || part != "" && len(lines) == 1 && strings.Contains(lines[0], part)
				}
				if c.Transfers != 1 || c.Payouts != tt.payouts || len(c.Unbooked)+len(c.Unproved) > 0 || !one(c.Unowed, tt.unowed) || !one(c.Unpaid, tt.unpaid) {
					t.Errorf("got %+v", c)
				}
				if c.Sound() != (name == "sound") {
					t.Errorf("sound is %v", c.Sound())
				}
			})
		})
	}
}

package fulfil_test

import (
	"context"
	"errors"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/fulfil"
	"deed.example/deed/internal/settle"
)

// reserves are balances of our wallets.
type reserves settle.Reserves

func (r reserves) Reserves(context.Context) (settle.Reserves, error) { return settle.Reserves(r), nil }

// Nothing is sold unless the largest transaction can be paid for and signed.
func TestReserveIsEnough(t *testing.T) {
	for _, c := range []struct {
		batches int64
		signer  error
		enough  bool
	}{{1, nil, true}, {0, nil, false}, {1, errors.New("the signer does not answer"), false}} {
		r := &fulfil.Reserve{
			Wallets: reserves{Batches: c.batches, Settlements: 1000, Refunds: 1000}, Signers: func() error { return c.signer },
			OnRefresh: func(settle.Reserves) {}, Warn: func(string, settle.Reserves) {},
		}
		if err := r.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := r.Enough(); (err == nil) != c.enough || !c.enough && deed.CodeOf(err) != deed.CodeUnavailable {
			t.Errorf("%d batches, %v: got %v", c.batches, c.signer, err)
		}
	}
}

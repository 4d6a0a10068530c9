package zone_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
	"deed.example/deed/internal/registrar"
	"deed.example/deed/internal/zone"
)

// A waitStore stores the wait of one name.
type waitStore struct {
	zone.Delegations
	wait zone.DSWait
}

func (w *waitStore) DSWait(context.Context, deed.Name) (zone.DSWait, error) { return w.wait, nil }

func (w *waitStore) SetDSWait(_ context.Context, _ deed.Name, wait zone.DSWait) error {
	w.wait = wait
	return nil
}

func (w *waitStore) StoreDS(context.Context, deed.Name, []string, []dnssec.DS) (bool, error) {
	return true, nil
}

func (w *waitStore) ReplaceDS(context.Context, deed.Name, []dnssec.DS, []dnssec.DS) (bool, error) {
	return true, nil
}

// A refusingManager fails to set a DS.
type refusingManager struct {
	registrar.Manager
	err error
}

func (refusingManager) Holding(context.Context, deed.Name) (lifecycle.Holding, error) {
	return lifecycle.Holding{Nameservers: []string{"ns1.deed.example"}}, nil
}

func (r refusingManager) SetDS(context.Context, deed.Name, []dnssec.DS) error { return r.err }

// A registry that refuses a DS is asked more and more rarely, up to once a day; one that
// does not answer is asked again within a minute.
func TestRefusedDS(t *testing.T) {
	for _, c := range []struct {
		name  string
		err   error
		after time.Duration // the longest wait
	}{
		{"refused", deed.Invalid("ds", "the registry does not support DNSSEC"), 24 * time.Hour},
		{"no answer", errors.New("the registry did not reply"), time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			now := time.Unix(1_700_000_000, 0)
			names := &waitStore{}
			u := &zone.DSUpdater{
				Names: names, Manager: refusingManager{err: c.err}, Servers: []string{"ns1.deed.example"}, Now: func() time.Time { return now },
				DS:    func(context.Context, deed.Name) ([]dnssec.DS, error) { return nil, nil },
				Ready: func(context.Context, deed.Name, time.Duration) (bool, error) { return true, nil },
			}
			last := time.Duration(0)
			for range 100 {
				if err := u.Advance(t.Context(), "wait.com"); !errors.Is(err, c.err) {
					t.Fatalf("got %v", err)
				}
				wait := names.wait.Next.Sub(now)
				if wait < last || wait <= 0 || wait > c.after {
					t.Fatalf("got a wait of %v after one of %v", wait, last)
				}
				last, now = wait, names.wait.Next
			}
			if last != c.after {
				t.Errorf("got %v at last, want %v", last, c.after)
			}
		})
	}
}

package zone_test

import (
	"context"
	"errors"
	"fmt"
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

// A movedStore is that of a name whose owner changes its name servers while its DS is set.
type movedStore struct {
	waitStore
	stored bool
	calls  *[]string
}

func (m *movedStore) StoreDS(context.Context, deed.Name, []string, []dnssec.DS) (bool, error) {
	m.stored = !m.stored // the first time only
	return m.stored, nil
}

func (m *movedStore) SeeDS(context.Context, deed.Name) error {
	*m.calls = append(*m.calls, "seen")
	return nil
}

// A recordingManager has the DS that was set last.
type recordingManager struct {
	registrar.Manager
	ds    []dnssec.DS
	calls *[]string
}

func (r *recordingManager) Holding(context.Context, deed.Name) (lifecycle.Holding, error) {
	return lifecycle.Holding{Nameservers: []string{"ns1.deed.example"}, DS: r.ds}, nil
}

func (r *recordingManager) SetDS(_ context.Context, _ deed.Name, ds []dnssec.DS) error {
	r.ds = ds
	*r.calls = append(*r.calls, fmt.Sprintf("%d set", len(ds)))
	return nil
}

// Before a DS is removed that was set while the owner changed the name servers, it is stored
// that it was there: their change waits until no cache has it.
func TestRemovedDSWasSeen(t *testing.T) {
	var calls []string
	u := &zone.DSUpdater{
		Names: &movedStore{calls: &calls}, Manager: &recordingManager{calls: &calls}, Servers: []string{"ns1.deed.example"}, Now: time.Now,
		DS: func(context.Context, deed.Name) ([]dnssec.DS, error) {
			return []dnssec.DS{{KeyTag: 1, Algorithm: 13, DigestType: 2, Digest: "ab"}}, nil
		},
		Ready: func(context.Context, deed.Name, time.Duration) (bool, error) { return true, nil },
	}
	if err := u.Advance(t.Context(), "moved.com"); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(calls), "[1 set seen 0 set]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

package zone_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/zone"
)

// An outbox with one zone.
type outbox struct {
	zone.Outbox
	propagated bool
	delayed    int
}

func (o *outbox) Zone(_ context.Context, name deed.Name) (dnszone.Zone, error) {
	return dnszone.Zone{Name: name, Serial: 7}, nil
}

func (o *outbox) DelayOutbox(context.Context, deed.Name, time.Time) error {
	o.delayed++
	return nil
}

func (o *outbox) MarkPropagated(context.Context, deed.Name, uint32) error {
	o.propagated = true
	return nil
}

// Servers that serve an earlier serial are reminded at each check, those without an answer
// are not.
func TestServersBehindAreReminded(t *testing.T) {
	for name, c := range map[string]struct {
		state    zone.Propagation
		reminded []string
	}{
		"behind":     {zone.Propagation{Latest: 7, Behind: []string{"b"}}, []string{"b"}},
		"no answer":  {zone.Propagation{Latest: 7}, nil},
		"everywhere": {zone.Propagation{InSync: true, Latest: 7}, nil},
		"ahead":      {zone.Propagation{Latest: 9, Behind: []string{"b"}}, nil}, // the zone gets a later serial, with notices of its own
	} {
		t.Run(name, func(t *testing.T) {
			o, raised := &outbox{}, uint32(0)
			var reminded []string
			checker := zone.PropagationChecker{
				Outbox: o, Now: time.Now,
				Query: func(context.Context, deed.Name, uint32) zone.Propagation { return c.state },
				Raise: func(_ context.Context, _ deed.Name, above uint32) error { raised = above; return nil },
				Remind: func(_ context.Context, _ deed.Name, servers []string) error {
					reminded = append(reminded, servers...)
					return nil
				},
			}
			if err := checker.Advance(t.Context(), "example.com"); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(reminded, c.reminded) {
				t.Errorf("got reminders for %v, want %v", reminded, c.reminded)
			}
			if o.propagated != c.state.InSync || (o.delayed == 1) == c.state.InSync || (raised == 9) != (c.state.Latest == 9) {
				t.Errorf("got propagated %v, delayed %d times, raised above %d", o.propagated, o.delayed, raised)
			}
		})
	}
}

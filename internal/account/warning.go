package account

import (
	"context"
	"fmt"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// maxWarnings limits the list of warnings; one more says how many are omitted.
const maxWarnings = 10

// Warnings returns a sentence for each name of the wallet that expires soon, or has
// expired and can still be renewed, the most urgent first.
func (s *Service) Warnings(ctx context.Context, w deed.Wallet) ([]string, error) {
	now := s.Now()
	names, total, err := s.Store.Expiring(ctx, w, now.Add(soon), maxWarnings)
	if err != nil {
		return nil, fmt.Errorf("read the expiring names of %s: %w", w, err)
	}
	out := make([]string, 0, len(names)+1)
	for _, r := range names {
		if text := Warning(r, now); text != "" {
			out = append(out, text)
		}
	}
	if more := total - len(names); more > 0 {
		out = append(out, fmt.Sprintf("%d more names end soon, too", more))
	}
	return out, nil
}

// Warning says that a name expires soon or has expired; it is "" for other names.
func Warning(r lifecycle.Registration, now time.Time) string {
	left := r.Expires.Sub(now)
	day := r.Expires.UTC().Format(time.DateOnly)
	switch {
	case left > soon || r.Status == lifecycle.StatusTransferred || r.Status == lifecycle.StatusPendingDelete:
		return ""
	case r.Status == lifecycle.StatusTransferring:
		return fmt.Sprintf("the term of %s ends on %s, and another registrar has asked for it: it can be renewed when that is decided", r.Name, day)
	case r.Status == lifecycle.StatusRedemption:
		return fmt.Sprintf("%s expired on %s and does not work any more: renew it, with its restore fee, or it is deleted", r.Name, day)
	case left <= 0:
		return fmt.Sprintf("%s expired on %s: renew it, or it stops working when its grace ends", r.Name, day)
	case left < 24*time.Hour:
		return fmt.Sprintf("%s expires on %s, in less than a day: renew it to keep it", r.Name, day)
	case left < 48*time.Hour:
		return fmt.Sprintf("%s expires on %s, in 1 day: renew it to keep it", r.Name, day)
	}
	return fmt.Sprintf("%s expires on %s, in %d days: renew it to keep it", r.Name, day, int(left/(24*time.Hour)))
}

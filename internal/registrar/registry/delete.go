package registry

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/lifecycle"
)

// Deleted returns the entry after its holder deleted it: in its add grace period it is
// gone at once, and later redemption begins (RFC 3915, 3.1).
func (e Entry) Deleted(at time.Time) (Entry, error) {
	if e.Transfer != "" {
		return e, deed.Invalid("domain", "%s is being transferred and cannot be deleted until then", e.Name)
	}
	if err := e.mayChange(at); err != nil {
		return e, err
	}
	if !at.Before(e.Created.AddDate(0, 0, AddGraceDays)) {
		e.Expires, e.GraceDays = at, 0
		return e, nil
	}
	e.Expires, e.GraceDays = at.AddDate(0, 0, -lifecycle.RedemptionDays-lifecycle.PendingDeleteDays-1), 0
	e.Created = e.Expires.AddDate(0, 0, -1)
	e.Nameservers, e.DS, e.AuthHash = nil, nil, ""
	return e, nil
}

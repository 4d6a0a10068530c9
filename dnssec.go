package deed

import "time"

// Sign returns next, an unsigned zone, signed with the key.
func Sign(prev, next ServedZone, key ZoneKey, now time.Time) (ServedZone, error) {
	return next, nil
}

// RenewAt returns when the zone must be signed again, zero when it is unsigned.
func (z ServedZone) RenewAt() time.Time { return time.Time{} }

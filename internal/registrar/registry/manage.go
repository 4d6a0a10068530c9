package registry

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/lifecycle"
)

// WithNameservers returns the entry delegated to the hosts. It fails with
// CodeValidation when one below the name has no glue.
func (e Entry) WithNameservers(hosts []string, glue lifecycle.Glue, at time.Time) (Entry, error) {
	hosts, err := deed.ParseNameservers(hosts)
	if err != nil {
		return e, err
	}
	for _, host := range hosts {
		if lifecycle.Below(host, e.Name) && len(glue.Of(host)) == 0 {
			return e, deed.Invalid("nameservers", "%s is below %s and needs its addresses", host, e.Name)
		}
	}
	e.Nameservers, e.Glue = hosts, glue.Corrected(e.Name, hosts, nil)
	return e, e.mayChange(at)
}

// WithLock returns the entry locked or unlocked. It cannot be locked while a
// transfer is pending (RFC 5731, 2.3).
func (e Entry) WithLock(locked bool, at time.Time) (Entry, error) {
	if locked && e.Transfer != "" {
		return e, deed.Invalid("locked", "a transfer of %s is pending, so it cannot be locked", e.Name)
	}
	e.Locked = locked
	return e, e.mayChange(at)
}

// WithAuthHash returns the entry with another code, the only valid one.
func (e Entry) WithAuthHash(hash string, at time.Time) (Entry, error) {
	e.AuthHash = hash
	return e, e.mayChange(at)
}

// WithDS returns the entry with the DS records of its zone.
func (e Entry) WithDS(ds []dnssec.DS, at time.Time) (Entry, error) {
	ds, err := dnssec.ParseDS(ds)
	if err == nil {
		err = e.mayChange(at)
	}
	e.DS = ds
	return e, err
}

// WithRegistrant returns the entry with the contact as its registrant.
func (e Entry) WithRegistrant(handle string, at time.Time) (Entry, error) {
	e.Registrant = handle
	return e, e.mayChange(at)
}

// mayChange fails with CodeValidation in the phases in which only a restore may
// change a name.
func (e Entry) mayChange(at time.Time) error {
	switch phase := e.Phase(at); phase {
	case lifecycle.PhaseActive, lifecycle.PhaseGrace:
		return nil
	case lifecycle.PhaseRedemption:
		return deed.Invalid("domain", "%s is in redemption: restore it first", e.Name)
	default:
		return deed.Invalid("domain", "%s is about to be deleted", e.Name)
	}
}

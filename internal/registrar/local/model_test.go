package local_test

import (
	"time"

	"deed.example/deed"
)

// The holders of the model.
const (
	us   = "us"
	them = "them"
)

// A model is the expected state of a name: a second, simple implementation of the
// registry's rules, eager where the registry is lazy.
type model struct {
	holder  string // "" when not registered
	created time.Time
	moved   time.Time
	expires time.Time
	locked  bool
	code    deed.Secret
	to      string    // new holder after the pending transfer; "" when there is none
	due     time.Time // of that transfer
	order   string    // of that transfer, when it is to the service's account
}

const (
	modelGrace = 45 * 24 * time.Hour
	modelRGP   = modelGrace + 30*24*time.Hour
	modelGone  = modelRGP + 5*24*time.Hour
)

// advance applies everything that is due by now.
func (m *model) advance(now time.Time) {
	if m.to != "" && !now.Before(m.due) {
		m.completeTransfer(m.due)
	}
	if m.holder != "" && !now.Before(m.expires.Add(modelGone)) {
		*m = model{}
	}
}

// completeTransfer completes the pending transfer.
func (m *model) completeTransfer(at time.Time) {
	year := m.expires.AddDate(1, 0, 0)
	if limit := at.AddDate(10, 0, 0); year.After(limit) {
		year = limit
	}
	if year.Before(m.expires) {
		year = m.expires
	}
	*m = model{holder: m.to, created: m.created, moved: at, expires: year, locked: true}
}

func (m *model) register(who string, years int, now time.Time) deed.Code {
	if m.holder != "" {
		return deed.CodeDomainUnavailable
	}
	*m = model{holder: who, created: now, expires: now.AddDate(years, 0, 0), locked: true}
	return ""
}

func (m *model) renew(from time.Time, years int, restore bool, now time.Time) deed.Code {
	late := now.Sub(m.expires)
	switch {
	case m.holder != us:
		return deed.CodeNotFound
	case late >= modelRGP, restore != (late >= modelGrace), m.to != "":
		return deed.CodeRegistrationFailed
	case !from.Equal(m.expires):
		return deed.CodeValidation
	case m.expires.AddDate(years, 0, 0).After(now.AddDate(10, 0, 0)):
		return deed.CodeRegistrationFailed
	}
	m.expires = m.expires.AddDate(years, 0, 0)
	return ""
}

func (m *model) transfer(to string, code deed.Secret, now time.Time) deed.Code {
	young := 60 * 24 * time.Hour
	switch {
	case m.holder == "":
		return deed.CodeNotFound
	case m.holder == to:
		return deed.CodeRegistrationFailed
	case m.code == "" || m.code != code:
		return deed.CodeValidation
	case m.locked, m.to != "", now.Sub(m.created) < young, !m.moved.IsZero() && now.Sub(m.moved) < young:
		return deed.CodeRegistrationFailed
	case now.AddDate(0, 0, 5).Sub(m.expires) >= modelGrace:
		return deed.CodeRegistrationFailed
	}
	m.to, m.due = to, now.AddDate(0, 0, 5)
	return ""
}

// manage returns the code of a call that changes the name.
func (m *model) manage(now time.Time) deed.Code {
	if m.holder != us {
		return deed.CodeNotFound
	}
	if now.Sub(m.expires) >= modelGrace {
		return deed.CodeValidation
	}
	return ""
}

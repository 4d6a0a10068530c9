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

// A model is what a name should be: the rules of the registry once more, in the
// plainest way, eager where the registry is lazy.
type model struct {
	holder  string // "" when nobody has it
	created time.Time
	moved   time.Time
	expires time.Time
	locked  bool
	code    deed.Secret
	to      string    // who gets it by the pending transfer; "" when there is none
	due     time.Time // of that transfer
	order   string    // of that transfer, when it is ours
}

const (
	modelGrace = 45 * 24 * time.Hour
	modelRGP   = modelGrace + 30*24*time.Hour
	modelGone  = modelRGP + 5*24*time.Hour
)

// pass lets the time pass.
func (m *model) pass(now time.Time) {
	if m.to != "" && !now.Before(m.due) {
		m.arrive(m.due)
	}
	if m.holder != "" && !now.Before(m.expires.Add(modelGone)) {
		*m = model{}
	}
}

// arrive ends the pending transfer.
func (m *model) arrive(at time.Time) {
	year := m.expires.AddDate(1, 0, 0)
	if most := at.AddDate(10, 0, 0); year.After(most) {
		year = most
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

// keep says what a keeper says to a change.
func (m *model) keep(now time.Time) deed.Code {
	if m.holder != us {
		return deed.CodeNotFound
	}
	if now.Sub(m.expires) >= modelGrace {
		return deed.CodeValidation
	}
	return ""
}

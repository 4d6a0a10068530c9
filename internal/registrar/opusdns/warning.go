package opusdns

import (
	"maps"
	"slices"
	"time"
)

// A warningKind is something that the operator should know.
type warningKind int

const (
	warnFunds warningKind = iota
	warnKey
	warnReplies
	warnPrices
)

// warningAge is how long a warning is shown after it last occurred, and how long it is
// not written to the log again.
const warningAge = time.Hour

// warnings are the last warning of each kind.
type warnings map[warningKind]warning

type warning struct {
	text   string
	at     time.Time // when it last occurred
	logged time.Time
}

// warn notes a warning, and writes it to the log unless one of its kind was there lately:
// of each kind the last is kept, and the operator is told once.
func (b *Backend) warn(kind warningKind, text string) {
	b.mu.Lock()
	if b.warnings == nil {
		b.warnings = warnings{}
	}
	w := warning{text: text, at: time.Now(), logged: b.warnings[kind].logged}
	again := w.at.Sub(w.logged) > warningAge
	if again {
		w.logged = w.at
	}
	b.warnings[kind] = w
	b.mu.Unlock()
	if again {
		b.config.Log.Error("the wholesaler needs attention", "why", text)
	}
}

// Warnings implements registrar.Monitored.
func (b *Backend) Warnings() (all []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, kind := range slices.Sorted(maps.Keys(b.warnings)) {
		if w := b.warnings[kind]; time.Since(w.at) < warningAge {
			all = append(all, w.text)
		}
	}
	return all
}

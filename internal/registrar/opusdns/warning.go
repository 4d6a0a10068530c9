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

// warningAge is how long a warning is shown after it last occurred.
const warningAge = time.Hour

// warnings are the last warning of each kind.
type warnings map[warningKind]warning

type warning struct {
	text string
	at   time.Time
}

// warn notes a warning. Of each kind the last is kept, so that the operator is told
// once.
func (b *Backend) warn(kind warningKind, text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.warnings == nil {
		b.warnings = warnings{}
	}
	b.warnings[kind] = warning{text: text, at: time.Now()}
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

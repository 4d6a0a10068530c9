// Package webhook sends the events of a wallet to addresses that its owner chose.
//
// A delivery is written in the transaction of its event, and is sent until the
// receiver answers 2xx: at least once, in order within an aggregate. Each attempt has
// a CloudEvents 1.0 body and is signed as Standard Webhooks says. A delivery is tried
// for three days; a webhook that has not accepted anything for three days is disabled,
// and its owner is told by an event.
//
// Hosts are not trusted: one that hangs must not delay the others. One node at a time
// sends to a host, for a short turn with few parallel requests. The pause of a host that
// does not respond grows each time, and hosts without a recent quick response have
// separate slots. Owners take turns, and each has few slots at a time. Each port of a host
// counts as a host: nobody is to blame for what does not answer at another one.
package webhook

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"deed.example/deed"
)

// MaxPerWallet is how many webhooks a wallet may have.
const MaxPerWallet = 10

const (
	// oldSecretTTL is how long the previous secret also signs after a rotation.
	oldSecretTTL = 24 * time.Hour

	// giveUpAfter is how long a delivery is tried, and a webhook may fail.
	giveUpAfter = 72 * time.Hour
)

// A Webhook is an address that events of a wallet are sent to.
type Webhook struct {
	ID           string
	Owner        deed.Wallet
	URL          string
	Host         string // of the URL, in lower case, with its port unless that is the usual one of the scheme
	Secret       deed.Secret
	OldSecret    deed.Secret // signs too, until OldUntil; may be empty
	OldUntil     time.Time
	Created      time.Time
	FailingSince time.Time // the first failed attempt since the last success; may be zero
	Disabled     time.Time // zero if it is on
}

// Secrets returns the secrets that sign at the time: the current one and, for a while
// after a rotation, the previous one.
func (w Webhook) Secrets(at time.Time) []deed.Secret {
	if w.OldSecret != "" && at.Before(w.OldUntil) {
		return []deed.Secret{w.Secret, w.OldSecret}
	}
	return []deed.Secret{w.Secret}
}

// State is the state of a delivery.
//
//	Pending ── 2xx ──────────────→ Delivered
//	   │  └─── three days ───────→ Failed
//	   └────── replay ←─────────── either
type State string

// The states of a delivery.
const (
	Pending   State = "pending"
	Delivered State = "delivered"
	Failed    State = "failed"
)

// A Delivery is one event for one webhook.
type Delivery struct {
	Webhook     string
	EventID     string
	Type        string
	State       State
	Attempts    int
	Created     time.Time
	FirstTry    time.Time
	LastTry     time.Time
	NextTry     time.Time // of a pending delivery
	Status      int       // the HTTP status of the last attempt, 0 if there was no answer
	LastFailure Failure   // why the last attempt had no answer; may be empty
}

// TestType is the type of the message that a test trigger sends.
const TestType = "webhook.test"

// secretPrefix marks the secrets of Standard Webhooks.
const secretPrefix = "whsec_"

// newSecret returns a random secret of 32 bytes.
func newSecret() deed.Secret {
	b := make([]byte, 32)
	rand.Read(b) // never fails (crypto/rand)
	return deed.Secret(secretPrefix + base64.StdEncoding.EncodeToString(b))
}

package deed

import "time"

// How long what we issue stays good (interface document, chapter 5).
const (
	NonceLifetime   = 5 * time.Minute
	AccessLifetime  = time.Hour
	RefreshLifetime = 30 * 24 * time.Hour
)

// A Nonce is a one-time value for one sign-in message: letters and digits only.
type Nonce string

// A Session is what a good access token says: who signed in, and until when
// that may be believed.
type Session struct {
	Wallet  Wallet
	Expires time.Time
}

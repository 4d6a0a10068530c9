package signin

import (
	"time"

	"deed.example/deed"
)

// How long what we issue stays good (interface document, chapter 5).
const (
	NonceLifetime   = 5 * time.Minute
	AccessLifetime  = time.Hour
	RefreshLifetime = 30 * 24 * time.Hour
)

// A Nonce is a one-time value for one sign-in message: letters and digits only.
type Nonce string

// A Session is one sign-in of a wallet, as it is written down. A session lives
// on through refresh tokens that replace each other: its family.
type Session struct {
	Wallet    deed.Wallet
	Family    string
	Nonce     Nonce     // used up by this sign-in
	NonceEnds time.Time // always the same for one nonce
	Refresh   RefreshToken
}

// A RefreshToken is what is kept of one: its hash, never the token itself.
type RefreshToken struct {
	Hash    string
	Issued  time.Time
	Expires time.Time
}

// A TokenKey makes and checks tokens. Its ID says which of several made one, so
// that keys can be changed without logging anyone out.
type TokenKey struct {
	ID     string
	Secret deed.Secret
}

package signin

import (
	"time"

	"deed.example/deed"
)

// Lifetimes of nonces and tokens (interface document, chapter 5).
const (
	NonceLifetime   = 5 * time.Minute
	AccessLifetime  = time.Hour
	RefreshLifetime = 30 * 24 * time.Hour
)

// MaxSessions is how many sessions a wallet may have at a time. A script that signs in
// whenever its access token ends, and never refreshes, has 720.
const MaxSessions = 1000

// EndedAtOnce is how many sessions end when a wallet with MaxSessions signs in: so many that
// they need not be counted at each of its sign-ins.
const EndedAtOnce = 100

// A Nonce is a one-time value for one sign-in message: letters and digits only.
type Nonce string

// A Session is one sign-in of a wallet. It continues through refresh tokens that
// replace each other: its family.
type Session struct {
	Wallet    deed.Wallet
	Family    string
	Nonce     Nonce     // consumed by this sign-in
	NonceEnds time.Time // its expiry
	Refresh   RefreshToken
}

// A RefreshToken is what is stored of a refresh token: its hash, never the token.
type RefreshToken struct {
	Hash    string
	Issued  time.Time
	Expires time.Time
}

// A TokenKey signs and verifies tokens. Its ID identifies the key of a token, so that
// keys can be rotated without ending sessions.
type TokenKey struct {
	ID     string
	Secret deed.Secret
}

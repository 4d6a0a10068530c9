package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"deed.example/deed"
)

// maxToken bounds the length of an access token; ours are below 500 bytes.
const maxToken = 1 << 10

// claims are the claims of an access token.
type claims struct {
	jwt.RegisteredClaims

	// Generation is the wallet's at the time of issue. Revoking increments the
	// wallet's, which invalidates every earlier token.
	Generation int64 `json:"gen"`
}

var method = jwt.SigningMethodHS256

// newAccess signs an access token with the first key.
func (s *Service) newAccess(w deed.Wallet, generation int64, now time.Time) (string, error) {
	key := s.Keys()[0]
	token := jwt.NewWithClaims(method, claims{
		RegisteredClaims: jwt.RegisteredClaims{
			Issuer:    s.Site.URI,
			Audience:  jwt.ClaimStrings{s.Site.URI},
			Subject:   string(w),
			IssuedAt:  jwt.NewNumericDate(now),
			ExpiresAt: jwt.NewNumericDate(now.Add(AccessLifetime)),
			ID:        rand.Text(),
		},
		Generation: generation,
	})
	token.Header["kid"] = key.ID
	return token.SignedString([]byte(key.Secret.Reveal()))
}

// readAccess returns the claims of an access token. Verified tokens are cached until
// they expire.
func (s *Service) readAccess(token string, now time.Time) (claims, error) {
	keys := s.Keys()
	if c, ok := s.seen.get(token, keys); ok && now.Before(c.ExpiresAt.Time) {
		return c, nil
	}
	c, err := s.parseAccess(token, now)
	if err == nil {
		s.seen.put(token, c, keys)
	}
	return c, err
}

// parseAccess verifies a token. A bad signature takes precedence over expiry. It
// fails with CodeTokenInvalid or CodeTokenExpired.
func (s *Service) parseAccess(token string, now time.Time) (claims, error) {
	invalid := Refusal(deed.CodeTokenInvalid, "this is not a valid access token: sign in again")
	if len(token) > maxToken {
		return claims{}, invalid
	}
	var c claims
	_, err := jwt.ParseWithClaims(token, &c, s.keyOf,
		jwt.WithValidMethods([]string{method.Alg()}),
		jwt.WithIssuer(s.Site.URI),
		jwt.WithAudience(s.Site.URI),
		jwt.WithExpirationRequired(),
		jwt.WithStrictDecoding(),
		jwt.WithTimeFunc(func() time.Time { return now }))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired) && !errors.Is(err, jwt.ErrTokenInvalidIssuer) && !errors.Is(err, jwt.ErrTokenInvalidAudience):
		return claims{}, deed.WithNext(deed.Errorf(deed.CodeTokenExpired, "the access token has expired"), deed.Next{Action: deed.ActionRefresh})
	case err != nil:
		return claims{}, invalid
	}
	return c, nil
}

// Refusal returns the error for a token that is not accepted: its wallet has to sign
// in again.
func Refusal(code deed.Code, message string) error {
	return &deed.Error{Code: code, Message: message, Next: deed.Next{Action: deed.ActionSignIn}}
}

var errUnknownKey = errors.New("unknown signing key")

// keyOf finds the key by the ID in the token header.
func (s *Service) keyOf(t *jwt.Token) (any, error) {
	kid, _ := t.Header["kid"].(string)
	if typ, _ := t.Header["typ"].(string); typ != "JWT" {
		return nil, errUnknownKey
	}
	for _, key := range s.Keys() {
		if key.ID == kid {
			return []byte(key.Secret.Reveal()), nil
		}
	}
	return nil, errUnknownKey
}

// newRefresh returns a refresh token and what is stored of it.
func newRefresh(now time.Time) (string, RefreshToken) {
	token := refreshPrefix + rand.Text() + rand.Text()
	return token, RefreshToken{Hash: hashOf(token), Issued: now, Expires: now.Add(RefreshLifetime)}
}

// refreshPrefix makes refresh tokens recognizable for people and secret scanners.
const refreshPrefix = "deed_refresh_"

// hashOf returns the stored hash of a refresh token. The token has 256 random bits,
// so a plain hash cannot be reversed.
func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

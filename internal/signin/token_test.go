package signin

import (
	"encoding/base32"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
)

var (
	testKeys = []TokenKey{{ID: "test", Secret: "0123456789abcdef0123456789abcdef"}}
	site     = Site{Scheme: "https", Domain: "deed.example", URI: "https://deed.example", ChainID: 84532}
)

// Arbitrary input is never accepted as a token, and never causes a panic.
func FuzzReadToken(f *testing.F) {
	f.Add("eyJhbGciOiJIUzI1NiIsImtpZCI6InRlc3QiLCJ0eXAiOiJKV1QifQ.e30.AAAA")
	f.Add("a.b.c")
	f.Add("..")
	f.Add(strings.Repeat("e30.", 300))
	service := &Service{Keys: func() []TokenKey { return testKeys }, Site: site, Now: time.Now}
	f.Fuzz(func(t *testing.T, token string) {
		if w, err := service.Authenticate(t.Context(), token); err == nil {
			t.Errorf("%q is %s", token, w)
		} else if code := deed.CodeOf(err); code != deed.CodeTokenInvalid && code != deed.CodeTokenExpired {
			t.Errorf("%q: %v", token, err)
		}
	})
}

// A valid nonce has exactly one encoding, and arbitrary input never causes a panic.
func FuzzCheckNonce(f *testing.F) {
	now := time.Unix(1_800_000_000, 0)
	good := string(newNonce(testKeys[0], now))
	f.Add(good)
	f.Add(strings.ToLower(good))
	f.Add(good[1:])
	f.Add(good + "=")
	f.Add(good[:5] + "\n" + good[5:])
	f.Fuzz(func(t *testing.T, nonce string) {
		if _, ok := checkNonce(testKeys, nonce, now); !ok {
			return
		}
		raw, err := base32.StdEncoding.DecodeString(nonce)
		if err != nil || base32.StdEncoding.EncodeToString(raw) != nonce || len(nonce) != 40 {
			t.Errorf("%q is accepted as a nonce", nonce)
		}
	})
}

// A nonce that was modified anywhere, or made with another key, is invalid.
func TestChangedNonce(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	good := []byte(newNonce(testKeys[0], now))
	for i, c := range good {
		good[i] = 'A' + (c-'A'+1)%26 // another letter
		if _, ok := checkNonce(testKeys, string(good), now); ok {
			t.Errorf("changed at %d: %s", i, good)
		}
		good[i] = c
	}
	if _, ok := checkNonce(testKeys, string(newNonce(TokenKey{ID: "test", Secret: "another"}, now)), now); ok {
		t.Error("another key's nonce is valid")
	}
	if _, ok := checkNonce(testKeys, string(good), now); !ok {
		t.Error("the unmodified nonce is invalid")
	}
}

// A nonce has enough characters for every client, letters and digits only.
func TestNonce(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	n := string(newNonce(testKeys[0], now))
	if len(n) < 17 || !all(n, alphanumeric) {
		t.Errorf("got %q", n)
	}
	for age, want := range map[time.Duration]bool{-time.Minute: true, 0: true, NonceLifetime - time.Second: true, NonceLifetime: false, -time.Hour: false} {
		if ends, got := checkNonce(testKeys, n, now.Add(age)); got != want || !ends.Equal(now.Add(NonceLifetime)) {
			t.Errorf("%s old: got %v until %s, want %v", age, got, ends, want)
		}
	}
}

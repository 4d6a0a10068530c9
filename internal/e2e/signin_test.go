package e2e_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/golang-jwt/jwt/v5"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/signin"
)

// quoteJSON returns s as a JSON string.
func quoteJSON(t *testing.T, s string) string {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (h *service) verify(t *testing.T, message, signature string) answer {
	t.Helper()
	return h.do(t, "POST", "/auth/verify", fmt.Sprintf(`{"message":%s,"signature":%s}`, quoteJSON(t, message), quoteJSON(t, signature)))
}

func (h *service) refresh(t *testing.T, token string) answer {
	t.Helper()
	return h.do(t, "POST", "/auth/refresh", fmt.Sprintf(`{"refreshToken":%s}`, quoteJSON(t, token)))
}

func (h *service) nonce(t *testing.T) api.Nonce {
	t.Helper()
	return read[api.Nonce](t, h.get(t, "/auth/nonce"))
}

func read[T any](t *testing.T, a answer) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(a.body), &v, json.RejectUnknownMembers(true)); err != nil || a.status != 200 {
		t.Errorf("got %d %s: %v", a.status, a.body, err)
	}
	return v
}

// bearer requests the account with a token.
func (h *service) bearer(t *testing.T, token string) answer {
	t.Helper()
	return h.get(t, "/account", "Authorization", "Bearer "+token)
}

func (a answer) expectSuccess(t *testing.T) {
	t.Helper()
	if a.status == 401 || a.header.Get("X-RateLimit-Limit") != "1000000" {
		t.Errorf("got %d %s, want to be let in", a.status, a.body)
	}
}

// clock is a clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now()} }

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

// eachSignIn runs f with a service and its clock on each database.
func eachSignIn(t *testing.T, f func(t *testing.T, h *service, c *clock)) {
	eachStore(t, func(t *testing.T, o options) {
		c := newClock()
		o.limits, o.now = generous(), c.Now
		f(t, open(t, o), c)
	})
}

// The whole lifecycle of a session, as in the interface document.
func TestSignIn(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		a := newAccount(t)
		n := h.nonce(t)
		if n.Domain != testSite.Domain || n.URI != testSite.URI || n.ChainID != testSite.ChainID || n.Version != "1" || n.ExpiresIn != 300 || len(n.Nonce) < 17 {
			t.Errorf("got %+v", n)
		}
		text := message(a.wallet, n.Nonce, c.Now())
		first := read[api.TokenSet](t, h.verify(t, text, a.sign(t, text)))
		if first.WalletAddress != string(a.wallet) || first.ExpiresIn != 3600 {
			t.Errorf("got %+v", first)
		}
		h.bearer(t, first.AccessToken).expectSuccess(t)

		answer := h.refresh(t, first.RefreshToken)
		second := read[api.TokenSet](t, answer)
		if strings.Contains(answer.body, "walletAddress") || strings.Contains(answer.body, "expiresIn") || second.RefreshToken == first.RefreshToken {
			t.Errorf("got %s", answer.body)
		}
		h.bearer(t, second.AccessToken).expectSuccess(t)

		c.advance(signin.AccessLifetime - time.Second)
		h.bearer(t, second.AccessToken).expectSuccess(t)
		c.advance(time.Second)
		h.bearer(t, second.AccessToken).expect(t, 401, deed.CodeTokenExpired)

		third := read[api.TokenSet](t, h.refresh(t, second.RefreshToken))
		revoked := read[api.Revoked](t, h.do(t, "POST", "/auth/revoke", "", "Authorization", "Bearer "+third.AccessToken))
		if revoked.Message != "All sessions revoked" || revoked.Revoked != 1 {
			t.Errorf("got %+v", revoked)
		}
		h.bearer(t, third.AccessToken).expect(t, 401, deed.CodeTokenInvalid)
		h.refresh(t, third.RefreshToken).expect(t, 401, deed.CodeTokenInvalid)
	})
}

// An account shows when its wallet was last active: at its last call, to within a minute.
func TestLastActive(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		access := h.tokens(t, newAccount(t)).Access
		active := func(after time.Duration, path string, want time.Time) {
			t.Helper()
			c.advance(after)
			h.get(t, path, "Authorization", "Bearer "+access)
			if got := read[api.Account](t, h.bearer(t, access)); !got.LastActiveAt.Equal(want.Truncate(time.Second)) {
				t.Errorf("got %s, want %s", got.LastActiveAt, want)
			}
		}
		first := c.Now().Add(5 * time.Minute)
		active(5*time.Minute, "/account", first)
		active(59*time.Second, "/account/domains", first)
		active(time.Second, "/account/events", first.Add(time.Minute))
		active(time.Hour-7*time.Minute, "/dns/first.com", first.Add(54*time.Minute))
	})
}

// Every kind of invalid message or signature; none consumes the nonce.
func TestSignInRefusals(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		a, other := newAccount(t), newAccount(t)
		nonce := h.nonce(t).Nonce
		good := message(a.wallet, nonce, c.Now())
		swap := func(old, new string) string {
			if !strings.Contains(good, old) {
				t.Fatalf("%q is not in the message", old)
			}
			return strings.Replace(good, old, new, 1)
		}
		issued := "Issued At: " + c.Now().UTC().Format(time.RFC3339)
		messages := map[string]string{
			"another domain":           swap("deed.example wants", "evil.example wants"),
			"another scheme":           "http://" + good,
			"another URI":              swap("URI: https://deed.example", "URI: https://evil.example"),
			"a longer URI":             swap("URI: https://deed.example", "URI: https://deed.example/login"),
			"another chain":            swap("Chain ID: 84532", "Chain ID: 8453"),
			"another version":          swap("Version: 1", "Version: 2"),
			"issued in 2020":           swap(issued, "Issued At: 2020-01-01T00:00:00Z"),
			"issued in an hour":        swap(issued, "Issued At: "+c.Now().Add(time.Hour).UTC().Format(time.RFC3339)),
			"expired":                  good + "\nExpiration Time: " + c.Now().Add(-time.Second).UTC().Format(time.RFC3339),
			"not yet valid":            good + "\nNot Before: " + c.Now().Add(time.Minute).UTC().Format(time.RFC3339),
			"a nonce of nobody's":      swap(nonce, "abcdefghijklmnopqrstuvwxyz"),
			"a changed nonce":          swap(nonce, flip(nonce)),
			"a wrong checksum":         swap(a.wallet.Checksum(), wrongChecksum(a.wallet)),
			"CRLF":                     strings.ReplaceAll(good, "\n", "\r\n"),
			"fields in another order":  swap("Version: 1\nChain ID: 84532", "Chain ID: 84532\nVersion: 1"),
			"a fake nonce in the text": swap("Sign in to Deed.", "Hello\nNonce: "+nonce),
			"nothing":                  " ",
		}
		for name, text := range messages {
			t.Run(name, func(t *testing.T) { h.verify(t, text, a.sign(t, text)).expect(t, 400, deed.CodeValidation) })
		}
		signature := a.sign(t, good)
		for name, sig := range map[string]string{
			"0x":              "0x",
			"no prefix":       signature[2:],
			"an odd digit":    signature[:len(signature)-1],
			"not hex":         "0x" + strings.Repeat("zz", 65),
			"more than 8 KiB": "0x" + strings.Repeat("00", 8<<10+1),
		} {
			t.Run("signature "+name, func(t *testing.T) {
				got := h.verify(t, good, sig)
				if len(sig) > 16<<10 {
					got.expect(t, 413, deed.CodeValidation)
					return
				}
				got.expect(t, 400, deed.CodeValidation)
			})
		}
		// The chain is down: without it a wrong signature cannot be told from that of
		// a contract wallet.
		for name, sig := range map[string]string{"another's": other.sign(t, good), "64 bytes": signature[:130], "66 bytes": signature + "00", "of another text": a.sign(t, good+" ")} {
			t.Run("signature "+name, func(t *testing.T) { h.verify(t, good, sig).expect(t, 503, deed.CodeUnavailable) })
		}
		if got := h.verify(t, good, signature); got.status != 200 { // still valid
			t.Errorf("got %d %s", got.status, got.body)
		}
		h.verify(t, good, signature).expect(t, 400, deed.CodeValidation) // once
	})
}

// flip changes the last character of a nonce.
func flip(nonce string) string {
	last := "A"
	if strings.HasSuffix(nonce, "A") {
		last = "B"
	}
	return nonce[:len(nonce)-1] + last
}

// wrongChecksum writes one letter of the address in the wrong case, and leaves
// letters of both cases: an address in one case has no checksum.
func wrongChecksum(w deed.Wallet) string {
	sum := w.Checksum()[2:]
	for i := range sum {
		letter := strings.ToUpper(sum[i : i+1])
		if letter == sum[i:i+1] {
			letter = strings.ToLower(letter)
		}
		wrong := sum[:i] + letter + sum[i+1:]
		if wrong != sum && wrong != strings.ToUpper(wrong) && wrong != strings.ToLower(wrong) {
			return "0x" + wrong
		}
	}
	panic("an address of digits alone")
}

func TestNonceExpires(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		for age, status := range map[time.Duration]int{signin.NonceLifetime - 2*time.Second: 200, signin.NonceLifetime: 400} {
			a, nonce := newAccount(t), h.nonce(t).Nonce
			c.advance(age)
			text := message(a.wallet, nonce, c.Now())
			if got := h.verify(t, text, a.sign(t, text)); got.status != status {
				t.Errorf("after %s: got %d %s, want %d", age, got.status, got.body, status)
			}
		}
	})
}

func TestOneNonceRaced(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		a := newAccount(t)
		text := message(a.wallet, h.nonce(t).Nonce, c.Now())
		sig := a.sign(t, text)
		codes := race(100, func() int { return h.verify(t, text, sig).status })
		if codes[200] != 1 || codes[400] != 99 {
			t.Errorf("got %v, want one winner", codes)
		}
	})
}

func TestOneRefreshTokenRaced(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, _ *clock) {
		token := h.tokens(t, newAccount(t)).Refresh
		codes := race(50, func() int { return h.refresh(t, token).status })
		if codes[200] != 1 || codes[401] != 49 {
			t.Errorf("got %v, want one winner", codes)
		}
	})
}

// race makes n concurrent calls and counts their statuses.
func race(n int, call func() int) map[int]int {
	var wg sync.WaitGroup
	statuses := make([]int, n)
	for i := range statuses {
		wg.Go(func() { statuses[i] = call() })
	}
	wg.Wait()
	count := map[int]int{}
	for _, s := range statuses {
		count[s]++
	}
	return count
}

func TestRefreshTokens(t *testing.T) {
	eachSignIn(t, func(t *testing.T, h *service, c *clock) {
		tokens := h.tokens(t, newAccount(t))
		next := read[api.TokenSet](t, h.refresh(t, tokens.Refresh))
		h.refresh(t, "deed_refresh_unknown").expect(t, 401, deed.CodeTokenInvalid)
		h.refresh(t, tokens.Access).expect(t, 401, deed.CodeTokenInvalid)     // an access token is not a refresh token
		h.bearer(t, next.RefreshToken).expect(t, 401, deed.CodeTokenInvalid)  // and vice versa
		h.refresh(t, tokens.Refresh).expect(t, 401, deed.CodeTokenInvalid)    // used before…
		h.refresh(t, next.RefreshToken).expect(t, 401, deed.CodeTokenInvalid) // …so the whole family is revoked
		h.do(t, "POST", "/auth/refresh", `{"refreshToken":""}`).expect(t, 400, deed.CodeValidation)
		late := h.tokens(t, newAccount(t)).Refresh
		c.advance(signin.RefreshLifetime)
		h.refresh(t, late).expect(t, 401, deed.CodeTokenExpired)
	})
}

// Revoking ends all sessions of the wallet on every node, and no others.
func TestRevokeReachesEveryNode(t *testing.T) {
	eachStore(t, func(t *testing.T, o options) {
		o.limits = generous()
		nodes := []*service{open(t, o)}
		if o.db.Kind() == "PostgreSQL" { // a SQLite file has one node
			nodes = append(nodes, open(t, o))
		}
		a, other := newAccount(t), newAccount(t)
		one, two, theirs := nodes[0].tokens(t, a), nodes[0].tokens(t, a), nodes[0].tokens(t, other)
		for _, h := range nodes {
			h.bearer(t, two.Access).expectSuccess(t)
		}
		if got := read[api.Revoked](t, nodes[0].do(t, "POST", "/auth/revoke", "", "Authorization", "Bearer "+one.Access)); got.Revoked != 2 {
			t.Errorf("got %+v, want 2", got)
		}
		for _, h := range nodes {
			h.bearer(t, one.Access).expect(t, 401, deed.CodeTokenInvalid)
			h.bearer(t, two.Access).expect(t, 401, deed.CodeTokenInvalid)
			h.refresh(t, two.Refresh).expect(t, 401, deed.CodeTokenInvalid)
			h.bearer(t, theirs.Access).expectSuccess(t)
		}
		nodes[0].bearer(t, nodes[0].tokens(t, a).Access).expectSuccess(t) // the wallet can sign in again
	})
}

// forge creates a token of any kind with any key.
func forge(t *testing.T, method jwt.SigningMethod, key any, header map[string]any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	for k, v := range header {
		token.Header[k] = v
		if v == nil {
			delete(token.Header, k)
		}
	}
	signed, err := token.SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

func TestForgedTokens(t *testing.T) { eachSignIn(t, testForgedTokens) }

func testForgedTokens(t *testing.T, h *service, c *clock) {
	a := newAccount(t)
	good := h.tokens(t, a).Access
	secret := []byte(testKeys[0].Secret.Reveal())
	kid := map[string]any{"kid": "test"}
	claims := func(change jwt.MapClaims) jwt.MapClaims {
		all := jwt.MapClaims{"iss": testSite.URI, "aud": testSite.URI, "sub": string(a.wallet), "iat": c.Now().Unix(), "exp": c.Now().Add(time.Hour).Unix(), "gen": 1}
		for k, v := range change {
			all[k] = v
			if v == nil {
				delete(all, k)
			}
		}
		return all
	}
	h.bearer(t, forge(t, jwt.SigningMethodHS256, secret, kid, claims(nil))).expectSuccess(t) // each token below differs in one field
	expired := jwt.MapClaims{"exp": c.Now().Add(-time.Second).Unix()}
	parts := strings.Split(good, ".")
	tests := map[string]struct {
		token string
		code  deed.Code
	}{
		"alg none":                 {forge(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, kid, claims(nil)), deed.CodeTokenInvalid},
		"another algorithm":        {forge(t, jwt.SigningMethodHS512, secret, kid, claims(nil)), deed.CodeTokenInvalid},
		"another key":              {forge(t, jwt.SigningMethodHS256, []byte("guess"), kid, claims(nil)), deed.CodeTokenInvalid},
		"an unknown kid":           {forge(t, jwt.SigningMethodHS256, secret, map[string]any{"kid": "other"}, claims(nil)), deed.CodeTokenInvalid},
		"no kid":                   {forge(t, jwt.SigningMethodHS256, secret, nil, claims(nil)), deed.CodeTokenInvalid},
		"a kid that is a path":     {forge(t, jwt.SigningMethodHS256, []byte(""), map[string]any{"kid": "../../dev/null"}, claims(nil)), deed.CodeTokenInvalid},
		"its own key (jwk)":        {forge(t, jwt.SigningMethodHS256, []byte("mine"), map[string]any{"kid": "test", "jwk": map[string]any{"kty": "oct", "k": "bWluZQ"}}, claims(nil)), deed.CodeTokenInvalid},
		"a key elsewhere (jku)":    {forge(t, jwt.SigningMethodHS256, []byte("mine"), map[string]any{"kid": "test", "jku": "https://evil.example/jwks"}, claims(nil)), deed.CodeTokenInvalid},
		"a certificate (x5u)":      {forge(t, jwt.SigningMethodHS256, []byte("mine"), map[string]any{"kid": "test", "x5u": "https://evil.example/x5u"}, claims(nil)), deed.CodeTokenInvalid},
		"another typ":              {forge(t, jwt.SigningMethodHS256, secret, map[string]any{"kid": "test", "typ": "at+jwt"}, claims(nil)), deed.CodeTokenInvalid},
		"another audience":         {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"aud": "https://evil.example"})), deed.CodeTokenInvalid},
		"another issuer":           {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"iss": "https://evil.example"})), deed.CodeTokenInvalid},
		"no expiry":                {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"exp": nil})), deed.CodeTokenInvalid},
		"a later generation":       {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"gen": 2})), deed.CodeTokenInvalid},
		"a wallet nobody knows":    {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"sub": "0x0000000000000000000000000000000000000001"})), deed.CodeTokenInvalid},
		"expired":                  {forge(t, jwt.SigningMethodHS256, secret, kid, claims(expired)), deed.CodeTokenExpired},
		"expired and badly signed": {forge(t, jwt.SigningMethodHS256, []byte("guess"), kid, claims(expired)), deed.CodeTokenInvalid},
		"expired and not for us":   {forge(t, jwt.SigningMethodHS256, secret, kid, claims(jwt.MapClaims{"exp": c.Now().Add(-time.Second).Unix(), "aud": "https://evil.example"})), deed.CodeTokenInvalid},
		"two parts":                {parts[0] + "." + parts[1], deed.CodeTokenInvalid},
		"no signature":             {parts[0] + "." + parts[1] + ".", deed.CodeTokenInvalid},
		"a changed claim":          {parts[0] + "." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"0x0"}`)) + "." + parts[2], deed.CodeTokenInvalid},
		"words":                    {"hello", deed.CodeTokenInvalid},
		"a long story":             {strings.Repeat("a", 5000), deed.CodeTokenInvalid},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := h.bearer(t, tt.token)
			got.expect(t, 401, tt.code)
			if got.header.Get("WWW-Authenticate") != "Bearer" {
				t.Errorf("got %v", got.header)
			}
		})
	}
}

// A bad token on a call that needs none is ignored.
func TestBadTokenOnAPublicCall(t *testing.T) {
	h := open(t, options{})
	if got := h.get(t, "/domains/pricing/com", "Authorization", "Bearer nonsense"); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// New keys sign new tokens, and old tokens stay valid.
func TestKeyRotationKeepsSessions(t *testing.T) {
	eachSignIn(t, testKeysAreChanged)
}

func testKeysAreChanged(t *testing.T, h *service, _ *clock) {
	var mu sync.Mutex
	keys := testKeys
	h.api.SignIn.Keys = func() []signin.TokenKey { mu.Lock(); defer mu.Unlock(); return keys }
	a := newAccount(t)
	old, nonce := h.tokens(t, a), h.nonce(t).Nonce
	mu.Lock()
	keys = append([]signin.TokenKey{{ID: "new", Secret: "fedcba9876543210fedcba9876543210"}}, testKeys...)
	mu.Unlock()
	fresh := h.tokens(t, a)
	h.bearer(t, old.Access).expectSuccess(t)
	h.bearer(t, fresh.Access).expectSuccess(t)
	text := message(a.wallet, nonce, time.Now()) // a nonce from before, too
	if got := h.verify(t, text, a.sign(t, text)); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	mu.Lock()
	keys = keys[:1]
	mu.Unlock()
	h.bearer(t, old.Access).expect(t, 401, deed.CodeTokenInvalid)
	h.bearer(t, fresh.Access).expectSuccess(t)
	if got := h.refresh(t, old.Refresh); got.status != 200 {
		t.Errorf("refresh tokens do not depend on keys: got %d %s", got.status, got.body)
	}
}

// Nonces are not stored.
func TestNoncesAreNotStored(t *testing.T) {
	h := open(t, options{limits: generous()})
	if err := h.db.Close(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range 100 {
		n := h.nonce(t).Nonce
		if seen[n] || strings.Trim(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
			t.Errorf("got %q", n)
		}
		seen[n] = true
	}
}

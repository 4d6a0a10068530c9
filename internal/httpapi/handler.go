package httpapi

import (
	"net/http"
	"strconv"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/ratelimit"
)

// A handler serves one request, or returns the error to respond with.
type handler func(w http.ResponseWriter, r *http.Request) error

// walletHandler is a handler for a signed-in wallet.
type walletHandler func(w http.ResponseWriter, r *http.Request, who deed.Wallet) error

// handle turns h into an http.Handler: it is the one place where an error
// becomes a response.
func (s *Server) handle(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := h(w, r); err != nil {
			s.fail(w, r, err)
		}
	})
}

// address applies a rate limit per client address.
func (s *Server) address(lim deed.Limit, h handler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		if err := s.spend(w, r, lim, ratelimit.AddressKey(clientAddr(r, s.Trusted))); err != nil {
			return err
		}
		return h(w, r)
	})
}

// wallet authenticates the caller and applies a rate limit per wallet. Requests
// without a valid token are not counted, because there is no wallet to count for.
func (s *Server) wallet(lim deed.Limit, h walletHandler) http.Handler {
	return s.handle(func(w http.ResponseWriter, r *http.Request) error {
		token, err := bearer(r)
		if err != nil {
			return err
		}
		who, err := s.SignIn.Authenticate(r.Context(), token)
		if err != nil {
			return err
		}
		if err := s.spend(w, r, lim, string(who)); err != nil {
			return err
		}
		err = h(w, r, who)
		if err == nil && r.Method != http.MethodGet && r.Method != http.MethodHead {
			s.Log.InfoContext(r.Context(), "owner.action", "route", r.Pattern, "owner", string(who), "domain", r.PathValue("domain"), "requestId", w.Header().Get("X-Request-Id"))
		}
		return err
	})
}

// spend counts one call against the limit and sets the rate limit headers.
func (s *Server) spend(w http.ResponseWriter, r *http.Request, lim deed.Limit, caller string) error {
	d, err := s.Limiter.Spend(r.Context(), lim, caller)
	if d != nil {
		setLimitHeaders(w.Header(), d)
	}
	if s.Sandbox != nil && deed.CodeOf(err) == deed.CodeRateLimited {
		return deed.WithNext(err, deed.Next{Action: deed.ActionResetLimits})
	}
	return err
}

// peek sets the rate limit headers without counting, for a request that repeats a
// known payment.
func (s *Server) peek(w http.ResponseWriter, r *http.Request, lim deed.Limit, caller string) error {
	d, err := s.Limiter.Peek(r.Context(), lim, caller)
	if d != nil {
		setLimitHeaders(w.Header(), d)
	}
	return err
}

func setLimitHeaders(h http.Header, d *ratelimit.Decision) {
	values := []string{strconv.Itoa(d.Limit.Max), strconv.Itoa(d.Remaining), strconv.FormatInt(d.Reset.Unix(), 10)}
	// Not with Set, which would spell them X-Ratelimit-….
	h["X-RateLimit-Limit"], h["X-RateLimit-Remaining"], h["X-RateLimit-Reset"] = values[0:1:1], values[1:2:2], values[2:3:3]
}

// bearer returns the one token of the Authorization header (interface document,
// chapter 5, rule 5). The scheme's letter case does not count (RFC 9110, 11.1).
func bearer(r *http.Request) (string, error) {
	values := r.Header.Values("Authorization")
	if len(values) == 1 {
		scheme, token, _ := strings.Cut(values[0], " ")
		if token = strings.TrimSpace(token); strings.EqualFold(scheme, "Bearer") && token != "" {
			return token, nil
		}
	}
	return "", &deed.Error{
		Code:    deed.CodeAuthRequired,
		Message: "this call needs one header Authorization: Bearer <access token>",
		Next:    deed.Next{Action: deed.ActionSignIn},
	}
}

package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/signin"
)

func (s *Server) nonce(w http.ResponseWriter, _ *http.Request) error {
	s.reply(w, http.StatusOK, api.Nonce{
		Nonce:     string(s.SignIn.Nonce()),
		Domain:    s.SignIn.Site.Domain,
		URI:       s.SignIn.Site.URI,
		ChainID:   s.SignIn.Site.ChainID,
		Version:   "1",
		ExpiresIn: int(signin.NonceLifetime.Seconds()),
	})
	return nil
}

func (s *Server) verify(w http.ResponseWriter, r *http.Request) error {
	var in api.VerifyRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if err := required("message", in.Message, "signature", in.Signature); err != nil {
		return err
	}
	t, err := s.SignIn.SignIn(r.Context(), in.Message, in.Signature)
	if err != nil {
		return err
	}
	s.Log.InfoContext(r.Context(), "signed in", "owner", string(t.Wallet), "requestId", w.Header().Get("X-Request-Id"))
	s.reply(w, http.StatusOK, api.TokenSet{
		AccessToken:   t.Access,
		RefreshToken:  t.Refresh,
		WalletAddress: string(t.Wallet),
		ExpiresIn:     int(signin.AccessLifetime.Seconds()),
	})
	return nil
}

func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	var in api.RefreshRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if err := required("refreshToken", in.RefreshToken); err != nil {
		return err
	}
	t, err := s.SignIn.Refresh(r.Context(), in.RefreshToken)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.TokenSet{AccessToken: t.Access, RefreshToken: t.Refresh})
	return nil
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request, who deed.Wallet) error {
	n, err := s.SignIn.Revoke(r.Context(), who)
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, api.Revoked{Message: "All sessions revoked", Revoked: n})
	return nil
}

// required takes alternating names and values and fails for the first empty value.
func required(namesAndValues ...string) error {
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] == "" {
			return deed.Invalid(namesAndValues[i], "is required")
		}
	}
	return nil
}

package httpapi

import (
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
)

func (s *Server) verify(w http.ResponseWriter, r *http.Request) error {
	var in api.VerifyRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if err := required("message", in.Message, "signature", in.Signature); err != nil {
		return err
	}
	return s.unbuilt(w, r)
}

func (s *Server) refresh(w http.ResponseWriter, r *http.Request) error {
	var in api.RefreshRequest
	if err := decode(w, r, maxAuthBody, &in); err != nil {
		return err
	}
	if err := required("refreshToken", in.RefreshToken); err != nil {
		return err
	}
	return s.unbuilt(w, r)
}

// required takes names and values in turn and fails for the first empty value.
func required(namesAndValues ...string) error {
	for i := 0; i < len(namesAndValues); i += 2 {
		if namesAndValues[i+1] == "" {
			return deed.Invalid(namesAndValues[i], "is required")
		}
	}
	return nil
}

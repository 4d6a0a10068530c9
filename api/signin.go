package api

// VerifyRequest is the body of POST /auth/verify.
type VerifyRequest struct {
	Message   string `json:"message"`
	Signature string `json:"signature"`
}

// RefreshRequest is the body of POST /auth/refresh.
type RefreshRequest struct {
	RefreshToken string `json:"refreshToken"`
}

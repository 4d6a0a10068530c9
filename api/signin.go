package api

// Nonce has the fields of a sign-in message (interface document, 2.1).
type Nonce struct {
	Nonce     string `json:"nonce"`
	Domain    string `json:"domain"`
	URI       string `json:"uri"`
	ChainID   uint64 `json:"chainId"`
	Version   string `json:"version"`
	ExpiresIn int    `json:"expiresIn"` // seconds
}

// VerifyRequest is the body of POST /auth/verify.
type VerifyRequest struct {
	Message   string `json:"message"`
	Signature string `json:"signature"`
}

// TokenSet is the response to a sign-in (interface document, 2.2). A refresh
// returns only the two tokens.
type TokenSet struct {
	AccessToken   string `json:"accessToken"`
	RefreshToken  string `json:"refreshToken"`
	WalletAddress string `json:"walletAddress,omitzero"`
	ExpiresIn     int    `json:"expiresIn,omitzero"` // seconds
}

// RefreshRequest is the body of POST /auth/refresh.
type RefreshRequest struct {
	RefreshToken string `json:"refreshToken"`
}

// Revoked is the response of POST /auth/revoke.
type Revoked struct {
	Message string `json:"message"`
	Revoked int    `json:"revoked"` // sessions
}

package api

// Error is the body of every error response (interface document, 2.7). The fields
// after Code are optional details.
type Error struct {
	Error      string   `json:"error"`
	Message    string   `json:"message"`
	Code       string   `json:"code"`
	RequestID  string   `json:"requestId,omitzero"`
	Details    []Detail `json:"details,omitzero"`
	Hint       string   `json:"hint,omitzero"`
	RetryAfter int      `json:"retryAfter,omitzero"` // seconds
}

// Detail says what is wrong with one field of a request.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

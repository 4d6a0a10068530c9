package api

import "strings"

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
	DocURL     string   `json:"doc_url,omitzero"`    // where the code is explained
}

// DocURL returns where the docs of a service explain a code, or "" without its base URL.
func DocURL(base, code string) string {
	if base == "" {
		return ""
	}
	const page = "/docs/errors#"
	var url strings.Builder
	url.Grow(len(base) + len(page) + len(code))
	url.WriteString(base)
	url.WriteString(page)
	for _, c := range []byte(code) {
		if c == '_' {
			c = '-'
		} else if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		url.WriteByte(c)
	}
	return url.String()
}

// Detail says what is wrong with one field of a request.
type Detail struct {
	Field  string `json:"field"`
	Reason string `json:"reason"`
}

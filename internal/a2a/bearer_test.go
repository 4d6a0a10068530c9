package a2a

import (
	"net/http"
	"testing"
)

// The token is that of the one Authorization header: of two, nobody knows which is meant.
func TestBearer(t *testing.T) {
	for name, tt := range map[string]struct {
		values []string
		want   string
	}{
		"none": {nil, ""}, "one": {[]string{"Bearer abc"}, "abc"}, "lower case": {[]string{"bearer  abc "}, "abc"},
		"another scheme": {[]string{"Basic abc"}, ""}, "two": {[]string{"Bearer abc", "Bearer def"}, ""}, "twice the same": {[]string{"Bearer abc", "Bearer abc"}, ""},
	} {
		r := &http.Request{Header: http.Header{"Authorization": tt.values}}
		if got := bearer(r); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

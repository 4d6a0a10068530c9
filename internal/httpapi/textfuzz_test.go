package httpapi

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/api"
)

// For any error, path and headers the response is the error body with the status
// of the error, and nothing panics.
func FuzzErrorsAreAlwaysWritten(f *testing.F) {
	for _, seed := range []string{"", "/", "/nope", "/\xff", "/a\x00b", "/\u202e", "/a%zz", "//a", "//", "*", "/dns/a.com/\xc3"} {
		f.Add(seed, "message \xff", "field\xfe")
	}
	f.Fuzz(func(t *testing.T, path, message, field string) {
		var log bytes.Buffer
		s := quietServer(&log)
		missing := httptest.NewRecorder()
		s.Handler().ServeHTTP(missing, requestFor(path, message))
		switch missing.Code {
		case http.StatusNotFound, http.StatusMethodNotAllowed:
			checkErrorBody(t, missing)
		case http.StatusTemporaryRedirect: // of ServeMux, such as // to /
			if to := missing.Header().Get("Location"); !strings.HasPrefix(to, "/") || strings.HasPrefix(to, "//") {
				t.Errorf("%q: is sent to %q", path, to)
			}
		default:
			t.Errorf("%q: got %d %s", path, missing.Code, missing.Body)
		}

		refused := httptest.NewRecorder()
		s.middleware(s.handle(func(http.ResponseWriter, *http.Request) error {
			return &deed.Error{Code: deed.CodeValidation, Message: message, Hint: field, Details: []deed.Detail{{Field: field, Reason: message}}}
		})).ServeHTTP(refused, requestFor("/", field))
		if refused.Code != http.StatusBadRequest {
			t.Errorf("%q, %q: got %d %s", message, field, refused.Code, refused.Body)
		}
		checkErrorBody(t, refused)
		if log.Len() > 0 {
			t.Errorf("the log says %s", log.String())
		}
	})
}

// requestFor returns a request with a method that no route has, and with headers
// that net/http would accept.
func requestFor(path, header string) *http.Request {
	return &http.Request{
		Method: "BREW", URL: &url.URL{Path: path}, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, RemoteAddr: "192.0.2.1:4711", Body: http.NoBody,
		Header: http.Header{"X-Request-Id": {header}, "Authorization": {header}, "X-Forwarded-For": {header}},
	}
}

var requestIDs = regexp.MustCompile(`^[0-9A-Za-z._-]{1,64}$`)

func checkErrorBody(t *testing.T, w *httptest.ResponseRecorder) {
	t.Helper()
	var e api.Error
	if err := json.Unmarshal(w.Body.Bytes(), &e, json.RejectUnknownMembers(true)); err != nil || e.Error == "" || e.Code == "" {
		t.Errorf("got %q, %v", w.Body, err)
	}
	if id := w.Header().Get("X-Request-Id"); !requestIDs.MatchString(id) || e.RequestID != id {
		t.Errorf("got the request id %q and %q", id, e.RequestID)
	}
}

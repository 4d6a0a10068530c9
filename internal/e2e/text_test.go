package e2e_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed"
	"deed.example/deed/internal/logtest"
)

// watchLog collects the log of a service, and fails the test at its end if an
// error was logged: a panic or an internal error.
func (h *service) watchLog(t *testing.T) {
	t.Helper()
	log := &logtest.Buffer{}
	h.api.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	t.Cleanup(func() {
		if text := log.String(); text != "" {
			t.Errorf("the log says %.4000s", text)
		}
	})
}

// A path that is not UTF-8, percent-encoded or raw, gets the response of any other
// unknown path or method, with the bytes escaped.
func TestPathThatIsNotUTF8(t *testing.T) {
	h := open(t, options{})
	h.watchLog(t)
	for _, tt := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "/%ff", 404, "nothing at /%ff"},
		{"GET", "/\xff", 404, "nothing at /%FF"},
		{"POST", "/%ff", 404, "/%ff"},
		{"BREW", "/%c3%28", 404, "/%c3%28"},
		{"GET", "/domains/%ff/lock", 405, "/domains/%ff/lock takes PUT, not GET"},
		{"POST", "/domains/%ff", 405, "/domains/%ff takes GET"},
		{"PATCH", "/dns/\xfe/\xff", 405, "/dns/%FE/%FF takes PUT"},
		{"DELETE", "/domains/status/%ff", 405, "/domains/status/%ff takes GET"},
		{"GET", "/sandbox/%ff", 404, "/sandbox/%ff"},
		{"GET", "/%00", 404, "/%00"},
		{"GET", "/%e2%80%ae", 404, "/%e2%80%ae"}, // right to left
		{"GET", "/" + strings.Repeat("%ff", 2000), 404, "%ff…: GET /openapi.json"},
	} {
		got := h.raw(t, tt.method+" "+tt.path+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if len(got) != 1 {
			t.Fatalf("%s %q: got %d answers", tt.method, tt.path, len(got))
		}
		got[0].expect(t, tt.status, deed.CodeNotFound)
		if !strings.Contains(got[0].error(t).Message, tt.says) {
			t.Errorf("%s %q: got %s, want it to say %q", tt.method, tt.path, got[0].body, tt.says)
		}
	}
}

// Headers that are not UTF-8 are treated like missing or invalid ones.
func TestHeadersThatAreNotUTF8(t *testing.T) {
	h := open(t, options{})
	h.watchLog(t)
	for _, tt := range []struct {
		line, header string
		status       int
		code         deed.Code
	}{
		{"GET /nope", "X-Request-Id: \xff\xfe", 404, deed.CodeNotFound},
		{"GET /account", "Authorization: Bearer \xff", 401, deed.CodeTokenInvalid},
		{"GET /account", "Authorization: \xff", 401, deed.CodeAuthRequired},
		{"GET /domains/search?query=%ff", "X-Forwarded-For: \xff", 400, deed.CodeValidation},
		{"GET /domains/pricing/%ff", "If-None-Match: \xff", 400, deed.CodeTLDNotSupported},
		{"POST /auth/verify", "Content-Type: application/json; charset=\xff\r\nContent-Length: 2", 415, deed.CodeValidation},
		{"POST /auth/verify", "Content-Type: \xff\r\nContent-Length: 2", 415, deed.CodeValidation},
		{"POST /auth/verify", "Content-Type: application/json\r\nContent-Encoding: \xff\r\nContent-Length: 2", 415, deed.CodeValidation},
	} {
		got := h.raw(t, tt.line+" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+tt.header+"\r\n\r\n{}")
		if len(got) != 1 {
			t.Fatalf("%s: got %d answers", tt.line, len(got))
		}
		got[0].expect(t, tt.status, tt.code)
		if id := got[0].header.Get("X-Request-Id"); id == "" || strings.Contains(id, "\xff") || got[0].error(t).RequestID != id {
			t.Errorf("%s: the request id is %q", tt.line, id)
		}
	}
}

// hostile are texts that could break a part of the service: invalid UTF-8, a NUL
// (which PostgreSQL cannot store), right-to-left text, very long text.
var hostile = []string{
	"\xff", "a\xc3", "\xed\xa0\x80", "\x00", "a\x00b", "\u202eevil", "\r\nX-Evil: 1", "\U0001f600", "\ufffd", `'";--\`, "%s%n%d", strings.Repeat("\u00e9", 2000),
}

// jsonBodies are valid bodies of every JSON call, except those for agents and the
// sandbox's registry.
var jsonBodies = map[string]string{
	"POST /auth/verify":                 `{"message":"m","signature":"0x00"}`,
	"POST /auth/refresh":                `{"refreshToken":"r"}`,
	"POST /domains/register":            `{"domain":"second.com","dns_records":[{"type":"TXT","host":"@","value":"v"}],"nameservers":["ns1.example.net","ns2.example.net"],"maxPriceUsd":"20"}`,
	"POST /domains/renew":               `{"domain":"first.com","maxPriceUsd":"20","expectedExpiresAt":"2027-01-02T03:04:05Z"}`,
	"POST /domains/transfer":            `{"domain":"third.com","authCode":"code","nameservers":["ns1.example.net","ns2.example.net"],"maxPriceUsd":"20"}`,
	"POST /dns/{domain}":                `{"type":"TXT","host":"@","value":"v"}`,
	"PUT /dns/{domain}/{recordId}":      `{"type":"TXT","host":"@","value":"v"}`,
	"POST /dns/{domain}/batch":          `{"changes":[{"op":"add","type":"TXT","host":"@","value":"v"},{"op":"update","id":"r","value":"v"},{"op":"delete","id":"r"}]}`,
	"POST /account/mandates/{domain}":   `{"mandates":[{"expiresAt":"2027-01-02T03:04:05Z","authorization":{"from":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","to":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","value":"1","validAfter":"0","validBefore":"1","nonce":"0x00"},"signature":"0x00"}]}`,
	"POST /account/webhooks":            `{"url":"https://example.com/hook"}`,
	"PUT /account/email":                `{"address":"owner@example.com"}`,
	"POST /account/email/confirm":       `{"code":"ab3de6gh2j"}`,
	"POST /domains/{domain}/cancel":     `{"dryRun":true}`,
	"PUT /domains/{domain}/lock":        `{"locked":true}`,
	"PUT /domains/{domain}/nameservers": `{"nameservers":["ns1.example.net","ns2.example.net"]}`,
	"PUT /domains/{domain}/ds":          `{"ds":[{"keyTag":1,"algorithm":13,"digestType":2,"digest":"00"}]}`,
	"PUT /domains/{domain}/registrant":  `{"name":"Ada Example","street":["1 Any Street"],"city":"London","country":"GB","phone":"+44.2079460000","email":"ada@example.com"}`,
	"PUT /domains/{domain}/owner":       `{"walletAddress":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f"}`,
	"POST /sandbox/faucet":              `{"walletAddress":"0x71c7656ec7ab88b098defb751b7401b5f6d8976f","amount_usd":"1"}`,
	"POST /sandbox/faults":              `{"registrar":"none"}`,
}

// send makes a call with raw bytes. It is not validated against openapi.yaml,
// because invalid UTF-8 never matches a schema.
func (h *service) send(t *testing.T, endpoint, target, body string, headers ...string) answer {
	t.Helper()
	method, _, _ := strings.Cut(endpoint, " ")
	text := method + " " + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
	for i := 0; i < len(headers); i += 2 {
		text += headers[i] + ": " + headers[i+1] + "\r\n"
	}
	got := h.raw(t, fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", text, len(body), body))
	if len(got) != 1 {
		t.Fatalf("%s %q: got %d answers", endpoint, target, len(got))
	}
	return got[0]
}

// expectNothingBroken fails for a 5xx, and for a response that is not JSON.
func (a answer) expectNothingBroken(t *testing.T, what string) {
	t.Helper()
	media := a.header.Get("Content-Type")
	ours := strings.HasPrefix(media, "application/json") || strings.HasPrefix(media, "application/rdap+json")
	if a.status >= 500 && a.status != http.StatusNotImplemented {
		t.Errorf("%s: got %d %.500s", what, a.status, a.body)
	}
	var e map[string]any
	if err := json.Unmarshal([]byte(a.body), &e); ours && err != nil || a.status >= 400 && (err != nil || e["code"] == "" || e["message"] == "") {
		t.Errorf("%s: got %d %s %.500q: %v", what, a.status, media, a.body, err)
	}
}

// Hostile text in the path and the query of every call, and in every string of
// every JSON body, breaks nothing: it is rejected, or treated like other text.
func TestHostileTextOnEveryRoute(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.enableMCP(func() {})
		s.enableA2A(func() {})
		s.watchLog(t)
		token := s.bearer(t, s.bought(t, "first.com"))
		seen := map[string]bool{}
		for _, op := range operations(t) {
			seen[op.endpoint] = true
			_, path, _ := strings.Cut(op.endpoint, " ")
			good := strings.NewReplacer("{domain}", "first.com", "{name}", "first.com", "{recordId}", "r", "{revision}", "1", "{tld}", "com", "{jobId}", "job_1").Replace(path)
			headers := []string{"Authorization", token}
			if slices.Contains(op.media, "application/json") {
				headers = append(headers, "Content-Type", "application/json")
			}
			for _, text := range hostile {
				for _, part := range []string{"domain", "name", "recordId", "revision", "tld", "jobId"} {
					if bad := strings.ReplaceAll(path, "{"+part+"}", url.PathEscape(text)); bad != path {
						bad = strings.NewReplacer("{domain}", "first.com", "{recordId}", "r", "{revision}", "1").Replace(bad)
						s.send(t, op.endpoint, bad, jsonBodies[op.endpoint], headers...).expectNothingBroken(t, op.endpoint+" "+bad)
					}
				}
				for _, name := range op.query {
					bad := good + "?" + name + "=" + url.QueryEscape(text)
					s.send(t, op.endpoint, bad, "", headers...).expectNothingBroken(t, op.endpoint+" "+bad)
				}
				for _, bad := range withText(t, jsonBodies[op.endpoint], text) {
					s.send(t, op.endpoint, good, bad, headers...).expectNothingBroken(t, fmt.Sprintf("%s %.300q", op.endpoint, bad))
				}
			}
			takesJSON := slices.Contains(op.media, "application/json") && !strings.HasPrefix(path, "/sandbox/") && path != "/mcp" && path != "/a2a"
			if takesJSON && jsonBodies[op.endpoint] == "" {
				t.Errorf("%s takes JSON and is not tried: give it a body", op.endpoint)
			}
		}
		for endpoint := range jsonBodies {
			if !seen[endpoint] {
				t.Errorf("there is no %s", endpoint)
			}
		}
		s.hostileZoneFiles(t, token)
		s.hostileMessages(t)
	})
}

// hostileZoneFiles imports files that are not text.
func (s *env) hostileZoneFiles(t *testing.T, token string) {
	t.Helper()
	for _, text := range hostile {
		for _, file := range []string{text, "@ TXT \"" + text + "\"\n", "$ORIGIN " + text + "\n", text + " TXT a\n", "@ 300 " + text + " a\n"} {
			s.send(t, "POST", "/dns/first.com/import?dryRun=true", file, "Authorization", token, "Content-Type", "text/dns").expectNothingBroken(t, fmt.Sprintf("import %.100q", file))
		}
	}
}

// hostileMessages sends invalid text to /mcp and /a2a, raw and as JSON.
func (s *env) hostileMessages(t *testing.T) {
	t.Helper()
	for _, text := range hostile {
		for _, shown := range []string{text, strings.Trim(jsonText(t, text), `"`)} {
			s.send(t, "POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_domain","arguments":{"domain":"%s"}}}`, shown),
				"Content-Type", "application/json", "Accept", "application/json, text/event-stream").expectUTF8(t)
			s.send(t, "POST", "/mcp", fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","method":"tools/call","params":{"name":"%s","arguments":{"%s":1}}}`, shown, shown, shown),
				"Content-Type", "application/json", "Accept", "application/json, text/event-stream").expectUTF8(t)
			s.send(t, "POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"%s","contextId":"%s","role":"ROLE_USER","parts":[{"data":{"skill":"get_domain","arguments":{"domain":"%s"}}}]}}}`, shown, shown, shown),
				"Content-Type", "application/json").expectUTF8(t)
			s.send(t, "POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"skill":"%s","%s":1}}]}}}`, shown, shown),
				"Content-Type", "application/json").expectUTF8(t)
			s.send(t, "POST", "/a2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"%s"}}`, shown), "Content-Type", "application/json").expectUTF8(t)
		}
	}
}

// expectUTF8 fails unless the response is JSON in UTF-8 and not a 5xx.
func (a answer) expectUTF8(t *testing.T) {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(a.body), &v); err != nil || a.status >= 500 {
		t.Errorf("got %d %.500q: %v", a.status, a.body, err)
	}
}

// withText returns copies of a JSON body with each string replaced in turn, as JSON
// and as raw bytes.
func withText(t *testing.T, body, text string) (out []string) {
	t.Helper()
	for _, shown := range []string{jsonText(t, text), `"` + text + `"`} {
		parts := strings.Split(body, `"`) // no string in the bodies has a quote
		for i := 1; i < len(parts); i += 2 {
			before, after := strings.Join(parts[:i], `"`), strings.Join(parts[i+1:], `"`)
			out = append(out, before+shown+after)
		}
	}
	return out
}

// jsonText encodes a text as JSON; invalid UTF-8 becomes a lone surrogate, which is
// invalid, too.
func jsonText(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range text {
		switch {
		case r == '\ufffd' && text[i] != "\ufffd"[0]:
			b.WriteString(`\ud800`)
		case r < ' ' || r == '"' || r == '\\':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// The log has what an owner changes, and not what it reads.
func TestLogOfOwnerActions(t *testing.T) {
	h := open(t, options{})
	log := &logtest.Buffer{}
	h.api.Log = slog.New(slog.NewTextHandler(log, nil))
	token := "Bearer " + h.tokens(t, newAccount(t)).Access
	for _, call := range []string{"GET /account", "HEAD /account", "POST /auth/revoke"} {
		method, path, _ := strings.Cut(call, " ")
		if got := h.do(t, method, path, "", "Authorization", token); got.status != 200 {
			t.Fatalf("%s: got %d %s", call, got.status, got.body)
		}
	}
	if text := log.String(); strings.Count(text, "owner.action") != 1 || !strings.Contains(text, "POST /auth/revoke") {
		t.Errorf("got %s", text)
	}
}

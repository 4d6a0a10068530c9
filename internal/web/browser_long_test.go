//go:build long

package web_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/mailer/mailertest"
)

// What does not fit into `make test`: contract wallets, settings, slow registries,
// the command line, e-mail through a mail server of others, pictures of each view.
func TestBrowserLong(t *testing.T) {
	if !mailertest.Installed(t) {
		t.Log("without e-mail: python3-aiosmtpd is not installed; make long installs it")
		browse(t, "test/long.mjs")
		return
	}
	server := mailertest.Start(t)
	t.Setenv("DEED_MAILBOX", mailbox(t, server))
	browse(t, "test/long.mjs", "DEED_EMAIL_SERVER="+server.URL.Reveal(), "DEED_EMAIL_FROM=notices@deed.example", "SSL_CERT_FILE="+server.Cert)
}

// mailbox returns the address of a server that answers each request with the next
// message, as soon as there is one.
func mailbox(t *testing.T, mails *mailertest.Server) string {
	t.Helper()
	box := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := mails.Receive(r.Context())
		if err != nil {
			return // the client has gone
		}
		link := strings.Trim(m.Header.Get("List-Unsubscribe"), "<>")
		if err := json.MarshalWrite(w, map[string]any{"to": m.To, "body": m.Body, "unsubscribe": link}); err != nil {
			t.Errorf("write a message: %v", err)
		}
	}))
	t.Cleanup(box.Close)
	return box.URL
}

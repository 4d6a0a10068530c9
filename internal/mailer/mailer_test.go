package mailer_test

import (
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/email"
	"deed.example/deed/internal/mailer"
	"deed.example/deed/internal/mailer/mailertest"
)

func config(s *mailertest.Server) mailer.Config {
	return mailer.Config{Server: s.URL, From: "notices@deed.example", Roots: s.Roots, Now: time.Now}
}

func open(t *testing.T, c mailer.Config) *mailer.Mailer {
	t.Helper()
	m, err := mailer.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var message = email.Message{To: "owner@example.com", Subject: "Your domain name", Body: "first line\n.\n..\nlong " + strings.Repeat("x=", 400), Unsubscribe: "https://deed.example/email/unsubscribe/abc"}

// A mail server of others accepts what is sent, over TLS and after a sign-in, and gets
// the text as it is.
func TestServerAccepts(t *testing.T) {
	s := mailertest.Start(t)
	if err := open(t, config(s)).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	got := s.Next(t)
	if got.From != "notices@deed.example" || len(got.To) != 1 || got.To[0] != "owner@example.com" || !got.TLS || strings.ReplaceAll(got.Body, "\r\n", "\n") != message.Body+"\n" && strings.ReplaceAll(got.Body, "\r\n", "\n") != message.Body {
		t.Errorf("got %+v", got)
	}
	for name, want := range map[string]string{
		"From": "notices@deed.example", "To": "owner@example.com", "Subject": "Your domain name", "Auto-Submitted": "auto-generated",
		"List-Unsubscribe": "<https://deed.example/email/unsubscribe/abc>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
	} {
		if is := got.Header.Get(name); is != want {
			t.Errorf("%s: got %q, want %q", name, is, want)
		}
	}
	if _, err := got.Header.Date(); err != nil || !strings.HasSuffix(got.Header.Get("Message-Id"), "@deed.example>") {
		t.Errorf("got %v, %v", got.Header, err)
	}
}

// A mailbox that does not exist is refused for ever; everything else may pass.
func TestServerRefuses(t *testing.T) {
	s := mailertest.Start(t)
	wrong, foreign, closed := config(s), config(s), config(s)
	wrong.Server = deed.Secret("smtp://deed:wrong@127.0.0.1:" + s.Port)
	foreign.Roots = x509.NewCertPool()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Server = deed.Secret("smtp://" + l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name            string
		config          mailer.Config
		to              email.Address
		refused, server bool // whether the recipient is refused for ever, or the server cannot be used
		says            string
	}{
		{"no mailbox", config(s), "refused@example.com", true, false, "550"},
		{"later", config(s), "later@example.com", false, false, "451"},
		{"no relay", config(s), "relayed@example.com", false, true, "554"},
		{"a wrong password", wrong, "owner@example.com", false, true, "535"},
		{"a certificate of nobody", foreign, "owner@example.com", false, true, "certificate"},
		{"no server", closed, "owner@example.com", false, true, "refused"},
		{"a line break", config(s), "owner@example.com>\r\nRCPT TO:<other@example.com", false, true, "CR or LF"},
	} {
		m := message
		m.To = tt.to
		err := open(t, tt.config).Send(t.Context(), m)
		if err == nil || errors.Is(err, email.ErrRefused) != tt.refused || errors.Is(err, email.ErrServer) != tt.server || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), string(tt.to)) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
	if err := open(t, config(s)).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if got := s.Next(t); len(got.To) != 1 || got.To[0] != "owner@example.com" {
		t.Errorf("the first that was accepted is %+v", got)
	}
}

func TestSettings(t *testing.T) {
	for _, server := range []string{"", "http://example.com", "smtp://", "smtp://example.com/path", "example.com:25", "smtp://[", "smtps://user:secret@"} {
		if _, err := mailer.New(mailer.Config{Server: deed.Secret(server), From: "a@example.com"}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v", server, err)
		}
	}
	for _, from := range []string{"", "a", "a@example.com\r\nBcc: b@example.com"} {
		if _, err := mailer.New(mailer.Config{Server: "smtps://example.com", From: from}); err == nil {
			t.Errorf("from %q: got no error", from)
		}
	}
}

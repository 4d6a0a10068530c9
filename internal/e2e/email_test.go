package e2e_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/mailer/mailertest"
)

// withMail lets the service send e-mail through a server of others.
func (s *env) withMail(t *testing.T) *mailertest.Server {
	t.Helper()
	server := mailertest.Start(t)
	s.config.EmailServer, s.config.EmailFrom, s.config.Hooks.MailRoots = server.URL, "notices@deed.example", server.Roots
	s.wire(t)
	return server
}

// mail sends what is due.
func (s *env) mail(t *testing.T) {
	t.Helper()
	owners, err := s.app.Emails.Due(t.Context(), 100)
	for _, owner := range owners {
		if err == nil {
			err = s.app.Emails.Advance(t.Context(), owner)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// setEmail gives an address.
func (s *env) setEmail(t *testing.T, a *account, address string) answer {
	t.Helper()
	return s.do(t, "PUT", "/account/email", `{"address":"`+address+`"}`, "Authorization", s.bearer(t, a))
}

// confirmEmail enters a code.
func (s *env) confirmEmail(t *testing.T, a *account, code string) answer {
	t.Helper()
	return s.do(t, "POST", "/account/email/confirm", `{"code":"`+code+`"}`, "Authorization", s.bearer(t, a))
}

// email returns what the service says of the wallet's address.
func (s *env) email(t *testing.T, a *account) api.Email {
	t.Helper()
	return read[api.Email](t, s.get(t, "/account/email", "Authorization", s.bearer(t, a)))
}

var codeLine = regexp.MustCompile(`(?m)^    ([a-z2-7]{10})\r?$`)

// codeOf returns the code in a message.
func codeOf(t *testing.T, m mailertest.Message) string {
	t.Helper()
	found := codeLine.FindStringSubmatch(m.Body)
	if found == nil {
		t.Fatalf("there is no code in %q", m.Body)
	}
	return found[1]
}

// leave returns the path of the link that ends the messages.
func leave(m mailertest.Message) string {
	_, path, _ := strings.Cut(strings.Trim(m.Header.Get("List-Unsubscribe"), "<>"), "://")
	return path[strings.IndexByte(path, '/'):]
}

// wantPage fails unless the answer is a page with the text.
func wantPage(t *testing.T, a answer, text string) {
	t.Helper()
	if a.status != 200 || !strings.Contains(a.body, text) || !strings.Contains(a.body, `<meta name="viewport"`) || !strings.HasPrefix(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("got %d %s, %v", a.status, a.body, a.header)
	}
}

// An owner confirms an address with the code that is sent to it, and is told of what
// happens to its names, until it or the reader of the messages ends that.
func TestEmailNotices(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		server := s.withMail(t)
		a := s.bought(t, "first.com")
		s.get(t, "/account/email", "Authorization", s.bearer(t, a)).expect(t, 404, deed.CodeNotFound)
		s.setEmail(t, a, "owner@example.com").expect(t, 202, "")
		if is := s.email(t, a); is.Status != "pending" || is.Address != "o…@example.com" {
			t.Errorf("got %+v", is)
		}
		s.mail(t)
		m := server.Next(t)
		if m.To[0] != "owner@example.com" || !m.TLS || !strings.Contains(m.Body, string(a.wallet)) {
			t.Errorf("got %+v", m)
		}
		s.confirmEmail(t, a, "aaaaaaaaaa").expect(t, 400, deed.CodeValidation)
		s.confirmEmail(t, a, codeOf(t, m)).expect(t, 200, "")
		if is := s.email(t, a); is.Status != "confirmed" || is.ConfirmedAt.IsZero() {
			t.Errorf("got %+v", is)
		}
		s.passAll(t, 336*day)
		s.mail(t)
		if m = server.Next(t); !strings.Contains(m.Body, "first.com expires on") || m.Header.Get("Subject") != "Your domain name first.com" {
			t.Errorf("got %+v", m)
		}
		s.mail(t) // nothing more has happened
		s.passAll(t, 23*day)
		s.mail(t)
		if m = server.Next(t); !strings.Contains(m.Body, "first.com expires on") || !strings.Contains(m.Body, "in 6 days") && !strings.Contains(m.Body, "in 7 days") {
			t.Errorf("got %+v", m)
		}
		wantPage(t, s.get(t, leave(m)), "No more messages?") // a program that follows links
		if is := s.email(t, a); is.Status != "confirmed" {
			t.Errorf("after GET: got %+v", is)
		}
		wantPage(t, s.do(t, "POST", leave(m), ""), "You get no more messages.")
		wantPage(t, s.do(t, "POST", leave(m), ""), "You get no more messages.")
		s.get(t, "/account/email", "Authorization", s.bearer(t, a)).expect(t, 404, deed.CodeNotFound)
		s.passAll(t, 7*day)
		if due, err := s.app.Emails.Due(t.Context(), 10); len(due) != 0 || err != nil {
			t.Errorf("after the end: got %v, %v", due, err)
		}
		s.setEmail(t, a, "owner@example.com").expect(t, 202, "")
		s.do(t, "DELETE", "/account/email", "", "Authorization", s.bearer(t, a)).expect(t, 200, "")
		s.do(t, "DELETE", "/account/email", "", "Authorization", s.bearer(t, a)).expect(t, 404, deed.CodeNotFound)
	})
}

// Strangers cannot have messages sent to others: only owners of names can ask, few
// times a day, and never again for an address whose reader does not want it.
func TestEmailAbuse(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		off := s.buyer(t)
		s.setEmail(t, off, "owner@example.com").expect(t, 404, deed.CodeNotFound) // no mail server is configured
		server := s.withMail(t)
		s.setEmail(t, off, "owner@example.com").expect(t, 400, deed.CodeValidation) // the wallet has no name
		a := s.bought(t, "first.com")
		for _, address := range []string{"", "a@b", `a@example.com\r\nBcc: b@example.com`, `a@example.com\n`, "a@example.com,b@example.com", strings.Repeat("a", 300) + "@example.com", "a@[127.0.0.1]", "ü@example.com"} {
			s.setEmail(t, a, address).expect(t, 400, deed.CodeValidation)
		}
		s.setEmail(t, a, "victim@example.com").expect(t, 202, "")
		s.mail(t)
		m := server.Next(t)
		for range 5 {
			s.confirmEmail(t, a, "aaaaaaaaaa").expect(t, 400, deed.CodeValidation)
		}
		s.confirmEmail(t, a, codeOf(t, m)).expect(t, 400, deed.CodeValidation) // too many wrong ones
		wantPage(t, s.do(t, "POST", leave(m), ""), "You get no more messages.")
		s.setEmail(t, a, "Victim+more@example.com").expect(t, 400, deed.CodeValidation) // does not want it
		s.setEmail(t, a, "refused@example.com").expect(t, 202, "")
		s.mail(t)
		if is := s.email(t, a); is.Status != "off" || is.Failure == "" {
			t.Errorf("refused: got %+v", is)
		}
		s.setEmail(t, a, "later@example.com").expect(t, 202, "")
		s.mail(t)
		if is := s.email(t, a); is.Status != "pending" || is.Failure == "" {
			t.Errorf("later: got %+v", is)
		}
		s.setEmail(t, a, "owner@example.com").expect(t, 429, deed.CodeRateLimited) // the fourth in a day
		s.clock.advance(25 * time.Hour)
		s.setEmail(t, a, "owner@example.com").expect(t, 202, "")
		s.mail(t)
		m = server.Next(t)
		s.clock.advance(25 * time.Hour)
		s.confirmEmail(t, a, codeOf(t, m)).expect(t, 400, deed.CodeValidation) // too old
	})
}

// A name that goes from wallet to wallet gets no more codes than one that stays: its
// owners cannot use up the codes of all wallets.
func TestEmailCodesOfAHandedOverName(t *testing.T) {
	eachEnv(t, func(t *testing.T, s *env) {
		s.withMail(t)
		a, b := s.bought(t, "first.com"), s.buyer(t)
		for _, address := range []string{"one@example.com", "two@example.com", "three@example.com"} {
			s.setEmail(t, a, address).expect(t, 202, "")
		}
		s.handOver(t, s.bearer(t, a), b).expect(t, 200, "")
		s.setEmail(t, b, "four@example.com").expect(t, 429, deed.CodeRateLimited)
		s.clock.advance(25 * time.Hour)
		s.setEmail(t, b, "four@example.com").expect(t, 202, "")
	})
}

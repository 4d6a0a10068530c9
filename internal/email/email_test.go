package email

import (
	"errors"
	"strings"
	"testing"
	"time"

	"deed.example/deed"
)

func TestAddresses(t *testing.T) {
	for in, want := range map[string]Address{
		"owner@example.com":                      "owner@example.com",
		"First.Last+tag@Example.CO.UK":           "First.Last+tag@example.co.uk",
		"o'neil@xn--bcher-kva.example":           "o'neil@xn--bcher-kva.example",
		strings.Repeat("a", 64) + "@example.com": Address(strings.Repeat("a", 64) + "@example.com"),
		"{x}|y!#$%&'*/=?^_`~-@example.com":       "{x}|y!#$%&'*/=?^_`~-@example.com",
	} {
		if got, err := ParseAddress(in); got != want || err != nil {
			t.Errorf("%q: got %q, %v", in, got, err)
		}
	}
	for _, in := range []string{
		"", "@", "a", "a@", "@example.com", "a@b", "a@example", "a@example.123", "a@-example.com", "a@example-.com", "a@.com", "a@example..com", "a@example.com.",
		".a@example.com", "a.@example.com", "a..b@example.com", "a b@example.com", "a@b@example.com", "a@[127.0.0.1]", "a@127.0.0.1", `"a"@example.com`,
		"a@example.com\r\nBcc: b@example.com", "a@example.com\n", "\r\na@example.com", "a\x00@example.com", "a@exam\x00ple.com", "a@example.com>", "<a@example.com>",
		"a,b@example.com", "a@example.com,b@example.com", "a@example.com b@example.com", "\xff@example.com", "a@\xff.com", "é@example.com", "a@é.com", "a\u202e@example.com",
		"a@example.com SIZE=1", strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b.", 126) + "com", strings.Repeat("a@", 100_000) + "example.com",
	} {
		if got, err := ParseAddress(in); deed.CodeOf(err) != deed.CodeValidation || got != "" {
			t.Errorf("%.80q: got %q, %v", in, got, err)
		}
	}
	if a, b := Address("Owner+x@example.com").key(), Address("owner+y@example.com").key(); a != b {
		t.Errorf("got %q and %q, which are one mailbox", a, b)
	}
	if got := Address("owner@example.com").Masked(); got != "o…@example.com" {
		t.Errorf("got %q", got)
	}
}

// A message has printable ASCII only, whatever a reason says.
func TestMessages(t *testing.T) {
	at := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	var all []Notice
	for name := range sentences {
		all = append(all, Notice{Type: name, Domain: "example.com", Expires: at, DaysLeft: 7, Price: "13.06", Reason: "a\r\nBcc: x@example.com\xff\u202e" + strings.Repeat("é", 2000)})
	}
	for _, m := range []Message{noticeMessage("a@example.com", all, "https://deed.example/x"), noticeMessage("a@example.com", all[:1], "https://deed.example/x"), codeMessage("a@example.com", "0x1", "code", "https://deed.example/x")} {
		if strings.ContainsAny(m.Subject, "\r\n") || !strings.Contains(m.Body, "https://deed.example/x") {
			t.Errorf("got %+v", m)
		}
		for line := range strings.SplitSeq(m.Body, "\n") {
			if len(line) > 998 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("got the line %.100q of %d bytes", line, len(line))
			}
		}
	}
	if Sends("dns.changed") || !Sends("domain.expiring") {
		t.Error("got the wrong types")
	}
}

// A failure is tried again, less and less often, for three days; a refusal ends it.
func TestAttempts(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	o, at := Outgoing{N: 7}, begin
	o.State = Confirmed
	for n := 0; o.State == Confirmed; n++ {
		a := o.after(errors.New("down"), at)
		if n > 40 || a.N != 0 || a.Failure == "" || !a.Next.After(at) {
			t.Fatalf("attempt %d: got %+v", n, a)
		}
		o.State, o.Failures, o.FailingSince, at = a.State, a.Failures, a.FailingSince, a.Next
	}
	if since := at.Sub(begin); since < giveUpAfter || since > giveUpAfter+2*retryMost || o.State != Off {
		t.Errorf("it ended after %s as %s", since, o.State)
	}
	o.State = Pending
	if a := o.after(ErrRefused, at); a.State != Off {
		t.Errorf("refused: got %+v", a)
	}
	if a := o.after(nil, at); a.State != Pending || a.N != 7 || a.Failures != 0 || !a.Next.Equal(at.Add(pause)) {
		t.Errorf("sent: got %+v", a)
	}
}

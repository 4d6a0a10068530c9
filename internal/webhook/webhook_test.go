package webhook

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"deed.example/deed"
	"deed.example/deed/internal/npmtest"
)

func TestPublicAddresses(t *testing.T) {
	for text, want := range map[string]bool{
		"8.8.8.8": true, "2606:4700:4700::1111": true, "::ffff:8.8.8.8": true, "172.32.0.1": true, "100.128.0.1": true,
		"127.0.0.1": false, "127.255.255.255": false, "0.0.0.0": false, "0.1.2.3": false,
		"10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "100.100.100.200": false, "192.0.0.192": false,
		"224.0.0.1": false, "239.1.1.1": false, "255.255.255.255": false, "240.0.0.1": false,
		"198.18.0.1": false, "192.0.2.1": false, "198.51.100.1": false, "203.0.113.1": false, "192.88.99.1": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fec0::1": false, "fc00::1": false, "fd00:ec2::254": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::127.0.0.1": false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "2002:7f00:1::": false, "2001::1": false, "2001:db8::1": false, "100::1": false, "3fff::1": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestTargets(t *testing.T) {
	for _, good := range []string{"https://example.com/hook", "https://hooks.example.com:8443/a?b=c", "https://8.8.8.8/", "https://EXAMPLE.com", "https://xn--bcher-kva.example/", "https://[2606:4700:4700::1111]/"} {
		if _, err := parseTarget(good, false); err != nil {
			t.Errorf("%s: got %v", good, err)
		}
	}
	for _, bad := range []string{
		"", "example.com", "/hook", "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "https:example.com", "https://", "https:///path",
		"https://user:pw@example.com/", "https://example.com/#a", "https://example.com/#", "https://example.com:22/", "https://example.com:0/", "https://example.com:99999/",
		"https://localhost/", "https://a.localhost/", "https://intranet/", "https://127.0.0.1/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[fe80::1%25eth0]/",
		"https://127.1/", "https://0177.0.0.1/", "https://0x7f.0.0.1/", "https://127.0.0.0x1/", "https://127.0.0.1./", "https://8.8.2056/", "https://2130706433/",
		"https://169.254.169.254/latest/meta-data", "https://10.0.0.1:8443/", "https://bücher.example/", "https://a..example/", "https://-a.example/", "https://exa mple.com/",
		"https://example.com\r\nHost: x/", "https://example.com/\x00", "https://" + strings.Repeat("a.", 150) + "com/", "https://example.com/" + strings.Repeat("a", 2048),
	} {
		if host, err := parseTarget(bad, false); deed.CodeOf(err) != deed.CodeValidation {
			t.Errorf("%q: got %q, %v", bad, host, err)
		}
	}
}

// A port that does not answer is not the fault of who receives at another one of the same
// host: each is served, and paused, by itself.
func TestHostsOfTargets(t *testing.T) {
	for url, want := range map[string]string{
		"https://Hooks.Example.COM./A": "hooks.example.com", "https://hooks.example.com:443/": "hooks.example.com", "https://hooks.example.com:8443/": "hooks.example.com:8443",
		"http://127.0.0.1:80/": "127.0.0.1", "http://127.0.0.1:443/": "127.0.0.1:443", "https://[2606:4700:4700::1111]:8443/": "[2606:4700:4700::1111]:8443",
		"https://hooks.example.com:0443/": "hooks.example.com", "https://hooks.example.com:08443/": "hooks.example.com:8443", // written otherwise
		"https://[2606:4700:4700:0::1111]/": "2606:4700:4700::1111", "https://[::ffff:8.8.8.8]/": "8.8.8.8",
	} {
		if host, err := parseTarget(url, true); err != nil || host != want {
			t.Errorf("%s: got %q, %v", url, host, err)
		}
	}
}

// A delivery is tried for three days, less and less often.
func TestRetries(t *testing.T) {
	begin := time.Unix(1_800_000_000, 0)
	d, at := Delivery{State: Pending}, begin
	var pause time.Duration
	for d.State == Pending {
		d = d.After(OutcomeOf(500), at)
		if d.State == Pending {
			next := d.NextTry.Sub(at)
			if next <= 0 || next < pause && !d.NextTry.Equal(begin.Add(giveUpAfter)) {
				t.Fatalf("attempt %d: a pause of %s after one of %s", d.Attempts, next, pause)
			}
			pause, at = next, d.NextTry
		}
	}
	if d.State != Failed || at.Sub(begin) != 72*time.Hour || d.Attempts < 8 || d.Attempts > 14 || d.Status != 500 || d.LastFailure != FailureStatus {
		t.Errorf("after %s: %+v", at.Sub(begin), d)
	}
	if d := d.After(OutcomeOf(204), at); d.State != Delivered || d.LastFailure != "" {
		t.Errorf("got %+v", d)
	}
	for o, want := range map[Outcome]bool{OutcomeOf(200): false, OutcomeOf(500): false, OutcomeOf(410): true, {Failure: FailureTimeout}: false} {
		if got := TurnsOff(o, begin, begin.Add(giveUpAfter-1)); got != want {
			t.Errorf("%+v: got off %v, want %v", o, got, want)
		}
	}
	if !TurnsOff(OutcomeOf(302), begin, begin.Add(giveUpAfter)) || TurnsOff(OutcomeOf(200), begin, begin.Add(giveUpAfter)) {
		t.Error("after three days of failures a webhook is turned off, unless this attempt succeeded")
	}
	if HostDelay(0) != 0 || HostDelay(1) != 5*time.Second || HostDelay(2) != 10*time.Second || HostDelay(100) != time.Hour {
		t.Errorf("got %s, %s, %s, %s", HostDelay(0), HostDelay(1), HostDelay(2), HostDelay(100))
	}
}

// The libraries of Standard Webhooks accept what we sign, with the new secret and with
// the old one, and refuse a body that was changed.
func TestSignaturesAreVerified(t *testing.T) {
	m := Message{ID: "evt_1", N: 7, Type: "domain.expiring", Subject: "example.com", At: time.Unix(1_800_000_000, 0), Data: []byte(`{"domain":"example.com","daysLeft":7}`)}
	body, err := m.Body("https://deed.example/account/events")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	w := Webhook{Secret: newSecret(), OldSecret: newSecret(), OldUntil: now.Add(time.Hour)}
	h, err := Header(m.ID, body, now, w.Secrets(now))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range w.Secrets(now) {
		v, err := standard.NewWebhook(secret.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Verify(body, h); err != nil {
			t.Errorf("got %v", err)
		}
		if v.Verify(append([]byte(" "), body...), h) == nil {
			t.Error("a changed body was accepted")
		}
	}
	if got := len(w.Secrets(w.OldUntil)); got != 1 {
		t.Errorf("the old secret still signs after its time: %d secrets", got)
	}
	const dir = "testdata/verifier"
	npmtest.Install(t, dir)
	headers := map[string]string{}
	for name := range h {
		headers[strings.ToLower(name)] = h.Get(name)
	}
	request, err := json.Marshal(map[string]any{"headers": headers, "body": string(body)})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range w.Secrets(now) {
		got := npmtest.Run(t, dir, "node", "verify.mjs", secret.Reveal(), string(request))
		if want := "1.0 domain.expiring example.com example.com\na changed body is refused: No matching signature found\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if _, err := Header(m.ID, body, now, nil); err == nil {
		t.Error("signed without a secret")
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// verifyTransfer fetches a zone as a secondary does, and has it checked by the
// tools of others, where they are installed.
func verifyTransfer(t *testing.T, primary, domain string) {
	t.Helper()
	m := new(dns.Msg).SetAxfr(domain + ".")
	m.SetTsig("fleet-2026.", dns.HmacSHA256, 300, time.Now().Unix())
	tr := &dns.Transfer{TsigSecret: map[string]string{"fleet-2026.": fleetSecret}}
	parts, err := tr.In(m, primary)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for part := range parts {
		if part.Error != nil {
			t.Fatal(part.Error)
		}
		for _, rr := range part.RR {
			lines = append(lines, rr.String())
		}
	}
	lines = lines[:len(lines)-1] // the SOA again
	file := filepath.Join(t.TempDir(), "zone")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tool := range [][]string{{"ldns-verify-zone", file}, {"dnssec-verify", "-z", "-o", domain, file}} {
		path, err := exec.LookPath(tool[0])
		if err != nil {
			t.Logf("%s is not installed", tool[0])
			continue
		}
		if out, err := exec.Command(path, tool[1:]...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", tool[0], err, out)
		}
	}
}

//go:build long

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"deed.example/deed/api"
)

// sellSigned sells a name with records of a usual customer, and waits for its DS.
func sellSigned(t *testing.T, n *node, domain string) {
	t.Helper()
	ten := 10
	sell(t, n.owner(t), domain,
		api.RecordRequest{Type: "A", Host: "@", Value: "192.0.2.1"}, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.1"},
		api.RecordRequest{Type: "MX", Host: "@", Value: "mail." + domain, Distance: &ten}, api.RecordRequest{Type: "A", Host: "mail", Value: "192.0.2.2"},
		api.RecordRequest{Type: "TXT", Host: "@", Value: "v=spf1 mx -all"}, api.RecordRequest{Type: "CNAME", Host: "alias", Value: "www." + domain},
		api.RecordRequest{Type: "A", Host: "*.wild", Value: "192.0.2.3"})
	ours := n.sandbox(t).DNS
	waitFor(t, func() bool {
		for _, rr := range exchange(t, ask(domain+".", dns.TypeDS), ours).Answer {
			if rr.Header().Rrtype == dns.TypeDS {
				return true
			}
		}
		return false
	})
}

// tool finds a program of another project, or skips the test.
func tool(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed: apt-get install --no-install-recommends %s", program, program)
	}
	return path
}

// zonemasterExpected are the messages of Zonemaster from WARNING on that are so by
// intention.
var zonemasterExpected = map[string]string{
	"NAMESERVER_IP_PRIVATE_NETWORK": "the test runs on one machine",
	"EXPIRE_MINIMUM_VALUE_LOWER":    "a signed zone expires on a secondary before its signatures do",
}

// Zonemaster, which asks from the root down, finds nothing wrong with a signed name of
// the sandbox.
func TestZonemaster(t *testing.T) {
	zonemaster := tool(t, "zonemaster-cli")
	n := start(t, t.TempDir())
	ours := n.sandbox(t).DNS
	onPort53(t, rootServer, answerAsRoot(t))
	relayPort53(t, firstServer, ours)
	relayPort53(t, secondServer, ours)
	sellSigned(t, n, "checked.com")
	hints := filepath.Join(t.TempDir(), "hints")
	if err := os.WriteFile(hints, []byte(". 3600000 NS a.root.example.\na.root.example. 3600000 A "+rootServer+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), zonemaster, "--hints="+hints, "--no-ipv6", "--level=INFO", "--json-stream", "--no-progress", "--locale=C", "checked.com")
	cmd.Stderr = t.Output()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	counts, cases := map[string]int{}, map[string]bool{}
	for line := range strings.Lines(string(out)) {
		var m struct{ Level, Tag, Testcase string }
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		counts[m.Level]++
		cases[m.Testcase] = true
		if slices.Contains([]string{"WARNING", "ERROR", "CRITICAL"}, m.Level) && zonemasterExpected[m.Tag] == "" {
			t.Error(line)
		}
	}
	for _, name := range []string{"BASIC01", "ADDRESS02", "CONSISTENCY05", "DELEGATION03", "DNSSEC05", "DNSSEC10", "DNSSEC15", "NAMESERVER02", "SYNTAX08", "ZONE09"} {
		if !cases[name] {
			t.Errorf("test case %s was not run", name)
		}
	}
	t.Logf("%d test cases, messages by level: %v", len(cases), counts)
}

// dnsvizFault matches an error, a warning, or what is not secure in the output of DNSViz.
var dnsvizFault = regexp.MustCompile(`(?m)^\s+[EW]:|\[[^\]\n]*[^.\]\n][^\]\n]*\]`)

// DNSViz finds a signed name of the sandbox secure from its TLD down, all its proofs
// included, and the server right about EDNS. With another key of the TLD it does not.
func TestDNSViz(t *testing.T) {
	dnsviz := tool(t, "dnsviz")
	n := start(t, t.TempDir())
	ours := n.sandbox(t).DNS
	sellSigned(t, n, "checked.com")
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), dnsviz, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("dnsviz %v: %v: %s", args, err, out)
		}
		return string(out)
	}
	assess := func(owner string) string {
		t.Helper()
		for _, rr := range exchange(t, ask(owner, dns.TypeDNSKEY), ours).Answer {
			if k, ok := rr.(*dns.DNSKEY); ok {
				k.Hdr.Name = "com."
				if err := os.WriteFile(filepath.Join(dir, "keys"), []byte(k.String()+"\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		return run("print", "-P", "-t", "keys", "-r", "probed")
	}
	server := "ns1.deed.example=" + ours
	run("probe", "-A", "-4", "-E", "-n", "-a", "com", "-x", "com+:"+server, "-x", "checked.com:"+server, "-o", "probed",
		"checked.com", "www.checked.com", "alias.checked.com", "x.wild.checked.com", "missing.checked.com")
	out := assess("com.")
	if faults := dnsvizFault.FindAllString(out, -1); len(faults) > 0 {
		t.Errorf("got %q in\n%s", faults, out)
	}
	for _, want := range []string{"DS: 13/", "NODATA", "NXDOMAIN", "PROOF:", "A: 192.0.2.3"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing was said about %s:\n%s", want, out)
		}
	}
	if out := assess("checked.com."); !strings.Contains(out, "E:NO_TRUST_ANCHOR_SIGNING") || !dnsvizFault.MatchString(out) {
		t.Errorf("another key: got\n%s", out)
	}
	t.Logf("%d lines, all secure", strings.Count(out, "[.]"))
}

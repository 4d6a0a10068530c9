//go:build unix

package primary_test

import (
	"os"
	"strings"
	"testing"
)

// fromPaper returns the first block under a heading of docs/secondaries.md, with
// this house in the place of the one in the paper.
func (s *secondary) fromPaper(t *testing.T) string {
	t.Helper()
	paper, err := os.ReadFile("../../docs/secondaries.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(paper), "\n## "+s.name+"\n")
	_, block, _ := strings.Cut(section, "\n```")
	_, block, _ = strings.Cut(block, "\n") // the language
	block, _, found := strings.Cut(block, "\n```")
	if !found {
		t.Fatalf("docs/secondaries.md has no block for %s", s.name)
	}
	return strings.NewReplacer("192.0.2.53", "127.0.0.1", "5354", "{from}", "SECRET", secret).Replace(block) + "\n"
}

var knot = recipe{name: "Knot", program: "knotd", debian: "knot", signs: true,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		return []string{"-c", s.write(t, "knot.conf", `
server:
    listen: 127.0.0.1@{port}
    rundir: {dir}
    udp-workers: 1
    tcp-workers: 1
    background-workers: 2
log:
  - target: stderr
    any: info
database:
    storage: {dir}
    journal-db-max-size: 64M
`+s.fromPaper(t))}
	}}

var bind = recipe{name: "BIND", program: "named", debian: "bind9", signs: true,
	prepare: func(t *testing.T, s *secondary, _ []string) []string {
		ours := `options {
	directory "{dir}";
	pid-file "{dir}/named.pid";
	session-keyfile "{dir}/session.key";
	managed-keys-directory "{dir}";
	lock-file none;
	listen-on port {port} { 127.0.0.1; };
	listen-on-v6 { none; };
`
		text := strings.Replace(s.fromPaper(t), "options {\n", ours, 1)
		return []string{"-g", "-n", "1", "-c", s.write(t, "named.conf", "controls { };\n"+text)}
	}}

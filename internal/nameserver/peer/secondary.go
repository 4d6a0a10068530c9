package peer

import (
	"fmt"
	"strings"
)

// ConfigFromDocs returns the configuration under a heading of docs/secondaries.md,
// which is page, for a primary at this port of the loopback address and this
// secret.
func ConfigFromDocs(page, heading string, primary uint16, secret string) (string, error) {
	_, section, _ := strings.Cut(page, "\n## "+heading+"\n")
	_, block, _ := strings.Cut(section, "\n```")
	_, block, _ = strings.Cut(block, "\n") // the language
	block, _, found := strings.Cut(block, "\n```")
	if !found {
		return "", fmt.Errorf("docs/secondaries.md has no block for %s", heading)
	}
	return strings.NewReplacer("192.0.2.53", "127.0.0.1", "5354", fmt.Sprint(primary), "SECRET", secret).Replace(block) + "\n", nil
}

// knotLocal and bindLocal are the additional settings for a secondary that runs in
// a directory.
const (
	knotLocal = `
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
`
	bindLocal = `options {
	directory "{dir}";
	pid-file "{dir}/named.pid";
	session-keyfile "{dir}/session.key";
	managed-keys-directory "{dir}";
	lock-file none;
	listen-on port {port} { 127.0.0.1; };
	listen-on-v6 { none; };
`
)

// StartKnot starts Knot as a secondary that is configured as in
// docs/secondaries.md.
func StartKnot(dir, page string, primary uint16, secret string) (*Daemon, error) {
	d, err := NewDaemon("knotd", "knot", dir)
	if err != nil {
		return nil, err
	}
	text, err := ConfigFromDocs(page, "Knot", primary, secret)
	if err == nil {
		err = d.Write("knot.conf", knotLocal+text)
	}
	if err != nil {
		return nil, err
	}
	return d, d.Start("-c", "{dir}/knot.conf")
}

// StartBIND starts BIND as a secondary that is configured as in docs/secondaries.md.
func StartBIND(dir, page string, primary uint16, secret string) (*Daemon, error) {
	d, err := NewDaemon("named", "bind9", dir)
	if err != nil {
		return nil, err
	}
	text, err := ConfigFromDocs(page, "BIND", primary, secret)
	if err == nil {
		err = d.Write("named.conf", "controls { };\n"+strings.Replace(text, "options {\n", bindLocal, 1))
	}
	if err != nil {
		return nil, err
	}
	return d, d.Start("-g", "-n", "1", "-c", "{dir}/named.conf")
}

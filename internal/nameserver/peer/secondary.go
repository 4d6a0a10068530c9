package peer

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

// nsdLocal is like knotLocal. A control interface that is a path needs no
// certificates.
const nsdLocal = `
server:
	ip-address: 127.0.0.1@{port}
	username: ""
	chroot: ""
	zonesdir: "{dir}"
	database: ""
	pidfile: "{dir}/nsd.pid"
	xfrdfile: "{dir}/xfrd.state"
	xfrdir: "{dir}"
	zonelistfile: "{dir}/zone.list"
	server-count: 1
	verbosity: 1
remote-control:
	control-enable: yes
	control-interface: "{dir}/control.sock"
`

// StartNSD starts NSD as a secondary that is configured as in docs/secondaries.md.
// NSD before 4.9 does not support catalog zones: NSDControl adds and removes zones.
func StartNSD(dir, page string, primary uint16, secret string) (*Daemon, error) {
	d, err := NewDaemon("nsd", "nsd", dir)
	if err != nil {
		return nil, err
	}
	text, err := ConfigFromDocs(page, "NSD", primary, secret)
	if err == nil {
		err = d.Write("nsd.conf", nsdLocal+text)
	}
	if err != nil {
		return nil, err
	}
	return d, d.Start("-d", "-c", "{dir}/nsd.conf")
}

// NSDControl runs nsd-control, such as "addzone example.com member".
func (d *Daemon) NSDControl(args ...string) error {
	path, err := lookPath("nsd-control")
	if err != nil {
		return fmt.Errorf("nsd-control is %w", ErrMissing)
	}
	out, err := exec.Command(path, append([]string{"-c", filepath.Join(d.Dir, "nsd.conf")}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nsd-control %v: %w: %s", args, err, out)
	}
	return nil
}

// powerDNSLocal is like knotLocal.
const powerDNSLocal = `
gsqlite3-database={dir}/pdns.sqlite
gsqlite3-pragma-synchronous=0
local-address=127.0.0.1
local-port={port}
socket-dir={dir}
setuid=
setgid=
daemon=no
guardian=no
cache-ttl=0
query-cache-ttl=0
negquery-cache-ttl=0
dnssec-key-cache-ttl=0
loglevel=4
`

// powerDNSSchema is where Debian installs the schema of its database.
const powerDNSSchema = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"

// StartPowerDNS starts PowerDNS as a secondary that is configured as in
// docs/secondaries.md. execSQL creates the database file with these statements.
func StartPowerDNS(dir, page string, primary uint16, execSQL func(file, statements string) error) (*Daemon, error) {
	d, err := NewDaemon("pdns_server", "pdns-server pdns-backend-sqlite3", dir)
	if err != nil {
		return nil, err
	}
	schema, err := os.ReadFile(powerDNSSchema)
	if err != nil {
		return nil, fmt.Errorf("the SQLite backend of PowerDNS is %w: apt-get install --no-install-recommends pdns-backend-sqlite3", ErrMissing)
	}
	text, err := ConfigFromDocs(page, "PowerDNS", primary, "")
	if err == nil {
		err = errors.Join(execSQL(filepath.Join(dir, "pdns.sqlite"), string(schema)), d.Write("pdns.conf", text+powerDNSLocal))
	}
	if err != nil {
		return nil, err
	}
	_, commands, _ := strings.Cut(page, "Then, once:\n\n```sh\n")
	commands, _, _ = strings.Cut(commands, "```")
	for line := range strings.Lines(strings.NewReplacer("192.0.2.53", "127.0.0.1", "5354", fmt.Sprint(primary)).Replace(commands)) {
		words := strings.Fields(line)
		if out, err := exec.Command(words[0], append([]string{"--config-dir", dir}, words[1:]...)...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", line, err, out)
		}
	}
	return d, d.Start("--config-dir={dir}")
}

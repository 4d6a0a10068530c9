package peer

import (
	"fmt"
	"strings"
)

// A recipe says how to start a server. Its configuration turns off everything that
// would make the servers differ in more than their responses: size limits of
// datagrams, journals and control sockets. NSD counts responses and answers cookies,
// so that it can be compared with a server that does; its limits are never reached.
type recipe struct {
	program string
	args    func(dir string) []string
	files   func(dir string, port uint16, zones []Zone) map[string]string
}

var recipes = map[string]recipe{
	"knot":     {"knotd", func(dir string) []string { return []string{"-c", dir + "/knot.conf"} }, knot},
	"nsd":      {"nsd", func(dir string) []string { return []string{"-d", "-c", dir + "/nsd.conf"} }, nsd},
	"bind":     {"named", func(dir string) []string { return []string{"-g", "-n", "1", "-c", dir + "/named.conf"} }, bind},
	"powerdns": {"pdns_server", func(dir string) []string { return []string{"--config-dir=" + dir, "--daemon=no", "--guardian=no"} }, powerdns},
}

func knot(dir string, port uint16, zones []Zone) map[string]string {
	return map[string]string{"knot.conf": fmt.Sprintf(`
server:
    rundir: "%[1]s"
    listen: 127.0.0.1@%[2]d
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
    udp-max-payload: 1232
log:
  - target: stderr
    any: warning
control:
    listen: "%[1]s/control.sock"
database:
    storage: "%[1]s"
template:
  - id: default
    storage: "%[1]s"
    file: "%%s.zone"
    semantic-checks: off
    zonefile-sync: -1
    journal-content: none
zone:
`, dir, port) + perZone(zones, func(z Zone) string { return fmt.Sprintf("  - domain: %s\n", z.Origin) })}
}

func nsd(dir string, port uint16, zones []Zone) map[string]string {
	return map[string]string{"nsd.conf": fmt.Sprintf(`
server:
    ip-address: 127.0.0.1@%[2]d
    username: ""
    chroot: ""
    zonesdir: "%[1]s"
    xfrdir: "%[1]s"
    xfrdfile: "%[1]s/xfrd"
    zonelistfile: "%[1]s/zones"
    pidfile: "%[1]s/pid"
    database: ""
    server-count: 1
    ipv4-edns-size: 1232
    refuse-any: no
    minimal-responses: yes
    rrl-ratelimit: 100000
    rrl-whitelist-ratelimit: 100000
    answer-cookie: yes
remote-control:
    control-enable: no
`, dir, port) + perZone(zones, func(z Zone) string {
		return fmt.Sprintf("zone:\n    name: %s\n    zonefile: %s.zone\n", z.Origin, z.Origin)
	})}
}

func bind(dir string, port uint16, zones []Zone) map[string]string {
	return map[string]string{"named.conf": fmt.Sprintf(`
options {
    directory "%[1]s";
    pid-file "%[1]s/pid";
    session-keyfile "%[1]s/session.key";
    managed-keys-directory "%[1]s";
    listen-on port %[2]d { 127.0.0.1; };
    listen-on-v6 { none; };
    recursion no;
    dnssec-validation no;
    minimal-responses yes;
    max-udp-size 1232;
    max-records-per-type 0;
    max-types-per-name 0;
    check-names primary ignore;
    zero-no-soa-ttl no;
    notify no;
};
controls { };
`, dir, port) + perZone(zones, func(z Zone) string {
		return fmt.Sprintf("zone %q { type primary; file \"%s.zone\"; };\n", z.Origin, z.Origin)
	})}
}

func powerdns(dir string, port uint16, zones []Zone) map[string]string {
	list := perZone(zones, func(z Zone) string {
		return fmt.Sprintf("zone %q { type master; file \"%s/%s.zone\"; };\n", z.Origin, dir, z.Origin)
	})
	return map[string]string{"zones.list": list, "pdns.conf": fmt.Sprintf(`
launch=bind
bind-config=%[1]s/zones.list
local-address=127.0.0.1
local-port=%[2]d
socket-dir=%[1]s
setuid=
setgid=
disable-syslog=yes
receiver-threads=1
distributor-threads=1
udp-truncation-threshold=1232
`, dir, port)}
}

func perZone(zones []Zone, line func(Zone) string) string {
	var b strings.Builder
	for _, z := range zones {
		b.WriteString(line(z))
	}
	return b.String()
}

//go:build failover && linux

package failover

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// adminCommands are those of an operator, and what each prints.
var adminCommands = []struct{ args, want string }{
	{"config check", "This would run"},
	{"admin audit --full", " 0 broken"},
	{"admin export", "# count"},
	{"admin reconcile", "0 differences"},
	{"admin republish", "get a new serial"},
	{"admin restore finish --dry-run", ""},
	{"admin registrar check", ""},
	{"admin dnskey ls", ""},
	{"admin find admin-0-0.com", "consumed"},
	{"admin timeline PAYMENT", "admin-0-0.com"},
	{"admin float", "gas wallet"},
	{"admin actions", ""},
	{"admin stop purchases --reason test", "stopped, on all nodes"},
	{"admin start purchases --reason test", "started, on all nodes"},
	{"admin suspend admin-0-0.com --reason test --dry-run", "dry run"},
	{"admin block 0x71C7656EC7ab88b098defB751B7401B5f6d8976F --reason test --dry-run", "dry run"},
}

// Every command of an operator works with the addresses of a primary and a standby,
// also when the first of them is dead and the second was promoted.
func TestAdminCommandsWithSeveralHosts(t *testing.T) {
	e := open(t, fault{})
	s := e.stream("admin")
	s.wait(t, time.Time{}, 2*callers)
	s.cancel()
	s.wg.Wait()
	found, err := e.admin("admin", "find", "admin-0-0.com")
	payment := regexp.MustCompile(`pay_\w+`).FindString(found)
	if err != nil || payment == "" {
		t.Fatalf("find: %v\n%s", err, found)
	}
	for _, when := range []string{"before", "after"} {
		for _, c := range adminCommands {
			out, err := e.admin(strings.Fields(strings.ReplaceAll(c.args, "PAYMENT", payment))...)
			if err != nil || !strings.Contains(out, c.want) {
				t.Errorf("%s the failover: deed %s: %v\n%s", when, c.args, err, out)
			}
		}
		if out, err := e.admin("admin", "backup", filepath.Join(e.dir, "copy.db")); err == nil || !strings.Contains(out, "pg_dump") {
			t.Errorf("a backup of PostgreSQL: %v\n%s", err, out)
		}
		if when == "before" {
			e.primary.Kill()
			e.standby.Promote(t)
			e.nodes[0].ready(t)
		}
	}
}

package docs_test

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"testing"
)

// asPostgres replaces sudo, which a test machine may not have: as root it switches
// to an unprivileged user, because PostgreSQL refuses to run as root, and
// otherwise it changes nothing.
const asPostgres = `#!/bin/sh
[ "$1 $2" = "-u postgres" ] || exit 1
shift 2
cd "$POSTGRES" || exit 1
[ "$(id -u)" = 0 ] || exec "$@"
exec setpriv --reuid="$(stat -c %u .)" --regid="$(stat -c %g .)" --clear-groups env HOME="$POSTGRES" "$@"
`

// postgresFolder creates the folder that is /var/lib/postgresql in the pages.
// Servers that they leave running there end with the test.
func (s *shell) postgresFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "deed-postgres") // t.TempDir is not accessible to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	giveAway(t, dir)
	t.Cleanup(func() {
		stop := exec.Command("sh", "-c", `[ ! -f deed/postmaster.pid ] || exec "$0" -u postgres $(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)/pg_ctl --pgdata=deed --mode=immediate stop`, filepath.Join(s.dir, "bin/sudo"))
		stop.Dir, stop.Env = dir, append(os.Environ(), "POSTGRES="+dir)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("stop PostgreSQL: %v: %s", err, out)
		}
	})
	return dir
}

// giveAway changes the owner of a folder to an unprivileged user, if we are root.
func giveAway(t *testing.T, dir string) {
	t.Helper()
	if os.Getuid() != 0 {
		return
	}
	owner, err := user.Lookup("postgres")
	if err != nil {
		owner, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(owner.Uid) // a number here
	gid, _ := strconv.Atoi(owner.Gid) // a number here
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
}

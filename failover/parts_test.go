//go:build failover && linux

package failover

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"deed.example/deed/internal/postgrestest"
	"deed.example/deed/internal/registrar/epp/epptest"
	"deed.example/deed/internal/registrar/local"
	"deed.example/deed/internal/sqldb"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// startRedis starts a Redis, and with a Sentinel also a replica that it can promote.
func (e *env) startRedis(sentinel bool) {
	e.t.Helper()
	var port int
	e.redis, port = e.startRedisServer("redis")
	e.redisAddr = loopback(port)
	e.cacheURL = "redis://" + e.redisAddr + "/0"
	if !sentinel {
		return
	}
	e.startRedisServer("replica", "--replicaof", "127.0.0.1", fmt.Sprint(port))
	file := filepath.Join(e.dir, "sentinel.conf")
	text := fmt.Sprintf("sentinel monitor deed 127.0.0.1 %d 1\nsentinel down-after-milliseconds deed 2000\nsentinel failover-timeout deed 10000\n", port)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	_, watcher := e.startRedisServer("sentinel", file, "--sentinel")
	e.cacheURL = "redis://" + loopback(watcher) + "/0?master_name=deed"
}

func (e *env) startRedisServer(name string, more ...string) (*process, int) {
	e.t.Helper()
	port := postgrestest.FreePort(e.t)
	dir := filepath.Join(e.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		e.t.Fatal(err)
	}
	args := append([]string{"redis-server"}, more...)
	p := &process{name: name, log: logFile(e.dir, name), args: append(args, "--port", fmt.Sprint(port), "--bind", "127.0.0.1", "--save", "", "--dir", dir)}
	p.start(e.t)
	p.await(e.t, func() bool { return dials(loopback(port)) })
	return p, port
}

// startRegistry starts a registry that speaks EPP, and returns the path of the
// configuration with which nodes sell .com from it.
func (e *env) startRegistry() (config string) {
	e.t.Helper()
	names := &local.Registry{Store: sqldb.Registry{DB: sqldbtest.SQLite(e.t)}, Now: time.Now}
	e.registry = epptest.Start(e.t, epptest.Config{Registry: names})
	files := epptest.ClientFiles(e.t, 90*24*time.Hour)
	password, config := filepath.Join(e.dir, "password"), filepath.Join(e.dir, "deed.toml")
	for path, text := range map[string]string{password: epptest.Password, config: fmt.Sprintf(`
[registrar.outside]
type = "epp"
tlds = ["com"]
address = %q
client_id = %q
password_file = %q
cert_file = %q
key_file = %q
ca_file = %q

[registrar.rest]
type = "local"
tlds = "*"
`, e.registry.Addr(), epptest.ClientID, password, files.Cert, files.Key, files.CA)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			e.t.Fatal(err)
		}
	}
	return config
}

// useSmallDisk puts the data of PostgreSQL on a small disk of its own.
func (e *env) useSmallDisk() {
	e.t.Helper()
	e.disk = filepath.Join(e.dir, "disk")
	err := os.MkdirAll(e.disk, 0o755)
	if err == nil {
		err = syscall.Mount("tmpfs", e.disk, "tmpfs", 0, "size=500m,mode=1777")
	}
	if err == nil {
		err = os.Chmod(e.dir, 0o755) // PostgreSQL runs as another user
	}
	if err != nil {
		e.t.Skipf("mount a small disk: %v", err)
	}
	for dir := filepath.Dir(e.dir); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // likewise
			e.t.Fatal(err)
		}
	}
	e.t.Cleanup(func() {
		if err := syscall.Unmount(e.disk, syscall.MNT_DETACH); err != nil {
			e.t.Errorf("unmount: %v", err)
		}
	})
	e.t.Setenv("TMPDIR", e.disk) // its folder is made there
}

// fillDisk fills the disk of PostgreSQL to its last byte. A server that has ended for
// lack of space is started again when there is some, as a supervisor does.
func fillDisk(e *env) func() string {
	filler := filepath.Join(e.disk, "filler")
	f, err := os.Create(filler)
	if err != nil {
		e.t.Fatal(err)
	}
	for block := make([]byte, 1<<20); err == nil; {
		_, err = f.Write(block)
	}
	f.Close() // what it could not write does not matter
	return func() string {
		if err := os.Remove(filler); err != nil {
			e.t.Fatal(err)
		}
		note := ""
		for _, s := range []*postgrestest.Server{e.standby, e.primary} {
			if s.Ended() {
				s.Restart(e.t)
				note = "PostgreSQL had ended for lack of space"
			}
		}
		return note
	}
}

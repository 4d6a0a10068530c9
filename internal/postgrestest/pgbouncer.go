//go:build unix

package postgrestest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// PgBouncer starts a PgBouncer in front of the server, in the mode "session" or
// "transaction", which ends with the test.
func (s *Server) PgBouncer(t testing.TB, mode string) *Server {
	t.Helper()
	dir := folder(t)
	b := &Server{Port: FreePort(t), dir: filepath.Join(dir, "data")}
	config := fmt.Sprintf(`[databases]
* = host=127.0.0.1 port=%d user=deed
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
max_client_conn = 500
default_pool_size = 20
`, s.Port, b.Port, mode)
	path := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(path, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	b.launch(t, dir, program(t, "pgbouncer"), path)
	b.wait(t)
	return b
}

//go:build unix

package secretfile_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deed.example/deed/internal/secretfile"
)

// TestMain runs this program as a process that a test can kill, if its environment
// says so.
func TestMain(m *testing.M) {
	path := os.Getenv("SECRETFILE_PATH")
	switch os.Getenv("SECRETFILE_TEST") {
	case "rewrite":
		rewrite(path)
	case "fill":
		fill(path)
	case "create":
		content, created, err := secretfile.ReadOrCreate(path, func() ([]byte, error) { return fmt.Appendf(nil, "made by %d", os.Getpid()), nil })
		fmt.Println(string(content), created, err)
	default:
		os.Exit(m.Run())
	}
}

// rewrite writes forever, and reports each write.
func rewrite(path string) {
	for i := 0; ; i++ {
		if err := secretfile.Write(path, bytes.Repeat([]byte{byte('a' + i%26)}, 8192)); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("written")
	}
}

// fill writes more than this process may write to any file, like a disk that
// becomes full.
func fill(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 4096, Max: 4096}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(secretfile.Write(path, bytes.Repeat([]byte("b"), 8192)))
}

// process runs this program in another role.
func process(t *testing.T, role, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "SECRETFILE_TEST="+role, "SECRETFILE_PATH="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// A process that is killed while it writes leaves the old file or the new one,
// complete and private.
func TestKilledWhileWriting(t *testing.T) {
	path := write(t, strings.Repeat("a", 8192), 0o600)
	for i := range 20 {
		cmd := process(t, "rewrite", path)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range i + 1 {
			if !lines.Scan() || lines.Text() != "written" {
				t.Fatalf("got %q", lines.Text())
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		cmd.Wait() // it was killed
		whole(t, path)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("got %v, %v", info, err)
		}
	}
}

// A write that fails midway is not visible, and leaves no files behind.
func TestDiskFull(t *testing.T) {
	path := write(t, "old", 0o600)
	out, err := process(t, "fill", path).Output()
	if err != nil || !strings.Contains(string(out), "file too large") {
		t.Errorf("got %s, %v, want an error", out, err)
	}
	onlyFile(t, path, "old")
}

// Processes that create one file concurrently, as nodes with a shared directory do,
// get the same secret.
func TestProcessesCreateOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.key")
	nodes := make([]*exec.Cmd, 8)
	said := make([]bytes.Buffer, len(nodes))
	for i := range nodes {
		nodes[i] = process(t, "create", path)
		nodes[i].Stdout = &said[i]
		if err := nodes[i].Start(); err != nil {
			t.Fatal(err)
		}
	}
	winner := ""
	for i, node := range nodes {
		if err := node.Wait(); err != nil {
			t.Error(err)
		}
		if strings.HasSuffix(said[i].String(), " true <nil>\n") {
			if winner != "" {
				t.Error("two processes won")
			}
			winner = fmt.Sprintf("made by %d", node.Process.Pid)
		}
	}
	for i := range said {
		if !strings.HasPrefix(said[i].String(), winner+" ") || winner == "" || !strings.HasSuffix(said[i].String(), " <nil>\n") {
			t.Errorf("got %s, want %q", &said[i], winner)
		}
	}
	onlyFile(t, path, winner)
}

// Opening a named pipe would block until there is a writer.
func TestReadRefusesPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secretfile.Read(path); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v", err)
	}
}

// The owner of a file knows its content, whatever its mode.
func TestReadRefusesFileOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user, and read it then")
	}
	path := write(t, secret, 0o600)
	if err := os.Chown(path, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := secretfile.Read(path); err == nil || !strings.Contains(err.Error(), "belongs to user 12345") {
		t.Errorf("got %v", err)
	}
}

// Secrets of Kubernetes and credentials of systemd belong to root and have the mode 0440,
// whatever the configuration of either says, when they are read by a service that does
// not run as root.
func TestReadAcceptsRootsFileThatOurGroupCanRead(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can own such a file")
	}
	for _, c := range []struct {
		owner, reader int
		mode          fs.FileMode
		refused       string // "" if it is read
	}{
		{0, 12345, 0o440, ""},
		{0, 12345, 0o640, ""},
		{0, 12345, 0o444, "can be read by others (mode 0444)"},
		{0, 12345, 0o660, "can be read by others (mode 0660)"},
		{12345, 12345, 0o440, "can be read by others (mode 0440)"},
		{0, 0, 0o440, "can be read by others (mode 0440)"},
	} {
		path := write(t, secret, c.mode)
		if err := errors.Join(os.Chmod(filepath.Dir(filepath.Dir(path)), 0o755), os.Chown(path, c.owner, 0), syscall.Seteuid(c.reader)); err != nil {
			t.Fatal(err)
		}
		content, err := secretfile.Read(path)
		if err := syscall.Seteuid(0); err != nil {
			t.Fatal(err)
		}
		if c.refused == "" && (err != nil || string(content) != secret) || c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)) {
			t.Errorf("mode %04o of user %d, read by user %d: got %q, %v", c.mode, c.owner, c.reader, content, err)
		}
	}
}

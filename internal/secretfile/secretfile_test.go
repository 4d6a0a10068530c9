package secretfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"deed.example/deed/internal/secretfile"
)

const secret = "hunter2"

// write creates a file with a secret and returns its path.
func write(t *testing.T, content string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // regardless of the umask
		t.Fatal(err)
	}
	return path
}

// onlyFile checks that path is the only file in its directory, private and with the
// content.
func onlyFile(t *testing.T, path, content string) {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(files) != 1 {
		t.Errorf("got files %v, %v, want one", files, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("got mode %v, %v, want 0600", info.Mode(), err)
	}
	if got, err := secretfile.Read(path); err != nil || string(got) != content {
		t.Errorf("got %q, %v, want %q", got, err, content)
	}
}

func TestRead(t *testing.T) {
	for _, mode := range []fs.FileMode{0o600, 0o400, 0o700} {
		if got, err := secretfile.Read(write(t, secret, mode)); err != nil || string(got) != secret {
			t.Errorf("mode %o: got %q, %v", mode, got, err)
		}
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(write(t, secret, 0o600), link); err != nil {
		t.Fatal(err)
	}
	if got, err := secretfile.Read(link); err != nil || string(got) != secret {
		t.Errorf("through a link: got %q, %v", got, err)
	}
}

func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	broad := filepath.Join(dir, "link")
	if err := os.Symlink(write(t, secret, 0o644), broad); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, says string }{
		"group reads":          {write(t, secret, 0o640), "chmod 600"},
		"all read":             {write(t, secret, 0o604), "chmod 600"},
		"group writes":         {write(t, secret, 0o620), "chmod 600"},
		"all may run":          {write(t, secret, 0o601), "chmod 600"},
		"a link to such":       {broad, "chmod 600"},
		"a directory":          {dir, "not a regular file"},
		"a device":             {os.DevNull, "not a regular file"},
		"a device without end": {"/dev/zero", "not a regular file"},
		"large":                {write(t, secret+strings.Repeat(" ", secretfile.MaxSize), 0o600), "larger than"},
		"missing":              {filepath.Join(dir, "nowhere"), "no such file"},
	} {
		got, err := secretfile.Read(c.path)
		if err == nil || got != nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %q, %v, want it to say %q", name, got, err, c.says)
		}
	}
	if got, err := secretfile.Read(write(t, strings.Repeat("a", secretfile.MaxSize), 0o600)); err != nil || len(got) != secretfile.MaxSize {
		t.Errorf("as large as can be: got %d bytes, %v", len(got), err)
	}
}

func TestWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.key")
	for _, content := range []string{"first", "second, and longer", ""} {
		if err := secretfile.Write(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		onlyFile(t, path, content)
	}
}

// A file that others could read is private after it was written again.
func TestWriteMakesFilePrivate(t *testing.T) {
	path := write(t, "old", 0o644)
	if err := secretfile.Write(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, "new")
}

func TestFailedWriteKeepsOldFile(t *testing.T) {
	path := write(t, "old", 0o600)
	if err := secretfile.Write(path, make([]byte, secretfile.MaxSize+1)); err == nil {
		t.Error("it wrote a file that Read refuses")
	}
	onlyFile(t, path, "old")
	if err := secretfile.Write(filepath.Join(path, "below"), []byte("new")); err == nil {
		t.Error("it wrote below a file")
	}
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.MkdirAll(filepath.Join(dir, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := secretfile.Write(dir, []byte("new")); err == nil {
		t.Error("it replaced a directory")
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
		t.Errorf("it left %v behind, %v", left, err)
	}
}

func TestReadOrCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.key")
	generate := func(content string, err error) func() ([]byte, error) {
		return func() ([]byte, error) { return []byte(content), err }
	}
	no := errors.New("no")
	if _, created, err := secretfile.ReadOrCreate(path, generate("", no)); !errors.Is(err, no) || created {
		t.Errorf("got %v, %v", created, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
	for i, content := range []string{"first", "second"} {
		got, created, err := secretfile.ReadOrCreate(path, generate(content, nil))
		if err != nil || string(got) != "first" || created != (i == 0) {
			t.Errorf("%s: got %q, %v, %v", content, got, created, err)
		}
	}
	onlyFile(t, path, "first")
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := secretfile.ReadOrCreate(path, generate("third", nil)); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("readable by all: got %v", err)
	}
}

// Of many concurrent creators of a file, one wins, and all get its secret.
func TestConcurrentCreation(t *testing.T) {
	for range 50 {
		path := filepath.Join(t.TempDir(), "a.key")
		got := make([][]byte, 16)
		won := make([]bool, len(got))
		start := make(chan struct{})
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				<-start
				content, created, err := secretfile.ReadOrCreate(path, func() ([]byte, error) { return bytes.Repeat([]byte{byte('a' + i)}, 4096), nil })
				if err != nil {
					t.Error(err)
				}
				got[i], won[i] = content, created
			})
		}
		close(start)
		wg.Wait()
		winners := 0
		for i := range got {
			if !bytes.Equal(got[i], got[0]) {
				t.Fatalf("one has %.8q and another %.8q", got[0], got[i])
			}
			if won[i] {
				winners++
				if got[i][0] != byte('a'+i) {
					t.Errorf("the winner has the secret of another")
				}
			}
		}
		if winners != 1 {
			t.Errorf("got %d winners, want 1", winners)
		}
		onlyFile(t, path, string(got[0]))
	}
}

// Readers see one complete content or another while writers replace it.
func TestReadersSeeCompleteFiles(t *testing.T) {
	path := write(t, strings.Repeat("a", 8192), 0o600)
	var writers, readers sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		writers.Go(func() {
			for range 100 {
				if err := secretfile.Write(path, bytes.Repeat([]byte{byte('b' + i)}, 8192)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for {
				if whole(t, path); t.Failed() {
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(stop)
	readers.Wait()
}

// whole checks for 8192 times one letter.
func whole(t *testing.T, path string) {
	t.Helper()
	got, err := secretfile.Read(path)
	if err != nil || len(got) != 8192 || !bytes.Equal(got, bytes.Repeat(got[:1], 8192)) {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

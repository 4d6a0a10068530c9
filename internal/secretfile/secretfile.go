// Package secretfile reads and writes files with secrets: keys, and URLs with
// passwords. The service reads and writes all its secret files with it, and the
// client commands write theirs with it.
//
// Read refuses a file that another user can read or write, one that is not a
// regular file, and one that is too large to be a secret. Write replaces a file
// atomically: after a crash there is the complete old file or the complete new one.
// ReadOrCreate creates a missing file; of several processes that do so concurrently
// one wins and all read its secret. Invariant: no error reveals the content of a
// file.
package secretfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// MaxSize is the maximum size of a file, in bytes.
const MaxSize = 64 << 10

// Read returns the content of the file at path. The checks apply to the opened
// file, so it cannot be replaced in between.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading only
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	if err := private(path, info); err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if len(content) > MaxSize {
		return nil, tooLarge(path)
	}
	return content, nil
}

func tooLarge(path string) error {
	return fmt.Errorf("%s is larger than %d bytes: this is not a file with a secret", path, MaxSize)
}

// ReadOrCreate returns the content of the file at path. If there is none it writes
// the result of generate, and reports that it did. When several processes create
// the file concurrently, all return the content of the one that won.
func ReadOrCreate(path string, generate func() ([]byte, error)) (content []byte, created bool, err error) {
	content, err = Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return content, false, err
	}
	if content, err = generate(); err != nil {
		return nil, false, err
	}
	err = put(path, content, func(temporary string) error {
		return os.Link(temporary, path) // unlike a rename it never replaces a file
	})
	if errors.Is(err, fs.ErrExist) {
		content, err = Read(path)
		return content, false, err
	}
	return content, err == nil, err
}

// Write replaces or creates the file at path. Only its owner can read it. Once
// Write has returned, the content survives a crash.
func Write(path string, content []byte) error {
	return put(path, content, func(temporary string) error { return os.Rename(temporary, path) })
}

// put writes a temporary file in the same directory, and so on the same file
// system, moves it to its place with place, and syncs the directory. A process that
// is killed leaves the temporary file behind, which is as private as the secret
// itself.
func put(path string, content []byte, place func(temporary string) error) error {
	if len(content) > MaxSize {
		return tooLarge(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // mode 0600
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("write in the folder %s: %w", filepath.Dir(path), e.Err) // not the temporary name
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // fails after a rename, which is fine
	_, err = io.Copy(f, bytes.NewReader(content))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := place(f.Name()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

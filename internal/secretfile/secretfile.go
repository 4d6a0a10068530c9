// Package secretfile reads and writes the files that hold secrets: keys, and
// addresses with passwords in them. The service reads and writes none otherwise,
// and the client commands write theirs with it.
//
// Read refuses a file that somebody else can read or has written, one that is
// no regular file, and one that is too large to be a secret. Write replaces a
// file in one step: after a crash there is the old file or the new one, whole.
// ReadOrCreate makes a file that is missing, and of several processes that do so
// at once one wins and all read its secret. What must stay true: no error says
// anything of what a file holds.
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

// MaxSize is the largest file that is read or written, in bytes.
const MaxSize = 64 << 10

// Read returns what the file at path holds. What it checks is the file that it
// has opened, so nobody can put another one in its place in between.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
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

// ReadOrCreate returns what the file at path holds. When there is none it writes
// what generate returns, and reports that it did. When several processes create
// the file at once, all return the content of the one that won.
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

// Write puts content in the place of the file at path, or makes it. Only its
// owner can read it. Once it has returned, the content outlives a crash.
func Write(path string, content []byte) error {
	return put(path, content, func(temporary string) error { return os.Rename(temporary, path) })
}

// put writes a temporary file beside path, has it put in its place, and waits
// for the disk. The folder is the same, so that it is the same file system. A
// process that is killed leaves the temporary file behind, as private as the
// secret itself.
func put(path string, content []byte, place func(temporary string) error) error {
	if len(content) > MaxSize {
		return tooLarge(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".secret-*") // mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) // after a rename it is gone already
	_, err = io.Copy(f, bytes.NewReader(content))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := place(f.Name()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := syncFolder(filepath.Dir(path)); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

//go:build unix

package secretfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps the opening of a named pipe from blocking until there is a writer.
// It has no effect on regular files.
const nonblock = syscall.O_NONBLOCK

// private refuses a file that others can read or change: by its mode, or because
// another user owns it. Root is refused the files of other users, too, since those
// users know the content; files of root are accepted, since root can read
// everything anyway. Root may let the group of another user's process read its files,
// as Kubernetes does with secrets, and systemd with credentials, whose access list shows
// in the bits of the group.
func private(path string, info fs.FileInfo) error {
	owner, us := info.Sys().(*syscall.Stat_t).Uid, os.Geteuid()
	others := fs.FileMode(0o077)
	if owner == 0 && us != 0 {
		others = 0o037
	}
	if mode := info.Mode().Perm(); mode&others != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it", path, mode)
	}
	if owner != 0 && int(owner) != us {
		return fmt.Errorf("%s belongs to user %d and this process runs as user %d: chown it, or run this as its owner", path, owner, us)
	}
	return nil
}

// syncDir syncs the entries of a directory to disk.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close() // opened for reading only
	return dir.Sync()
}

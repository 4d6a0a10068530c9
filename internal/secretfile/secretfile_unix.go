//go:build unix

package secretfile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// nonblock keeps the opening of a named pipe from waiting for who writes to it.
// It makes no difference to a regular file.
const nonblock = syscall.O_NONBLOCK

// private refuses a file that others can read or change: by its mode, or because
// it is theirs. Root is refused the files of others, too, since they know what is
// in them; the files of root are taken, since root can read all others anyway.
func private(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("%s can be read by others (mode %04o): chmod 600 it", path, mode)
	}
	owner, us := info.Sys().(*syscall.Stat_t).Uid, os.Geteuid()
	if owner != 0 && int(owner) != us {
		return fmt.Errorf("%s belongs to user %d and this process runs as user %d: chown it, or run this as its owner", path, owner, us)
	}
	return nil
}

// syncFolder puts the names in a folder on the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close() // opened for reading only
	return folder.Sync()
}

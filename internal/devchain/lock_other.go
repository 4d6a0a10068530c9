//go:build !unix

package devchain

import "os"

// lockFile opens the file at path. Where there is no flock, the operator must
// ensure that only one process uses the directory.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

//go:build !unix

package devchain

import "os"

// lockFile opens the file at path. Where there is no flock, the operator sees
// to it that only one process uses the folder.
func lockFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
}

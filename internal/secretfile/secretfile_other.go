//go:build !unix

package secretfile

import "io/fs"

const nonblock = 0

// private accepts every file. Windows has access control lists, and the mode that
// Go reports is synthetic: it always has the bits of group and others, so checking
// it would refuse every file.
func private(string, fs.FileInfo) error { return nil }

// syncDir does nothing: a directory cannot be opened for that.
func syncDir(string) error { return nil }

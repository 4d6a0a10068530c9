//go:build !unix

package nameserver

import (
	"io"
	"os"
)

// newMapping reads the file.
func newMapping(f *os.File) (*mapping, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return &mapping{data}, err
}

//go:build unix

package nameserver

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// newMapping maps the file. Its pages are read when they are first used, and the
// system may drop them again.
func newMapping(f *os.File) (*mapping, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	m := &mapping{data}
	runtime.AddCleanup(m, func(data []byte) { _ = unix.Munmap(data) }, data)
	return m, nil
}

//go:build unix

package connlimit

import (
	"math"
	"syscall"
)

func fileLimit() uint64 {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return math.MaxUint64 // it is not known
	}
	return uint64(files.Cur)
}

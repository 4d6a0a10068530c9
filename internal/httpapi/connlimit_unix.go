//go:build unix

package httpapi

import "syscall"

// connLimit returns how many connections may be open at once.
func connLimit() int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || uint64(files.Cur) >= 2*maxAllConns {
		return maxAllConns
	}
	return max(1, int(files.Cur/2))
}

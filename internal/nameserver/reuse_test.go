package nameserver_test

import "syscall"

// reuse sets what multicast DNS daemons set.
func reuse(fd uintptr) {
	for _, option := range []int{syscall.SO_REUSEADDR, 15 /* SO_REUSEPORT */} {
		_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, option, 1) // binding fails without
	}
}

package nameserver_test

import "golang.org/x/sys/unix"

// reuse sets the socket options of multicast DNS daemons.
func reuse(fd uintptr) {
	for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
		_ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1) // without it binding fails
	}
}

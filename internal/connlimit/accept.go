package connlimit

import (
	"errors"
	"net"
	"syscall"
	"time"
)

// acceptPause is the delay before the next attempt to accept a connection.
const acceptPause = 50 * time.Millisecond

// Accept accepts a connection. What the system refuses for now, such as for lack of memory
// or of file descriptors, it tries again, so it fails only when the listener is closed:
// servers end with the first error that they do not know to be temporary, and most of
// these net does not call temporary.
func Accept(l net.Listener) (net.Conn, error) {
	for {
		c, err := l.Accept()
		if _, refused := errors.AsType[syscall.Errno](err); !refused {
			return c, err
		}
		time.Sleep(acceptPause)
	}
}

// Patient returns a listener that accepts connections like Accept.
func Patient(l net.Listener) net.Listener { return patient{l} }

type patient struct{ net.Listener }

// Accept implements net.Listener.
func (l patient) Accept() (net.Conn, error) { return Accept(l.Listener) }

package connlimit

import (
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
)

// A refusing listener returns its errors, one for each call, before it accepts.
type refusing struct {
	net.Listener
	errs []error
}

func (l *refusing) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return l.Listener.Accept()
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, &net.OpError{Op: "accept", Err: err}
}

// What the system refuses for now ends no server, and what ends a listener does.
func TestAcceptAfterRefusals(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &refusing{Listener: inner}
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOBUFS, syscall.EPERM, syscall.ENETDOWN} {
		l.errs = append(l.errs, os.NewSyscallError("accept4", errno))
	}
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() // only a test's connection
	limited := Listen(l, Limits{Client: 1, All: 1}, nil)
	c, err := limited.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if c.RemoteAddr().String() != client.LocalAddr().String() || len(l.errs) > 0 {
		t.Errorf("got a connection from %s, with %d errors left", c.RemoteAddr(), len(l.errs))
	}
	if err := errors.Join(c.Close(), limited.Close()); err != nil {
		t.Fatal(err)
	}
	for _, closed := range []net.Listener{limited, Patient(l)} {
		if _, err := closed.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed: got %v", err)
		}
	}
}

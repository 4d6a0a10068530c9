package httpapi

import (
	"net"
	"testing"
	"time"

	"golang.org/x/net/nettest"
)

// Deadlines of our connections mean what those of all others mean, whichever of them are
// set below.
func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (ours, theirs net.Conn, stop func(), err error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, nil, err
		}
		if theirs, err = net.Dial("tcp", l.Addr().String()); err != nil {
			return nil, nil, nil, err
		}
		if ours, err = Listen(l, "https://deed.example").Accept(); err != nil {
			return nil, nil, nil, err
		}
		return ours, theirs, func() { _, _, _ = ours.Close(), theirs.Close(), l.Close() }, nil
	})
}

// A read that began before a later deadline was set ends by the later one.
func TestReadDeadlineIsExtended(t *testing.T) {
	ours, theirs := net.Pipe()
	defer func() { _, _ = ours.Close(), theirs.Close() }()
	c := &conn{Conn: ours, reading: readDeadline{below: ours.SetReadDeadline}, responded: make(chan struct{}, 1)}
	first, later := time.Now().Add(50*time.Millisecond), time.Now().Add(time.Hour)
	if err := c.SetReadDeadline(first); err != nil {
		t.Fatal(err)
	}
	read := make(chan error)
	go func() {
		_, err := c.Read(make([]byte, 2))
		read <- err
	}()
	waitBelow := func(want time.Time) {
		for set := (time.Time{}); !set.Equal(want); {
			select {
			case err := <-read:
				t.Fatalf("the read has ended: %v", err)
			case <-time.After(time.Millisecond):
			}
			c.reading.mu.Lock()
			set = c.reading.set
			c.reading.mu.Unlock()
		}
	}
	waitBelow(first)
	if err := c.SetReadDeadline(later); err != nil {
		t.Fatal(err)
	}
	waitBelow(later)
	if _, err := theirs.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

package epptest

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// A client is a connection.
type client struct {
	*Server
	conn net.Conn
	clID string          // "" until it has logged in
	exts map[string]bool // that it announced

	restart int // of the server when it logged in
}

// loggedIn reports whether the client is logged in.
func (s *Server) loggedIn(c *client) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.clID != "" && c.restart == s.restarts
}

func (c *client) write(body []byte) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))
	_, err := c.conn.Write(append(frame, body...))
	return err
}

func readFrame(r io.Reader) ([]byte, error) {
	var size uint32
	if err := binary.Read(r, binary.BigEndian, &size); err != nil {
		return nil, err
	}
	if size <= 4 || size > 1<<20 {
		return nil, fmt.Errorf("a frame of %d bytes", size)
	}
	body := make([]byte, size-4)
	_, err := io.ReadFull(r, body)
	return body, err
}

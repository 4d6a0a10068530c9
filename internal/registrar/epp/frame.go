package epp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxFrame bounds a frame of the registry, with its header.
const maxFrame = 1 << 20

// headerSize is the length of a frame's header, which is part of the length that it
// has (RFC 5734, 4).
const headerSize = 4

// errInvalidReply is in the chain of the error of a reply that cannot be the registry's
// answer to what was sent. It has no code: the outcome is unknown.
var errInvalidReply = errors.New("the registry's reply makes no sense")

// readFrame reads the next frame, without its header.
func readFrame(r io.Reader) ([]byte, error) {
	var header [headerSize]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(header[:])
	if size <= headerSize || size > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes: %w", size, errInvalidReply)
	}
	body := make([]byte, size-headerSize)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, fmt.Errorf("in the middle of a frame: %w", err)
	}
	return body, nil
}

// writeFrame writes a frame with its header, at once: some registries do not accept
// a header in a packet of its own.
func writeFrame(w io.Writer, body []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, headerSize+len(body)), uint32(headerSize+len(body)))
	_, err := w.Write(append(frame, body...))
	return err
}

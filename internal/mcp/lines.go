package mcp

import "bytes"

// lines finds the lines of a stream. Of one that is too long it forgets the beginning.
type lines struct {
	rest []byte
	long bool
}

// add calls f for each line that is complete, and says whether it is whole.
func (l *lines) add(p []byte, f func(line []byte, whole bool)) {
	l.rest = append(l.rest, p...)
	for {
		line, rest, complete := bytes.Cut(l.rest, []byte("\n"))
		if !complete {
			if len(l.rest) > maxMessage {
				l.rest, l.long = nil, true
			}
			return
		}
		l.rest = rest
		f(line, !l.long)
		l.long = false
	}
}

// flush calls f for a last line without a line break.
func (l *lines) flush(f func(line []byte, whole bool)) {
	f(l.rest, !l.long)
	l.rest = nil
}

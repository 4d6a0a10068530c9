package epptest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Kind is a kind of fault at the level of frames.
type Kind string

// The faults.
const (
	CutBefore   Kind = "cut before"   // nothing is executed, and the connection is closed
	CutAfter    Kind = "cut after"    // the command is executed, and the connection is closed
	CutInside   Kind = "cut inside"   // it is executed, and half of the reply is sent
	Slow        Kind = "slow"         // nothing is executed until the client leaves, and nothing then
	Silent      Kind = "silent"       // it is executed, and there is no reply until the client leaves
	Refuse      Kind = "refuse"       // the reply has the fault's code, and nothing is executed
	Deny        Kind = "deny"         // the reply has the fault's code, although it is executed
	OtherTRID   Kind = "other TRID"   // the reply is for another command
	OtherName   Kind = "other name"   // the reply is about another name
	OtherExpiry Kind = "other expiry" // the dates in the reply are wrong
	OldExpiry   Kind = "old expiry"   // the dates in the reply are in the past
	Empty       Kind = "empty"        // the reply has no data
	EmptyLists  Kind = "empty lists"  // the reply has data without content
	Twice       Kind = "twice"        // the reply is sent in one frame, twice
	Huge        Kind = "huge"         // the reply has 5 MB
	HugeHeader  Kind = "huge header"  // the header says 4 GB
	TinyHeader  Kind = "tiny header"  // the header says 3 bytes
	NotXML      Kind = "not XML"
	Entities    Kind = "entities" // the reply defines and uses entities
	HTML        Kind = "HTML"     // a page of a proxy
	Binary      Kind = "binary"
	NoResult    Kind = "no result"
	OtherCode   Kind = "other code" // the reply has a code that does not exist
	Greeting    Kind = "greeting"   // the reply is a greeting
)

// Nonsense are the faults whose reply makes no sense, after the command was executed.
var Nonsense = []Kind{OtherTRID, OtherName, OtherExpiry, OldExpiry, Empty, EmptyLists, Twice, Huge, HugeHeader, TinyHeader, NotXML, Entities, HTML, Binary, NoResult, OtherCode, Greeting}

// Cuts are the faults that end the connection.
var Cuts = []Kind{CutBefore, CutInside, CutAfter}

// A Fault is a fault of the next commands.
type Fault struct {
	Kind  Kind
	Code  int      // of Refuse and Deny
	Times int      // how many commands
	Only  []string // kinds of commands that it affects; empty for all but login
	Down  bool     // maintenance begins with the last of them
}

type fault struct {
	Fault
}

// Break makes the next commands fail. It replaces the last fault.
func (s *Server) Break(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = nil
	if f.Times > 0 {
		s.fault = &fault{f}
	}
}

// Unmet reports whether some of the commands that should fail have not come yet.
func (s *Server) Unmet() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault != nil
}

// takeFault returns the fault that affects the command. The caller holds mu.
func (s *Server) takeFault(kind string) *fault {
	f := s.fault
	if f == nil || len(f.Only) == 0 && (kind == "login" || kind == "logout") || len(f.Only) > 0 && !slices.Contains(f.Only, kind) {
		return nil
	}
	if f.Times--; f.Times == 0 {
		s.fault = nil
	}
	return &fault{f.Fault}
}

// endWith begins maintenance with the last command of a fault that asks for it. The
// caller holds mu.
func (s *Server) endWith(f *fault, c *client) {
	if f == nil || !f.Down || s.fault != nil {
		return
	}
	s.refusing = true
	for conn := range s.conns {
		if conn != c.conn {
			_ = conn.Close() // the client is not told
		}
	}
}

// before reports whether the command is executed.
func (f *fault) before(c *client, kind string) bool {
	switch f.Kind {
	case CutBefore:
		return false
	case Slow:
		c.hold(kind)
		return false
	}
	return true
}

// hold tells that a command was received, and waits until the client leaves or the
// server stops.
func (c *client) hold(kind string) {
	select {
	case c.Received <- kind:
	default:
	}
	_, _ = io.Copy(io.Discard, c.conn) // it ends with an error, or with the connection
}

var (
	domainNames = regexp.MustCompile(`(<domain:name[^>]*>)[^<]*`)
	expiryDates = regexp.MustCompile(`(<domain:exDate>)[^<]*`)
	allDates    = regexp.MustCompile(`(<domain:(?:exDate|crDate|upDate|trDate|reDate|acDate)>)[^<]*`)
	resultData  = regexp.MustCompile(`(?s)<resData>.*</resData>`)
	listContent = regexp.MustCompile(`(?s)(<resData><domain:\w+[^>]*>).*(</domain:\w+></resData>)`)
	results     = regexp.MustCompile(`(?s)<result .*</result>`)
	codes       = regexp.MustCompile(`code="\d+"`)
	ids         = regexp.MustCompile(`<clTRID>[^<]*`)
)

// after writes the reply with the fault in it. It reports whether the session goes on.
func (f *fault) after(c *client, body []byte, cmd command) bool {
	replace := func(re *regexp.Regexp, with string) bool {
		return c.write(re.ReplaceAll(body, []byte(with))) == nil
	}
	raw := func(header uint32, content []byte) bool {
		_, _ = c.conn.Write(append(binary.BigEndian.AppendUint32(nil, header), content...)) // the client may have left
		return false
	}
	switch f.Kind {
	case CutAfter:
		return false
	case Silent:
		c.hold(cmd.kind())
		return false
	case CutInside:
		return raw(uint32(len(body)+4), body[:len(body)/2])
	case OtherTRID:
		return replace(ids, "<clTRID>another-command-1")
	case OtherName:
		return replace(domainNames, "${1}another-name.com")
	case OtherExpiry:
		return replace(expiryDates, "${1}2190-01-01T00:00:00.0Z")
	case OldExpiry:
		return replace(allDates, "${1}"+stamp(time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)))
	case Empty:
		return replace(resultData, "")
	case EmptyLists:
		return replace(listContent, "$1$2")
	case Twice:
		return c.write(append(bytes.Clone(body), body...)) == nil && false
	case NoResult:
		return replace(results, "")
	case OtherCode:
		return replace(codes, `code="9000"`)
	}
	return f.replaced(c, body, raw)
}

// replaced writes something else than the reply.
func (f *fault) replaced(c *client, body []byte, raw func(uint32, []byte) bool) bool {
	switch f.Kind {
	case Deny:
		return c.write(codes.ReplaceAll(resultData.ReplaceAll(body, nil), fmt.Appendf(nil, `code="%d"`, f.Code))) == nil && f.Code < 2500
	case Huge:
		pad := strings.Repeat("<padding/>", 500_000)
		return c.write(bytes.Replace(body, []byte("<response>"), []byte("<response>"+pad), 1)) == nil
	case HugeHeader:
		return raw(0xffffffff, body)
	case TinyHeader:
		return raw(3, body)
	case NotXML:
		return c.write([]byte("OK, it was done.")) == nil
	case HTML:
		return c.write([]byte("<html><body>502 Bad Gateway<br></body></html>")) == nil
	case Binary:
		return c.write([]byte{0xff, 0xfe, 0, 1, 2, 3, '<', 'e', 'p', 'p', '>'}) == nil
	case Entities:
		bomb := `<!DOCTYPE epp [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;">]>`
		return c.write(bytes.Replace(bytes.Replace(body, []byte("<epp "), []byte(bomb+"<epp "), 1), []byte("<msg>"), []byte("<msg>&b;"), 1)) == nil
	case Greeting:
		return c.write([]byte(c.greeting())) == nil
	}
	return c.write(body) == nil
}

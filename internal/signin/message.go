package signin

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/sha3"

	"deed.example/deed"
)

// A Message is a sign-in message (EIP-4361). It keeps the received text and is never
// serialized again, so that the hash covers exactly what was signed.
type Message struct {
	Scheme    string // "" when the message has none
	Domain    string
	Wallet    deed.Wallet
	Statement *string // nil when the message has none; it may be empty
	URI       string
	ChainID   uint64
	Nonce     string
	IssuedAt  time.Time
	Expires   *time.Time
	NotBefore *time.Time
	RequestID *string
	Resources []string

	text string
}

// maxMessage bounds the text; wallets display far less.
const maxMessage = 8 << 10

const preamble = " wants you to sign in with your Ethereum account:"

// ParseMessage parses the grammar of EIP-4361 strictly.
func ParseMessage(text string) (Message, error) {
	if len(text) > maxMessage {
		return Message{}, fmt.Errorf("it is longer than %d bytes", maxMessage)
	}
	m := Message{text: text}
	l := &lines{rest: text, more: true}
	l.next()
	for _, section := range []func(*lines) error{m.readHead, m.readStatement, m.readFields, m.readOptional, m.readResources} {
		if err := section(l); err != nil {
			return Message{}, err
		}
	}
	if l.more {
		return Message{}, fmt.Errorf("line %d is not expected there", l.number)
	}
	return m, nil
}

// Hash returns the hash that the wallet signed (EIP-191, version 0x45).
func (m Message) Hash() [32]byte {
	h := sha3.NewLegacyKeccak256()
	fmt.Fprintf(h, "\x19Ethereum Signed Message:\n%d%s", len(m.text), m.text)
	return [32]byte(h.Sum(nil))
}

// lines iterates over lines. Only a line feed ends a line.
type lines struct {
	line   string
	more   bool // line is valid
	rest   string
	ended  bool // rest is consumed
	number int
}

func (l *lines) next() {
	l.number++
	if l.ended {
		l.line, l.more = "", false
		return
	}
	var found bool
	l.line, l.rest, found = strings.Cut(l.rest, "\n")
	l.ended = !found
}

// empty consumes one empty line.
func (l *lines) empty() error {
	if !l.more || l.line != "" {
		return fmt.Errorf("line %d must be empty", l.number)
	}
	l.next()
	return nil
}

// field consumes a line that begins with the name; found is false for any other
// line.
func (l *lines) field(name string) (value string, found bool) {
	value, found = strings.CutPrefix(l.line, name+": ")
	if found = found && l.more; found {
		l.next()
	}
	return value, found
}

func (m *Message) readHead(l *lines) error {
	head, ok := strings.CutSuffix(l.line, preamble)
	if !ok {
		return fmt.Errorf("the first line must end in %q", preamble)
	}
	m.Domain = head
	if scheme, domain, ok := strings.Cut(head, "://"); ok {
		if !isScheme(scheme) {
			return errors.New("the scheme before :// is malformed")
		}
		m.Scheme, m.Domain = scheme, domain
	}
	if !isAuthority(m.Domain) {
		return errors.New("the domain in the first line is malformed")
	}
	l.next()
	var err error
	if m.Wallet, err = deed.ParseWallet(l.line); err != nil {
		// Not with that error: it has a code and a field of its own.
		return fmt.Errorf("line 2 must be an address, 0x and 40 hex digits, with a correct checksum (EIP-55) if its letters have both cases, not %s", deed.Quoted(l.line))
	}
	l.next()
	return l.empty()
}

// readStatement reads the statement and the empty line after it. Without a
// statement there is the empty line alone; with an empty one there are two.
func (m *Message) readStatement(l *lines) error {
	first := l.line
	if first != "" && !isStatement(first) {
		return errors.New("the statement has characters that EIP-4361 does not allow")
	}
	if first != "" {
		m.Statement = &first
		l.next()
	}
	if err := l.empty(); err != nil {
		return err
	}
	if first == "" && l.more && l.line == "" {
		m.Statement = &first
		l.next()
	}
	return nil
}

// readFields reads the required fields, in order.
func (m *Message) readFields(l *lines) error {
	var version, chain, issued string
	for _, f := range []struct {
		name string
		to   *string
	}{{"URI", &m.URI}, {"Version", &version}, {"Chain ID", &chain}, {"Nonce", &m.Nonce}, {"Issued At", &issued}} {
		value, found := l.field(f.name)
		if !found {
			return fmt.Errorf("line %d must begin with %q", l.number, f.name+": ")
		}
		*f.to = value
	}
	var err error
	if m.ChainID, err = strconv.ParseUint(chain, 10, 64); err != nil || !all(chain, digit) {
		return errors.New("the chain ID is not a number")
	}
	if m.IssuedAt, err = parseTime(issued); err != nil {
		return err
	}
	switch {
	case !isURI(m.URI):
		return errors.New("the URI is malformed (RFC 3986)")
	case version != "1":
		return errors.New("the version must be 1")
	case len(m.Nonce) < 8 || !all(m.Nonce, alphanumeric):
		return errors.New("the nonce must be 8 or more letters and digits")
	}
	return nil
}

// readOptional reads the optional fields, in order.
func (m *Message) readOptional(l *lines) error {
	for _, f := range []struct {
		name string
		to   **time.Time
	}{{"Expiration Time", &m.Expires}, {"Not Before", &m.NotBefore}} {
		if value, found := l.field(f.name); found {
			t, err := parseTime(value)
			if err != nil {
				return err
			}
			*f.to = &t
		}
	}
	if value, found := l.field("Request ID"); found {
		if !isPath(value) {
			return errors.New("the request ID has characters that EIP-4361 does not allow")
		}
		m.RequestID = &value
	}
	return nil
}

func (m *Message) readResources(l *lines) error {
	if !l.more || l.line != "Resources:" {
		return nil
	}
	for l.next(); l.more; l.next() {
		resource, found := strings.CutPrefix(l.line, "- ")
		if !found || !isURI(resource) {
			return fmt.Errorf("line %d must be a resource: \"- \" and a URI", l.number)
		}
		m.Resources = append(m.Resources, resource)
	}
	return nil
}

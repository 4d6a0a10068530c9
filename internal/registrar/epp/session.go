package epp

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A session is a connection that is logged in. One command is sent at a time; after
// any failure the session is closed, because a late reply could be mistaken for that
// of the next command.
type session struct {
	conn    *tls.Conn
	menu    menu
	replies chan frame
	closed  chan struct{}
	once    sync.Once
	used    time.Time // time of the last command, by the monotonic clock; guarded by pool.mu
}

// A frame is a received frame, or the reason why there are no more.
type frame struct {
	body []byte
	err  error
}

// A menu is what a registry offers: the objects and extensions of its greeting.
type menu struct {
	language string
	objects  []string
	exts     []string
}

func (m menu) host() bool   { return slices.Contains(m.objects, nsHost) }
func (m menu) dnssec() bool { return slices.Contains(m.exts, nsSecDNS) }
func (m menu) rgp() bool    { return slices.Contains(m.exts, nsRGP) }
func (m menu) fee() bool    { return slices.Contains(m.exts, nsFee) }
func (m menu) idn() bool    { return slices.Contains(m.exts, nsIDN) }
func (m menu) secure() bool { return slices.Contains(m.exts, nsSecure) }

// dial opens a connection, reads the greeting and logs in.
func (b *Backend) dial(ctx context.Context) (*session, error) {
	ctx, cancel := context.WithTimeout(ctx, b.cfg.Timeout)
	defer cancel()
	config, err := b.tlsConfig()
	if err != nil {
		return nil, err
	}
	conn, err := (&tls.Dialer{Config: config}).DialContext(ctx, "tcp", b.cfg.Address)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", b.cfg.Address, err)
	}
	s := &session{conn: conn.(*tls.Conn), replies: make(chan frame, 1), closed: make(chan struct{})}
	go s.read()
	if err := b.login(ctx, s); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// read passes on what the registry sends until the connection ends. So a session that
// the registry has closed is noticed before the next command.
func (s *session) read() {
	for {
		body, err := readFrame(s.conn)
		select {
		case s.replies <- frame{body, err}:
		case <-s.closed:
			return
		}
		if err != nil {
			return
		}
	}
}

// usable reports whether the session has neither ended nor received a frame that
// nobody asked for.
func (s *session) usable() bool { return len(s.replies) == 0 }

func (s *session) close() {
	s.once.Do(func() {
		close(s.closed)
		_ = s.conn.NetConn().Close() // without a last message of TLS, for which a dead peer would be waited
	})
}

// receive returns the next frame.
func (s *session) receive(ctx context.Context) ([]byte, error) {
	select {
	case f := <-s.replies:
		return f.body, f.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// exchange sends a document and returns the reply to it.
func (s *session) exchange(ctx context.Context, body []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	deadline, _ := ctx.Deadline() // every caller sets one
	if err := s.conn.SetWriteDeadline(deadline); err != nil {
		return nil, err
	}
	if err := writeFrame(s.conn, body); err != nil {
		return nil, err
	}
	return s.receive(ctx)
}

// hello asks for a greeting, to keep the session alive.
func (s *session) hello(ctx context.Context) error {
	frame, err := s.exchange(ctx, document(func(w *writer) { w.element("hello", nil) }))
	if err != nil {
		return err
	}
	_, err = parseGreeting(frame)
	return err
}

// logoutTimeout bounds the wait for the reply to a logout.
const logoutTimeout = 2 * time.Second

// logout tells the registry that the session ends: some count sessions that were only
// cut for a while longer. Nothing depends on it.
func (s *session) logout() {
	ctx, cancel := context.WithTimeout(context.Background(), logoutTimeout)
	defer cancel()
	if !s.usable() {
		return
	}
	_, _ = s.exchange(ctx, document(func(w *writer) {
		w.element("command", func() {
			w.element("logout", nil)
			w.text("clTRID", trid(""))
		})
	}))
}

func parseGreeting(frame []byte) (greeting, error) {
	r, err := parseReply(frame)
	if err == nil && (len(r.Greetings) != 1 || len(r.Responses) > 0) {
		err = fmt.Errorf("%w: %d greetings", errNonsense, len(r.Greetings))
	}
	if err != nil {
		return greeting{}, err
	}
	return r.Greetings[0], nil
}

// login reads the greeting and logs in with the objects and extensions that both
// sides know.
func (b *Backend) login(ctx context.Context, s *session) error {
	frame, err := s.receive(ctx)
	if err != nil {
		return fmt.Errorf("wait for the greeting of %s: %w", b.cfg.Address, err)
	}
	g, err := parseGreeting(frame)
	if err != nil {
		return fmt.Errorf("read the greeting of %s: %w", b.cfg.Address, err)
	}
	if s.menu, err = b.choose(g); err != nil {
		return err
	}
	r, err := b.command(ctx, s, order{body: func(w *writer, m menu) {
		w.element("login", func() { b.writeLogin(w, m) })
	}, ext: b.writeLongPassword})
	switch {
	case err != nil:
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, err)
	case r.code() == codeNoLogin || r.code() == codeNoLoginClosing:
		b.alarm("login", "the registry does not let us in: check client_id and password_file", "result", resultError(r).Error())
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, resultError(r))
	case r.code() != codeOK:
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, resultError(r))
	}
	return nil
}

// maxPassword is the maximum length of a password without RFC 8807.
const maxPassword = 16

// longPassword reports whether the password is sent as RFC 8807 says.
func (b *Backend) longPassword(m menu) bool {
	return len(b.cfg.Password) > maxPassword && slices.Contains(m.exts, nsLogin)
}

// writeLongPassword writes a password that is too long for RFC 5730.
func (b *Backend) writeLongPassword(w *writer, m menu) {
	if b.longPassword(m) {
		w.object("loginSec", "loginSec", nsLogin, func() { w.text("loginSec:pw", b.cfg.Password.Reveal()) })
	}
}

func (b *Backend) writeLogin(w *writer, m menu) {
	password := b.cfg.Password.Reveal()
	if b.longPassword(m) {
		password = "[LOGIN-SECURITY]"
	}
	w.text("clID", b.cfg.ClientID)
	w.text("pw", password)
	w.element("options", func() {
		w.text("version", "1.0")
		w.text("lang", m.language)
	})
	w.element("svcs", func() {
		for _, uri := range m.objects {
			w.text("objURI", uri)
		}
		if len(m.exts) == 0 {
			return
		}
		w.element("svcExtension", func() {
			for _, uri := range m.exts {
				w.text("extURI", uri)
			}
		})
	})
}

// choose returns what is used of the registry's offer.
func (b *Backend) choose(g greeting) (menu, error) {
	trim := func(all []string) []string {
		out := make([]string, len(all))
		for i, s := range all {
			out[i] = strings.TrimSpace(s)
		}
		return out
	}
	offered := menu{language: "en", objects: trim(g.Objects), exts: trim(g.Extensions)}
	if languages := trim(g.Languages); len(languages) > 0 && !slices.Contains(languages, "en") {
		offered.language = languages[0]
	}
	m := menu{language: offered.language}
	for _, uri := range []string{nsDomain, nsHost, nsContact} {
		if slices.Contains(offered.objects, uri) {
			m.objects = append(m.objects, uri)
		}
	}
	for _, uri := range []string{nsSecDNS, nsRGP, nsFee, nsIDN, nsSecure, nsChange, nsOther, nsLogin} {
		if slices.Contains(offered.exts, uri) && !slices.Contains(b.cfg.Profile.Without, uri) {
			m.exts = append(m.exts, uri)
		}
	}
	if !slices.Contains(m.objects, nsDomain) {
		return m, fmt.Errorf("%s does not offer %s", b.cfg.Address, nsDomain)
	}
	return m, nil
}

// An order is a command before it is sent.
type order struct {
	reference string // of the order that it is for; may be empty
	body      func(w *writer, m menu)
	ext       func(w *writer, m menu) // nil for none; may write nothing
}

// command sends a command and returns the response to it, whatever its result.
func (b *Backend) command(ctx context.Context, s *session, o order) (response, error) {
	trid := trid(o.reference)
	frame, err := s.exchange(ctx, document(func(w *writer) {
		w.element("command", func() {
			o.body(w, s.menu)
			var added writer
			if o.ext != nil {
				o.ext(&added, s.menu)
			}
			if added.Len() > 0 {
				w.element("extension", func() { w.Write(added.Bytes()) })
			}
			w.text("clTRID", trid)
		})
	}))
	if err != nil {
		return response{}, err
	}
	return parseResponse(frame, trid)
}

// process makes the client transaction identifiers of this process differ from those
// of all others, and frames counts them: a registry may end the session when one is
// repeated.
var (
	process = strings.ToLower(rand.Text()[:16])
	frames  atomic.Uint64
)

// maxTRID is the maximum length of a client transaction identifier (RFC 5730, 4.2).
const maxTRID = 64

// trid returns an identifier that was never used before.
func trid(reference string) string {
	unique := fmt.Sprintf("-%s-%d", process, frames.Add(1))
	clean := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return '_'
	}, reference)
	if clean == "" {
		clean = "deed"
	}
	return clean[:min(len(clean), maxTRID-len(unique))] + unique
}

package epptest

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/registrar/local"
)

// The registrars that have an account, with their password. The first is the account
// of the service at the embedded registry; the second is another registrar.
const (
	ClientID = "deed-epp"
	OtherID  = "other-epp"
	Password = "correct horse"
)

// accounts are their accounts at the embedded registry.
var accounts = map[string]string{ClientID: "deed", OtherID: "elsewhere"}

// A Config says how the registry behaves.
type Config struct {
	Registry *local.Registry // with its Store and clock

	HideAuth      bool      // authInfo is not shown to anyone
	AutoRenew     bool      // a name is renewed when it expires
	RestoreReport bool      // a restore needs a report
	HostAttr      bool      // name servers are attributes
	Contacts      bool      // a name needs a registrant
	Without       []string  // URIs that the greeting does not have
	MaxSessions   int       // at once; 0 for no limit
	MaxConns      int       // likewise; others are closed
	OtherCA       bool      // the server asks for certificates of another CA than the clients', and takes any
	MinYears      int       // of an order; 0 for any
	Currency      string    // of prices; "USD" when empty
	Balance       deed.USDC // of each registrar; 0 for a million
}

// A Server is a running registry.
type Server struct {
	cfg      Config
	listener net.Listener
	ctx      context.Context
	stop     context.CancelFunc
	done     sync.WaitGroup
	Received chan string // gets the kind of a command that Slow or Silent holds

	mu       sync.Mutex
	conns    map[net.Conn]bool
	sessions int
	refusing bool // maintenance
	fault    *fault
	seen     map[string]bool // clTRID
	log      []string        // kinds of commands
	repeated int
	hellos   int
	trid     int
	restarts int // that logged out everybody
	balance  deed.USDC
	spent    deed.USDC // by all registrars
	state
}

// Start starts a registry on a free port, and stops it after the test.
func Start(t testing.TB, cfg Config) *Server {
	t.Helper()
	s, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Open starts a registry on a free port. Close it.
func Open(cfg Config) (*Server, error) {
	a, err := shared()
	if err != nil {
		return nil, err
	}
	cert, key, err := a.issue("registry", 24*time.Hour)
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, err
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	if err := a.clientAuth(config, cfg.OtherCA); err != nil {
		return nil, err
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		return nil, err
	}
	s := &Server{cfg: cfg, listener: listener, Received: make(chan string, 1), conns: map[net.Conn]bool{}, seen: map[string]bool{}, balance: cfg.Balance, state: newState()}
	if s.cfg.Currency == "" {
		s.cfg.Currency = "USD"
	}
	if s.balance == 0 {
		s.balance = 1_000_000_000_000
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.done.Go(s.accept)
	return s, nil
}

// Addr returns the address of the server.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// Close stops the server.
func (s *Server) Close() {
	s.stop()
	_ = s.listener.Close() // it may be closed already
	s.CutAll()
	s.done.Wait()
}

// CutAll closes all connections.
func (s *Server) CutAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		_ = c.Close() // the client is not told
	}
}

// LogOut makes the registry forget all logins, as when it restarts behind a gateway that keeps
// the connections.
func (s *Server) LogOut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.restarts, s.sessions = s.restarts+1, 0
}

// Maintain starts or ends maintenance: connections are closed and refused.
func (s *Server) Maintain(on bool) {
	s.mu.Lock()
	s.refusing = on
	s.mu.Unlock()
	if on {
		s.CutAll()
	}
}

// Sessions returns how many clients are logged in.
func (s *Server) Sessions() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions
}

// Hellos returns how many hellos were received.
func (s *Server) Hellos() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hellos
}

// Commands returns the kinds of all commands that were received, in order, and how
// many of them had an identifier that was used before.
func (s *Server) Commands() (kinds []string, repeated int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...), s.repeated
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		refusing := s.refusing || s.ctx.Err() != nil || s.cfg.MaxConns > 0 && len(s.conns) >= s.cfg.MaxConns
		if !refusing {
			s.conns[conn] = true
		}
		s.mu.Unlock()
		if refusing {
			_ = conn.Close() // as a registry in maintenance does
			continue
		}
		s.done.Go(func() {
			s.serve(&client{Server: s, conn: conn})
			s.mu.Lock()
			delete(s.conns, conn)
			s.mu.Unlock()
			_ = conn.Close() // whatever was lost is lost
		})
	}
}

// serve answers the client until the connection ends.
func (s *Server) serve(c *client) {
	defer func() {
		if s.loggedIn(c) {
			s.mu.Lock()
			s.sessions--
			s.mu.Unlock()
		}
	}()
	if c.write([]byte(s.greeting())) != nil {
		return
	}
	for {
		body, err := readFrame(c.conn)
		if err != nil {
			return
		}
		var r request
		if err := xml.Unmarshal(body, &r); err != nil {
			_ = c.write(respond("", s.nextTRID(), answer{code: 2001}))
			return
		}
		if r.Hello != nil {
			s.mu.Lock()
			s.hellos++
			s.mu.Unlock()
			if c.write([]byte(s.greeting())) != nil {
				return
			}
			continue
		}
		if r.Command == nil || !s.handle(c, *r.Command) {
			return
		}
	}
}

// handle executes a command and writes the response. It reports whether the session
// goes on.
func (s *Server) handle(c *client, cmd command) bool {
	kind := cmd.kind()
	s.mu.Lock()
	s.log = append(s.log, kind)
	again := s.seen[cmd.ClTRID]
	s.seen[cmd.ClTRID] = true
	if again {
		s.repeated++
	}
	f := s.takeFault(kind)
	s.endWith(f, c)
	s.mu.Unlock()
	if again && cmd.ClTRID != "" {
		return false // as a registry did
	}
	if f != nil && !f.before(c, kind) {
		return false
	}
	var a answer
	if f != nil && f.Code > 0 && f.Kind == Refuse {
		a = answer{code: f.Code}
	} else {
		a = s.execute(c, cmd)
	}
	if a.code == 0 {
		return false // an internal error is a closed connection
	}
	body := respond(cmd.ClTRID, s.nextTRID(), a)
	if f != nil {
		return f.after(c, body, cmd)
	}
	return c.write(body) == nil && a.code < 2500 && a.code != 1500
}

func (s *Server) nextTRID() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trid++
	return fmt.Sprintf("SV-%p-%d", s, s.trid)
}

// Package mailer sends e-mail through the operator's mail server (SMTP, RFC 5321): it
// implements email.Sender.
//
// The connection is encrypted and its certificate is checked, except to a server on
// this machine. A message has one recipient, and no text of a caller in its header.
package mailer

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"mime/quotedprintable"
	"net"
	"net/smtp"
	"net/textproto"
	"net/url"
	"strings"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/email"
)

// Timeout is how long one message may take.
const Timeout = 30 * time.Second

// Mailer sends messages. Make one with New.
type Mailer struct {
	address, host string
	implicit      bool // TLS from the first byte
	user          string
	password      deed.Secret
	from          email.Address
	tls           *tls.Config
	now           func() time.Time
}

// Config configures a Mailer. Fill every field but Roots.
type Config struct {
	Server deed.Secret
	From   string
	Roots  *x509.CertPool // nil: the system's certificate authorities
	Now    func() time.Time
}

// New returns a mailer for a server: smtps://USER:PASSWORD@HOST:465, or smtp:// with
// STARTTLS. Without the latter only a server on this machine is accepted.
func New(c Config) (*Mailer, error) {
	u, err := url.Parse(c.Server.Reveal())
	if err != nil || u.Hostname() == "" || u.Path != "" && u.Path != "/" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		return nil, errors.New("email.server must be smtps://USER:PASSWORD@HOST:PORT, or smtp:// for STARTTLS") // not quoted: it may have a password
	}
	sender, err := email.ParseAddress(c.From)
	if err != nil {
		return nil, errors.New("email.from must be the e-mail address of the sender, in ASCII, if email.server is set")
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"smtp": "587", "smtps": "465"}[u.Scheme]
	}
	password, _ := u.User.Password()
	return &Mailer{
		address: net.JoinHostPort(u.Hostname(), port), host: u.Hostname(), implicit: u.Scheme == "smtps",
		user: u.User.Username(), password: deed.Secret(password), from: sender, tls: &tls.Config{ServerName: u.Hostname(), RootCAs: c.Roots}, now: c.Now,
	}, nil
}

// Send implements email.Sender.
func (m *Mailer) Send(ctx context.Context, msg email.Message) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	c, err := m.connect(ctx)
	if err != nil {
		return fmt.Errorf("%w: connect: %w", email.ErrServer, err)
	}
	defer c.Close() // the message was accepted or not, whatever the end of the connection
	if err := c.Mail(string(m.from)); err != nil {
		return fmt.Errorf("%w: %w", email.ErrServer, err)
	}
	if err := c.Rcpt(string(msg.To)); err != nil {
		return answered(err)
	}
	w, err := c.Data()
	if err != nil {
		return answered(err)
	}
	_, err = w.Write(m.render(msg))
	if err = errors.Join(err, w.Close()); err != nil {
		return answered(err)
	}
	_ = c.Quit() // it was accepted
	return nil
}

// answered returns the error of a reply to a recipient or to a message. A permanent one (5xx)
// is a refusal, unless its status says that we may not send (RFC 3463, 3.8): relays answer
// 5.7.1 to whoever may not use them. The text is left out, because it may have the address.
func answered(err error) error {
	reply, ok := errors.AsType[*textproto.Error](err)
	switch {
	case !ok: // the connection ended
		return fmt.Errorf("%w: %w", email.ErrServer, err)
	case strings.HasPrefix(reply.Msg, "5.7."):
		return fmt.Errorf("%w: it answers %d with the status 5.7 to a recipient: we may not send", email.ErrServer, reply.Code)
	case reply.Code >= 500:
		return fmt.Errorf("%w: it answers %d", email.ErrRefused, reply.Code)
	}
	return fmt.Errorf("send an e-mail: the mail server answers %d", reply.Code)
}

// connect opens a connection, encrypts it and authenticates. The connection ends with
// the context.
func (m *Mailer) connect(ctx context.Context) (*smtp.Client, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.address)
	if err != nil {
		return nil, err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetDeadline(deadline)
	}
	if m.implicit {
		conn = tls.Client(conn, m.tls)
	}
	var c *smtp.Client
	if err == nil {
		c, err = smtp.NewClient(conn, m.host)
	}
	if err == nil {
		err = m.secure(c)
	}
	if err != nil {
		_ = conn.Close() // the first error says more
		return nil, err
	}
	return c, nil
}

// secure encrypts the connection, if it is not encrypted yet, and authenticates.
func (m *Mailer) secure(c *smtp.Client) error {
	if !m.implicit {
		if ok, _ := c.Extension("STARTTLS"); ok {
			if err := c.StartTLS(m.tls); err != nil {
				return err
			}
		} else if !local(m.host) {
			return errors.New("the mail server offers no encryption (STARTTLS)")
		}
	}
	if m.user == "" {
		return nil
	}
	return c.Auth(smtp.PlainAuth("", m.user, m.password.Reveal(), m.host))
}

func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// render returns the message as it is sent (RFC 5322), with the headers for
// one-click unsubscription (RFC 8058).
func (m *Mailer) render(msg email.Message) []byte {
	id := make([]byte, 16)
	rand.Read(id) // never fails (crypto/rand)
	_, domain, _ := strings.Cut(string(m.from), "@")
	var b strings.Builder
	for _, h := range [][2]string{
		{"From", string(m.from)}, {"To", string(msg.To)}, {"Subject", msg.Subject}, {"Date", m.now().Format(time.RFC1123Z)},
		{"Message-ID", "<" + hex.EncodeToString(id) + "@" + domain + ">"}, {"Auto-Submitted", "auto-generated"},
		{"List-Unsubscribe", "<" + msg.Unsubscribe + ">"}, {"List-Unsubscribe-Post", "List-Unsubscribe=One-Click"},
		{"MIME-Version", "1.0"}, {"Content-Type", "text/plain; charset=us-ascii"}, {"Content-Transfer-Encoding", "quoted-printable"},
	} {
		b.WriteString(h[0] + ": " + strings.NewReplacer("\r", " ", "\n", " ").Replace(h[1]) + "\r\n")
	}
	b.WriteString("\r\n")
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(msg.Body)) // a strings.Builder does not fail
	_ = w.Close()                    // likewise
	return []byte(b.String())
}

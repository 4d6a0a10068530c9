package epp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

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

package epp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

func parseGreeting(frame []byte) (greeting, error) {
	r, err := parseReply(frame)
	if err == nil && len(r.Greetings) == 0 && len(r.Responses) == 1 && len(r.Responses[0].Results) > 0 && r.Responses[0].code() >= 2000 {
		return greeting{}, resultError(r.Responses[0]) // such as that there are too many sessions
	}
	if err == nil && (len(r.Greetings) != 1 || len(r.Responses) > 0) {
		err = fmt.Errorf("%w: %d greetings", errInvalidReply, len(r.Greetings))
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
	if s.services, err = b.choose(g); err != nil {
		return err
	}
	r, err := b.run(ctx, s, command{body: func(w *writer, svc services) {
		w.element("login", func() { b.writeLogin(w, svc) })
	}, ext: b.writeLongPassword})
	switch {
	case err != nil:
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, err)
	case r.code() == codeNoLogin || r.code() == codeNoLoginClosing:
		b.logOnce("login", "the registry does not let us in: check client_id and password_file", "result", resultError(r).Error())
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, resultError(r))
	case r.code() != codeOK:
		return fmt.Errorf("log in at %s: %w", b.cfg.Address, resultError(r))
	}
	return nil
}

// forgotten reports whether the registry has forgotten the login of a session that it has
// answered with r: gateways keep connections while the registry behind them restarts, and
// still answer a hello. There are other reasons for the same result, such as a name that was
// never transferred, but none to refuse the question for messages.
func (b *Backend) forgotten(ctx context.Context, s *session, r response) (bool, error) {
	if !notLoggedIn(r) {
		return false, nil
	}
	r, err := b.run(ctx, s, command{body: writePoll})
	return err == nil && notLoggedIn(r), err
}

// maxPassword is the maximum length of a password without RFC 8807.
const maxPassword = 16

// longPassword reports whether the password is sent as RFC 8807 says.
func (b *Backend) longPassword(svc services) bool {
	return len(b.cfg.Password) > maxPassword && slices.Contains(svc.exts, nsLogin)
}

// writeLongPassword writes a password that is too long for RFC 5730.
func (b *Backend) writeLongPassword(w *writer, svc services) {
	if b.longPassword(svc) {
		w.object("loginSec", "loginSec", nsLogin, func() { w.text("loginSec:pw", b.cfg.Password.Reveal()) })
	}
}

func (b *Backend) writeLogin(w *writer, svc services) {
	password := b.cfg.Password.Reveal()
	if b.longPassword(svc) {
		password = "[LOGIN-SECURITY]"
	}
	w.text("clID", b.cfg.ClientID)
	w.text("pw", password)
	w.element("options", func() {
		w.text("version", "1.0")
		w.text("lang", svc.language)
	})
	w.element("svcs", func() {
		for _, uri := range svc.objects {
			w.text("objURI", uri)
		}
		if len(svc.exts) == 0 {
			return
		}
		w.element("svcExtension", func() {
			for _, uri := range svc.exts {
				w.text("extURI", uri)
			}
		})
	})
}

// choose returns what is used of the registry's offer.
func (b *Backend) choose(g greeting) (services, error) {
	trim := func(all []string) []string {
		out := make([]string, len(all))
		for i, s := range all {
			out[i] = strings.TrimSpace(s)
		}
		return out
	}
	offered := services{language: "en", objects: trim(g.Objects), exts: trim(g.Extensions)}
	if languages := trim(g.Languages); len(languages) > 0 && !slices.Contains(languages, "en") {
		offered.language = languages[0]
	}
	svc := services{language: offered.language}
	for _, uri := range []string{nsDomain, nsHost, nsContact} {
		if slices.Contains(offered.objects, uri) {
			svc.objects = append(svc.objects, uri)
		}
	}
	for _, uri := range []string{nsSecDNS, nsRGP, nsFee, nsIDN, nsSecure, nsChange, nsOther, nsLogin} {
		if slices.Contains(offered.exts, uri) && !slices.Contains(b.cfg.Profile.Without, uri) {
			svc.exts = append(svc.exts, uri)
		}
	}
	if !slices.Contains(svc.objects, nsDomain) {
		return svc, fmt.Errorf("%s does not offer %s", b.cfg.Address, nsDomain)
	}
	return svc, nil
}

package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"deed.example/deed/client"
	"deed.example/deed/internal/network"
)

// errDeclined is returned when the user answers no.
var errDeclined = errors.New("cancelled: nothing was done")

// confirmPayment asks before a payment is signed. Without a terminal, the price
// limit is the consent.
func (s *session) confirmPayment(ctx context.Context, o client.Offer) error {
	if _, asks := terminal(s.in); s.yes || !asks {
		fmt.Fprintf(s.errs, "authorizing %s USDC on %s for %s\n", o.Price, networkName(o.Network), clean(o.For))
		return nil
	}
	return s.ask(ctx, fmt.Sprintf("Pay %s USDC on %s for %s?", o.Price, networkName(o.Network), clean(o.For)))
}

func networkName(id string) string {
	n, ok := network.ByCAIP2(id)
	switch {
	case !ok:
		return id
	case n.Testnet:
		return n.Title + " (test money)"
	}
	return n.Title
}

// confirm asks before an irreversible action. Without a terminal it requires
// --yes.
func (s *session) confirm(question string) error {
	if s.yes {
		return nil
	}
	if _, asks := terminal(s.in); !asks {
		return usagef("this cannot be undone: confirm it with --yes")
	}
	return s.ask(s.ctx, question)
}

func (s *session) ask(ctx context.Context, question string) error {
	fmt.Fprint(s.errs, question+" [y/N] ")
	answer, err := s.readLine(ctx)
	if err != nil {
		fmt.Fprintln(s.errs) // the error begins on its own line
		return err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
		return errDeclined
	}
	return nil
}

// readLine reads to the end of the line and no further: the rest of the input may
// be for another reader.
func (s *session) readLine(ctx context.Context) (string, error) {
	return interruptible(ctx, func() (string, error) {
		var line bytes.Buffer
		b := make([]byte, 1)
		for {
			n, err := s.in.Read(b)
			if n == 1 && b[0] != '\n' {
				line.WriteByte(b[0])
			}
			if n == 1 && b[0] == '\n' || err == io.EOF {
				return line.String(), nil
			}
			if err != nil {
				return "", err
			}
		}
	})
}

// interruptible returns when read returns or the context is done. In the second
// case read keeps running until the process ends, which is soon.
func interruptible(ctx context.Context, read func() (string, error)) (string, error) {
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		text, err := read()
		done <- result{text, err}
	}()
	select {
	case r := <-done:
		return r.text, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// password returns the password of a wallet, from the file or a prompt.
func (s *session) password(prompt string) (string, error) {
	if s.passwordFile != "" {
		raw, err := os.ReadFile(s.passwordFile)
		if err != nil {
			return "", usagef("--password-file (DEED_PASSWORD_FILE): %w", err)
		}
		return strings.TrimRight(string(raw), "\r\n"), nil
	}
	return s.secret(prompt, "--password-file")
}

// newPassword asks twice, to detect typos. An empty one, such as that of an empty file, would
// leave the key readable to anybody; one that nobody can type, such as UTF-16 of PowerShell,
// is lost with its file.
func (s *session) newPassword() (string, error) {
	first, err := s.password("New password: ")
	switch {
	case err == nil && first == "":
		err = usagef("the password is empty: nothing was stored")
	case err == nil && (!utf8.ValidString(first) || strings.ContainsFunc(first, isUntypable)):
		err = usagef("the password is not one line of text in UTF-8 without a byte order mark: nothing was stored")
	}
	if err != nil || s.passwordFile != "" {
		return first, err
	}
	again, err := s.password("Repeat the password: ")
	if err != nil {
		return "", err
	}
	if first != again {
		return "", errors.New("the two passwords differ: nothing was stored")
	}
	return first, nil
}

func isUntypable(r rune) bool { return unicode.IsControl(r) || r == '\ufeff' }

// secret reads a line without echo. Without a terminal its error names the flag.
func (s *session) secret(prompt, flag string) (string, error) {
	f, asks := terminal(s.in)
	if !asks {
		return "", usagef("there is no terminal to ask at: use %s", flag)
	}
	before, err := term.GetState(int(f.Fd()))
	if err != nil {
		return "", err
	}
	fmt.Fprint(s.errs, prompt)
	text, err := interruptible(s.ctx, func() (string, error) {
		raw, err := term.ReadPassword(int(f.Fd()))
		return string(raw), err
	})
	fmt.Fprintln(s.errs)
	if err != nil {
		return "", errors.Join(err, term.Restore(int(f.Fd()), before))
	}
	return text, nil
}

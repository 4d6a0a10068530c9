package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"deed.example/deed/client"
)

func asError(err error) *client.Error {
	e, _ := errors.AsType[*client.Error](err)
	return e
}

func loginCommand() *cobra.Command {
	browser := false
	cmd := command("login", "Sign in with the wallet; other commands do so when necessary", cobra.NoArgs, func(s *session, _ []string) error {
		if browser {
			return s.signInByBrowser()
		}
		c, err := s.openWallet()
		if err != nil {
			return err
		}
		t, err := c.SignIn(s.ctx)
		if err != nil {
			return err
		}
		return s.showSignIn(t)
	})
	cmd.Flags().BoolVar(&browser, "browser", false, "sign with the wallet of a browser: opens the page of the service")
	return cmd
}

func (s *session) showSignIn(t client.Tokens) error {
	return s.show(map[string]string{"walletAddress": t.Wallet, "server": s.server}, list{rows: [][]string{{"wallet", t.Wallet}, {"server", s.server}}})
}

func logoutCommand() *cobra.Command {
	var everywhere bool
	cmd := command("logout", "Delete the sign-in on this machine, or end all sessions of the wallet", cobra.NoArgs, func(s *session, _ []string) error {
		if everywhere {
			c, err := s.openOwner()
			if err != nil {
				return err
			}
			out, err := c.Revoke(s.ctx)
			if err != nil {
				return err
			}
			return s.show(out, list{rows: [][]string{{out.Message}}})
		}
		if err := s.saveTokens(client.Tokens{}); err != nil {
			return err
		}
		fmt.Fprintf(s.errs, "signed out of %s on this machine; other sessions stay signed in (--everywhere ends them)\n", s.server)
		return nil
	})
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "end all sessions of the wallet, on every machine")
	return cmd
}

// notSignedIn returns the error of whoami without a sign-in. It names the wallet
// that `deed login` would use, or the way without one.
func (s *session) notSignedIn() error {
	text := "not signed in at " + s.server
	if w, err := s.signer(); err == nil {
		text += "; `deed login` signs in with the wallet " + w.Address().Hex()
	} else if errors.Is(err, client.ErrNotSignedIn) {
		text += "; `deed login --browser` signs in with the wallet of a browser"
	}
	return signedOut{errors.New(text)}
}

// A signedOut is the error of a command that needs a sign-in.
type signedOut struct{ error }

// Is makes it an ErrNotSignedIn, without its words.
func (signedOut) Is(target error) bool { return target == client.ErrNotSignedIn }

func whoamiCommand() *cobra.Command {
	return command("whoami", "Show which wallet is signed in", cobra.NoArgs, func(s *session, _ []string) error {
		if !s.signedIn() {
			return s.notSignedIn()
		}
		c, err := s.open()
		if err != nil {
			return err
		}
		a, err := c.Account(s.ctx)
		if errors.Is(err, client.ErrNotSignedIn) || client.CodeOf(err) == client.CodeTokenInvalid {
			return s.notSignedIn() // the session has ended elsewhere
		}
		if err != nil {
			return err
		}
		return s.showSignIn(client.Tokens{Wallet: a.WalletAddress})
	})
}

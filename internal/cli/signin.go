package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func asError(err error) *client.Error {
	e, _ := errors.AsType[*client.Error](err)
	return e
}

func loginCommand() *cobra.Command {
	return command("login", "Sign in with the wallet; other commands do so when necessary", cobra.NoArgs, func(s *session, _ []string) error {
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
		folder, err := configFolder()
		if err != nil {
			return err
		}
		tokens := newTokenFile(folder, s.server)
		unlock, err := tokens.Lock(s.ctx)
		if err != nil {
			return err
		}
		defer unlock()
		return tokens.Save(s.ctx, client.Tokens{})
	})
	cmd.Flags().BoolVar(&everywhere, "everywhere", false, "end all sessions of the wallet, on every machine")
	return cmd
}

func whoamiCommand() *cobra.Command {
	return command("whoami", "Show which wallet is signed in", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := s.open()
		if err != nil {
			return err
		}
		var a api.Account
		if a, err = c.Account(s.ctx); err != nil {
			return err
		}
		return s.showSignIn(client.Tokens{Wallet: a.WalletAddress})
	})
}

package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/spf13/cobra"
)

// A clientConfig is the configuration file of the client commands, client.toml in
// the configuration folder. A context is a set of defaults with a name, such as one
// for a sandbox and one for real money.
type clientConfig struct {
	Current  string                   `toml:"current,omitempty"`
	Contexts map[string]clientContext `toml:"context,omitempty"`
}

// A clientContext has defaults for the global flags. Flags and variables override it.
type clientContext struct {
	Server       string `toml:"server,omitempty" json:"server,omitzero"`
	Wallet       string `toml:"wallet,omitempty" json:"wallet,omitzero"`
	PasswordFile string `toml:"password_file,omitempty" json:"passwordFile,omitzero"`
	MaxPrice     string `toml:"max_price,omitempty" json:"maxPrice,omitzero"`
	Signer       string `toml:"signer,omitempty" json:"signer,omitzero"`
}

// firstContext is the name of the context that `deed wallet use` creates.
const firstContext = "default"

func clientConfigPath() (string, error) {
	folder, err := configFolder()
	return filepath.Join(folder, "client.toml"), err
}

// readClientConfig reads the file. A missing file has no contexts.
func readClientConfig() (clientConfig, error) {
	var c clientConfig
	path, err := clientConfigPath()
	if err != nil {
		return c, nil // no folder, no file; commands that write one report it
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	err = toml.NewDecoder(bytes.NewReader(raw)).DisallowUnknownFields().Decode(&c)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok {
		return c, usagef("%s: there is no key %s", path, strings.Join(unknown.Errors[0].Key(), "."))
	}
	if err != nil {
		return c, usagef("%s: %w", path, err)
	}
	return c, nil
}

func (c clientConfig) write() error {
	path, err := clientConfigPath()
	if err != nil {
		return err
	}
	raw, err := toml.Marshal(c)
	if err != nil {
		return err
	}
	return writeFile(path, raw)
}

// context returns the context of --context or DEED_CONTEXT, or the current one.
func (c clientConfig) context(name string) (clientContext, error) {
	if name == "" {
		return c.Contexts[c.Current], nil
	}
	got, ok := c.Contexts[name]
	if !ok {
		return got, usagef("there is no context %s: `deed context ls` lists them, `deed context set %s --server URL` makes it", name, name)
	}
	return got, nil
}

// change sets a context and writes the file.
func (c clientConfig) change(name string, to clientContext) error {
	if c.Contexts == nil {
		c.Contexts = map[string]clientContext{}
	}
	c.Contexts[name] = to
	if c.Current == "" {
		c.Current = name
	}
	return c.write()
}

func contextCommand() *cobra.Command {
	return group("context", "Named sets of defaults: server, wallet, price limit", contextListCommand(), contextSetCommand(), contextUseCommand(), contextRemoveCommand())
}

func contextListCommand() *cobra.Command {
	return command("ls", "List the contexts", cobra.NoArgs, func(s *session, _ []string) error {
		c, err := readClientConfig()
		if err != nil {
			return err
		}
		type contextObject struct {
			Name    string `json:"name"`
			Current bool   `json:"current"`
			clientContext
		}
		out := []contextObject{}
		l := list{heads: []string{"CURRENT", "NAME", "SERVER", "WALLET", "MAX PRICE"}, empty: "no contexts; `deed context set NAME --server URL` makes one"}
		for _, name := range slices.Sorted(maps.Keys(c.Contexts)) {
			x, mark := c.Contexts[name], "-"
			if name == c.Current {
				mark = "*"
			}
			out = append(out, contextObject{name, name == c.Current, x})
			l.add(mark, name, orDash(x.Server), orDash(x.Wallet), orDash(x.MaxPrice))
		}
		return s.show(out, l)
	})
}

var contextNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`)

func contextSetCommand() *cobra.Command {
	var cmd *cobra.Command
	cmd = command("set NAME", "Save --server, --wallet, --max-price, --password-file and --signer as a context", cobra.ExactArgs(1), func(s *session, args []string) error {
		if !contextNames.MatchString(args[0]) {
			return usagef("%q cannot name a context: use letters and digits", args[0])
		}
		c, err := readClientConfig()
		if err != nil {
			return err
		}
		x := c.Contexts[args[0]]
		for flag, field := range map[string]*string{"server": &x.Server, "wallet": &x.Wallet, "password-file": &x.PasswordFile, "max-price": &x.MaxPrice, "signer": &x.Signer} {
			if f := cmd.Flag(flag); f.Changed {
				*field = f.Value.String()
			}
		}
		if x == (clientContext{}) {
			return usagef("say what to save: --server, --wallet, --max-price, --password-file or --signer")
		}
		if err := c.change(args[0], x); err != nil {
			return err
		}
		return s.show(x, list{rows: [][]string{{"context", args[0]}, {"server", orDash(x.Server)}, {"wallet", orDash(x.Wallet)}, {"max price", orDash(x.MaxPrice)}}})
	})
	return cmd
}

func contextUseCommand() *cobra.Command {
	cmd := command("use NAME", "Use a context from now on", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := readClientConfig()
		if err != nil {
			return err
		}
		x, err := c.context(args[0])
		if err != nil {
			return err
		}
		c.Current = args[0]
		if err := c.write(); err != nil {
			return err
		}
		return s.show(x, list{rows: [][]string{{"context", args[0]}, {"server", orDash(x.Server)}, {"wallet", orDash(x.Wallet)}}})
	})
	cmd.ValidArgsFunction = completeFirst(completeContexts)
	return cmd
}

func contextRemoveCommand() *cobra.Command {
	cmd := command("rm NAME", "Delete a context", cobra.ExactArgs(1), func(s *session, args []string) error {
		c, err := readClientConfig()
		if err != nil {
			return err
		}
		if _, err := c.context(args[0]); err != nil {
			return err
		}
		delete(c.Contexts, args[0])
		if c.Current == args[0] {
			c.Current = ""
		}
		if err := c.write(); err != nil {
			return err
		}
		fmt.Fprintf(s.errs, "the context %s is deleted\n", clean(args[0]))
		return nil
	})
	cmd.ValidArgsFunction = completeFirst(completeContexts)
	return cmd
}

// walletUseCommand sets the wallet of the current context.
func walletUseCommand() *cobra.Command {
	cmd := command("use NAME", "Use a wallet from now on, in the current context", cobra.ExactArgs(1), func(s *session, args []string) error {
		w, err := findWallet(args[0])
		if err != nil {
			return err
		}
		c, err := readClientConfig()
		if err != nil {
			return err
		}
		name := c.Current
		if name == "" {
			name = firstContext
		}
		x := c.Contexts[name]
		x.Wallet = w.name
		if err := c.change(name, x); err != nil {
			return err
		}
		address, _ := w.address() // wallets that this program wrote always have it
		return s.showAddress(address)
	})
	cmd.ValidArgsFunction = completeFirst(completeWallets)
	return cmd
}

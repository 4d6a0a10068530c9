package cli

import (
	"crypto/ecdsa"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func walletCommand() *cobra.Command {
	return group("wallet", "Wallets on this machine",
		walletNewCommand(), walletImportCommand(), walletListCommand(), walletUseCommand(), walletAddressCommand(), walletBalanceCommand(), walletFaucetCommand())
}

// firstWallet is the default name of a wallet.
const firstWallet = "main"

func walletNewCommand() *cobra.Command {
	return command("new [NAME]", "Create a wallet, encrypted with a password", cobra.MaximumNArgs(1), func(s *session, args []string) error {
		path, err := newWalletPath(args)
		if err != nil {
			return err
		}
		key, err := crypto.GenerateKey()
		if err != nil {
			return err
		}
		return s.keepNewKey(path, key)
	})
}

var walletNames = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// newWalletPath returns the path of a new wallet. It never overwrites another.
func newWalletPath(args []string) (string, error) {
	name := firstWallet
	if len(args) == 1 {
		name = args[0]
	}
	if !walletNames.MatchString(name) || strings.HasSuffix(name, ".json") || common.IsHexAddress(name) {
		return "", usagef("%q cannot name a wallet: use letters and digits", name)
	}
	folder, err := keystoreFolder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, name+".json")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return "", usagef("there is a wallet %s already: give the new one another name", name)
	}
	return path, nil
}

// keepNewKey asks for a password and stores the encrypted key.
func (s *session) keepNewKey(path string, key *ecdsa.PrivateKey) error {
	password, err := s.newPassword()
	if err != nil {
		return err
	}
	return s.keepKey(path, key, password)
}

// saveKey stores a key, encrypted with a password.
func (s *session) saveKey(path string, key *ecdsa.PrivateKey, password string) error {
	k, err := lockKey(key, password, scryptN)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(k)
	if err != nil {
		return err
	}
	return writeFile(path, raw)
}

func (s *session) keepKey(path string, key *ecdsa.PrivateKey, password string) error {
	if err := s.saveKey(path, key, password); err != nil {
		return err
	}
	fmt.Fprintf(s.errs, "the wallet is in %s; back up this file and its password: without both, everything that the wallet owns is lost\n", path)
	return s.showAddress(crypto.PubkeyToAddress(key.PublicKey))
}

func (s *session) showAddress(a common.Address) error {
	return s.show(map[string]string{"walletAddress": strings.ToLower(a.Hex())}, list{rows: [][]string{{a.Hex()}}})
}

func walletImportCommand() *cobra.Command {
	var from string
	cmd := command("import [NAME]", "Import a private key, or a keystore file of another program", cobra.MaximumNArgs(1), func(s *session, args []string) error {
		path, err := newWalletPath(args)
		if err != nil {
			return err
		}
		text, err := s.readSecret(from, "Private key: ", "--from")
		if err != nil {
			return err
		}
		if !strings.HasPrefix(text, "{") {
			return s.importKey(path, text)
		}
		k, err := parseKeystore([]byte(text))
		if err != nil {
			return err
		}
		password, err := s.password("Password of the file: ")
		if err != nil {
			return err
		}
		key, err := k.unlock(password)
		if err != nil {
			return err
		}
		return s.keepKey(path, key, password)
	})
	cmd.Flags().StringVar(&from, "from", "", "file with the key in hex, or a keystore file; - is stdin")
	return cmd
}

func (s *session) importKey(path, text string) error {
	key, err := crypto.HexToECDSA(strings.TrimPrefix(text, "0x"))
	if err != nil {
		return errors.New("this is not a private key: a key has 64 hex digits") // does not quote the input
	}
	return s.keepNewKey(path, key)
}

// readSecret reads a secret from a file, or stdin for "-", or asks for it.
func (s *session) readSecret(path, prompt, flag string) (string, error) {
	if path == "" {
		text, err := s.secret(prompt, flag)
		return strings.TrimSpace(text), err
	}
	raw, err := s.readFile(path)
	return strings.TrimSpace(string(raw)), err
}

func walletListCommand() *cobra.Command {
	return command("ls", "List the wallets", cobra.NoArgs, func(s *session, _ []string) error {
		all, unread := wallets()
		if len(all) == 0 && unread != nil {
			return unread
		}
		type walletObject struct {
			Name    string `json:"name"`
			Address string `json:"walletAddress"`
			Path    string `json:"path"`
		}
		out := []walletObject{}
		l := list{heads: []string{"NAME", "ADDRESS", "FILE"}, empty: "no wallets; `deed wallet new` makes one"}
		for _, w := range all {
			a, _ := w.address() // wallets that this program wrote always have it
			out = append(out, walletObject{w.name, strings.ToLower(a.Hex()), w.path})
			l.add(w.name, a.Hex(), w.path)
		}
		return errors.Join(s.show(out, l), unread)
	})
}

func walletAddressCommand() *cobra.Command {
	return command("address", "Print the address of the wallet", cobra.NoArgs, func(s *session, _ []string) error {
		w, err := s.signer()
		if err != nil {
			return err
		}
		return s.showAddress(w.Address())
	})
}

func walletBalanceCommand() *cobra.Command {
	var rpc string
	cmd := command("balance", "Print the USDC balance of the wallet", cobra.NoArgs, func(s *session, _ []string) error {
		w, err := s.signer()
		if err != nil {
			return err
		}
		c, err := s.open()
		if err != nil {
			return err
		}
		balance, err := c.Balance(s.ctx, rpc, w.Address())
		if client.CodeOf(err) == client.CodeNotFound && rpc == "" {
			return usagef("this service is no sandbox: name a JSON-RPC of its chain with --rpc")
		}
		if err != nil {
			return err
		}
		return s.show(map[string]string{"balance_usd": balance.String()}, list{rows: [][]string{{balance.String()}}})
	})
	cmd.Flags().StringVar(&rpc, "rpc", "", "JSON-RPC URL of the chain (default: that of the sandbox)")
	return cmd
}

func walletFaucetCommand() *cobra.Command {
	var amount string
	cmd := command("faucet", "Get test USDC from a sandbox", cobra.NoArgs, func(s *session, _ []string) error {
		w, err := s.signer()
		if err != nil {
			return err
		}
		c, err := s.open()
		if err != nil {
			return err
		}
		out, err := c.Faucet(s.ctx, api.FaucetRequest{WalletAddress: w.Address().Hex(), Amount: amount})
		if err != nil {
			return err
		}
		return s.show(out, list{rows: [][]string{{"balance", out.Balance + " USDC"}, {"transaction", out.TxHash}}})
	})
	cmd.Flags().StringVar(&amount, "amount", "", "amount in USDC (default 1000.00)")
	return cmd
}

package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ethereum/go-ethereum/common"

	"deed.example/deed/client"
)

// A walletFile is a keystore in a file.
type walletFile struct {
	name string // of the file, without its ending
	path string
	*keystore
}

func keystoreFolder() (string, error) {
	folder, err := configFolder()
	return filepath.Join(folder, "keystore"), err
}

func readWallet(path string) (walletFile, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return walletFile{}, err
	}
	k, err := parseKeystore(raw)
	if err != nil {
		return walletFile{}, fmt.Errorf("%s: %w", path, err)
	}
	return walletFile{strings.TrimSuffix(filepath.Base(path), ".json"), path, k}, nil
}

// wallets returns the keystores in the configuration folder, by name, and why others there
// cannot be read.
func wallets() (all []walletFile, unread error) {
	folder, err := keystoreFolder()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		w, err := readWallet(filepath.Join(folder, e.Name()))
		if err != nil {
			unread = errors.Join(unread, err)
			continue
		}
		all = append(all, w)
	}
	return all, unread
}

// findWallet returns a wallet by path, name or address. "" means the only one.
func findWallet(word string) (walletFile, error) {
	if strings.ContainsRune(word, filepath.Separator) || strings.HasSuffix(word, ".json") {
		return readWallet(word)
	}
	all, unread := wallets()
	if word == "" {
		switch {
		case unread != nil && len(all) == 0:
			return walletFile{}, unread
		case unread != nil: // it may be the one
			return walletFile{}, usagef("%w: move it away, or choose a wallet with --wallet", unread)
		case len(all) == 0:
			return walletFile{}, noWallet("there is no wallet: create one with `deed wallet new`, or set DEED_PRIVATE_KEY")
		case len(all) > 1:
			return walletFile{}, usagef("there are %d wallets: choose one with --wallet, or make one the default with `deed wallet use NAME`", len(all))
		}
		return all[0], nil
	}
	for _, w := range all {
		address, ok := w.address()
		if w.name == word || ok && common.IsHexAddress(word) && address == common.HexToAddress(word) {
			return w, nil
		}
	}
	if unread != nil {
		return walletFile{}, unread
	}
	return walletFile{}, noWallet(fmt.Sprintf("there is no wallet %s: `deed wallet ls` lists them", word))
}

// noWallet is the error for a missing wallet.
type noWallet string

func (e noWallet) Error() string { return string(e) }

// Is makes it an ErrNotSignedIn, without its words: not every call needs a sign-in.
func (noWallet) Is(target error) bool { return target == client.ErrNotSignedIn }

// namedWallet returns the wallet of --wallet, of DEED_WALLET or of the context. It is
// empty if none is named, or if a key in DEED_PRIVATE_KEY takes precedence.
func (s *session) namedWallet() string {
	if s.wallet != "" || os.Getenv("DEED_PRIVATE_KEY") != "" {
		return s.wallet
	}
	return cmp.Or(os.Getenv("DEED_WALLET"), s.context.Wallet)
}

// signer returns the wallet to use: the command of --signer, or the wallet of
// --wallet, of DEED_PRIVATE_KEY, of DEED_WALLET, of the context, or the only one.
func (s *session) signer() (client.Signer, error) {
	if s.signerLine != "" {
		return s.newExternalSigner(s.signerLine, s.wallet)
	}
	word := s.namedWallet()
	if secret := os.Getenv("DEED_PRIVATE_KEY"); secret != "" && word == "" {
		key, err := client.ParseKey(secret)
		if err != nil {
			return nil, usagef("DEED_PRIVATE_KEY: %w", err)
		}
		return key, nil
	}
	w, err := findWallet(word)
	if err != nil {
		return nil, err
	}
	address, ok := w.address()
	if !ok {
		return nil, errors.New(w.path + " does not say whose key it holds: `deed wallet import` it")
	}
	return &lockedSigner{address: address, unlock: sync.OnceValues(func() (*client.Key, error) { return s.unlock(w) })}, nil
}

func (s *session) unlock(w walletFile) (*client.Key, error) {
	password, err := s.password("Password of " + w.name + ": ")
	if err != nil {
		return nil, err
	}
	key, err := w.keystore.unlock(password)
	if errors.Is(err, errPassword) {
		return nil, fmt.Errorf("%w %s: run the command again with the right one, or name its file with --password-file", err, w.name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.path, err)
	}
	return client.NewKey(key), nil
}

// A lockedSigner asks for the password when it signs for the first time.
type lockedSigner struct {
	address common.Address
	unlock  func() (*client.Key, error)
}

// Address returns the address in the file.
func (l *lockedSigner) Address() common.Address { return l.address }

// SignMessage unlocks the key and signs.
func (l *lockedSigner) SignMessage(ctx context.Context, text string) ([]byte, error) {
	key, err := l.unlock()
	if err != nil {
		return nil, err
	}
	return key.SignMessage(ctx, text)
}

// SignTypedData unlocks the key and signs.
func (l *lockedSigner) SignTypedData(ctx context.Context, data client.TypedData) ([]byte, error) {
	key, err := l.unlock()
	if err != nil {
		return nil, err
	}
	return key.SignTypedData(ctx, data)
}

package file_test

import (
	"crypto/ecdsa"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed"
	"deed.example/deed/internal/signer"
	"deed.example/deed/internal/signer/file"
	"deed.example/deed/internal/signer/signertest"
)

func write(t *testing.T, text string, mode os.FileMode) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSigner(t *testing.T) {
	for name, prefix := range map[string]string{"plain": "", "with 0x": "0x"} {
		t.Run(name, func(t *testing.T) {
			signertest.Run(t, func(t *testing.T, key *ecdsa.PrivateKey) signer.Signer {
				s, err := file.Open(write(t, prefix+hex.EncodeToString(crypto.FromECDSA(key))+"\n", 0o600))
				if err != nil {
					t.Fatal(err)
				}
				return s
			})
		})
	}
}

// Nodes that start at once on one folder have the same key, which stays.
func TestKeyIsCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	addresses := make([]deed.Wallet, 16)
	fresh := make([]bool, len(addresses))
	var wg sync.WaitGroup
	for i := range addresses {
		wg.Go(func() {
			s, created, err := file.OpenOrCreate(path)
			if err != nil {
				t.Error(err)
				return
			}
			addresses[i], fresh[i] = s.Address(), created
		})
	}
	wg.Wait()
	again, err := file.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	created := 0
	for i, address := range addresses {
		if address != again.Address() {
			t.Errorf("got %s and %s", address, again.Address())
		}
		if fresh[i] {
			created++
		}
	}
	if created != 1 {
		t.Errorf("got %d that created the key, want 1", created)
	}
}

func TestBadFilesAreRefused(t *testing.T) {
	for _, text := range []string{"", "hunter2", "0x" + strings.Repeat("z", 60)} {
		if _, err := file.Open(write(t, text, 0o600)); err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%q: got %v, want an error that does not quote the file", text, err)
		}
	}
	readable := write(t, strings.Repeat("1", 64), 0o640)
	if _, err := file.Open(readable); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("got %v, want what to do", err)
	}
	if _, err := file.Open(""); err == nil {
		t.Error("a signer without a file was opened")
	}
	if _, err := file.Open(filepath.Join(t.TempDir(), "key")); !os.IsNotExist(err) {
		t.Errorf("got %v, want that there is no such file", err)
	}
}

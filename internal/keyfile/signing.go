package keyfile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// OpenSigning reads the key on P-256 in the file at path, PKCS #8 in PEM, and
// makes it when it is not there. Nodes that start at once end up with the same
// key.
func OpenSigning(path string) (*ecdsa.PrivateKey, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := makeSigning(path); err != nil {
			return nil, fmt.Errorf("make the signing key: %w", err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("the signing key in %s can be read by others: chmod 600 it", path)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the signing key: %w", err)
	}
	key, err := parseSigning(raw)
	if err != nil {
		return nil, fmt.Errorf("read the signing key in %s: %w", path, err)
	}
	return key, nil
}

func parseSigning(raw []byte) (*ecdsa.PrivateKey, error) {
	block, _ := pem.Decode(raw)
	if block == nil {
		return nil, errors.New("it is not PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return nil, errors.New("it is not a key on P-256")
	}
	return key, nil
}

// makeSigning writes a new key, unless another was quicker: a link, unlike a
// rename, never replaces a file.
func makeSigning(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(path), ".key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // what the link has stays
	err = pem.Encode(next, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	if err = errors.Join(err, next.Sync(), next.Close()); err != nil {
		return err
	}
	if err := os.Link(next.Name(), path); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

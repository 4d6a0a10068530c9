package keyfile

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"

	"deed.example/deed/internal/secretfile"
)

// OpenSigning reads the P-256 keys in the file at path, PKCS #8 in PEM, or creates it
// with one. The first signs, all are published: so a key is known before it signs, and
// for as long as something that it signed is in a cache. Nodes that start concurrently
// end up with the same key.
func OpenSigning(path string) ([]*ecdsa.PrivateKey, error) {
	raw, _, err := secretfile.ReadOrCreate(path, newSigning)
	if err != nil {
		return nil, fmt.Errorf("open the signing key: %w", err)
	}
	return parseSigningKeys(path, raw)
}

// CheckSigning returns the error that OpenSigning would, and creates nothing: that of a
// missing file is fs.ErrNotExist.
func CheckSigning(path string) error {
	raw, err := secretfile.Read(path)
	if err != nil {
		return fmt.Errorf("open the signing key: %w", err)
	}
	_, err = parseSigningKeys(path, raw)
	return err
}

func parseSigningKeys(path string, raw []byte) ([]*ecdsa.PrivateKey, error) {
	var keys []*ecdsa.PrivateKey
	for block, rest := pem.Decode(raw); block != nil; block, rest = pem.Decode(rest) {
		key, err := parseSigning(block)
		if err != nil {
			return nil, fmt.Errorf("read the signing key in %s: %w", path, err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("read the signing key in %s: it is not PEM", path)
	}
	return keys, nil
}

func parseSigning(block *pem.Block) (*ecdsa.PrivateKey, error) {
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

// newSigning returns a new key, encoded.
func newSigning() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = pem.Encode(&out, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	return out.Bytes(), err
}

// Package seal encrypts secrets that are stored in the database for a while, such
// as the auth code of a transfer, so that a copy of the database does not reveal
// them.
//
// The key is derived from a secret file that all nodes share (HKDF, RFC 5869) and
// used with AES-256-GCM. The ciphertext is bound to its context (the row it belongs
// to): in another row it cannot be decrypted. When the file has several secrets the
// first encrypts and any of them decrypts.
package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"deed.example/deed"
)

// purpose separates these keys from all others that are derived from the same
// secret.
const purpose = "deed: secrets in the database, version 1"

// A Box encrypts and decrypts. Create one with New. It is safe for concurrent use.
type Box struct{ keys []cipher.AEAD }

// New returns a box with the keys that are derived from the secrets.
func New(secrets ...deed.Secret) (*Box, error) {
	if len(secrets) == 0 {
		return nil, errors.New("no secret is configured")
	}
	b := &Box{}
	for _, s := range secrets {
		key, err := hkdf.Key(sha256.New, []byte(s.Reveal()), nil, purpose, 32)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		b.keys = append(b.keys, aead)
	}
	return b, nil
}

// Seal encrypts a text, bound to the context about.
func (b *Box) Seal(about, plain string) (string, error) {
	if plain == "" {
		return "", errors.New("the text to encrypt is empty")
	}
	return base64.RawStdEncoding.EncodeToString(b.keys[0].Seal(nil, nil, []byte(plain), []byte(about))), nil
}

// Open decrypts a text that was encrypted with the same context.
func (b *Box) Open(about, sealed string) (string, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", errors.New("the ciphertext is not base64")
	}
	for _, key := range b.keys {
		if plain, err := key.Open(nil, nil, raw, []byte(about)); err == nil {
			return string(plain), nil
		}
	}
	return "", fmt.Errorf("none of the %d keys decrypts it", len(b.keys))
}

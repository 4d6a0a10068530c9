// Package seal encrypts secrets that the database must keep for a while, such as
// the auth code of a transfer, so that a copy of the database does not tell them.
//
// The key is derived from a secret file that all nodes share (HKDF, RFC 5869) and
// used with AES-256-GCM. What is sealed is bound to what it is about: moved to
// another row it cannot be opened. When the file holds several secrets the first
// seals and any of them opens.
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

// purpose separates these keys from all others that come from the same secret.
const purpose = "deed: secrets in the database, version 1"

// A Box seals and opens. Make one with New. It is safe for concurrent use.
type Box struct{ keys []cipher.AEAD }

// New returns a box with the keys that come from the secrets.
func New(secrets ...deed.Secret) (*Box, error) {
	if len(secrets) == 0 {
		return nil, errors.New("there is no secret to seal with")
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

// Seal encrypts a text about something.
func (b *Box) Seal(about, plain string) (string, error) {
	if plain == "" {
		return "", errors.New("there is nothing to seal")
	}
	return base64.RawStdEncoding.EncodeToString(b.keys[0].Seal(nil, nil, []byte(plain), []byte(about))), nil
}

// Open returns the text that was sealed about the same thing.
func (b *Box) Open(about, sealed string) (string, error) {
	raw, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", errors.New("what is sealed is not base64")
	}
	for _, key := range b.keys {
		if plain, err := key.Open(nil, nil, raw, []byte(about)); err == nil {
			return string(plain), nil
		}
	}
	return "", fmt.Errorf("none of our %d keys opens it", len(b.keys))
}

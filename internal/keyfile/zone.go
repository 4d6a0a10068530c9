package keyfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/secretfile"
)

// zoneSecretBytes is the length of the master secret.
const zoneSecretBytes = 32

// OpenZoneSecret reads the master secret that all zone keys are derived from, in hex,
// from the file at path, or creates it.
func OpenZoneSecret(path string) (deed.Secret, error) {
	raw, _, err := secretfile.ReadOrCreate(path, func() ([]byte, error) {
		secret := make([]byte, zoneSecretBytes)
		rand.Read(secret) // never fails
		return []byte(hex.EncodeToString(secret) + "\n"), nil
	})
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(raw))
	if len(secret) < 2*zoneSecretBytes {
		return "", fmt.Errorf("%s has no secret of %d bytes in hex", path, zoneSecretBytes) // the content must not leak
	}
	return deed.Secret(secret), nil
}

package keyfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/secretfile"
)

// zoneSecretBytes is how long the secret of all zones is.
const zoneSecretBytes = 32

// OpenZoneSecret reads the secret that the keys of all zones are derived from,
// in hex, from the file at path, and makes it when it is not there.
func OpenZoneSecret(path string) (deed.Secret, error) {
	raw, _, err := secretfile.ReadOrCreate(path, func() ([]byte, error) {
		secret := make([]byte, zoneSecretBytes)
		rand.Read(secret) // it never fails
		return []byte(hex.EncodeToString(secret) + "\n"), nil
	})
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(raw))
	if len(secret) < 2*zoneSecretBytes {
		return "", fmt.Errorf("%s holds no secret of %d bytes in hex", path, zoneSecretBytes) // not a word of what it holds
	}
	return deed.Secret(secret), nil
}

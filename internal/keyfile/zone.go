package keyfile

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"deed.example/deed"
	"deed.example/deed/internal/secretfile"
)

// zoneSecretBytes is the length of the master secret.
const zoneSecretBytes = 32

// OpenZoneSecrets reads the master secrets that all zone keys are derived from, in
// hex, one in a line, from the file at path, or creates it with one secret. The first
// is the newest: new keys are derived from it.
func OpenZoneSecrets(path string) ([]deed.Secret, error) {
	raw, _, err := secretfile.ReadOrCreate(path, func() ([]byte, error) {
		secret := make([]byte, zoneSecretBytes)
		rand.Read(secret) // never fails
		return []byte(hex.EncodeToString(secret) + "\n"), nil
	})
	if err != nil {
		return nil, err
	}
	return parseZoneSecrets(path, raw)
}

// CheckZoneSecrets returns the error that OpenZoneSecrets would, and creates nothing: that
// of a missing file is fs.ErrNotExist.
func CheckZoneSecrets(path string) error {
	raw, err := secretfile.Read(path)
	if err != nil {
		return err
	}
	_, err = parseZoneSecrets(path, raw)
	return err
}

func parseZoneSecrets(path string, raw []byte) (secrets []deed.Secret, err error) {
	for _, line := range strings.Fields(string(raw)) {
		secret := deed.Secret(line)
		if len(line) < 2*zoneSecretBytes || slices.Contains(secrets, secret) {
			return nil, fmt.Errorf("%s must have different secrets of %d bytes in hex, one in a line", path, zoneSecretBytes) // the content must not leak
		}
		secrets = append(secrets, secret)
	}
	if len(secrets) == 0 {
		return nil, fmt.Errorf("%s has no secret of %d bytes in hex", path, zoneSecretBytes)
	}
	return secrets, nil
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"deed.example/deed/internal/secretfile"
)

// configFolder is where we keep things between runs.
func configFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no configuration folder: set XDG_CONFIG_HOME or HOME: %w", err)
	}
	return filepath.Join(dir, "deed"), nil
}

// writeFile puts a file in place in one step: after a crash there is the old one
// or the new one, whole. Only its owner can read it.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return secretfile.Write(path, data)
}

package cli

import (
	"fmt"
	"os"
	"path/filepath"

	"deed.example/deed/internal/secretfile"
)

// configFolder returns the folder for files that are kept between runs.
func configFolder() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("there is no configuration folder: set XDG_CONFIG_HOME or HOME: %w", err)
	}
	return filepath.Join(dir, "deed"), nil
}

// writeFile replaces a file atomically: after a crash there is either the old or
// the new content. Only its owner can read it.
func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return secretfile.Write(path, data)
}

package main

import (
	"github.com/spf13/cobra"

	"deed.example/deed/internal/keyfile"
)

// keysCommand rotates the token keys.
func keysCommand() *cobra.Command {
	keys := &cobra.Command{Use: "keys", Short: "Manage the keys that sign tokens"}
	keys.AddCommand(&cobra.Command{
		Use:   "rotate FILE",
		Short: "Put a new key first in FILE; running nodes use it within a second and still accept the old ones",
		Args:  cobra.ExactArgs(1),
		RunE:  func(_ *cobra.Command, args []string) error { return keyfile.Rotate(args[0]) },
	})
	return keys
}

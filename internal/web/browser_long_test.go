//go:build long

package web_test

import "testing"

// What does not fit into `make test`: contract wallets, settings, slow registries,
// pictures of each view.
func TestBrowserLong(t *testing.T) { browse(t, "test/long.mjs") }

//go:build long

package web_test

import "testing"

// What does not fit into `make test`: settings, zone files, slow registries, pictures
// of each view.
func TestBrowserLong(t *testing.T) { browse(t, "test/long.mjs") }

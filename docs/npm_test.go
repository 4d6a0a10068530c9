//go:build !long

package docs_test

import "testing"

// packages installs npm packages into a folder; nil because that takes too long.
var packages func(t *testing.T, dir string)

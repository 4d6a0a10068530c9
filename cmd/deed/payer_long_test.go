//go:build long

package main

import "testing"

// The client of version 1 brings half of npm with it, so it is not run with every
// test.
func TestStockPayerOfVersion1(t *testing.T) {
	buyWith(t, start(t, t.TempDir()), "testdata/payers-v1", "fetch.mjs", "first.com")
}

//go:build !unix

package main

// forbidCoreDumps has nothing to forbid here.
func forbidCoreDumps() error { return nil }

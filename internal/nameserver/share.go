package nameserver

import "unsafe"

// shareString returns the bytes as a string without a copy. They must never be
// changed.
func shareString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

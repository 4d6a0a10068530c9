//go:build !unix

package httpapi

// connLimit returns how many connections may be open at once.
func connLimit() int { return maxAllConns }

// Package urlerror removes URLs from errors.
//
// Packages net/http and net/url put the URL into their errors, and the addresses of RPC
// endpoints, signers and caches may contain a key or a password, which must not be
// logged.
package urlerror

import (
	"errors"
	"net/url"
)

// Cause returns the cause of an error of package http or url, without the URL. Other
// errors, and nil, are returned as they are.
func Cause(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// The exit codes.
const (
	exitOther       = 1
	exitUsage       = 2
	exitSignIn      = 3
	exitPayment     = 4 // required, insufficient, over the limit
	exitNotFound    = 5
	exitConflict    = 6
	exitRateLimited = 7
	exitService     = 8 // the service or the registry
	exitRunning     = 9 // the order is still running
	exitInterrupted = 130
)

// A usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Usage returns an error in the command line.
func Usage(err error) error { return usageError{err} }

// A notFoundError is about something that is not there.
type notFoundError struct{ error }

// NotFound returns an error about something that is not there.
func NotFound(err error) error { return notFoundError{err} }

// A paymentError is a payment that was not allowed.
type paymentError struct{ error }

// errRunning is returned when an order is still running.
var errRunning = errors.New("the order is still running")

// exits maps the codes of the service to exit codes.
var exits = map[string]int{
	client.CodeValidation:          exitUsage,
	client.CodeTLDNotSupported:     exitUsage,
	client.CodeTooExpensive:        exitPayment,
	client.CodeAuthRequired:        exitSignIn,
	client.CodeTokenExpired:        exitSignIn,
	client.CodeTokenInvalid:        exitSignIn,
	client.CodeOwnershipDenied:     exitSignIn,
	client.CodePaymentRequired:     exitPayment,
	client.CodePaymentInvalid:      exitPayment,
	client.CodePaymentInsufficient: exitPayment,
	client.CodeNotFound:            exitNotFound,
	client.CodeDomainUnavailable:   exitConflict,
	client.CodeRateLimited:         exitRateLimited,
	client.CodeRegistrationFailed:  exitService,
	client.CodeDNS:                 exitService,
	client.CodeUnavailable:         exitService,
}

// ExitCode returns the exit code of an error.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if errors.Is(err, context.Canceled) {
		return exitInterrupted
	}
	if errors.Is(err, errUnhealthy) {
		return exitService
	}
	if e, ok := errors.AsType[*client.Error](err); ok && !isUnknown(err) {
		return exitOf(e)
	}
	switch {
	case is[usageError](err):
		return exitUsage
	case is[notFoundError](err):
		return exitNotFound
	case errors.Is(err, client.ErrNotSignedIn), errors.Is(err, errPassword):
		return exitSignIn
	case is[*client.OverCap](err), is[*client.OverBudget](err), is[paymentError](err), errors.Is(err, client.ErrBadOffer):
		return exitPayment
	case isUnknown(err), errors.Is(err, errRunning):
		return exitRunning
	case is[*url.Error](err), errors.Is(err, context.DeadlineExceeded):
		return exitService
	}
	return exitOther
}

// exitOf returns the exit code of an error of the service. A price above the limit
// of the request counts as a payment error.
func exitOf(e *client.Error) int {
	if _, over := overCap(e); over {
		return exitPayment
	}
	if code, known := exits[e.Code]; known {
		return code
	}
	return exitService
}

// overCap returns what the service says about the limit of a request, if it refused that.
func overCap(e *client.Error) (reason string, over bool) {
	i := slices.IndexFunc(e.Details, func(d api.Detail) bool { return d.Field == "maxPriceUsd" })
	if i < 0 {
		return "", false
	}
	return e.Details[i].Reason, true
}

func isUnknown(err error) bool { return is[*client.Unknown](err) }

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

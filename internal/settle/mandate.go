package settle

import (
	"context"
	"errors"
)

// A MandateVerifier checks authorizations that are signed long before they are used. A
// Verifier may implement it; with one that does not, mandates are not accepted.
type MandateVerifier interface {
	// CheckSigned checks an authorization whose time has not come: its form, its
	// signature, and that its nonce is unused. It fails as Check does; the payer need
	// not have the money yet.
	CheckSigned(ctx context.Context, a Authorization) error

	// CheckDue is Check for an authorization of a mandate, which may be valid for
	// months and may pay to a treasury that we used before.
	CheckDue(ctx context.Context, a Authorization, open []string) (Funds, error)
}

// Errors of a Verifier that are wrapped by a CodePaymentInvalid, unless they say otherwise.
var (
	// ErrSpent says that the nonce was cancelled, or used for another transfer.
	ErrSpent = errors.New("the nonce is used")

	// ErrNoFunds says that the balance is too low, and everything else is valid, the
	// signature included. It is wrapped by a CodePaymentInsufficient.
	ErrNoFunds = errors.New("only the balance is too low")

	// ErrNotYet says that the time of the authorization has not come by the chain's
	// clock.
	ErrNotYet = errors.New("the authorization is not valid yet")

	// ErrValidBefore says that the authorization has expired by the chain's clock, or
	// that it expires too soon or too late for us.
	ErrValidBefore = errors.New("the authorization does not end at a time that we accept")

	// ErrSignature says that the signature is not the payer's.
	ErrSignature = errors.New("the signature is not the payer's")
)

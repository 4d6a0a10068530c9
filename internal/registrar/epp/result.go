package epp

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"deed.example/deed"
	"deed.example/deed/internal/registrar"
)

// The result codes that are treated by themselves (RFC 5730, 3).
const (
	codeOK              = 1000
	codePending         = 1001
	codeNoMessages      = 1300
	codeMessage         = 1301
	codeUse             = 2002
	codeMissing         = 2003
	codeRange           = 2004
	codeSyntax          = 2005
	codeBilling         = 2104
	codeNotEligible     = 2106
	codeNoLogin         = 2200
	codeNotOurs         = 2201
	codeWrongAuth       = 2202
	codePendingTransfer = 2300
	codeNoTransfer      = 2301
	codeExists          = 2302
	codeNotFound        = 2303
	codeStatus          = 2304
	codeAssociation     = 2305
	codePolicyValue     = 2306
	codePolicy          = 2308
	codeFailed          = 2400
	codeClosing         = 2500 // and above: the registry closes the session
	codeNoLoginClosing  = 2501
	codeSessionLimit    = 2502
)

// A refusal is a result of the registry that is no success. Its text is for the log
// only.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("result %d %s", r.code, r.text) }

// resultError returns the response as a refusal.
func resultError(r response) *refusal {
	text := []string{deed.Quoted(r.Results[0].Message)}
	for _, one := range r.Results {
		for _, reason := range one.Reasons {
			text = append(text, deed.Quoted(reason))
		}
	}
	return &refusal{r.code(), strings.Join(text[:min(len(text), 4)], " ")}
}

// limitReached reports whether the registry refused a session because there are too many: it
// says so (2502), or it closes the connection. If that has another reason, the sessions that
// there are will end, too.
func limitReached(err error) bool {
	if r, ok := errors.AsType[*refusal](err); ok {
		return r.code == codeSessionLimit
	}
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET)
}

// refusedLogin reports whether the registry does not accept our password.
func refusedLogin(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && (r.code == codeNoLogin || r.code == codeNoLoginClosing)
}

// notLoggedIn reports whether the result may mean that the session is not logged in.
func notLoggedIn(r response) bool { return r.code() == codeUse || r.code() == codeNoLogin }

// succeeded reports whether the command was executed or is going to be.
func succeeded(r response) bool { return r.code() == codeOK || r.code() == codePending }

// unknown reports whether the result says nothing about the outcome: the registry
// failed, or the code is not one of a command.
func unknown(code int) bool {
	return code < 2000 || code == codeFailed || code >= codeClosing
}

// A moment is when a command is refused, which decides what that means.
type moment int

const (
	beforeMoney moment = iota // a check, or a change that is free
	afterMoney                // an order
)

// refused returns a result that is no success as an error: with a code when the
// command was not executed and never will be, and without one when that is unknown.
func (b *Backend) refused(r response, name string, when moment) error {
	cause := resultError(r)
	code, message := deed.CodeRegistrationFailed, "the registry refuses this for %s"
	switch c := r.code(); {
	case unknown(c):
		return fmt.Errorf("%s: %w", name, cause)
	case c == codeBilling:
		b.setBalance(0)
		b.logOnce("funds", "the registry refuses orders: the account has too little money", "result", cause.Error())
		return fmt.Errorf("%s: %w: %w", name, registrar.ErrFunds, cause)
	case c == codeExists:
		code, message = deed.CodeDomainUnavailable, "%s is taken"
	case c == codeNotFound:
		code, message = deed.CodeNotFound, "%s is not registered"
	case c == codeNotOurs:
		b.logOnce("not ours "+name, "the registry says that a name is not in our account", "domain", name)
		code, message = deed.CodeNotFound, "%s is not in our account"
	case c == codeWrongAuth:
		code, message = deed.CodeValidation, "this is not the code of %s"
	case c == codeStatus, c == codeAssociation, c == codeNotEligible, c == codePendingTransfer:
		message = "%s is locked or busy at the registry"
		if when == beforeMoney {
			code = deed.CodeValidation
		}
	case c == codeMissing, c == codeRange, c == codeSyntax, c == codePolicyValue, c == codePolicy:
		code, message = deed.CodeValidation, "the registry does not accept this for %s"
	case when == beforeMoney:
		code = deed.CodeValidation
	}
	return &deed.Error{Code: code, Message: fmt.Sprintf(message, name), Err: cause}
}

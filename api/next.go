package api

import (
	"mime"
	"time"
)

// NextHeader is the response header with the next step of an error for programs:
// `list_records; domain=example.com`. It has the syntax of a Content-Disposition.
// The hint in the body says the same in words.
const NextHeader = "Deed-Next"

// Next is what a caller can do after an error. Domain, Wallet and Within are its
// arguments; those that the action does not use are empty.
type Next struct {
	Action string // one of those in docs/errors.md; "" if there is none
	Domain string
	Wallet string
	Within time.Duration // how long it can be done
}

// String returns the value of NextHeader.
func (n Next) String() string {
	args := map[string]string{}
	if n.Domain != "" {
		args["domain"] = n.Domain
	}
	if n.Wallet != "" {
		args["wallet"] = n.Wallet
	}
	if n.Within != 0 {
		args["within"] = n.Within.String()
	}
	return mime.FormatMediaType(n.Action, args)
}

// ParseNext returns the next step that a value of NextHeader describes. A value
// that cannot be read is ignored: a caller can always do without it.
func ParseNext(value string) Next {
	action, args, err := mime.ParseMediaType(value)
	if err != nil {
		return Next{}
	}
	within, _ := time.ParseDuration(args["within"]) // 0 if it is missing
	return Next{Action: action, Domain: args["domain"], Wallet: args["wallet"], Within: within}
}

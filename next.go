package deed

import (
	"errors"
	"time"
)

// An Action is something a caller can do after an error. The set is closed: each
// inbound adapter has its own words for every action (a path, a command, a tool).
type Action string

// The actions. The comment of each names the arguments of Next that it uses.
const (
	ActionSignIn         Action = "sign_in"         // sign in with the wallet
	ActionRefresh        Action = "refresh_session" // exchange the refresh token for new tokens
	ActionPay            Action = "pay"             // pay the offer, with the same request again
	ActionClaimPayment   Action = "claim_payment"   // sign in as Wallet and repeat the request, until Within has passed
	ActionListPrices     Action = "list_prices"     // list the TLDs that are sold, with their prices
	ActionSearch         Action = "search_domains"  // look for another name like Domain
	ActionCheck          Action = "check_domains"   // check the exact name Domain, which may be empty
	ActionListRecords    Action = "list_records"    // list the DNS records of Domain
	ActionListRevisions  Action = "list_revisions"  // list the revisions of the zone of Domain
	ActionSetNameservers Action = "set_nameservers" // change the name servers of Domain
	ActionCheckHealth    Action = "check_health"    // ask which part of the service is down
	ActionResetLimits    Action = "reset_limits"    // give everybody a fresh window; only in a sandbox
	ActionGetTestMoney   Action = "get_test_money"  // have the faucet fill the wallet; only in a sandbox
)

// Actions returns every action.
func Actions() []Action {
	return []Action{
		ActionSignIn, ActionRefresh, ActionPay, ActionClaimPayment, ActionListPrices, ActionSearch,
		ActionCheck, ActionListRecords, ActionListRevisions, ActionSetNameservers, ActionCheckHealth, ActionResetLimits,
		ActionGetTestMoney,
	}
}

// Next is what the caller of a failed request can do next, for programs. The zero
// Next means that there is nothing to suggest.
type Next struct {
	Action Action
	Domain Name
	Wallet Wallet
	Within time.Duration
}

// WithNext returns err with a next step. An error without an Error in its chain is
// returned unchanged, because its caller is told nothing of it.
func WithNext(err error, n Next) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	with := *e
	with.Next = n
	return &with
}

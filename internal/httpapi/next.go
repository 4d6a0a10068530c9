package httpapi

import (
	"fmt"
	"net/http"

	"deed.example/deed"
	"deed.example/deed/api"
)

// nextWords are the calls of the HTTP interface that do each action.
var nextWords = map[deed.Action]func(deed.Next) string{
	deed.ActionSignIn:  func(deed.Next) string { return "sign in: GET /auth/nonce, sign the message, POST /auth/verify" },
	deed.ActionRefresh: func(deed.Next) string { return "exchange the refresh token: POST /auth/refresh" },
	deed.ActionPay: func(deed.Next) string {
		return "pay with an x402 client (version 1 or 2); most refuse more than 1.00 USDC (version 1: 0.10) until you raise their cap"
	},
	deed.ActionClaimPayment: func(n deed.Next) string {
		return fmt.Sprintf("to buy with it instead, sign in as %s within %s and repeat the request with the access token", n.Wallet, n.Within)
	},
	deed.ActionListPrices: func(deed.Next) string { return "GET /domains/pricing lists the TLDs we sell" },
	deed.ActionSearch: func(n deed.Next) string {
		return fmt.Sprintf("GET /domains/search?query=%s shows under which TLDs the label is available", n.Domain.Label())
	},
	deed.ActionCheck: func(n deed.Next) string {
		if n.Domain == "" {
			return "GET /domains/check checks exact names"
		}
		return fmt.Sprintf("GET /domains/check?domains=%s checks this exact name", n.Domain)
	},
	deed.ActionListRecords:    func(n deed.Next) string { return fmt.Sprintf("GET /dns/%s lists the records", n.Domain) },
	deed.ActionListRevisions:  func(n deed.Next) string { return fmt.Sprintf("GET /dns/%s/revisions lists the revisions", n.Domain) },
	deed.ActionSetNameservers: func(n deed.Next) string { return fmt.Sprintf("PUT /domains/%s/nameservers changes them", n.Domain) },
	deed.ActionResetLimits: func(deed.Next) string {
		return "this is a sandbox: POST /sandbox/limits/reset gives everybody a fresh window"
	},
	deed.ActionGetTestMoney: func(deed.Next) string {
		return "this is a sandbox: POST /sandbox/faucet fills the wallet with test money"
	},
	deed.ActionCheckHealth: func(deed.Next) string { return "GET /health says what is wrong" },
}

// hint returns what to do after an error, in the words of HTTP.
func hint(e *deed.Error) string {
	if words, ok := nextWords[e.Next.Action]; ok {
		return words(e.Next)
	}
	return e.Hint
}

// setNext sets the header with the next step of an error, for the adapters and
// clients that have words of their own for it.
func setNext(h http.Header, n deed.Next) {
	if n.Action != "" {
		h.Set(api.NextHeader, api.Next{Action: string(n.Action), Domain: string(n.Domain), Wallet: string(n.Wallet), Within: n.Within}.String())
	}
}

package cli

import (
	"fmt"
	"strings"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/client"
)

// nextWords are the commands that do each action. An action without a command is
// not listed: the service's own hint stands.
var nextWords = map[deed.Action]func(api.Next) string{
	deed.ActionSignIn:  func(api.Next) string { return "sign in: deed login" },
	deed.ActionRefresh: func(api.Next) string { return "sign in again: deed login" },
	deed.ActionPay: func(api.Next) string {
		return "confirm the price when the command asks, or give --yes"
	},
	deed.ActionClaimPayment: func(n api.Next) string {
		return fmt.Sprintf("to buy with it instead, run deed login with the wallet %s and repeat the command within %s", n.Wallet, n.Within)
	},
	deed.ActionListPrices: func(api.Next) string { return "deed price lists the TLDs that are sold" },
	deed.ActionSearch: func(n api.Next) string {
		label, _, _ := strings.Cut(n.Domain, ".")
		return fmt.Sprintf("deed search %s shows under which TLDs the label is available", label)
	},
	deed.ActionCheck: func(n api.Next) string {
		if n.Domain == "" {
			return "deed check NAME checks exact names"
		}
		return fmt.Sprintf("deed check %s checks this exact name", n.Domain)
	},
	deed.ActionListRecords:   func(n api.Next) string { return fmt.Sprintf("deed dns ls %s lists the records", n.Domain) },
	deed.ActionListRevisions: func(n api.Next) string { return fmt.Sprintf("deed dns history %s lists the revisions", n.Domain) },
	deed.ActionResetLimits: func(api.Next) string {
		return "this is a sandbox: deed sandbox reset-limits gives everybody a fresh window"
	},
	deed.ActionGetTestMoney: func(api.Next) string {
		return "this is a sandbox: deed wallet faucet fills the wallet with test money"
	},
	deed.ActionCheckHealth:    func(api.Next) string { return "deed doctor says what is wrong" },
	deed.ActionSetNameservers: func(n api.Next) string { return fmt.Sprintf("deed domain ns %s SERVER... changes them", n.Domain) },
}

// hint returns what to do after an error of the service, in the words of the
// command line.
func hint(e *client.Error) string {
	if words, ok := nextWords[deed.Action(e.Next.Action)]; ok {
		return words(e.Next)
	}
	return e.Hint
}

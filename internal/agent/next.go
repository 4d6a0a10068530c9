package agent

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"deed.example/deed"
	"deed.example/deed/api"
	"deed.example/deed/internal/wirejson"
)

const signInWords = "sign in: sign_in_message with the address of your wallet gives a text, your wallet signs it (personal_sign), and sign_in turns both into an accessToken. " +
	"Send that as the argument access_token, or as Authorization: Bearer."

// nextWords are the tools that do each action, or what the user can do. An action
// that is not listed keeps the words of HTTP, because an agent may be able to call it.
var nextWords = map[deed.Action]func(api.Next) string{
	deed.ActionSignIn:  func(api.Next) string { return signInWords },
	deed.ActionRefresh: func(api.Next) string { return signInWords }, // no tool refreshes a session
	deed.ActionClaimPayment: func(n api.Next) string {
		return fmt.Sprintf("to buy with it instead, sign in as %s within %s (sign_in_message, sign_in) and make the same call with access_token and the same payment", n.Wallet, n.Within)
	},
	deed.ActionListPrices: func(api.Next) string {
		return "search_domains without tlds looks under TLDs we sell; get_pricing lists the TLDs we sell among those you name"
	},
	deed.ActionSearch: func(n api.Next) string {
		return fmt.Sprintf("search_domains with query %q shows under which TLDs the label is available", deed.Name(n.Domain).Label())
	},
	deed.ActionCheck: func(n api.Next) string {
		if n.Domain == "" {
			return "check_domains checks exact names"
		}
		return fmt.Sprintf("check_domains with domains [%q] checks this exact name", n.Domain)
	},
	deed.ActionListRevisions: func(n api.Next) string {
		return fmt.Sprintf("list_dns_revisions with domain %q lists the revisions", n.Domain)
	},
	deed.ActionSetNameservers: func(n api.Next) string {
		return fmt.Sprintf("set_nameservers with domain %q changes the name servers", n.Domain)
	},
	deed.ActionResetLimits: func(api.Next) string {
		return "this is a sandbox: the user can reset all limits with the command deed sandbox reset-limits"
	},
	deed.ActionGetTestMoney: func(api.Next) string {
		return "this is a sandbox: get_test_money fills the wallet with test money"
	},
	deed.ActionListRecords: func(n api.Next) string {
		return fmt.Sprintf("list_dns_records with domain %q lists the records", n.Domain)
	},
}

// forAgents returns an error of the HTTP interface with the next step as a tool,
// and with arguments in place of fields, so that an agent can follow it literally.
func (t Tool) forAgents(a Answer) Answer {
	var body map[string]jsontext.Value // other members stay as they are
	if a.Done() || json.Unmarshal(a.Body, &body) != nil {
		return a
	}
	next := api.ParseNext(a.Header.Get(api.NextHeader))
	if words, ok := nextWords[deed.Action(next.Action)]; ok {
		body["hint"] = quoted(words(next))
	}
	t.nameArguments(body)
	if raw, err := wirejson.Marshal(body); err == nil {
		a.Body = raw
	}
	return a
}

// nameArguments replaces the fields in the details of an error by arguments. A
// message that begins with the first of these fields is made anew from its detail.
func (t Tool) nameArguments(body map[string]jsontext.Value) {
	var details []api.Detail
	if json.Unmarshal(body["details"], &details) != nil || len(details) == 0 {
		return
	}
	first := details[0].Field
	for i, d := range details {
		details[i].Field = t.argumentOf(d.Field)
	}
	if details[0].Field != first {
		body["message"] = quoted(details[0].Field + ": " + details[0].Reason)
	}
	body["details"], _ = wirejson.Marshal(details) // strings cannot make it fail
}

// argumentOf returns the path of a field with the argument that it belongs to:
// ifRevision is if_revision, dns_records[2].ttl stays as it is.
func (t Tool) argumentOf(path string) string {
	end := strings.IndexAny(path, "[.")
	if end < 0 {
		end = len(path)
	}
	for _, a := range t.Arguments {
		if a.Field != "" && a.Field == path[:end] {
			return a.Name + path[end:]
		}
	}
	return path
}

func quoted(text string) jsontext.Value {
	raw, _ := wirejson.Marshal(text) // strings cannot make it fail
	return raw
}

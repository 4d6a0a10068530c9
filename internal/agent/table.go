package agent

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/openapi"
)

// A row is the hand-written part of a tool; the rest comes from openapi.yaml.
type row struct {
	name, title string
	endpoint    string // "POST /domains/register"
	description string // what it does, without how to pay for it
	flags       flag
	lists       []string // fields that the call takes comma-separated
	needs       []string // fields that are optional in the call, but required by the tool
	hints       map[string]string
	finish      func(args arguments, e *Executor, a Answer) Answer
}

type flag uint8

const (
	readOnly flag = 1 << iota
	destructive
	idempotent
	waits
)

// paymentNote tells clients that send payments how to pay for a tool.
const paymentNote = " It costs USDC: without a payment the answer is an offer (x402), with it the same call again does it, once."

var table = []row{
	{name: "search_domains", title: "Search domain names", endpoint: "GET /domains/search", flags: readOnly | idempotent, lists: []string{"tlds"},
		description: "Says under which TLDs a label is free, with the price of the first year and of later ones. Free of charge.",
		hints:       map[string]string{"tlds": "TLDs to look under, such as [\"com\", \"io\"], or [\"all\"]. Left out, a standard set."}},
	{name: "check_domains", title: "Check exact names", endpoint: "GET /domains/check", flags: readOnly | idempotent, lists: []string{"domains"},
		description: "Says which of up to 200 exact names are free, and their prices. Free of charge.",
		hints:       map[string]string{"domains": "Full names, such as [\"example.com\", \"example.io\"]."}},
	{name: "get_pricing", title: "Show prices", endpoint: "GET /domains/pricing", flags: readOnly | idempotent, lists: []string{"tlds"}, needs: []string{"tlds"}, // the whole list would fill an agent's context
		description: "Lists what a year of registration, renewal and transfer costs under some TLDs, in USDC. There are more than 400; search_domains shows prices as well.",
		hints:       map[string]string{"tlds": "The TLDs, such as [\"com\", \"io\"]."}},
	{name: "get_domain", title: "Look up a domain", endpoint: "GET /domains/{domain}", flags: readOnly | idempotent,
		description: "Shows a name that was bought here: its state, expiry, name servers and owner. For names that are free, use check_domains."},
	{name: "get_job", title: "Look up an order", endpoint: "GET /domains/status/{jobId}", flags: readOnly | idempotent | waits,
		description: "Says how far a registration, renewal or transfer is, and what became of its payment or refund."},
	{name: "register_domain", title: "Register a domain", endpoint: "POST /domains/register", flags: idempotent | waits,
		description: "Buys a name. The wallet that pays owns it; no sign-in is needed. Use dry_run for a quote with every check made."},
	{name: "renew_domain", title: "Renew a domain", endpoint: "POST /domains/renew", flags: waits,
		description: "Adds years to a name. Anyone may pay; the owner stays the owner. Say expected_expires_at so that two calls cannot renew twice."},
	{name: "transfer_domain", title: "Transfer a domain in", endpoint: "POST /domains/transfer", flags: idempotent | waits,
		description: "Brings a name here from another registrar, with the code that one gave. The wallet that pays owns it; the name gains a year."},
	{name: "cancel_domain", title: "Cancel a registration", endpoint: "POST /domains/{domain}/cancel", flags: destructive | idempotent,
		description: "Deletes a name that was registered a few days ago, and refunds its price, less what the registry keeps. The name is lost. Use dry_run first to see the amount."},
	{name: "list_my_domains", title: "List my domains", endpoint: "GET /account/domains", flags: readOnly | idempotent,
		description: "Lists the names of the wallet that is signed in."},
	{name: "get_account", title: "Show my account", endpoint: "GET /account", flags: readOnly | idempotent,
		description: "Shows what the wallet that is signed in has and has spent."},
	{name: "list_transactions", title: "List my payments", endpoint: "GET /account/transactions", flags: readOnly | idempotent,
		description: "Lists the payments of the wallet that is signed in, and their refunds, newest first."},
	{name: "list_events", title: "List my events", endpoint: "GET /account/events", flags: readOnly | idempotent,
		description: "Lists what happened to the names and payments of the wallet that is signed in, oldest first: expiries, renewals, refunds, DNS changes. Say after to continue."},
	{name: "list_dns_records", title: "List DNS records", endpoint: "GET /dns/{domain}", flags: readOnly | idempotent,
		description: "Lists the DNS records of a name of the wallet that is signed in, with the ids that changes need. Free of charge."},
	{name: "add_dns_record", title: "Add a DNS record", endpoint: "POST /dns/{domain}", flags: idempotent,
		description: "Adds one record to a name of the wallet that is signed in. A record that is there already is refused."},
	{name: "update_dns_record", title: "Change a DNS record", endpoint: "PUT /dns/{domain}/{recordId}", flags: destructive | idempotent,
		description: "Changes a record; what is left out stays as it is."},
	{name: "delete_dns_record", title: "Delete a DNS record", endpoint: "DELETE /dns/{domain}/{recordId}", flags: destructive | idempotent,
		description: "Deletes a record for good."},
	{name: "change_dns_records", title: "Change many DNS records", endpoint: "POST /dns/{domain}/batch", flags: destructive,
		description: "Adds, changes and deletes records of one name: all of it or nothing, for one payment. Use dry_run to see the difference first."},
	{name: "sign_in_message", title: "Get the message to sign in with", endpoint: "GET /auth/nonce", flags: readOnly, finish: withMessage,
		description: "Gives the text (EIP-4361) that a wallet signs with personal_sign to sign in. Hand text and signature to sign_in within five minutes."},
	{name: "sign_in", title: "Sign in", endpoint: "POST /auth/verify",
		description: "Trades a signed sign-in message for a token. Send accessToken as the header Authorization: Bearer, or as the argument access_token of tools that need a sign-in; it is good for an hour."},
}

// tools returns the complete table. Only an error in the table or in openapi.yaml
// can make it panic, and the tests build it.
var tools = sync.OnceValue(func() []Tool {
	doc, err := openapi.Read()
	if err != nil {
		panic(fmt.Sprintf("agent: %v", err))
	}
	d, out := description{doc}, make([]Tool, len(table))
	for i, r := range table {
		if out[i], err = d.tool(r); err != nil {
			panic(fmt.Sprintf("agent: %s: %v", r.name, err))
		}
	}
	return out
})

// executorSchemas are the schemas of arguments that are not sent.
var executorSchemas = map[string]schema{
	argWait:    {"type": "integer", "minimum": 0, "maximum": maxWait, "default": 0, "description": fmt.Sprintf("Wait this long for the order to end, %d seconds at the most. Left out, answer at once.", maxWait)},
	argToken:   {"type": "string", "description": "The accessToken that sign_in gave, unless it is in the Authorization header."},
	argAddress: {"type": "string", "pattern": "^0x[0-9A-Fa-f]{40}$", "description": "The wallet that will sign."},
}

// withMessage adds the message to sign to the values that it is made of.
func withMessage(args arguments, e *Executor, a Answer) Answer {
	return a.edit(func(body map[string]any) {
		address, _ := args.text(argAddress)
		chain, _ := json.Marshal(body["chainId"]) // it was parsed from JSON
		body["message"] = fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: %s\nChain ID: %s\nNonce: %s\nIssued At: %s",
			body["domain"], address, body["uri"], body["version"], chain, body["nonce"], e.Now().UTC().Format("2006-01-02T15:04:05Z"))
	})
}

package agent

import (
	"fmt"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"

	"deed.example/deed/internal/openapi"
)

// A row is the hand-written part of a tool; the rest comes from openapi.yaml.
type row struct {
	name, title string
	endpoint    string // "POST /domains/register"
	description string // what it does, without how to pay for it
	example     string // arguments as JSON, for the agent card
	flags       flag
	lists       []string // fields that the call takes comma-separated
	needs       []string // fields that are optional in the call, but required by the tool
	text        string   // the argument that is the body of a call that takes plain text
	returns     []string // the members of the answer that the output schema names
	question    string   // what a local user is asked first, with arguments in braces
	finish      func(args arguments, e *Executor, a Answer) Answer
}

type flag uint8

const (
	readOnly flag = 1 << iota
	destructive
	idempotent
	waits
	sandboxOnly
	notOnCard // the agent card is too small for it
)

// paymentNote tells clients that send payments how to pay for a tool.
const paymentNote = " Costs USDC (x402)."

// table lists the tools for finding and buying names, and for the account;
// ownerTable has those that an owner manages names with.
var table = []row{
	{name: "search_domains", title: "Search domain names", endpoint: "GET /domains/search", flags: readOnly | idempotent, lists: []string{"tlds"}, returns: []string{"results"},
		example:     `{"query":"example"}`,
		description: "Says under which TLDs a label is available, with first-year and renewal prices."},
	{name: "check_domains", title: "Check exact names", endpoint: "GET /domains/check", flags: readOnly | idempotent, lists: []string{"domains"}, returns: []string{"results"},
		example:     `{"domains":["example.com"]}`,
		description: "Says which of up to 200 exact names are available, and their prices."},
	{name: "get_pricing", title: "Show prices", endpoint: "GET /domains/pricing", flags: readOnly | idempotent, lists: []string{"tlds"}, needs: []string{"tlds"}, returns: []string{"pricing"}, // the whole list would fill an agent's context
		example:     `{"tlds":["com","io"]}`,
		description: "Lists what a year of registration, renewal and transfer costs under some TLDs, in USDC."},
	{name: "get_domain", title: "Look up a domain", endpoint: "GET /domains/{domain}", flags: readOnly | idempotent, returns: []string{"status", "expiresAt", "nameservers", "locked"},
		example:     `{"domain":"example.com"}`,
		description: "Shows a name that was bought here: state, expiry, name servers and owner. For other names use check_domains."},
	{name: "get_job", title: "Look up an order", endpoint: "GET /domains/status/{jobId}", flags: readOnly | idempotent | waits, returns: []string{"status", "completed"},
		example:     `{"job_id":"job_1"}`,
		description: "Says how far a registration, renewal or transfer is, and what became of its payment or refund."},
	{name: "register_domain", title: "Register a domain", endpoint: "POST /domains/register", flags: idempotent | waits, returns: []string{"status", "jobId", "price_usd"},
		example:     `{"domain":"example.com","max_price_usd":"20"}`,
		description: "Buys a name. The wallet that pays owns it; no sign-in is needed. dry_run makes every check and gives the price."},
	{name: "renew_domain", title: "Renew a domain", endpoint: "POST /domains/renew", flags: waits, returns: []string{"status", "jobId", "price_usd"},
		example:     `{"domain":"example.com","years":1}`,
		description: "Adds years to a name. Anyone may pay; the owner stays the owner. Give expected_expires_at so that two calls cannot renew twice."},
	{name: "transfer_domain", title: "Transfer a domain in", endpoint: "POST /domains/transfer", flags: idempotent | waits, returns: []string{"status", "jobId", "price_usd"},
		example:     `{"domain":"example.com","auth_code":"kQ3-9sd"}`,
		description: "Moves a name here from another registrar. The wallet that pays owns it; the name gains a year."},
	{name: "cancel_domain", title: "Cancel a registration", endpoint: "POST /domains/{domain}/cancel", flags: destructive | idempotent, returns: []string{"status", "refund_usd"},
		example:     `{"domain":"example.com","dry_run":true}`,
		description: "Deletes a name registered a few days ago and refunds its price, less what the registry keeps. dry_run shows the amount first."},
	{name: "list_my_domains", title: "List my domains", endpoint: "GET /account/domains", flags: readOnly | idempotent, returns: []string{"domains"},
		example:     `{}`,
		description: "Lists the names of the wallet that is signed in."},
	{name: "get_account", title: "Show my account", endpoint: "GET /account", flags: readOnly | idempotent,
		example:     `{}`,
		description: "Shows what the wallet that is signed in owns and has spent."},
	{name: "list_transactions", title: "List my payments", endpoint: "GET /account/transactions", flags: readOnly | idempotent, returns: []string{"transactions"},
		example:     `{}`,
		description: "Lists the wallet's payments and refunds, newest first."},
	{name: "list_events", title: "List my events", endpoint: "GET /account/events", flags: notOnCard | readOnly | idempotent, returns: []string{"events"},
		example:     `{"after":"17"}`,
		description: "Lists what happened to the wallet's names and payments, oldest first: expiries, renewals, refunds, DNS changes."},
	{name: "create_webhook", title: "Create a webhook", endpoint: "POST /account/webhooks", flags: notOnCard, returns: []string{"id", "secret"},
		example:     `{"url":"https://example.com/hook"}`,
		description: "Has future events of the wallet sent to a URL. The signing secret is shown once."},
	{name: "list_webhooks", title: "List my webhooks", endpoint: "GET /account/webhooks", flags: notOnCard | readOnly | idempotent, returns: []string{"webhooks"},
		example:     `{}`,
		description: "Lists the wallet's webhooks, without secrets."},
	{name: "test_webhook", title: "Test a webhook", endpoint: "POST /account/webhooks/{webhookId}/test", flags: notOnCard,
		example:     `{"webhook_id":"wh_1"}`,
		description: "Sends a test message. If it is delivered, a disabled webhook is active again."},
	{name: "rotate_webhook_secret", title: "Rotate a webhook secret", endpoint: "POST /account/webhooks/{webhookId}/rotate", flags: notOnCard, returns: []string{"secret"},
		example:     `{"webhook_id":"wh_1"}`,
		description: "Gives a webhook a new secret, shown once. Both sign for a day."},
	{name: "delete_webhook", title: "Delete a webhook", endpoint: "DELETE /account/webhooks/{webhookId}", flags: notOnCard | destructive | idempotent,
		example:     `{"webhook_id":"wh_1"}`,
		description: "Deletes a webhook; pending messages are not sent."},
	{name: "sign_in_message", title: "Get the sign-in message", endpoint: "GET /auth/nonce", flags: readOnly, finish: withMessage, returns: []string{"message"},
		example:     `{"address":"0x…"}`,
		description: "Gives the text (EIP-4361) that a wallet signs with personal_sign. Send both to sign_in within five minutes."},
	{name: "sign_in", title: "Sign in", endpoint: "POST /auth/verify", returns: []string{"accessToken", "expiresIn"},
		example:     `{"message":"…","signature":"0x…"}`,
		description: "Trades a signed message for a token, valid for an hour. Send accessToken as the header Authorization: Bearer, or as the argument access_token."},
	{name: "sign_out", title: "End all sessions", endpoint: "POST /auth/revoke", flags: notOnCard | destructive | idempotent,
		example:     `{}`,
		description: "Ends every session of the wallet at once; all its tokens stop working."},
	{name: "get_test_money", title: "Get test USDC", endpoint: "POST /sandbox/faucet", flags: notOnCard | sandboxOnly,
		example:     `{"wallet_address":"0x…"}`,
		description: "Gives a wallet test USDC. Only this sandbox has it; it is worth nothing elsewhere."},
}

// tools returns the complete table. Only an error in the table or in openapi.yaml
// can make it panic, and the tests build it.
var tools = sync.OnceValue(func() []Tool {
	doc, err := openapi.Read()
	if err != nil {
		panic(fmt.Sprintf("agent: %v", err))
	}
	rows := slices.Concat(table, ownerTable)
	d, out := description{doc}, make([]Tool, len(rows))
	for i, r := range rows {
		if out[i], err = d.tool(r); err != nil {
			panic(fmt.Sprintf("agent: %s: %v", r.name, err))
		}
	}
	return out
})

// withMessage adds the message to sign to the values that it is made of.
func withMessage(args arguments, e *Executor, a Answer) Answer {
	return a.edit(func(body map[string]any) {
		address, _ := args.text(argAddress)
		chain, _ := json.Marshal(body["chainId"]) // it was parsed from JSON
		body["message"] = fmt.Sprintf("%s wants you to sign in with your Ethereum account:\n%s\n\n\nURI: %s\nVersion: %s\nChain ID: %s\nNonce: %s\nIssued At: %s",
			body["domain"], address, body["uri"], body["version"], chain, body["nonce"], e.Now().UTC().Format("2006-01-02T15:04:05Z"))
	})
}

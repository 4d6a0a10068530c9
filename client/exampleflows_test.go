package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// richClient returns a client whose wallet has test USDC and may pay 100 per call.
func richClient(opts ...client.Option) *client.Client {
	secret, err := crypto.GenerateKey()
	check(err)
	key := client.NewKey(secret)
	c, err := client.New(service, append([]client.Option{client.WithWallet(key), client.WithMaxPayment(100 * client.Dollar)}, opts...)...)
	check(err)
	_, err = c.Faucet(context.Background(), api.FaucetRequest{WalletAddress: key.Address().Hex()})
	check(err)
	return c
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Search a label under some TLDs. "Unknown" is not available.
func ExampleClient_Search() {
	c, err := client.New(service)
	check(err)
	found, err := c.Search(context.Background(), "search-example", "com", "io")
	check(err)
	for _, f := range found.Results {
		fmt.Println(f.Domain, f.Available, f.Price, f.RenewalPrice)
	}
	// Output:
	// search-example.com true 13.06 13.06
	// search-example.io true 60.50 60.50
}

// Ask for the exact price before anything is signed.
func ExampleClient_QuoteRegistration() {
	c, err := client.New(service)
	check(err)
	quote, err := c.QuoteRegistration(context.Background(), api.RegisterRequest{Domain: "quote-example.com", Years: new(3)})
	check(err)
	fmt.Println(quote.Years, quote.Price, quote.Currency)
	// Output: 3 39.18 USDC
}

// Renew a name. ExpectedExpiresAt makes sure that running it twice adds the years
// once.
func ExampleClient_Renew() {
	ctx, c := context.Background(), richClient()
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "renew-example.com"})
	check(err)
	name, err := c.Domain(ctx, "renew-example.com")
	check(err)
	order, err := c.Renew(ctx, api.RenewRequest{Domain: name.Domain, Years: new(2), ExpectedExpiresAt: name.ExpiresAt})
	check(err)
	job, err := c.WaitJob(ctx, order.JobID)
	check(err)
	fmt.Println(job.Domain, job.Payment.Amount)
	// Output: renew-example.com 26.12
}

// Bring a name here from another registrar, which has five days to object. Here the
// sandbox plays that registrar.
func ExampleClient_Transfer() {
	ctx, c := context.Background(), richClient()
	other, err := c.Elsewhere(ctx, api.ElsewhereRequest{Domain: "transfer-example.com"})
	check(err)
	order, err := c.Transfer(ctx, api.TransferRequest{Domain: "transfer-example.com", AuthCode: other.AuthCode})
	check(err)
	if order.Done == nil {
		_, err = c.DecideTransfer(ctx, api.DecisionRequest{Domain: "transfer-example.com", Approve: new(true)})
		check(err)
	}
	job, err := c.WaitJob(ctx, order.JobID)
	check(err)
	fmt.Println(job.Domain, job.Status)
	// Output: transfer-example.com completed
}

// Make many DNS changes for one payment: all of them, or none.
func ExampleClient_ChangeRecords() {
	ctx, c := context.Background(), richClient()
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "batch-example.com"})
	check(err)
	out, err := c.ChangeRecords(ctx, "batch-example.com", api.BatchRequest{Changes: []api.RecordChange{
		{Op: "add", RecordUpdate: api.RecordUpdate{Type: new("A"), Host: new("www"), Value: new("192.0.2.10")}},
		{Op: "add", RecordUpdate: api.RecordUpdate{Type: new("TXT"), Host: new("@"), Value: new("hello")}},
	}})
	check(err)
	fmt.Println(out.Count, out.Price)
	// Output: 2 0.20
}

// Take a zone file. A dry run shows the difference and costs nothing.
func ExampleClient_ImportZone() {
	ctx, c := context.Background(), richClient()
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "zone-example.com"})
	check(err)
	file := []byte("www 300 IN A 192.0.2.10\n")
	diff, err := c.ImportZone(ctx, "zone-example.com", file, client.Import{DryRun: true})
	check(err)
	done, err := c.ImportZone(ctx, "zone-example.com", file, client.Import{})
	check(err)
	fmt.Println(diff.DryRun, diff.Price, done.DryRun, done.Count)
	// Output: true 0.10 false 1
}

// Follow what happens to the names of the wallet. Keep the cursor of the last event
// to go on from there.
func ExampleClient_Events() {
	ctx, c := context.Background(), richClient()
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "events-example.com"})
	check(err)
	for e, err := range c.Events(ctx, "") {
		check(err)
		if e.Type == "job.completed" {
			fmt.Println(e.Type, e.Data.Domain)
		}
	}
	// Output: job.completed events-example.com
}

// What an owner can do, free of charge.
func ExampleClient_SetLock() {
	ctx, c := context.Background(), richClient()
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "lock-example.com"})
	check(err)
	name, err := c.SetLock(ctx, "lock-example.com", true)
	check(err)
	code, err := c.AuthCode(ctx, "lock-example.com") // it unlocks the name
	check(err)
	fmt.Println(name.Locked, code.Locked, code.AuthCode != "")
	// Output: true false true
}

// A budget limits the sum of all payments; a confirmation is asked before each.
func ExampleWithBudget() {
	ctx := context.Background()
	c := richClient(client.WithBudget(client.NewBudget(20*client.Dollar)), client.WithConfirm(func(_ context.Context, o client.Offer) error {
		fmt.Println("paying", o.Price, "for", o.For)
		return nil
	}))
	_, err := c.Register(ctx, api.RegisterRequest{Domain: "budget-example.com"})
	check(err)
	_, err = c.Register(ctx, api.RegisterRequest{Domain: "budget-two-example.com"})
	over, ok := errors.AsType[*client.OverBudget](err)
	fmt.Println(ok, over.Left)
	// Output:
	// paying 13.06 for budget-example.com for 1 year
	// true 6.94
}

// An order that fails is refunded by itself; its error has the state of the refund.
func ExampleJobError() {
	ctx, c := context.Background(), richClient()
	job := api.Job{JobID: "job_1", Status: "failed", Refund: &api.Refund{Status: "due", Amount: "13.06"}}
	job.Code, job.Message = client.CodeRegistrationFailed, "the registry refused the name"
	err := client.JobError(job)
	if e, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(e.Code, e.Refund.Status, e.Refund.Amount)
	}
	_, err = c.Job(ctx, "job_0")
	fmt.Println(client.CodeOf(err))
	// Output:
	// REGISTRATION_FAILED due 13.06
	// NOT_FOUND
}

// Give a call a deadline. A payment that was sent and not answered by then is an
// Unknown: the same call again repeats it, and does not pay twice.
func ExampleUnknown() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := richClient()
	order := func() error {
		_, err := c.Register(ctx, api.RegisterRequest{Domain: "unknown-example.com"})
		return err
	}
	err := order()
	if _, unknown := errors.AsType[*client.Unknown](err); unknown {
		err = order()
	}
	fmt.Println(err)
	// Output: <nil>
}

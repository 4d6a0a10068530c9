package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

// A wallet buys a name. This service uses test money; otherwise the wallet needs
// USDC.
func Example() {
	ctx := context.Background()
	secret, err := crypto.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	key := client.NewKey(secret)
	c, err := client.New(service, client.WithWallet(key), client.WithMaxPayment(20*client.Dollar))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Faucet(ctx, api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
		log.Fatal(err)
	}
	order, err := c.Register(ctx, api.RegisterRequest{Domain: "an-example.com"})
	if err != nil {
		log.Fatal(err)
	}
	job, err := c.WaitJob(ctx, order.JobID)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.Domain, job.Result.Status, job.Payment.Amount)
	for tx, err := range c.Transactions(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(tx.Type, tx.Price, tx.Status)
	}
	// Output:
	// an-example.com active 13.06
	// registration 13.06 settled
}

// Add an address record to a name, and roll the change back.
func ExampleClient_AddRecord() {
	ctx := context.Background()
	secret, err := crypto.GenerateKey()
	if err != nil {
		log.Fatal(err)
	}
	key := client.NewKey(secret)
	c, err := client.New(service, client.WithWallet(key), client.WithMaxPayment(20*client.Dollar))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := c.Faucet(ctx, api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
		log.Fatal(err)
	}
	if _, err := c.Register(ctx, api.RegisterRequest{Domain: "a-third-example.com"}); err != nil {
		log.Fatal(err)
	}
	www, err := c.AddRecord(ctx, "a-third-example.com", api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.10"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(www.Host, www.TTL, www.Type, www.Value)
	history, err := c.Revisions(ctx, "a-third-example.com")
	if err != nil {
		log.Fatal(err)
	}
	back, err := c.Rollback(ctx, "a-third-example.com", history.Revisions[1].Revision, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(back.Count, "change for", back.Price)
	// Output:
	// www 3600 A 192.0.2.10
	// 1 change for 0.10
}

// Prices need neither a wallet nor a sign-in.
func ExampleClient_Price() {
	c, err := client.New(service)
	if err != nil {
		log.Fatal(err)
	}
	com, err := c.Price(context.Background(), "com")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(com.RegistrationPrice, com.RenewalPrice, com.Currency)
	// Output: 13.06 13.06 USDC
}

// A client without a wallet gets the price of a call.
func ExampleError() {
	c, err := client.New(service)
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Register(context.Background(), api.RegisterRequest{Domain: "another-example.com", Years: new(2)})
	if e, ok := errors.AsType[*client.Error](err); ok {
		fmt.Println(e.Status, e.Code, e.Offer.Price)
	}
	// Output: 402 PAYMENT_REQUIRED 26.12
}

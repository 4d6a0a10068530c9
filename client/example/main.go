// Command example buys a name in a sandbox, adds an address record and resolves
// it. docs/tutorial.md shows it.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"

	"github.com/ethereum/go-ethereum/crypto"

	"deed.example/deed/api"
	"deed.example/deed/client"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: example SERVER NAME")
	}
	if err := buy(context.Background(), os.Args[1], os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

func buy(ctx context.Context, server, name string) error {
	secret, err := crypto.GenerateKey()
	if err != nil {
		return err
	}
	key := client.NewKey(secret)
	c, err := client.New(server, client.WithWallet(key), client.WithMaxPayment(20*client.Dollar))
	if err != nil {
		return err
	}
	if _, err := c.Faucet(ctx, api.FaucetRequest{WalletAddress: key.Address().Hex()}); err != nil {
		return err
	}
	order, err := c.Register(ctx, api.RegisterRequest{Domain: name})
	if err != nil {
		return err
	}
	job, err := c.WaitJob(ctx, order.JobID)
	if err != nil {
		return err
	}
	fmt.Println(job.Domain, "is", job.Result.Status, "for", job.Payment.Amount, "USDC")
	if _, err := c.AddRecord(ctx, name, api.RecordRequest{Type: "A", Host: "www", Value: "192.0.2.30"}); err != nil {
		return err
	}
	return resolve(ctx, c, "www."+name)
}

// resolve queries the name server of the sandbox.
func resolve(ctx context.Context, c *client.Client, host string) error {
	box, err := c.Sandbox(ctx)
	if err != nil {
		return err
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, box.DNS)
	}}
	addresses, err := resolver.LookupHost(ctx, host+".")
	if err != nil {
		return err
	}
	fmt.Println(host, "is at", addresses)
	return nil
}

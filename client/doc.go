// Package client is a client of the Deed service: it searches and buys names and
// manages their DNS for a wallet.
//
//	c, err := client.New("https://deed.example", client.WithWallet(key), client.WithMaxPayment(20*client.Dollar))
//	order, err := c.Register(ctx, api.RegisterRequest{Domain: "example.com"})
//
// Every path of the service has one method that takes and returns the types of
// package api. Calls that need a token sign in automatically (EIP-4361) and
// refresh the token before it expires. A paid call is first made without a
// payment: the service responds with an offer (x402, 402). The client compares the
// offer with the user's limit and signs a transfer of exactly that amount
// (EIP-3009). Without a wallet or a limit it pays nothing, and returns the offer
// in an Error.
//
// Invariant: one call never pays twice. A payment is written to the Journal before
// it is sent. If the response is lost, or the outcome is pending, the client
// repeats the request with the same payment until the outcome is known or the
// context is done; the service delivers once per payment, however often it is
// sent. After an Unknown, the same call repeats the same payment.
//
// An error of the service is an *Error with a code of the interface document.
package client

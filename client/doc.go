// Package client calls a Deed service: it finds names, buys them, and keeps
// their DNS, for a wallet.
//
//	c, err := client.New("https://deed.example", client.WithWallet(key), client.WithMaxPayment(20*client.Dollar))
//	order, err := c.Register(ctx, api.RegisterRequest{Domain: "example.com"})
//
// Every path of the service is one method that takes and returns the bodies of
// package api. A call that needs a token signs in by itself (EIP-4361), and
// trades the token for a new one in time. A call that costs money is first made
// without: the service answers with an offer (x402, 402). The client compares
// the offer with the cap that a person set, and signs exactly that amount to be
// moved (EIP-3009). Without a wallet or a cap it pays nothing, and returns the
// offer in an Error.
//
// What must stay true: one call never pays twice. A payment is written to the
// Journal before it is sent. When the answer is lost, or the service says that
// it does not know yet, the same request goes out again with the same payment,
// until the outcome is known or the context ends; the service does a thing once
// for each payment, however often it is asked. After an Unknown, the same call
// repeats the same payment.
//
// What the service refuses is an *Error with the code of the interface document.
package client

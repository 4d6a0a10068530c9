package order

// A Source is how the money of a payment comes to us. It decides who can settle and
// refund it, and is stored with the payment.
type Source string

// The sources. An x402 payment of the scheme "exact" is one transfer that the payer
// signed (EIP-3009), for one purchase. A mandate is such a transfer that the owner of a
// name signed long before, for a renewal; its amount is a cap.
const (
	SourceX402Exact Source = "x402_exact"
	SourceMandate   Source = "mandate"
)

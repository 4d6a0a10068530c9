package order

// A Source is how the money of a payment comes to us. It decides who can settle and
// refund it, and is stored with the payment.
type Source string

// SourceX402Exact is an x402 payment of the scheme "exact": one transfer that the payer
// signed (EIP-3009), for one purchase.
const SourceX402Exact Source = "x402_exact"

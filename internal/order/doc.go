// Package order defines purchases, quotes, payments and jobs, with their states and
// transitions.
//
// A Purchase is plain data and is stored with its payment. A Payment goes from
// authorized to consumed or refunded, a Job from awaiting_payment to completed,
// failed or cancelled; the diagrams above PaymentState and JobState show every
// transition. Nothing here does I/O: a store locks a row, applies these rules, and writes
// the result.
package order

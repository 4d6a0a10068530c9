// Package order has what is bought, what it costs, the payment for it and the job
// that delivers it, with their states and the moves between them.
//
// A Purchase is plain data and is stored with its payment. A Payment goes from
// authorized to consumed or refunded, a Job from awaiting_payment to completed,
// failed or cancelled; the drawings above PaymentState and JobState show every
// move, and no other is made. Nothing here does I/O: stores lock a row, ask these
// rules, and write what they say.
package order

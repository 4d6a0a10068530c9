package order

import (
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
)

// A Movement is a payment of a wallet, or its refund.
type Movement struct {
	PaymentID string
	PublicID  string           // of the payment, or of its refund
	JobID     string           // the public one; "" if there is no job
	RecordID  dnszone.RecordID // of the one DNS record that was changed; "" if it was none or several
	Refund    bool
	Kind      PurchaseKind
	Name      deed.Name
	State     PaymentState
	Amount    deed.USDC
	TxHash    string
	Payer     deed.Wallet
	Reason    string // of the refund of a part
	At        time.Time
}

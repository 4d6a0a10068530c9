package order_test

import (
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/order"
	"deed.example/deed/internal/settle"
)

// A part has a label and a reason, and is never more than the payment.
func TestPartRefund(t *testing.T) {
	p := order.Payment{ID: "pay_1", Auth: settle.Authorization{Payer: "0x1", Nonce: "0x2", Amount: 100}}
	for part, want := range map[order.PartRefund]bool{
		{Label: order.RefundUndo, Amount: 1, Reason: "cancelled"}:   true,
		{Label: order.RefundUndo, Amount: 100, Reason: "cancelled"}: true,
		{Label: order.RefundUndo, Amount: 101, Reason: "cancelled"}: false,
		{Label: order.RefundUndo, Amount: 0, Reason: "cancelled"}:   false,
		{Label: order.RefundUndo, Amount: -1, Reason: "cancelled"}:  false,
		{Label: order.RefundUndo, Amount: 1}:                        false,
		{Amount: 1, Reason: "cancelled"}:                            false,
	} {
		if got := part.Valid(p); got != want {
			t.Errorf("%+v: got %t", part, got)
		}
	}
	if r := p.Refund(); r.Amount != 100 || r.Label != "" {
		t.Errorf("all of it: got %+v", r)
	}
	p.Part = order.PartRefund{Label: order.RefundChange, Amount: 30, Reason: "it cost less"}
	if r := p.Refund(); r != (settle.Refund{PaymentID: "pay_1", Payer: "0x1", Nonce: "0x2", Amount: deed.USDC(30), Label: "change"}) || !p.Delivered() {
		t.Errorf("a part: got %+v", r)
	}
}

package order_test

import (
	"testing"
	"time"

	"deed.example/deed"
	"deed.example/deed/internal/dnszone"
	"deed.example/deed/internal/order"
)

func ptr[T any](v T) *T { return &v }

// Stored fingerprints bind payments to their purchases, so the same purchase must
// have the same fingerprint for ever. These were computed by an early version.
func TestFingerprintsStayValid(t *testing.T) {
	const by deed.Wallet = "0x00000000000000000000000000000000000000aa"
	record := dnszone.Record{Type: "MX", Host: "@", Value: "mail.example.com", TTL: 300, Distance: ptr(10)}
	add := dnszone.RecordOp{Op: dnszone.OpAdd, ID: "given", Record: record}
	update := dnszone.RecordOp{Op: dnszone.OpUpdate, ID: "r1", Patch: dnszone.RecordPatch{
		Type: ptr("A"), Host: ptr("<www>"), Value: ptr("192.0.2.1"), TTL: ptr(60), Distance: ptr(1), Priority: ptr(2),
	}}
	change := func(kind dnszone.ChangeKind, ops ...dnszone.RecordOp) order.Purchase {
		return order.PurchaseOf(dnszone.Change{Kind: kind, Zone: "example.com", By: by, Ops: ops})
	}
	imported := change(dnszone.ChangeBatch, add)
	imported.RequestKey = "import merge 00ff"
	conditional := change(dnszone.ChangeBatch, add, update, dnszone.RecordOp{Op: dnszone.OpDelete, ID: "r2"})
	conditional.Change.IfRevision = 7
	starting := record
	starting.ID, starting.Created, starting.Updated = "r3", time.Unix(1_800_000_000, 0).UTC(), time.Unix(1_800_000_001, 0).UTC()
	for _, tt := range []struct {
		name string
		p    order.Purchase
		want string
	}{
		{"registration", order.Purchase{Kind: order.PurchaseRegistration, Name: "example.com", Years: 2}, "ba6bb99ef528525ea57fb5cc6075a6144aa3c7ac8ca61b31783f7141bf2d1408"},
		{"registration with details", order.Purchase{
			Kind: order.PurchaseRegistration, Name: "example.com", Years: 1, Nameservers: []string{"ns1.example.net", "ns2.example.net"},
			Records: []dnszone.Record{record, starting}, Facts: order.PurchaseFacts{PremiumRenewal: 5},
		}, "eeea66c646cdabf44e1dcf7131620afffd41d2f4bc0c63546b950cb5c35416e5"},
		{"renewal", order.Purchase{Kind: order.PurchaseRenewal, Name: "example.com", Years: 1, Facts: order.PurchaseFacts{Restore: true}}, "7c2d51d724f060e49e98099252cfde860ed4537e95054ab24ed5779b5b83173e"},
		{"renewal from", order.Purchase{Kind: order.PurchaseRenewal, Name: "example.com", Years: 1, From: time.Unix(1_800_000_000, 0).UTC()}, "adc6cdb868729caa23859d2d22e6a4aa638bf0b25ba5ce3c136d64f25ee641a5"},
		{"transfer", order.Purchase{Kind: order.PurchaseTransfer, Name: "example.com", Years: 1, AuthCode: "a<b>&\"c"}, "68642f42564c968e20d9a6062a07764ec179d55ffd73e6ef1ad228f119b55ec8"},
		{"add", change(dnszone.ChangeAdd, add), "8678e14790050a3489860b34d5a5e42fcc259915f6ea5281c4ab202805f60671"},
		{"update", change(dnszone.ChangeUpdate, update), "45f69e6e23833204090092683fce44aeeaad7a9eddfaa4c4b37e5a6292b3601b"},
		{"delete", change(dnszone.ChangeDelete, dnszone.RecordOp{Op: dnszone.OpDelete, ID: "r2"}), "2d3ab993843884586ab22c7f4c10142a8c6b535d89d7ebcf03441671c0a7c81c"},
		{"batch", conditional, "dde41dfd68a86539c8b7afa0bd2b38c0bb86d9f42ea601364907278b3081016d"},
		{"import", imported, "56faf217d94e1fa4758a5aac8ecea6b05f9c7747845fdf98229777395d6d05bb"},
		{"empty batch", change(dnszone.ChangeBatch), "805fd4309a7ebedee30c5e96e7e059b59e81bf6c2a09f9f7329199d042b0ada0"},
		{"nothing", order.Purchase{Kind: order.PurchaseNothing}, "1fee09053decf0ce7762875ee8cc87288af83acd4f0a894d1f437cb88ba9a0dd"},
		{"zero", order.Purchase{}, "eff7139bb51d29ca42b7163424d4ad6ff2152199598c78a39d2f3d16c5a49bcf"},
	} {
		if got := tt.p.Fingerprint(); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

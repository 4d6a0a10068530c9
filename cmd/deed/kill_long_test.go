//go:build long

package main

import (
	"crypto/ecdsa"
	"slices"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/sqldb/sqldbtest"
)

// The points at which money, names or memory could get lost.
var killPoints = []string{
	"payment: settling", "before store", "after store", "after send", "payment: money moved", "payment: settled",
	"job: queued", "job: about to order", "job: ordered", "job: verifying", "job: looked up",
}

// The points of giving money back.
var refundPoints = []string{"payment: refund_due", "payment: refunding", "payment: money returned"}

// Every point of every kind of order, on both databases.
func TestKillNineEverywhere(t *testing.T) {
	orders := map[string]struct{ good, bad killCase }{
		"register": {registerCase, registerCase},
		"renew":    {renewCase, renewCase},
		"transfer": {transferCase, refusedCase},
	}
	for _, database := range []string{"sqlite", "postgres"} {
		for kind, order := range orders {
			for _, point := range killPoints {
				t.Run(database+" "+kind+" "+point, func(t *testing.T) {
					t.Parallel()
					fault := ""
					if point == "job: verifying" {
						fault = "lost_reply" // an order that is known to be done is not verified later
					}
					killAt(t, order.good, point, fault, databaseOf(t, database)...)
				})
			}
			for _, point := range refundPoints {
				t.Run(database+" "+kind+" "+point, func(t *testing.T) {
					t.Parallel()
					fault := "refuse"
					if order.bad.refused {
						fault = "" // the other registrar says no, and not ours
					}
					killAt(t, order.bad, point, fault, databaseOf(t, database)...)
				})
			}
		}
	}
}

// batchCase is a change of two records.
var batchCase = killCase{path: "/dns/killed.com/batch", done: 200, owned: true, seen: readRecords,
	prepare: func(t *testing.T, n *node, owner *ecdsa.PrivateKey) (string, deed.USDC) {
		_, cost := buyNames(t, n, owner)
		return `{"changes":[{"op":"add","type":"A","host":"www","value":"192.0.2.10"},{"op":"add","type":"TXT","host":"www","value":"text"}]}`, cost
	}}

// Every point of a change of the DNS, on both databases.
func TestKillNineInTheDNS(t *testing.T) {
	points := append(slices.Clone(killPoints[:5]), "change: settled", "change: changed")
	for _, database := range []string{"sqlite", "postgres"} {
		for kind, order := range map[string]killCase{"record": recordCase, "batch": batchCase} {
			for _, point := range points {
				t.Run(database+" "+kind+" "+point, func(t *testing.T) {
					t.Parallel()
					killAt(t, order, point, "", databaseOf(t, database)...)
				})
			}
		}
	}
}

// Every point of giving the money of a change back, on both databases.
func TestKillNineInEveryRefundOfTheDNS(t *testing.T) {
	for _, database := range []string{"sqlite", "postgres"} {
		for _, point := range refundPoints {
			t.Run(database+" "+point, func(t *testing.T) {
				t.Parallel()
				killInRefund(t, point, databaseOf(t, database)...)
			})
		}
	}
}

// databaseOf returns the settings for a database of the test's own.
func databaseOf(t *testing.T, name string) []string {
	t.Helper()
	if name == "postgres" {
		return []string{"DEED_DATABASE_URL=" + sqldbtest.MigratedPostgresURL(t)}
	}
	return nil
}

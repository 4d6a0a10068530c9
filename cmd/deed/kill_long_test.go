//go:build long

package main

import (
	"testing"

	"deed.example/deed/internal/sqldb/sqldbtest"
)

// The points at which money, names or memory could get lost.
var mortalPoints = []string{
	"payment: authorized", "payment: settling", "before store", "after store", "after send", "payment: money moved", "payment: settled",
	"job: queued", "job: about to order", "job: ordered", "job: verifying", "job: looked up",
}

// The points of giving money back.
var mortalRefunds = []string{"payment: refund_due", "payment: refunding", "payment: money returned"}

// Every point, on both databases.
func TestKillNineEverywhere(t *testing.T) {
	for _, name := range []string{"sqlite", "postgres"} {
		for _, point := range append(mortalPoints, mortalRefunds...) {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				var environ []string
				if name == "postgres" {
					environ = []string{"DEED_DATABASE_URL=" + sqldbtest.PostgresURL(t)}
				}
				fault := ""
				for _, p := range mortalRefunds {
					if p == point {
						fault = "refuse"
					}
				}
				killAt(t, point, fault, environ...)
			})
		}
	}
}

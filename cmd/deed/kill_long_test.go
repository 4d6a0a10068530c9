//go:build long

package main

import (
	"testing"

	"deed.example/deed/internal/sqldb/sqldbtest"
)

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

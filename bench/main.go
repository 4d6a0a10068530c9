// Command bench prints the throughput of our code relative to an upper limit: the
// same work done by the bare library or the bare machine. Both sides of a ratio
// are measured in one run, alternately, on real sockets, so that a slow or busy
// machine slows both. `make bench` runs it.
package main

import (
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
)

// A row is one ratio.
type row struct {
	what, against string
	ours, limit   float64 // per second
	aim           float64 // 0 if there is none
}

// groups are the rows in the order in which they are measured. The arguments of the
// program name those to run; without arguments all run.
var groups = []struct {
	name    string
	measure func() ([]row, error)
}{
	{"http", httpRows}, {"search", searchRows}, {"signin", signInRows}, {"payment", paymentRows},
	{"job", jobRows}, {"epp", eppRows}, {"dns", dnsRows}, {"secondary", secondaryRows}, {"zones", zoneRows},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == dnsServerArg {
		if err := answerQueries(); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	var rows []row
	for _, g := range groups {
		if len(os.Args) > 1 && !slices.Contains(os.Args[1:], g.name) {
			continue
		}
		more, err := g.measure()
		if err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		rows = append(rows, more...)
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tOURS/S\tLIMIT/S\tRATIO\tAIM\tTHE LIMIT IS")
	for _, r := range rows {
		aim := "-"
		if r.aim > 0 {
			aim = fmt.Sprintf("≥ %.2f", r.aim)
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.2f\t%s\t%s\n", r.what, r.ours, r.limit, r.ours/r.limit, aim, r.against)
	}
	if err := table.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

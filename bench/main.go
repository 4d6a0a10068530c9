// Command bench prints the throughput of our code relative to an upper limit: the
// same work done by the bare library or the bare machine. Both sides of a ratio
// are measured in one run, alternately, on real sockets, so that a slow or busy
// machine slows both. `make bench` runs it.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A row is one ratio.
type row struct {
	what, against string
	ours, limit   float64 // per second
	aim           float64 // 0 if there is none
}

// groups are the rows in the order in which they are measured. The arguments of the
// program name those to run; without arguments all run. Those that fill a large database
// first are measured once.
var groups = []struct {
	name    string
	measure func() ([]row, error)
	once    bool
}{
	{"http", httpRows, false}, {"search", searchRows, false}, {"signin", signInRows, false}, {"payment", paymentRows, false},
	{"job", jobRows, false}, {"change", changeRows, false}, {"epp", eppRows, false}, {"dns", dnsRows, false}, {"secondary", secondaryRows, true}, {"zones", zoneRows, true},
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == dnsServerArg {
		fail(answerQueries())
		return
	}
	if len(os.Args) > 2 && os.Args[1] == callersArg {
		fail(changeZones(os.Args[2]))
		return
	}
	out := flag.String("json", "", "file for the results")
	// Between two rounds of a group all others are measured, so that a busy minute does
	// not fall on one of them. In each round, a group takes the median of some samples.
	rounds := flag.Int("rounds", 3, "how often each group is measured")
	base := flag.String("compare", "", "results of an earlier run to compare with")
	flag.Parse()
	fail(checkNames(flag.Args()))
	earlier, err := readResults(*base)
	fail(err)
	warnIfBusy(os.Stderr)
	results, err := measureAll(flag.Args(), *rounds)
	fail(err)
	fail(printResults(os.Stdout, results, earlier))
	fail(writeResults(*out, results))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// checkNames fails when a name is not that of a group.
func checkNames(names []string) error {
	var known []string
	for _, g := range groups {
		known = append(known, g.name)
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("there is no group %q: use %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

// measureAll measures the groups with these names, or all.
func measureAll(names []string, rounds int) (results []result, err error) {
	for i := range rounds {
		for _, g := range groups {
			if i > 0 && g.once || len(names) > 0 && !slices.Contains(names, g.name) {
				continue
			}
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", i+1, rounds, g.name)
			rows, err := g.measure()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", g.name, err)
			}
			for _, r := range rows {
				results = add(results, r)
			}
		}
	}
	return results, nil
}

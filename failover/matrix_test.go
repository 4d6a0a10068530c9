//go:build failover && linux

package failover

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

// A fault is a case of the matrix.
type fault struct {
	name   string
	alert  string        // that operators get; "" if none
	sign   string        // regular expression of the metric that the alert is about, on a node that runs
	hold   time.Duration // how long the fault lasts
	pooled bool          // PgBouncer is in front of PostgreSQL

	sentinel  bool // Redis has a replica, and a Sentinel that promotes it
	outside   bool // .com is sold from a registry that speaks EPP
	smallDisk bool // PostgreSQL has a small disk

	offsets [2]string // of the clocks of the nodes, as time.ParseDuration reads them

	// cause begins the fault, and returns a function that ends it and may add to what
	// callers saw. The test fails if a node ends that neither of them ended.
	cause func(e *env) (end func() (note string))
}

// A row is a line of the table.
type row struct{ fault, saw, pause, lost, alert string }

var table []row

// printTable prints what was seen.
func printTable() {
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "FAULT\tCALLERS SAW\tLONGEST PAUSE\tLOST\tALERT")
	for _, r := range table {
		fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", r.fault, r.saw, r.pause, r.lost, r.alert)
	}
	out.Flush() // standard output
}

// TestMatrix causes every fault.
func TestMatrix(t *testing.T) {
	for i, f := range faults {
		t.Run(f.name, func(t *testing.T) { f.test(t, fmt.Sprint("f", i)) })
	}
}

// hour is a flag because most who run the matrix do not have that long.
var hour = flag.Bool("hour", false, "also keep the registry down for an hour")

func TestRegistryDownForAnHour(t *testing.T) {
	if !*hour {
		t.Skip("run with -hour")
	}
	registryDown("registry down for an hour", time.Hour).test(t, "hour")
}

func (f fault) test(t *testing.T, label string) {
	e := open(t, f)
	s := e.stream(label)
	defer s.wg.Wait()
	defer s.cancel()
	s.wait(t, time.Time{}, 4)
	began := time.Now()
	stop := e.watch(f.sign)
	end := f.cause(e)
	time.Sleep(f.hold)
	note := end()
	s.wait(t, time.Now(), 6)
	shown := stop()
	pause := s.pause(began)
	s.cancel()
	s.wg.Wait()
	if f.sign != "" && !shown {
		t.Errorf("no node exported %s", f.sign)
	}
	for _, n := range e.nodes {
		if n.ended() {
			t.Errorf("%s has ended: %s", n.name, n.log)
		}
	}
	lost := s.lost(t)
	e.audit(t)
	r := row{f.name, strings.TrimSuffix(s.seen()+"; "+note, "; "), pause.Round(100 * time.Millisecond).String(), lost, f.alert}
	t.Logf("callers saw %s; longest pause %s; lost %s", r.saw, r.pause, r.lost)
	table = append(table, r)
}

// watch looks for a metric until the function that it returns is called, which reports
// whether a node has exported it.
func (e *env) watch(sign string) (stop func() bool) {
	ctx, cancel := context.WithCancel(e.t.Context())
	pattern, found, ended := regexp.MustCompile("(?m)^"+sign), false, make(chan struct{})
	go func() {
		defer close(ended)
		for ; ctx.Err() == nil && sign != ""; time.Sleep(200 * time.Millisecond) {
			for _, n := range e.nodes {
				found = found || pattern.MatchString(n.metrics())
			}
		}
	}()
	return func() bool { cancel(); <-ended; return found }
}

// lost counts what callers were told to have, and have not.
func (s *stream) lost(t *testing.T) string {
	t.Helper()
	names, records, missing := 0, 0, 0
	for _, b := range s.names {
		names++
		if err := retried(func() error { return owned(t.Context(), b) }); err != nil {
			t.Error(err)
			missing++
		}
		if !b.changed {
			continue
		}
		records++
		if err := retried(func() error { return hasRecord(t.Context(), b) }); err != nil {
			t.Error(err)
			missing++
		}
	}
	if names == 0 {
		t.Error("nothing was bought")
	}
	return fmt.Sprintf("%d of %d names and %d records", missing, names, records)
}

// retried makes a call of a client that may meet a node which has just come back.
func retried(call func() error) (err error) {
	for range 20 {
		if err = call(); err == nil {
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return err
}

// audit waits until nothing is open, and compares the books with the chain.
func (e *env) audit(t *testing.T) {
	t.Helper()
	var out string
	var err error
	for deadline := time.Now().Add(3 * time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		if out, err = e.admin("admin", "audit", "--full"); err == nil && strings.Contains(out, " 0 broken; 0 payments and jobs are open") {
			return
		}
	}
	t.Errorf("the audit fails: %v\n%s", err, out)
}

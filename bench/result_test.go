package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// A row is marked when it got slower by more than its noise, and only then.
func TestCompare(t *testing.T) {
	rounds := func(ratios ...float64) (r result) {
		r.What = "row"
		for _, ratio := range ratios {
			r.Ours, r.Limit = append(r.Ours, ratio*100), append(r.Limit, 100)
		}
		return r
	}
	for _, test := range []struct {
		name     string
		now, was result
		slower   bool
	}{
		{"the same", rounds(0.8, 0.8, 0.8), rounds(0.8, 0.8, 0.8), false},
		{"faster", rounds(0.9, 0.9, 0.9), rounds(0.8, 0.8, 0.8), false},
		{"slower", rounds(0.7, 0.71, 0.7), rounds(0.8, 0.8, 0.8), true},
		{"slower by less than its noise", rounds(0.6, 0.7, 0.8), rounds(0.8, 0.8, 0.8), false},
		{"slower by less than the noise before", rounds(0.7, 0.7, 0.7), rounds(0.7, 0.8, 0.9), false},
		{"once, slower", rounds(0.7), rounds(0.8), true},
		{"once, within what is assumed", rounds(0.77), rounds(0.8), false},
	} {
		path := filepath.Join(t.TempDir(), "results")
		if err := writeResults(path, []result{test.was}); err != nil {
			t.Fatal(err)
		}
		earlier, err := readResults(path)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := printResults(&out, []result{test.now}, earlier); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "SLOWER") != test.slower {
			t.Errorf("%s: got\n%s", test.name, out.String())
		}
	}
	if _, err := readResults(filepath.Join(t.TempDir(), "missing")); err == nil || !strings.Contains(err.Error(), "make bench OUT=") {
		t.Errorf("got %v", err)
	}
}

// Rounds of one row belong together, in any order.
func TestAdd(t *testing.T) {
	var results []result
	for _, what := range []string{"a", "b", "b", "a", "a"} {
		results = add(results, row{what: what, ours: 1, limit: 2})
	}
	if len(results) != 2 || len(results[0].Ours) != 3 || len(results[1].Limit) != 2 || results[0].ratio() != 0.5 {
		t.Errorf("got %+v", results)
	}
}

// A row is compared with the one that has the same limit, too.
func TestCompareSameLimit(t *testing.T) {
	earlier := []result{
		{What: "answers", Against: "one", Ours: []float64{1}, Limit: []float64{1}},
		{What: "answers", Against: "other", Ours: []float64{1}, Limit: []float64{2}},
	}
	var out strings.Builder
	if err := printResults(&out, earlier, earlier); err != nil || strings.Contains(out.String(), "SLOWER") || !strings.Contains(out.String(), "0.50    other") {
		t.Errorf("got %v\n%s", err, &out)
	}
}

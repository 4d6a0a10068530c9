package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A result is a row that was measured once or several times.
type result struct {
	What    string    `json:"what"`
	Against string    `json:"against"`
	Aim     float64   `json:"aim,omitzero"`
	Ours    []float64 `json:"ours"` // per second, by round
	Limit   []float64 `json:"limit"`
}

// add adds a round of a row to its result.
func add(results []result, r row) []result {
	i := slices.IndexFunc(results, func(known result) bool { return known.What == r.what && known.Against == r.against })
	if i < 0 {
		i = len(results)
		results = append(results, result{What: r.what, Against: r.against, Aim: r.aim})
	}
	results[i].Ours = append(results[i].Ours, r.ours)
	results[i].Limit = append(results[i].Limit, r.limit)
	return results
}

// ratios returns the ratio of each round, in ascending order.
func (r result) ratios() (list []float64) {
	for i := range r.Ours {
		list = append(list, r.Ours[i]/r.Limit[i])
	}
	slices.Sort(list)
	return list
}

// ratio returns the median of the ratios.
func (r result) ratio() float64 { return median(r.ratios()) }

// noise returns how far apart the ratios are, as a part of their median.
func (r result) noise() float64 {
	list := r.ratios()
	return (list[len(list)-1] - list[0]) / median(list)
}

// leastNoise is assumed of a result that was measured once.
const leastNoise = 0.05

// slower reports whether the result is worse than an earlier one by more than the noise
// of both.
func (r result) slower(than result) bool {
	noise := max(r.noise(), than.noise(), leastNoise)
	return r.ratio() < than.ratio()*(1-noise)
}

// printResults prints a table. It marks what is slower than earlier.
func printResults(w io.Writer, results, earlier []result) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tOURS/S\tLIMIT/S\tRATIO\tSPREAD\tAIM\tBEFORE\tTHE LIMIT IS")
	for _, r := range results {
		aim, spread, before := "-", "-", "-"
		if r.Aim > 0 {
			aim = fmt.Sprintf("≥ %.2f", r.Aim)
		}
		if len(r.Ours) > 1 {
			spread = fmt.Sprintf("%.0f %%", 100*r.noise())
		}
		if i := slices.IndexFunc(earlier, func(e result) bool { return e.What == r.What && e.Against == r.Against }); i >= 0 {
			before = fmt.Sprintf("%.2f", earlier[i].ratio())
			if r.slower(earlier[i]) {
				before += " SLOWER"
			}
		}
		fmt.Fprintf(table, "%s\t%.0f\t%.0f\t%.2f\t%s\t%s\t%s\t%s\n",
			r.What, median(slices.Clone(r.Ours)), median(slices.Clone(r.Limit)), r.ratio(), spread, aim, before, r.Against)
	}
	return table.Flush()
}

// writeResults writes the results for later runs; "" is nowhere.
func writeResults(path string, results []result) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(results, jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// readResults reads what writeResults wrote; "" is nothing.
func readResults(path string) (results []result, err error) {
	if path == "" {
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: write it with `make bench OUT=%s` first", err, path)
	}
	if err == nil {
		err = json.Unmarshal(text, &results)
	}
	for _, r := range results {
		if len(r.Ours) == 0 || len(r.Ours) != len(r.Limit) {
			err = errors.Join(err, fmt.Errorf("%s: %q has no values", path, r.What))
		}
	}
	return results, err
}

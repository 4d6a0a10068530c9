package registrar

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
)

// Settings are what a backend is opened with: its block of the configuration, and
// what the service provides.
type Settings struct {
	Name   string            // of the block: [registrar.NAME]
	Values map[string]string // the keys of the block that are not common to all backends

	// Secret is derived for this backend from a key of the service. It is the same
	// on all nodes and after a restart.
	Secret deed.Secret

	// Purchase returns what the references of all attempts of one purchase have in
	// common.
	Purchase func(reference string) string

	// PaidUntil returns until when the owner has paid for the name; zero if that is
	// not known.
	PaidUntil func(ctx context.Context, name deed.Name) (time.Time, error)

	Now func() time.Time // the registry's clock
	Log *slog.Logger
}

// A Reader reads the values of a block and collects what is wrong with them. Call
// Err last.
type Reader struct {
	values map[string]string
	known  map[string]bool
	errs   []error
}

// Read returns a Reader of the values.
func (s Settings) Read() *Reader { return &Reader{values: s.Values, known: map[string]bool{}} }

// Text returns the value of a key, or "".
func (r *Reader) Text(key string) string {
	r.known[key] = true
	return r.values[key]
}

// Needed returns the value of a key that must be set.
func (r *Reader) Needed(key string) string {
	text := r.Text(key)
	if text == "" {
		r.fail(key, "must be set")
	}
	return text
}

// List returns the comma-separated values of a key.
func (r *Reader) List(key string) (list []string) {
	for item := range strings.SplitSeq(r.Text(key), ",") {
		if item = strings.TrimSpace(item); item != "" {
			list = append(list, item)
		}
	}
	return list
}

// Choice returns the value of a key, which must be one of the choices; the first is
// the default.
func (r *Reader) Choice(key string, choices ...string) string {
	text := r.Text(key)
	switch {
	case text == "":
		return choices[0]
	case !slices.Contains(choices, text):
		r.fail(key, "must be one of "+strings.Join(choices, ", "))
	}
	return text
}

// Bool returns the value of a key that is true or false.
func (r *Reader) Bool(key string) bool {
	return r.Choice(key, "false", "true") == "true"
}

// Int returns the value of a key that is a number from low to high; 0 if it is not
// set.
func (r *Reader) Int(key string, low, high int) int {
	text := r.Text(key)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		r.fail(key, fmt.Sprintf("must be a number from %d to %d", low, high))
		return 0
	}
	return n
}

// Duration returns the value of a key such as "15s"; 0 if it is not set.
func (r *Reader) Duration(key string) time.Duration {
	text := r.Text(key)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		r.fail(key, `must be a time such as "15s"`)
		return 0
	}
	return d
}

// defaultDeadline is how long an order may take: registries have maintenance windows of
// hours.
const defaultDeadline = 24 * time.Hour

// Deadline returns how long an order may take, from the key deadline.
func (r *Reader) Deadline() time.Duration { return cmp.Or(r.Duration("deadline"), defaultDeadline) }

// SecretFile returns the secret in the file that a key names, which must be set. The
// file is read with read.
func (r *Reader) SecretFile(key string, read func(path string) ([]byte, error)) deed.Secret {
	path := r.Needed(key)
	if path == "" {
		return ""
	}
	secret, err := read(path)
	if err != nil {
		r.Fail(key, err)
	}
	trimmed := strings.TrimSpace(string(secret))
	if err == nil && trimmed == "" {
		r.fail(key, "names an empty file: "+path)
	}
	return deed.Secret(trimmed)
}

// Fail records that the value of a key is wrong.
func (r *Reader) Fail(key string, err error) { r.fail(key, err.Error()) }

func (r *Reader) fail(key, what string) {
	r.errs = append(r.errs, fmt.Errorf("%s %s", key, what))
}

// Err returns what is wrong with the values. A key that was never read is unknown.
func (r *Reader) Err() error {
	for _, key := range slices.Sorted(maps.Keys(r.values)) {
		if !r.known[key] {
			r.errs = append(r.errs, fmt.Errorf("there is no key %s; there are %s", key, strings.Join(slices.Sorted(maps.Keys(r.known)), ", ")))
		}
	}
	return errors.Join(r.errs...)
}

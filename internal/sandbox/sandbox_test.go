package sandbox_test

import (
	"log/slog"
	"reflect"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/sandbox"
)

// No limit of the service is left as it is by default.
func TestAllLimitsAreRaised(t *testing.T) {
	limits := reflect.ValueOf(sandbox.Config(t.TempDir(), "test", slog.New(slog.DiscardHandler)).Limits)
	for i := range limits.NumField() {
		if l := limits.Field(i).Interface().(deed.Limit); l.Max < 1_000_000 {
			t.Errorf("%s: at most %d calls", l.Name, l.Max)
		}
	}
}

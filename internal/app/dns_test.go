package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fleetSecret signs what goes between us and our secondaries in tests.
const fleetSecret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="

func TestTSIGFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tsig")
	for text, want := range map[string]int{
		"": -1, " \n\t\r\n": -1, "# of the fleet\n": -1,
		"# of the fleet\n\nfleet-2026 " + fleetSecret + "\n":                 1,
		"fleet-2026\t" + fleetSecret + "\r\nother " + fleetSecret:            2,
		"fleet-2026 " + fleetSecret + " more":                                -1,
		"fleet-2026":                                                         -1,
		"fleet-2026 c2hvcnQ=":                                                -1,
		"fleet-2026 " + fleetSecret + "\n" + strings.Repeat("# long\n", 1e4): -1,
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys, err := readTSIG(path)
		if want < 0 && (err == nil || strings.Contains(err.Error(), fleetSecret)) || want >= 0 && (err != nil || len(keys) != want) {
			t.Errorf("%.40q: got %d keys, %v, want %d", text, len(keys), err, want)
		}
	}
}

package freeport_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"deed.example/deed/internal/freeport"
)

// Of two processes that find many ports, none finds one that the other has.
func TestProcessesFindDifferentPorts(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has abstract sockets")
	}
	const each = 300
	var found []string
	for range each {
		addr, err := freeport.Find()
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, addr.String())
	}
	if os.Getenv("FREEPORT_CHILD") != "" {
		os.Stdout.WriteString(strings.Join(found, " "))
		os.Exit(0)
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestProcessesFindDifferentPorts$")
	child.Env = append(os.Environ(), "FREEPORT_CHILD=1")
	out, err := child.Output()
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Fields(string(out))
	seen := map[string]bool{}
	for _, addr := range append(found, other...) {
		if seen[addr] {
			t.Errorf("%s was found twice", addr)
		}
		seen[addr] = true
	}
	if len(seen) != 2*each {
		t.Errorf("got %d ports, want %d", len(seen), 2*each)
	}
}

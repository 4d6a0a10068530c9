package registrar_test

import (
	"errors"
	"strings"
	"testing"

	"deed.example/deed/internal/registrar"
)

// Each backend is called although another one hangs until then, and a panic is an error.
func TestAtOnce(t *testing.T) {
	last := make(chan struct{})
	failed := errors.New("no reply")
	err := registrar.AtOnce([]registrar.Backend{{Name: "a"}, {Name: "b"}, {Name: "c"}}, func(b registrar.Backend) error {
		switch b.Name {
		case "a":
			<-last
			return failed
		case "b":
			panic("an odd reply")
		}
		close(last)
		return nil
	})
	if !errors.Is(err, failed) || !strings.Contains(err.Error(), "registrar b: panic: an odd reply") {
		t.Errorf("got %v", err)
	}
}

package urlerror_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deed.example/deed/internal/urlerror"
)

func TestURLIsRemoved(t *testing.T) {
	refused := errors.New("connection refused")
	err := fmt.Errorf("call: %w", &url.Error{Op: "Post", URL: "https://example.com/key-1234", Err: refused})
	if got := urlerror.Cause(err); !errors.Is(got, refused) || strings.Contains(got.Error(), "key-1234") {
		t.Errorf("got %v", got)
	}
	if got := urlerror.Cause(refused); got != refused {
		t.Errorf("another error: got %v", got)
	}
	if got := urlerror.Cause(nil); got != nil {
		t.Errorf("no error: got %v", got)
	}
}

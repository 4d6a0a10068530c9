package main

import (
	"strings"
	"testing"
)

// A group that does not exist is refused with the list of groups.
func TestCheckNames(t *testing.T) {
	for _, names := range [][]string{nil, {"http"}, {"job", "zones"}} {
		if err := checkNames(names); err != nil {
			t.Errorf("%v: got %v", names, err)
		}
	}
	if err := checkNames([]string{"http", "htpp"}); err == nil || !strings.Contains(err.Error(), `"htpp"`) || !strings.Contains(err.Error(), "http, search, signin") {
		t.Errorf("got %v, want the groups", err)
	}
}

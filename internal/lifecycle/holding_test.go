package lifecycle_test

import (
	"testing"

	"deed.example/deed/internal/lifecycle"
)

func TestRenewalProhibited(t *testing.T) {
	for _, c := range []struct {
		statuses []string
		unpaid   bool
		years    int
		restore  bool
		want     string
	}{
		{nil, false, 1, false, ""},
		{[]string{"serverTransferProhibited", "serverHold"}, false, 1, false, ""},
		{[]string{"serverHold", "serverRenewProhibited"}, false, 1, false, "serverRenewProhibited"},
		{[]string{"clientRenewProhibited"}, false, 3, true, "clientRenewProhibited"},
		{[]string{"serverRestoreProhibited"}, false, 1, false, ""},
		{[]string{"serverRestoreProhibited"}, false, 1, true, "serverRestoreProhibited"},
		{[]string{"serverRenewProhibited"}, true, 1, false, ""}, // the registry has added the year
		{[]string{"serverRenewProhibited"}, true, 2, false, "serverRenewProhibited"},
	} {
		h := lifecycle.Holding{EPPStatus: c.statuses, Unpaid: c.unpaid}
		if got := h.RenewalProhibited(c.years, c.restore); got != c.want {
			t.Errorf("%v: got %q, want %q", c, got, c.want)
		}
	}
}

package main

import (
	"errors"
	"strings"
	"testing"

	"deed.example/deed/internal/app"
	"deed.example/deed/internal/fulfil"
)

// An audit fails when something is wrong, and when something was not checked. A
// deployment that takes no payments has nothing on the chain.
func TestVerdictOfAnAudit(t *testing.T) {
	read, differs, unread := fulfil.Comparison{}, fulfil.Comparison{Unbooked: []string{"1.00"}}, fulfil.Comparison{Unread: []string{"block 3"}}
	for name, tt := range map[string]struct {
		report app.AuditReport
		broken int
		want   string // in the error; "" for none
	}{
		"all is well":        {app.AuditReport{Chain: &read}, 0, ""},
		"no payments":        {app.AuditReport{}, 0, ""},
		"an invariant":       {app.AuditReport{Chain: &read}, 1, "found something"},
		"a difference":       {app.AuditReport{Chain: &differs}, 0, "found something"},
		"unread blocks":      {app.AuditReport{Chain: &unread}, 0, "some blocks could not be read"},
		"the chain is down":  {app.AuditReport{ChainErr: errors.New("no route")}, 0, "not compared with the chain: no route"},
		"both, the findings": {app.AuditReport{ChainErr: errors.New("no route")}, 1, "found something"},
		"both, the chain":    {app.AuditReport{ChainErr: errors.New("no route")}, 1, "no route"},
	} {
		err := verdict(tt.report, tt.broken)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
}

package rdap

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/registration"
)

// namesFunc reads a name.
type namesFunc func(ctx context.Context) error

func (f namesFunc) Name(ctx context.Context, _ deed.Name) (registration.View, error) {
	return registration.View{}, f(ctx)
}

// A caller who goes away in the middle of a request is no error of the service.
func TestCallerIsGone(t *testing.T) {
	var log bytes.Buffer
	ctx, leave := context.WithCancel(t.Context())
	s := &Server{Log: slog.New(slog.NewTextHandler(&log, nil)), Names: namesFunc(func(ctx context.Context) error {
		leave()
		return fmt.Errorf("read a name: %w", ctx.Err())
	})}
	s.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/rdap/domain/example.com", nil))
	if log.Len() > 0 {
		t.Errorf("the log says %s", log.String())
	}
}

// The whole table of RFC 8056, 2, for names.
func TestStatusValues(t *testing.T) {
	for epp, want := range map[string]string{
		"addPeriod": "add period", "autoRenewPeriod": "auto renew period", "clientDeleteProhibited": "client delete prohibited",
		"clientHold": "client hold", "clientRenewProhibited": "client renew prohibited", "clientTransferProhibited": "client transfer prohibited",
		"clientUpdateProhibited": "client update prohibited", "inactive": "inactive", "linked": "associated", "ok": "active",
		"pendingCreate": "pending create", "pendingDelete": "pending delete", "pendingRenew": "pending renew", "pendingRestore": "pending restore",
		"pendingTransfer": "pending transfer", "pendingUpdate": "pending update", "redemptionPeriod": "redemption period", "renewPeriod": "renew period",
		"serverDeleteProhibited": "server delete prohibited", "serverHold": "server hold", "serverRenewProhibited": "server renew prohibited",
		"serverTransferProhibited": "server transfer prohibited", "serverUpdateProhibited": "server update prohibited", "transferPeriod": "transfer period",
	} {
		if got := statusValue(epp); got != want {
			t.Errorf("%s: got %q, want %q", epp, got, want)
		}
	}
}

func TestRegistrableName(t *testing.T) {
	for host, want := range map[string]deed.Name{
		"ns1.example.com": "example.com", "a.b.c.example.com": "example.com", "example.com": "example.com",
		"ns.example.co.uk": "example.co.uk", "ns.co.uk": "ns.co.uk", "co.uk": "", "com": "",
	} {
		if got, ok := registrableName(host); got != want || ok != (want != "") {
			t.Errorf("%s: got %q, %v, want %q", host, got, ok, want)
		}
	}
}

package logcause_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/logcause"
)

var errFull = errors.New("database or disk is full (13)")

// A cause is logged once a minute, however many rows and requests meet it, and the next
// line says how often. Kinds of rows do not hide each other.
func TestOneLineForEachCauseAndMinute(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1_800_000_000, 0)
	log := slog.New(logcause.New(slog.NewTextHandler(&out, nil), func() time.Time { return now }))
	for second := range 150 {
		for _, rows := range []string{"payments", "jobs", "names"} {
			log.Error("work failed", "rows", rows, "err", fmt.Errorf("advance %s %d: %w", rows, second, errFull))
		}
		for _, path := range []string{"/buy", "/renew", "/dns"} {
			log.Error("request failed", "path", path, "err", fmt.Errorf("%s %d: %w", path, second, errFull))
		}
		log.With("node", 1).Warn("waiting", "cause", fmt.Sprintf("no answer about 0xabcdef%d", second))
		log.Info("bought", "err", errFull) // only an account of what happened
		now = now.Add(time.Second)
	}
	for text, want := range map[string]int{
		"work failed": 9, "rows=payments": 3, "rows=jobs": 3, "request failed": 3, "waiting": 3, "bought": 150, "times=180": 2, "times=60": 8,
	} {
		if got := strings.Count(out.String(), text); got != want {
			t.Errorf("%q is in %d lines, want %d", text, got, want)
		}
	}
}

// Lines without an error, and every line at the level debug, are never left out.
func TestNothingIsLost(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(logcause.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}), time.Now))
	for range 10 {
		log.Warn("our wallets run low")
		log.Error("work failed", "err", errFull)
	}
	if got := strings.Count(out.String(), "level=WARN"); got != 10 {
		t.Errorf("%d warnings, want 10", got)
	}
	if got := strings.Count(out.String(), "level=DEBUG"); got != 9 {
		t.Errorf("%d repeated errors at the level debug, want 9", got)
	}
}

func TestOf(t *testing.T) {
	refused := func(port int) error {
		return fmt.Errorf("call: %w", &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: port}, Err: errors.New("refused")})
	}
	tests := []struct {
		name string
		a, b error
		same bool
	}{
		{"two loops", fmt.Errorf("advance a1: %w", errFull), fmt.Errorf("read the time: %w", errFull), true},
		{"joined", errors.Join(errFull, errors.New("x")), errors.Join(errFull, errors.New("y")), false},
		{"two servers", refused(5432), refused(8545), false},
		{"one server", refused(5432), fmt.Errorf("begin: %w", refused(5432)), true},
		{"two timeouts", fmt.Errorf("read the time: %w", context.DeadlineExceeded), fmt.Errorf("call eth_call: %w", context.DeadlineExceeded), false},
		{"two ids", errors.New("no row 17"), errors.New("no row 18"), true},
	}
	for _, tt := range tests {
		if got := logcause.Of(tt.a) == logcause.Of(tt.b); got != tt.same {
			t.Errorf("%s: %q and %q: the same is %t, want %t", tt.name, logcause.Of(tt.a), logcause.Of(tt.b), got, tt.same)
		}
	}
}

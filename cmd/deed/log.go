package main

import (
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/lmittmann/tint"
	"golang.org/x/term"
)

// newLogger logs JSON lines, or coloured text on a terminal.
func newLogger(c *config, out io.Writer) *slog.Logger {
	f, isFile := out.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	if c.LogFormat == "text" || c.LogFormat == "auto" && terminal {
		return slog.New(tint.NewTextHandler(out, &tint.Options{Level: c.LogLevel, ReplaceAttr: redact, NoColor: !terminal || os.Getenv("NO_COLOR") != ""}))
	}
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: redact}))
}

// secretKeyParts are parts of attribute names whose values are secret.
var secretKeyParts = []string{"authorization", "token", "secret", "password", "signature", "payment-", "x-payment", "privatekey", "url"}

// redact hides values by their attribute name, in addition to deed.Secret.
func redact(_ []string, a slog.Attr) slog.Attr {
	name := strings.ToLower(a.Key)
	if slices.ContainsFunc(secretKeyParts, func(w string) bool { return strings.Contains(name, w) }) {
		return slog.Any(a.Key, slog.StringValue("***"))
	}
	return a
}

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

// newLogger writes one JSON line per event, or colours where a person watches.
func newLogger(c *config, out io.Writer) *slog.Logger {
	f, isFile := out.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	if c.LogFormat == "text" || c.LogFormat == "auto" && terminal {
		return slog.New(tint.NewTextHandler(out, &tint.Options{Level: c.LogLevel, ReplaceAttr: redact, NoColor: !terminal || os.Getenv("NO_COLOR") != ""}))
	}
	return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: redact}))
}

// telltale words in the name of an attribute whose value nobody may read.
var telltale = []string{"authorization", "token", "secret", "password", "signature", "payment-", "x-payment", "privatekey", "url"}

// redact is the second lock behind deed.Secret: it hides a value by its name.
func redact(_ []string, a slog.Attr) slog.Attr {
	name := strings.ToLower(a.Key)
	if slices.ContainsFunc(telltale, func(w string) bool { return strings.Contains(name, w) }) {
		return slog.Any(a.Key, slog.StringValue("***"))
	}
	return a
}

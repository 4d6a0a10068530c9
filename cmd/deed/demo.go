package main

import (
	"context"
	"log/slog"
	"strings"
)

// startSandbox runs the whole service on embedded parts in dir and on free
// ports, until ctx ends. ready is told where callers reach it.
func startSandbox(ctx context.Context, dir string, ready func(base string)) error {
	c := defaultConfig()
	c.Data = dir
	for _, s := range c.settings() {
		if strings.HasSuffix(s.key, "listen") {
			if err := s.set("127.0.0.1:0", "the demo"); err != nil {
				return err
			}
		}
	}
	return serve(ctx, c, welcomed(ready), slog.New(slog.DiscardHandler))
}

// welcomed calls itself with the callers' address when the welcome is written.
type welcomed func(base string)

func (w welcomed) Write(p []byte) (int, error) {
	words := strings.Fields(string(p))
	for i, word := range words[:max(0, len(words)-1)] {
		if word == "callers" {
			w(words[i+1])
			break
		}
	}
	return len(p), nil
}

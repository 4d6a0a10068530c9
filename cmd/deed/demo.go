package main

import (
	"context"
	"strings"
)

// startSandbox runs a sandbox in dir and on free ports until ctx is done. It calls
// ready with the service's URL.
func startSandbox(ctx context.Context, dir string, ready func(base string)) error {
	c := defaultConfig()
	c.Data = dir
	for _, s := range c.settings() {
		if strings.HasSuffix(s.key, "listen") && s.key != "redirect.tls_listen" { // that one needs a certificate authority
			if err := s.set("127.0.0.1:0", "the demo"); err != nil {
				return err
			}
		}
	}
	return serve(ctx, c, welcomed(ready))
}

// welcomed is a writer that calls itself with the service's URL when the welcome
// is written.
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

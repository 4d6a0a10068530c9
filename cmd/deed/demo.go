package main

import (
	"context"
	"strings"

	"deed.example/deed/internal/app"
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
	return serve(ctx, c, func(a *app.App) { ready(a.URL()) })
}

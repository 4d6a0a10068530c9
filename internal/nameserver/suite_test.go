package nameserver_test

import (
	"testing"

	"deed.example/deed/internal/dnssec"
	"deed.example/deed/internal/nameserver"
	"deed.example/deed/internal/nameserver/publishtest"
)

var _ dnssec.Publisher = (*nameserver.Server)(nil)

func TestPublisher(t *testing.T) {
	publishtest.Run(t, func(t *testing.T) publishtest.Env {
		s := serve(t, config())
		return publishtest.Env{Publisher: s, Server: s.Addr()}
	})
}

// config is the default on a free port.
func config() nameserver.Config {
	cfg := nameserver.Defaults()
	cfg.Listen = "127.0.0.1:0"
	return cfg
}

// serve opens a server and serves until the test ends.
func serve(t testing.TB, cfg nameserver.Config) *nameserver.Server {
	t.Helper()
	s, err := nameserver.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return s
}

// publish publishes a zone made of zone file lines.
func publish(t testing.TB, s *nameserver.Server, origin string, lines ...string) {
	t.Helper()
	if err := s.Publish(t.Context(), publishtest.Zone(t, origin, 1, lines...)); err != nil {
		t.Fatal(err)
	}
}

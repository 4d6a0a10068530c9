package main

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"deed.example/deed/internal/devchain"
)

// A sharedChain is a chain that all nodes use, with its endpoint.
type sharedChain struct {
	*devchain.Chain
	url    string
	server *http.Server
	served chan error
}

func openChain(dir string, log *slog.Logger) (*sharedChain, error) {
	chain, err := devchain.Open(devchain.Config{Dir: dir, Now: time.Now})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, chain.Close())
	}
	server := &http.Server{Handler: chain.Handler(), ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError)}
	c := &sharedChain{chain, "http://" + l.Addr().String(), server, make(chan error, 1)}
	go func() { c.served <- c.server.Serve(l) }()
	return c, nil
}

func (c *sharedChain) close() error {
	err := c.server.Close()
	if served := <-c.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return errors.Join(err, c.Chain.Close())
}

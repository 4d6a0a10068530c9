package tracing

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

var _ otlptrace.Client = (*collector)(nil)

// A collector sends spans by OTLP over HTTP. The client that OpenTelemetry has for this needs
// gRPC, although it does not speak it: that is a hundred packages more, which take the
// compiler five times as long as everything else here, and 8 MB of the binary.
type collector struct {
	Config
	http *http.Client
	log  *slog.Logger
}

func newCollector(c Config, log *slog.Logger) (*collector, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	if c.Roots != "" {
		pem, err := os.ReadFile(c.Roots)
		if err != nil {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %w", err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_CERTIFICATE: %s has no certificate", c.Roots)
		}
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &collector{c, &http.Client{Transport: transport, CheckRedirect: noRedirect}, log}, nil
}

// Start implements otlptrace.Client.
func (c *collector) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *collector) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. Spans that the collector does not take are lost,
// and the log says so: nothing waits for them.
func (c *collector) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// An ExportTraceServiceRequest has the same bytes.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err == nil && c.Gzip {
		body, err = compress(body)
	}
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		err = c.send(ctx, body)
	}
	if err != nil {
		c.log.Warn("traces were not sent", "err", err)
	}
	return nil
}

func compress(body []byte) ([]byte, error) {
	var small bytes.Buffer
	w := gzip.NewWriter(&small)
	_, err := w.Write(body)
	err = errors.Join(err, w.Close())
	return small.Bytes(), err
}

// firstPause is that before the first repetition, unless the collector asks for another one.
const firstPause = time.Second

// send sends a batch, again and again while the collector is busy, until ctx is done.
func (c *collector) send(ctx context.Context, body []byte) (failed error) {
	for pause := firstPause; ; pause *= 2 {
		busy, asked, err := c.post(ctx, body)
		if failed != nil && ctx.Err() != nil {
			return failed // which says more
		}
		if failed = err; err == nil || !busy {
			return err
		}
		if asked > 0 {
			pause = asked
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return err
		}
	}
}

// post sends a batch once. When that fails, it reports whether the collector is only busy, and
// the pause that it asks for.
func (c *collector) post(ctx context.Context, body []byte) (busy bool, pause time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return false, 0, err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "deed")
	if c.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	for name, value := range c.Headers {
		req.Header.Set(name, value.Reveal())
	}
	res, err := c.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*url.Error](err); ok {
			err = e.Err // without the address, which may have a password
		}
		return true, 0, err
	}
	defer res.Body.Close() // what follows does not matter
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10))
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, 0, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		busy = true
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // 0: it asks for none
	return busy, time.Duration(min(max(seconds, 0), 3600)) * time.Second, fmt.Errorf("the collector answered with status %d", res.StatusCode)
}

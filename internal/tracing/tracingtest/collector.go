// Package tracingtest has a collector of spans for tests.
package tracingtest

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"deed.example/deed/internal/tracing"
)

// A Collector takes spans by OTLP over HTTP.
type Collector struct {
	URL *url.URL

	mu       sync.Mutex
	refusals []int // statuses of the next requests
	requests []*http.Request
	spans    []Span
}

// A Span is one that came.
type Span struct {
	*tracepb.Span
	Process map[string]string // the attributes of the process
}

// Start starts a collector that ends with the test.
func Start(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	c.URL, _ = url.Parse(s.URL + "/v1/traces") // httptest makes valid ones
	return c
}

// Config returns what sends spans to it.
func (c *Collector) Config(t *testing.T) tracing.Config {
	t.Helper()
	config, err := tracing.FromEnvironment(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL.String()}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// Refuse makes it answer the next requests with these statuses.
func (c *Collector) Refuse(statuses ...int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refusals = statuses
}

// Spans returns the spans that came.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.spans
}

// Requests returns the requests that came, without their bodies.
func (c *Collector) Requests() []*http.Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests
}

// ServeHTTP implements http.Handler.
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err == nil && r.Header.Get("Content-Encoding") == "gzip" {
		raw, err = decompress(raw)
	}
	var in tracepb.TracesData // the same bytes as an ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(raw, &in)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r)
	if len(c.refusals) > 0 {
		status := c.refusals[0]
		c.refusals = c.refusals[1:]
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
		return
	}
	if err != nil || r.Method != http.MethodPost || r.URL.Path != c.URL.Path || r.Header.Get("Content-Type") != "application/x-protobuf" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	for _, resource := range in.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, s := range scope.Spans {
				c.spans = append(c.spans, Span{s, attributes(resource.Resource.Attributes)})
			}
		}
	}
}

func decompress(raw []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Attribute returns an attribute of a span; "" if it has none.
func (s Span) Attribute(key string) string { return attributes(s.Attributes)[key] }

func attributes(pairs []*commonpb.KeyValue) map[string]string {
	out := map[string]string{}
	for _, p := range pairs {
		switch v := p.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			out[p.Key] = v.StringValue
		default:
			out[p.Key] = p.Value.String()
		}
	}
	return out
}

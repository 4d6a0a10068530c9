package tracing_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"deed.example/deed"
	"deed.example/deed/internal/tracing"
	"deed.example/deed/internal/tracing/tracingtest"
)

// record returns the spans of f, by name, and the log.
func record(t *testing.T, collector *tracingtest.Collector, c tracing.Config, f func(*tracing.Tracer)) (map[string]tracingtest.Span, string) {
	t.Helper()
	var logged bytes.Buffer
	log := slog.New(slog.NewTextHandler(&logged, nil))
	tracer, err := tracing.Open(t.Context(), c, "1.2.3", log)
	if err != nil {
		t.Fatal(err)
	}
	f(tracer)
	tracer.Close(log)
	spans := map[string]tracingtest.Span{}
	for _, s := range collector.Spans() {
		spans[s.Name] = s
	}
	return spans, logged.String()
}

const callers = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestRequest(t *testing.T) {
	collector := tracingtest.Start(t)
	spans, _ := record(t, collector, collector.Config(t), func(tracer *tracing.Tracer) {
		for _, trusted := range []bool{true, false} {
			r := httptest.NewRequest("BREW", "/calendar/secret.ics", nil)
			r.Header.Set("Traceparent", callers)
			r, span := tracer.Request(r, trusted)
			_, end := tracing.Start(r.Context(), map[bool]string{true: "below ours", false: "below a stranger's"}[trusted])
			end(errors.New("refused: \xff" + strings.Repeat("x", 1<<20)))
			span.End(map[bool]string{true: "GET /calendar/{file}", false: ""}[trusted], http.StatusServiceUnavailable, "id-1")
		}
	})
	ours, strangers := spans["GET /calendar/{file}"], spans["no route"]
	if len(spans) != 4 || ours.Span == nil || strangers.Span == nil {
		t.Fatalf("got %d spans: %v", len(spans), spans)
	}
	caller := "0af7651916cd43dd8448eb211c80319c"
	if hex(ours.TraceId) != caller || len(ours.Links) != 0 {
		t.Errorf("the trace of a proxy is not continued: %v", ours)
	}
	if hex(strangers.TraceId) == caller || len(strangers.ParentSpanId) != 0 || len(strangers.Links) != 1 || hex(strangers.Links[0].TraceId) != caller {
		t.Errorf("the trace of a stranger is not only linked to: %v", strangers)
	}
	if below := spans["below ours"]; hex(below.ParentSpanId) != hex(ours.SpanId) || below.Status.Code != tracepb.Status_STATUS_CODE_ERROR ||
		!strings.HasPrefix(below.Status.Message, "refused: \uFFFD") || len(below.Status.Message) > 4096 {
		t.Errorf("got %.200v", below)
	}
	for key, want := range map[string]string{"http.route": "/calendar/{file}", "http.request.method": "_OTHER", "deed.request_id": "id-1"} {
		if got := ours.Attribute(key); got != want {
			t.Errorf("%s: got %q, want %q", key, got, want)
		}
	}
	if ours.Kind != tracepb.Span_SPAN_KIND_SERVER || ours.Status.Code != tracepb.Status_STATUS_CODE_ERROR || ours.Process["service.name"] != "deed" || ours.Process["service.version"] != "1.2.3" {
		t.Errorf("got %v", ours)
	}
	for _, s := range spans {
		if strings.Contains(s.String(), "secret") {
			t.Errorf("a path with a secret is in a span: %v", s)
		}
	}
}

func hex(id []byte) string {
	const digits = "0123456789abcdef"
	var b strings.Builder
	for _, c := range id {
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

func TestStatements(t *testing.T) {
	collector := tracingtest.Start(t)
	trace := tracing.Statements(tracing.PostgreSQL)
	spans, _ := record(t, collector, collector.Config(t), func(tracer *tracing.Tracer) {
		trace(t.Context(), "SELECT 1 FROM nobody_asked")(nil)
		ctx, end := tracer.Row(t.Context(), "jobs", "job_1")
		trace(ctx, "\n\tSELECT a,\n\t\tb FROM zones z WHERE id = $1")(nil)
		trace(ctx, "WITH x AS (INSERT INTO payments (id) VALUES ($1)) SELECT 1")(errors.New("it is full"))
		trace(ctx, "begin")(nil)
		end(nil)
	})
	if len(spans) != 4 {
		t.Errorf("got %d spans: %v", len(spans), spans)
	}
	if s := spans["SELECT zones"]; s.Span == nil || s.Attribute("db.query.text") != "SELECT a, b FROM zones z WHERE id = $1" || s.Attribute("db.system.name") != "postgresql" {
		t.Errorf("got %v", s)
	}
	if s := spans["WITH payments"]; s.Span == nil || s.Status.Message != "it is full" {
		t.Errorf("got %v", s)
	}
	if row := spans["jobs"]; row.Span == nil || row.Attribute("deed.id") != "job_1" || row.Status.GetCode() == tracepb.Status_STATUS_CODE_ERROR || hex(spans["BEGIN"].ParentSpanId) != hex(row.SpanId) {
		t.Errorf("got %v", row)
	}
}

// Without a collector nothing is recorded, and nothing fails.
func TestOff(t *testing.T) {
	tracer, err := tracing.Open(t.Context(), tracing.Config{}, "", nil)
	if err != nil || tracer != nil {
		t.Fatalf("got %v, %v", tracer, err)
	}
	before := httptest.NewRequest("GET", "/", nil)
	r, span := tracer.Request(before, true)
	ctx, end := tracer.Row(t.Context(), "jobs", "1")
	if r != before || ctx != t.Context() {
		t.Error("the request or the context was replaced")
	}
	span.End("GET /", 200, "")
	end(nil)
	tracer.Close(nil)
}

func TestCollector(t *testing.T) {
	row := func(tracer *tracing.Tracer) {
		_, end := tracer.Row(context.Background(), "jobs", "1")
		end(nil)
	}
	for name, c := range map[string]struct {
		refusals []int
		change   func(*tracing.Config)
		spans    int
		requests int
		logged   string
	}{
		"taken":              {nil, func(*tracing.Config) {}, 1, 1, ""},
		"packed":             {nil, func(c *tracing.Config) { c.Gzip = true }, 1, 1, ""},
		"with a key":         {nil, func(c *tracing.Config) { c.Headers = map[string]deed.Secret{"api-key": "hunter2"} }, 1, 1, ""},
		"busy at first":      {[]int{503}, func(*tracing.Config) {}, 1, 2, ""},
		"refused":            {[]int{400}, func(*tracing.Config) {}, 0, 1, "status 400"},
		"sent elsewhere":     {[]int{307}, func(*tracing.Config) {}, 0, 1, "status 307"},
		"busy for too long":  {[]int{503, 503, 503, 503}, func(c *tracing.Config) { c.Timeout = time.Nanosecond }, 0, 0, "deadline"},
		"nobody is there":    {nil, func(c *tracing.Config) { c.Endpoint.Host, c.Timeout = "127.0.0.1:1", time.Second }, 0, 0, "refused"},
		"an unusual address": {nil, func(c *tracing.Config) { c.Endpoint.Path = "/other" }, 0, 1, "status 400"},
	} {
		t.Run(name, func(t *testing.T) {
			collector := tracingtest.Start(t)
			collector.Refuse(c.refusals...)
			config := collector.Config(t)
			c.change(&config)
			_, logged := record(t, collector, config, row)
			if got := len(collector.Spans()); got != c.spans {
				t.Errorf("got %d spans, want %d", got, c.spans)
			}
			requests := collector.Requests()
			if len(requests) != c.requests || (logged == "") != (c.logged == "") || !strings.Contains(logged, c.logged) {
				t.Errorf("got %d requests, want %d; logged %q, want %q", len(requests), c.requests, logged, c.logged)
			}
			for name, value := range config.Headers {
				if requests[0].Header.Get(name) != value.Reveal() {
					t.Errorf("the header %s has not come", name)
				}
			}
		})
	}
}

func TestLogHandler(t *testing.T) {
	collector := tracingtest.Start(t)
	var logged bytes.Buffer
	log := slog.New(tracing.LogHandler{Handler: slog.NewTextHandler(&logged, nil)}).With("a", 1).WithGroup("g")
	spans, _ := record(t, collector, collector.Config(t), func(tracer *tracing.Tracer) {
		ctx, end := tracer.Row(t.Context(), "jobs", "1")
		log.InfoContext(ctx, "traced")
		log.InfoContext(t.Context(), "not traced")
		end(nil)
	})
	lines := strings.Split(logged.String(), "\n")
	if want := "traceId=" + hex(spans["jobs"].TraceId); !strings.Contains(lines[0], want) || strings.Contains(lines[1], "traceId") {
		t.Errorf("got %s, want %s in the first line", logged.String(), want)
	}
}

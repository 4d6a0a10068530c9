// Package tracing records what a request or a row of the worker makes the service do, as
// spans of OpenTelemetry, and sends them to a collector.
//
// A trace begins with a request (Tracer.Request) or with a row (Tracer.Row). What these call
// begins spans below it (Start): statements of the database, calls of RPC endpoints and of
// registrars. A span is found by the context, so nothing but the two beginnings needs the
// Tracer; without one, nothing is recorded and a Start costs a look into the context.
package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// scope names our spans among those of libraries.
const scope = "deed.example/deed"

// closeTimeout bounds how long the last spans may take when the service ends.
const closeTimeout = 3 * time.Second

// A Tracer begins traces. A nil one records nothing.
type Tracer struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

// Open returns a Tracer that sends to a collector, or nil if none is configured. It does not
// wait for the collector, which may be down. The sampler, the limits of spans and the
// attributes of this process are those of the OTEL_ variables, which the SDK reads itself.
func Open(ctx context.Context, c Config, version string, log *slog.Logger) (*Tracer, error) {
	if c.Endpoint == nil {
		return nil, nil
	}
	client, err := newCollector(c, log)
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, fmt.Errorf("open the exporter of traces: %w", err)
	}
	process, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("deed"), semconv.ServiceVersion(version)),
		resource.WithHost(), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("describe this process for traces: %w", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(process))
	return &Tracer{provider, provider.Tracer(scope)}, nil
}

// Close sends what is left, for up to a few seconds.
func (t *Tracer) Close(log *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		log.Warn("the last traces were not sent", "err", err)
	}
}

// Row begins the trace of a row that the worker advances. Call end with the outcome.
func (t *Tracer) Row(ctx context.Context, rows, id string) (_ context.Context, end func(error)) {
	if t == nil {
		return ctx, func(error) {}
	}
	ctx, span := t.tracer.Start(ctx, rows, trace.WithNewRoot(), trace.WithAttributes(attribute.String("deed.rows", rows), attribute.String("deed.id", text(id))))
	return ctx, func(err error) { finish(span, err) }
}

// Start begins a span below the one of the context, if that is recorded. Call end with the
// outcome. The span is that of a call to something else: a database, an endpoint.
func Start(ctx context.Context, name string, attributes ...attribute.KeyValue) (_ context.Context, end func(error)) {
	above := trace.SpanFromContext(ctx)
	if !above.IsRecording() {
		return ctx, func(error) {}
	}
	ctx, span := above.TracerProvider().Tracer(scope).Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	return ctx, func(err error) { finish(span, err) }
}

func finish(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, text(err.Error()))
	}
	span.End()
}

// maxText bounds one text in a span: the longest are those of errors from outside.
const maxText = 2048

// text returns s as a span can hold it. One that is not UTF-8 would make the collector refuse
// all spans that are sent with it.
func text(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

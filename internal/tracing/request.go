package tracing

import (
	"cmp"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// A Request is the span of a request to the service. A nil one is not recorded.
type Request struct{ span trace.Span }

// Request begins the span of a request, and returns the request to serve. The trace of the
// caller (the header traceparent, of W3C Trace Context) is continued if the caller is trusted,
// and only linked to otherwise: a stranger could make us record each of its requests.
func (t *Tracer) Request(r *http.Request, trusted bool) (*http.Request, *Request) {
	if t == nil {
		return r, nil
	}
	ctx, options := r.Context(), []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(method(r))}
	remote := propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	if caller := trace.SpanContextFromContext(remote); trusted {
		ctx = remote
	} else if caller.IsRemote() {
		options = append(options, trace.WithLinks(trace.Link{SpanContext: caller}))
	}
	ctx, span := t.tracer.Start(ctx, r.Method, options...)
	return r.WithContext(ctx), &Request{span}
}

// method returns the method as the conventions want it: callers may send any word.
func method(r *http.Request) attribute.KeyValue {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return semconv.HTTPRequestMethodKey.String(r.Method)
	}
	return semconv.HTTPRequestMethodOther
}

// End ends the span. The route is the pattern that the request matched, such as
// "GET /domains/{domain}", and "" if there was none:
// paths are not recorded, because some have a secret in them. The ID is that of the log.
func (r *Request) End(route string, status int, id string) {
	if r == nil {
		return
	}
	_, path, _ := strings.Cut(route, " ") // after the method
	r.span.SetName(cmp.Or(route, "no route"))
	r.span.SetAttributes(semconv.HTTPRoute(path), semconv.HTTPResponseStatusCode(status), attribute.String("deed.request_id", id))
	if status >= http.StatusInternalServerError {
		r.span.SetStatus(codes.Error, http.StatusText(status))
	}
	r.span.End()
}

package tracing_test

import (
	"strings"
	"testing"
	"time"

	"deed.example/deed/internal/tracing"
)

func TestFromEnvironment(t *testing.T) {
	const all, traces = "OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://user:hunter2@traces/in"
	for name, c := range map[string]struct {
		environ []string
		want    string // the endpoint; "" for none
		err     string
	}{
		"nothing":               {nil, "", ""},
		"an endpoint":           {[]string{all}, "http://collector:4318/v1/traces", ""},
		"one below a path":      {[]string{all + "/otlp/"}, "http://collector:4318/otlp/v1/traces", ""},
		"one for traces":        {[]string{all, traces}, "https://user:hunter2@traces/in", ""},
		"turned off":            {[]string{all, "OTEL_SDK_DISABLED=true"}, "", ""},
		"no exporter":           {[]string{all, "OTEL_TRACES_EXPORTER=none"}, "", ""},
		"the exporter":          {[]string{all, "OTEL_TRACES_EXPORTER=otlp"}, "http://collector:4318/v1/traces", ""},
		"another exporter":      {[]string{all, "OTEL_TRACES_EXPORTER=zipkin"}, "", "OTEL_TRACES_EXPORTER: \"zipkin\" is not supported"},
		"no URL":                {[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318"}, "", "OTEL_EXPORTER_OTLP_ENDPOINT: this is not the URL"},
		"gRPC":                  {[]string{all, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "", "write http/protobuf"},
		"gRPC for others only":  {[]string{all, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"}, "http://collector:4318/v1/traces", ""},
		"no header":             {[]string{all, "OTEL_EXPORTER_OTLP_HEADERS=a=b,hunter2"}, "", "OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not name=value"},
		"no time":               {[]string{all, "OTEL_EXPORTER_OTLP_TIMEOUT=10s"}, "", "is not a number of milliseconds"},
		"no time left":          {[]string{all, "OTEL_EXPORTER_OTLP_TIMEOUT=0"}, "", "is not a number of milliseconds"},
		"another compression":   {[]string{all, "OTEL_EXPORTER_OTLP_COMPRESSION=zstd"}, "", "write gzip or none"},
		"a sampler":             {[]string{all, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01"}, "http://collector:4318/v1/traces", ""},
		"a sampler of others":   {[]string{all, "OTEL_TRACES_SAMPLER=jaeger_remote"}, "", "OTEL_TRACES_SAMPLER"},
		"a ratio above 1":       {[]string{all, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=5"}, "", "from 0 to 1"},
		"a ratio that is not 1": {[]string{all, "OTEL_TRACES_SAMPLER=traceidratio", "OTEL_TRACES_SAMPLER_ARG=NaN"}, "", "from 0 to 1"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tracing.FromEnvironment(variables(c.environ))
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("got %v, want %q", err, c.err)
				}
				return
			}
			endpoint := ""
			if got.Endpoint != nil {
				endpoint = got.Endpoint.String()
			}
			if err != nil || endpoint != c.want || strings.Contains(got.Describe(), "hunter2") {
				t.Errorf("got %s, %s, %v, want %s", endpoint, got.Describe(), err, c.want)
			}
		})
	}
}

func TestOptionsFromEnvironment(t *testing.T) {
	got, err := tracing.FromEnvironment(variables([]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=https://collector", "OTEL_EXPORTER_OTLP_HEADERS=other=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS= api-key = a%20b=c ,tenant=7,",
		"OTEL_EXPORTER_OTLP_TIMEOUT=2500", "OTEL_EXPORTER_OTLP_COMPRESSION=gzip", "OTEL_EXPORTER_OTLP_CERTIFICATE=/roots.pem",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Headers) != 2 || got.Headers["api-key"].Reveal() != "a b=c" || got.Headers["tenant"].Reveal() != "7" {
		t.Errorf("got %d headers", len(got.Headers))
	}
	if got.Timeout != 2500*time.Millisecond || !got.Gzip || got.Roots != "/roots.pem" {
		t.Errorf("got %v, %v, %s", got.Timeout, got.Gzip, got.Roots)
	}
	if _, err := tracing.Open(t.Context(), got, "", nil); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_CERTIFICATE") {
		t.Errorf("roots that do not exist: got %v", err)
	}
}

func variables(environ []string) func(string) string {
	return func(name string) string {
		for _, v := range environ {
			if key, value, _ := strings.Cut(v, "="); key == name {
				return value
			}
		}
		return ""
	}
}

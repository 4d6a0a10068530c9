package tracing

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deed.example/deed"
)

// A Config says where spans are sent. The zero value: nowhere.
type Config struct {
	Endpoint *url.URL               // of a collector that takes OTLP over HTTP; nil: none
	Headers  map[string]deed.Secret // sent with the spans
	Timeout  time.Duration          // of one batch of spans, with its repetitions
	Gzip     bool
	Roots    string // file with the roots that the collector's certificate is checked with; empty: those of the system
}

// defaultTimeout is that of the specification.
const defaultTimeout = 10 * time.Second

// FromEnvironment reads the variables that the specification of OpenTelemetry has for
// exporters. A variable for traces precedes that for all signals. It fails with the name of
// the variable that asks for what we cannot do.
func FromEnvironment(get func(string) string) (c Config, err error) {
	specific := func(name string) (string, string) {
		if v := get("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
			return "OTEL_EXPORTER_OTLP_TRACES_" + name, v
		}
		return "OTEL_EXPORTER_OTLP_" + name, get("OTEL_EXPORTER_OTLP_" + name)
	}
	exporter := get("OTEL_TRACES_EXPORTER")
	name, endpoint := specific("ENDPOINT")
	if endpoint == "" || exporter == "none" || strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return Config{}, nil
	}
	if exporter != "" && exporter != "otlp" {
		return Config{}, fmt.Errorf("OTEL_TRACES_EXPORTER: %q is not supported: write otlp or none", exporter)
	}
	if c.Endpoint, err = url.Parse(endpoint); err != nil || c.Endpoint.Host == "" || c.Endpoint.Scheme != "http" && c.Endpoint.Scheme != "https" {
		return Config{}, fmt.Errorf("%s: this is not the URL of a collector, such as http://127.0.0.1:4318", name)
	}
	if name == "OTEL_EXPORTER_OTLP_ENDPOINT" { // that of all signals
		c.Endpoint = c.Endpoint.JoinPath("v1", "traces")
	}
	if name, protocol := specific("PROTOCOL"); protocol != "" && protocol != "http/protobuf" {
		return Config{}, fmt.Errorf("%s: %q is not supported: write http/protobuf, and the port of the collector for it, usually 4318", name, protocol)
	}
	name, headers := specific("HEADERS")
	if c.Headers, err = parseHeaders(headers); err != nil {
		return Config{}, fmt.Errorf("%s: %w", name, err)
	}
	c.Timeout = defaultTimeout
	if name, timeout := specific("TIMEOUT"); timeout != "" {
		ms, err := strconv.Atoi(timeout)
		if err != nil || ms <= 0 {
			return Config{}, fmt.Errorf("%s: %q is not a number of milliseconds", name, timeout)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	name, compression := specific("COMPRESSION")
	if c.Gzip = compression == "gzip"; !c.Gzip && compression != "" && compression != "none" {
		return Config{}, fmt.Errorf("%s: %q is not supported: write gzip or none", name, compression)
	}
	_, c.Roots = specific("CERTIFICATE")
	return c, checkSampler(get("OTEL_TRACES_SAMPLER"), get("OTEL_TRACES_SAMPLER_ARG"))
}

// parseHeaders reads names and values, as in "api-key=secret,tenant=1". Errors do not have the
// values, which may be secret.
func parseHeaders(s string) (map[string]deed.Secret, error) {
	headers := map[string]deed.Secret{}
	for n, pair := range strings.Split(s, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || err != nil || strings.TrimSpace(name) == "" {
			return nil, fmt.Errorf("entry %d is not name=value, with other characters in the value as %%XX", n+1)
		}
		headers[strings.TrimSpace(name)] = deed.Secret(value)
	}
	return headers, nil
}

// checkSampler checks what the SDK would otherwise replace by its default in silence.
func checkSampler(name, arg string) error {
	known := []string{"", "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off", "parentbased_traceidratio"}
	if !slices.Contains(known, name) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER: %q is not supported: write one of %s", name, strings.Join(known[1:], ", "))
	}
	if ratio, err := strconv.ParseFloat(arg, 64); arg != "" && (err != nil || !(ratio >= 0 && ratio <= 1)) {
		return fmt.Errorf("OTEL_TRACES_SAMPLER_ARG: %q is not a number from 0 to 1", arg)
	}
	return nil
}

// Describe returns where spans are sent, without secrets; "" if nowhere.
func (c Config) Describe() string {
	if c.Endpoint == nil {
		return ""
	}
	return c.Endpoint.Scheme + "://" + c.Endpoint.Host
}

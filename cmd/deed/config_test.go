package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deed.example/deed"
	"deed.example/deed/internal/catalog"
)

// read reads a configuration from the text of a file, the environment and flags.
func read(t *testing.T, file string, environ, args []string) (*config, string, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "deed.toml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	cmd := serveCommand()
	if err := cmd.ParseFlags(args); err != nil {
		return nil, "", err
	}
	c, settings, err := readConfig(cmd.Flags(), environ)
	if err != nil {
		return nil, "", err
	}
	var out bytes.Buffer
	if err := explain(&out, c, settings); err != nil {
		return nil, "", err
	}
	return c, out.String(), nil
}

// Zero configuration is the whole service on embedded parts.
func TestDefaults(t *testing.T) {
	c, out, err := read(t, "", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8080" || c.Data != "./deed-data" || c.Limits != deed.DefaultLimits() || c.DatabaseURL != "" || c.CacheURL != "" {
		t.Errorf("got %+v", c)
	}
	for _, want := range []string{"SQLite in deed-data/deed.db", "the memory of this process", "543 TLDs"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

// Defaults, then the file, then the environment, then the flags.
func TestLastWordCounts(t *testing.T) {
	const file = `
		listen = "127.0.0.1:1001"
		data = "file"
		public_url = "https://deed.example"
		proxies = ["10.0.0.0/8", "2001:db8::/32"]
		[limits]
		search = 1
		dns = 2
		[catalog]
		markup = "12.5%"
		fee_usd = "0.25"
		[catalog.tld.com]
		markup = "0%"
		[catalog.tld.io]
		fee_usd = "1"
		[registrar.a]
		type = "local"
		tlds = "*"
		markup = "3%"`
	c, out, err := read(t, file, []string{"DEED_LISTEN=127.0.0.1:1002", "DEED_DATA=environment", "DEED_LIMITS_SEARCH=3", "DEED_CATALOG_MARKUP=30%", "PATH=/bin"}, []string{"--listen", "127.0.0.1:1003", "--catalog-fee-usd", "0.75"})
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:1003" || c.Data != "environment" || c.PublicURL != "https://deed.example" || len(c.Proxies) != 2 {
		t.Errorf("got %+v", c)
	}
	if c.Limits.Search.Max != 3 || c.Limits.DNS.Max != 2 || c.Limits.Account.Max != 30 {
		t.Errorf("got limits %+v", c.Limits)
	}
	base := catalog.Markup{BasisPoints: 3000, Fee: 750_000}
	if c.Pricing.Markup != base || c.Pricing.PerTLD["com"] != (catalog.Markup{Fee: 750_000}) || c.Pricing.PerTLD["io"] != (catalog.Markup{BasisPoints: 3000, Fee: 1_000_000}) {
		t.Errorf("got prices %+v", c.Pricing)
	}
	if m := c.Registrars[0].Markup; m == nil || *m != (catalog.Markup{BasisPoints: 300, Fee: 750_000}) {
		t.Errorf("got markup %+v of the registrar", m)
	}
	for _, want := range []string{"--listen", "DEED_DATA", "deed.toml", "default", "10.0.0.0/8,2001:db8::/32", "30.00%"} {
		if !strings.Contains(out, want) {
			t.Errorf("got %s, want %q", out, want)
		}
	}
}

func TestMistakesAreRefused(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, file string
		environ    []string
		args       []string
		says       string
	}{
		{"unknown key", "lisen = \"127.0.0.1:1\"", nil, nil, "there is no key lisen; similar ones are listen"},
		{"unknown table", "[databse]\nurl = \"postgres://a\"", nil, nil, "databse.url"},
		{"key in capitals", "Listen = \"127.0.0.1:1\"", nil, nil, "there is no key Listen; similar ones are listen"},
		{"key as a table", "[listen]", nil, nil, "listen is a key and not a table: write listen = and its value"},
		{"unknown table without keys", "[databse]", nil, nil, "there is no table databse; similar ones are data, database.url"},
		{"registrar without keys", "[registrar.verisign]", nil, nil, "registrar.verisign: type must be set"},
		{"registrar without a type", "[registrar.verisign]\ntlds = [\"com\"]", nil, nil, "registrar.verisign: type must be set"},
		{"unknown key of a TLD", "[catalog.tld.com]\nprice = \"1\"", nil, nil, "markup and fee_usd"},
		{"a TLD we do not sell", "[catalog.tld.cmo]\nmarkup = \"1%\"", nil, nil, "catalog.tld.cmo"},
		{"not TOML", "listen", nil, nil, "deed.toml: line 1, column 6"},
		{"wallet without the API's words", "", nil, []string{"--pay-to", "0x12"}, `pay_to (from --pay-to): "0x12" is not an address`},
		{"the setting once", "", nil, []string{"--chain-wallet-factories", "x"}, `chain.wallet_factories (from --chain-wallet-factories): "x" is not`},
		{"markup of a registrar", "[registrar.a]\nmarkup = \"x\"", nil, nil, "registrar.a.markup: "},
		{"unknown variable", "", []string{"DEED_LISEN=1"}, nil, "there is no variable DEED_LISEN; similar ones are DEED_LISTEN"},
		{"unknown flag", "", nil, []string{"--lisen", "1"}, "lisen"},
		{"no such file", "", nil, []string{"--config", "/nonexistent/deed.toml"}, "no such file"},
		{"address", "", nil, []string{"--listen", "8080"}, "host:port"},
		{"public address", "", nil, []string{"--public-url", "deed.example"}, "https://"},
		{"public address with a path", "", nil, []string{"--public-url", "https://deed.example/api"}, "https://"},
		{"number", "", []string{"DEED_LIMITS_SEARCH=0"}, nil, "from 1 to"},
		{"open payments", "", []string{"DEED_PAYMENTS_MAX_OPEN=101"}, nil, "from 1 to 100"},
		{"share", "", []string{"DEED_CATALOG_MARKUP=0.2"}, nil, "20%"},
		{"amount", "", []string{"DEED_CATALOG_FEE_USD=-1"}, nil, "12.50"},
		{"network", "", []string{"DEED_PROXIES=10.0.0.1"}, nil, "10.0.0.0/8"},
		{"level", "", []string{"DEED_LOG_LEVEL=loud"}, nil, "debug"},
		{"format", "", []string{"DEED_LOG_FORMAT=xml"}, nil, "json"},
		{"database", "", []string{"DEED_DATABASE_URL=mysql://u:hunter2@h/d"}, nil, "postgres://"},
		{"password alone", "", []string{"DEED_DATABASE_URL=hunter2"}, nil, "postgres://"},
		{"cache", "", []string{"DEED_CACHE_URL=memcache://:hunter2@h"}, nil, "redis://"},
		{"port of a cache", "", []string{"DEED_CACHE_URL=redis://:hunter2@127.0.0.1:99999/0"}, nil, "65535"},
		{"empty file of a database", "", []string{"DEED_DATABASE_URL=file:" + empty}, nil, "is empty"},
		{"empty file of a chain", "", []string{"DEED_CHAIN_RPC_URL=file:" + empty}, nil, "is empty"},
		{"missing secret file", "", []string{"DEED_DATABASE_URL=file:/nonexistent/url"}, nil, "no such file"},
		{"yes or no", "", []string{"DEED_REGISTRAR_ALLOW_EMBEDDED=yes"}, nil, "true, false"},
		{"depth", "", []string{"DEED_CHAIN_DEPTH=0"}, nil, "auto"},
		{"first block", "", []string{"DEED_CHAIN_FROM_BLOCK=latest"}, nil, "number of a block"},
		{"treasury", "", []string{"DEED_PAY_TO=0x1"}, nil, "40 hex digits"},
		{"certificate authority", "", []string{"DEED_REDIRECT_ACME_DIRECTORY=http://ca.example/dir"}, nil, "https://"},
		{"contact at it", "", []string{"DEED_REDIRECT_ACME_EMAIL=hostmaster"}, nil, "e-mail"},
		{"zero address", "", []string{"DEED_PAY_TO=0x0000000000000000000000000000000000000000"}, nil, "zero address"},
		{"ceiling", "", []string{"DEED_CATALOG_CEILING_USD=0"}, nil, "above 0"},
		{"abuse contact", "", []string{"DEED_RDAP_ABUSE_EMAIL=foo"}, nil, "e-mail"},
		{"sender", "", []string{"DEED_EMAIL_FROM=foo"}, nil, "e-mail"},
		{"port", "", nil, []string{"--listen", "127.0.0.1:99999"}, "65535"},
		{"no database", "", []string{"DEED_DATABASE_URL="}, nil, "database.url (from DEED_DATABASE_URL): it is empty"},
		{"no chain", "[chain]\nrpc_url = \"\"", nil, nil, "it is empty"},
		{"no file", "", nil, []string{"--config", ""}, "--config or DEED_CONFIG is empty"},
		{"no file in the environment", "", []string{"DEED_CONFIG="}, nil, "--config or DEED_CONFIG is empty"},
		{"direct address alone", "", []string{"DEED_DATABASE_DIRECT_URL=postgres://h/d"}, nil, "database.direct_url is for database.url"},
		{"fallback alone", "", []string{"DEED_CHAIN_RPC_FALLBACK_URL=https://h"}, nil, "chain.rpc_fallback_url is for chain.rpc_url"},
		{"no host", "", []string{"DEED_CHAIN_RPC_URL=https://"}, nil, "https://host/path"},
		{"less than a millisecond", "", []string{"DEED_DATABASE_LOCK_TIMEOUT=0.1ms"}, nil, "whole milliseconds"},
		{"longer than PostgreSQL can", "", []string{"DEED_DATABASE_LOCK_TIMEOUT=600h"}, nil, "at most 24 days"},
		{"no resolver", "", []string{"DEED_DNS_RESOLVERS="}, nil, "there is no resolver"},
		{"safe at once", "", []string{"DEED_CHAIN_SAFE_DEPTH=0"}, nil, "above 0"},
		{"no port", "", nil, []string{"--listen", "127.0.0.1:"}, "65535"},
		{"public address with a query", "", nil, []string{"--public-url", "https://deed.example?a=b"}, "https://host"},
		{"connections", "", []string{"DEED_DATABASE_MAX_CONNECTIONS=4294967297"}, nil, "from 1 to 10000"},
		{"all money", "", []string{"DEED_CATALOG_FEE_USD=9000000000000"}, nil, "too large"},
		{"reserve", "[registrar.a]\nreserve_usd = \"9000000000000\"", nil, nil, "registrar.a.reserve_usd: "},
		{"empty data folder", "", []string{"DEED_DATA="}, nil, "empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := read(t, tt.file, tt.environ, tt.args)
			if err == nil || !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v, want it to say %q", err, tt.says)
			}
		})
	}
}

func TestSecretsAreReadFromFilesAndNotShown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "url")
	if err := os.WriteFile(path, []byte("postgres://deed:hunter2@db.example/deed?password=hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ := []string{"DEED_DATABASE_URL=file:" + path, "DEED_CHAIN_RPC_URL=https://hunter2@rpc.example/v2/hunter2?key=hunter2#hunter2"}
	c, out, err := read(t, "", environ, []string{"--cache-url", "redis://:hunter2@cache.example:6379/0", "--registrar-allow-embedded", "true"})
	if err != nil {
		t.Fatal(err)
	}
	if c.DatabaseURL.Reveal() != "postgres://deed:hunter2@db.example/deed?password=hunter2" {
		t.Errorf("got %s", c.DatabaseURL.Reveal())
	}
	if strings.Contains(out, "hunter2") || !strings.Contains(out, "db.example") || !strings.Contains(out, "cache.example") || !strings.Contains(out, "https://rpc.example/xxxxx") {
		t.Errorf("got %s", out)
	}
}

// Every setting is in docs/configuration.md, with its default.
func TestSettingsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range defaultConfig().settings() {
		if !strings.Contains(string(page), "`"+s.key+"`") || !strings.Contains(string(page), "`"+s.env()+"`") {
			t.Errorf("docs/configuration.md does not tell of %s and %s", s.key, s.env())
		}
		_, rest, alone := strings.Cut(string(page), "| `"+s.key+"` | `"+s.env()+"` | ")
		if shown, _, _ := strings.Cut(rest, " |"); alone && s.value.String() != "" && shown != s.value.String() {
			t.Errorf("docs/configuration.md says that the default of %s is %q, and it is %q", s.key, shown, s.value)
		}
	}
}

// The collector of traces is read from the variables of OpenTelemetry, and shown without
// its password.
func TestTracesOfTheEnvironment(t *testing.T) {
	c, out, err := read(t, "", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=https://user:hunter2@collector:4318"}, nil)
	if err != nil || c.Traces.Endpoint.String() != "https://user:hunter2@collector:4318/v1/traces" || !strings.Contains(out, "traces    to https://collector:4318") || strings.Contains(out, "hunter2") {
		t.Errorf("got %v, %s", err, out)
	}
	if _, _, err := read(t, "", []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://collector", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, nil); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_PROTOCOL") {
		t.Errorf("got %v", err)
	}
}

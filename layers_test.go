package deed_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the import path of this module.
const module = "deed.example/deed"

// A layer may import the layers before it in this list.
type layer int

const (
	core     layer = iota // rules and contracts, without I/O
	support               // technical packages that know nothing of the trade, for all layers above the core
	services              // the order of the steps, one package for each part of the trade
	adapters              // what translates: inbound (HTTP, MCP, time) and outbound (databases, chains, registrars)
	root                  // internal/app, which builds the service
	tests                 // what only tests import
	wiring                // what runs it: commands, whole-service tests, the benchmark
)

// packages lists the layer of each package; a directory that ends in "/" stands for
// all packages below it that are not listed themselves. Within the core, and within what
// only tests import, a package imports only those listed before it. Services do not
// import each other, nor do adapters or support packages.
var packages = []struct {
	dir   string
	layer layer
}{
	{".", core},
	{"api", core},
	{"contracts", core},
	{"docs", core},
	{"internal/wirejson", core},
	{"internal/openapi", core},
	{"internal/jsonrpc", core},
	{"internal/seal", core},
	{"internal/dnszone", core},
	{"internal/dnssec", core},
	{"internal/lifecycle", core},
	{"internal/network", core},
	{"internal/signer", core},
	{"internal/settle", core},
	{"internal/registrar", core},
	{"internal/registrar/registry", core},
	{"internal/order", core},

	{"internal/connlimit", support},
	{"internal/logcause", support},
	{"internal/secretfile", support},
	{"internal/tracing", support},
	{"internal/urlerror", support},

	{"client", services},
	{"internal/account", services},
	{"internal/agent", services},
	{"internal/catalog", services},
	{"internal/email", services},
	{"internal/event", services},
	{"internal/feed", services},
	{"internal/health", services},
	{"internal/fulfil", services},
	{"internal/mandate", services},
	{"internal/operator", services},
	{"internal/ratelimit", services},
	{"internal/registration", services},
	{"internal/signin", services},
	{"internal/webhook", services},
	{"internal/zone", services},

	{"internal/a2a", adapters},
	{"internal/cache/", adapters},
	{"internal/cli", adapters},
	{"internal/devchain", adapters},
	{"internal/discovery", adapters},
	{"internal/hook", adapters},
	{"internal/redirect", adapters},
	{"internal/resolver", adapters},
	{"internal/httpapi", adapters},
	{"internal/keyfile", adapters},
	{"internal/mailer", adapters},
	{"internal/mcp", adapters},
	{"internal/metrics", adapters},
	{"internal/nameserver", adapters},
	{"internal/operatorapi", adapters},
	{"internal/primary", adapters},
	{"internal/rdap", adapters},
	{"internal/registrar/", adapters},
	{"internal/settle/", adapters},
	{"internal/signer/", adapters},
	{"internal/sqldb", adapters},
	{"internal/web", adapters},
	{"internal/worker", adapters},

	{"internal/app", root},

	{"internal/apitest", tests},
	{"internal/cache/cachetest", tests},
	{"internal/freeport", tests},
	{"internal/interfacedoc", tests},
	{"internal/logtest", tests},
	{"internal/mailer/mailertest", tests},
	{"internal/nameserver/peer", tests},
	{"internal/nameserver/publishtest", tests},
	{"internal/npmtest", tests},
	{"internal/postgrestest", tests},
	{"internal/registrar/epp/epptest", tests},
	{"internal/registrar/opusdns/opusdnstest", tests},
	{"internal/servicetest", tests},
	{"internal/signer/signertest", tests},
	{"internal/sqldb/sqldbtest", tests},
	{"internal/tracing/tracingtest", tests},

	{"bench", wiring},
	{"failover", wiring},
	{"growth", wiring},
	{"internal/e2e", wiring},
	{"internal/sandbox", wiring},
	{"client/example", wiring},
	{"cmd/", wiring},
	{"scripts/", wiring},
}

// coreImports are the modules that the core may use: rules without I/O.
var coreImports = []string{
	"golang.org/x/net/idna",
	"golang.org/x/net/publicsuffix",
	"golang.org/x/crypto/sha3",
	"github.com/miekg/dns",
	"go.yaml.in/yaml/v3",
	"github.com/go-json-experiment/json",
	"github.com/go-json-experiment/json/jsontext",
}

// encodingJSON lists the packages below the wiring that use encoding/json. All others
// use go-json-experiment, which is strict (docs/decisions/0007-strict-json.md).
var encodingJSON = []string{
	"internal/devchain", // go-ethereum's types are written for it
	"internal/order",    // the stored form of a purchase
	"internal/sqldb",    // stored forms
}

// placeOf returns the index of the package in the list: that of the most specific
// entry.
func placeOf(dir string) (place int, ok bool) {
	place = -1
	for i, p := range packages {
		if dir == p.dir {
			return i, true
		}
		if strings.HasSuffix(p.dir, "/") && strings.HasPrefix(dir+"/", p.dir) {
			place = i
		}
	}
	return place, place >= 0
}

// mayImport reports whether a package may import another one.
func mayImport(from, to int) bool {
	a, b := packages[from].layer, packages[to].layer
	return b < a || a == b && (a == core || a == tests) && to < from || a == wiring && b == wiring
}

func TestImportsPointDown(t *testing.T) {
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		checkImports(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, path string) {
	t.Helper()
	dir := filepath.ToSlash(filepath.Dir(path))
	from, ok := placeOf(dir)
	if !ok {
		t.Fatalf("%s is in no layer: add it to the list above", dir)
	}
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	for _, imp := range f.Imports {
		to, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if to == "encoding/json" && packages[from].layer <= adapters && !slices.Contains(encodingJSON, dir) {
			t.Errorf("%s imports %s: use github.com/go-json-experiment/json, as the others do", path, to)
		}
		internal := to == module || strings.HasPrefix(to, module+"/")
		standard := !strings.Contains(strings.SplitN(to, "/", 2)[0], ".")
		if !internal && !standard && packages[from].layer == core && !slices.Contains(coreImports, to) {
			t.Errorf("%s imports %s: the core uses the standard library and a short list", path, to)
		}
		if !internal {
			continue
		}
		toDir := strings.TrimPrefix(strings.TrimPrefix(to, module), "/")
		if toDir == "" {
			toDir = "."
		}
		if target, ok := placeOf(toDir); !ok || !mayImport(from, target) {
			t.Errorf("%s imports %s, which is not below it", path, to)
		}
	}
}

// The picture in docs/architecture.md has every package of the service, in its layer.
func TestPictureHasAllPackages(t *testing.T) {
	page, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	words := map[layer][]string{}
	var current layer
	headings := map[string]layer{"core": core, "support": support, "services": services, "adapters": adapters, "internal/app": root}
	for line := range strings.Lines(string(page)) {
		text, indented := strings.CutPrefix(line, "    ")
		if !indented {
			continue
		}
		fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \n():,│", r) })
		if len(fields) > 0 && !strings.HasPrefix(text, " ") {
			current = wiring
			if l, ok := headings[fields[0]]; ok {
				current = l
			}
		}
		words[current] = append(words[current], fields...)
	}
	for _, p := range packages {
		name := strings.TrimPrefix(p.dir, "internal/")
		switch {
		case p.layer >= root || p.dir == "internal/registrar/registry": // the table has it
			continue
		case p.dir == ".":
			name = "deed"
		case strings.HasSuffix(name, "/"):
			name += "*"
		}
		if !slices.Contains(words[p.layer], name) {
			t.Errorf("%s is missing in its layer of docs/architecture.md", p.dir)
		}
	}
}

// maxRootFiles and maxRootNames keep the root package small: only shared
// vocabulary.
const (
	maxRootFiles = 15
	maxRootNames = 80
)

func TestRootIsSmall(t *testing.T) {
	files, names := 0, 0
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		files++
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for name := range f.Scope.Objects { // top-level names
			if token.IsExported(name) {
				names++
			}
		}
	}
	if files > maxRootFiles || names > maxRootNames {
		t.Errorf("the root has %d files and %d exported names, at most %d and %d are wanted: give what is new a package", files, names, maxRootFiles, maxRootNames)
	}
	t.Logf("%d files, %d exported names", files, names)
}

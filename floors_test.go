package deed_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is our own import path.
const module = "deed.example/deed"

// floors says on which floor each package stands. A package imports only
// packages of lower floors; a folder ending in "/" speaks for all below it.
var floors = []struct {
	dir   string
	floor int
}{
	{".", 0},
	{"api", 0},
	{"contracts", 0},
	{"internal/wirejson", 0},
	{"client", 1},
	{"client/example", 2},
	{"internal/account", 1},
	{"internal/agent", 1},
	{"internal/catalog", 1},
	{"internal/health", 1},
	{"internal/payment", 1},
	{"internal/ratelimit", 1},
	{"internal/registration", 1},
	{"internal/seal", 1},
	{"internal/secretfile", 1},
	{"internal/signin", 1},
	{"internal/zone", 1},
	{"internal/a2a", 2},
	{"internal/apitest", 2},
	{"internal/cache/", 2},
	{"internal/cli", 2},
	{"internal/devchain", 2},
	{"internal/discovery", 2},
	{"internal/httpapi", 2},
	{"internal/interfacedoc", 2},
	{"internal/keyfile", 2},
	{"internal/mcp", 2},
	{"internal/metrics", 2},
	{"internal/nameserver", 2},
	{"internal/nameserver/peer", 2},
	{"internal/nameserver/publishtest", 2},
	{"internal/primary", 2},
	{"internal/rdap", 2},
	{"internal/registrar/", 2},
	{"internal/servicetest", 2},
	{"internal/settle/", 2},
	{"internal/sqldb", 2},
	{"internal/work", 2},
	{"internal/sqldb/sqldbtest", 3},
	{"internal/npmtest", 3},
	{"bench", 3},
	{"cmd/", 3},
	{"scripts/", 3},
}

// groundImports are the modules the ground floor may stand on: rules without I/O.
var groundImports = []string{
	"golang.org/x/net/idna",
	"golang.org/x/net/publicsuffix",
	"golang.org/x/crypto/sha3",
	"github.com/miekg/dns",
	"github.com/go-json-experiment/json",
	"github.com/go-json-experiment/json/jsontext",
}

func floorOf(dir string) (int, bool) {
	for _, f := range floors {
		if dir == f.dir || strings.HasSuffix(f.dir, "/") && strings.HasPrefix(dir+"/", f.dir) {
			return f.floor, true
		}
	}
	return 0, false
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
	from, ok := floorOf(dir)
	if !ok {
		t.Errorf("%s stands on no floor: add it to the list above", dir)
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
		ours := to == module || strings.HasPrefix(to, module+"/")
		standard := !strings.Contains(strings.SplitN(to, "/", 2)[0], ".")
		if !ours && !standard && from == 0 && !slices.Contains(groundImports, to) {
			t.Errorf("%s imports %s: the ground floor stands on the standard library and a short list", path, to)
		}
		if !ours {
			continue
		}
		toDir := strings.TrimPrefix(strings.TrimPrefix(to, module), "/")
		if toDir == "" {
			toDir = "."
		}
		if below, _ := floorOf(toDir); below >= from {
			t.Errorf("%s (floor %d) imports %s (floor %d)", path, from, to, below)
		}
	}
}

package deed_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// transportWords match the calls and headers of an inbound adapter.
var transportWords = regexp.MustCompile(`\b(GET|POST|PUT|DELETE) /|/(domains|dns|account|auth)(/|$)|Authorization:|\bheaders?\b|X-PAYMENT|PAYMENT-SIGNATURE`)

// Core, services and stores do not know how a caller reaches them: a text of theirs
// names no path, method or header. deed.Next says what to do next.
func TestNoTransportWordsBelowTheAdapters(t *testing.T) {
	checked := 0
	for _, p := range packages {
		speaks := p.dir == "api" || p.dir == "client" || p.dir == "internal/agent" // what callers see of HTTP, MCP and A2A
		if p.layer > services && p.dir != "internal/sqldb" || speaks {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(p.dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if !strings.HasSuffix(path, "_test.go") {
				checked++
				checkTexts(t, path)
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d files were read", checked)
	}
}

func checkTexts(t *testing.T, path string) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if _, imported := n.(*ast.ImportSpec); imported {
			return false
		}
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && transportWords.MatchString(text.Value) {
			t.Errorf("%s: %s: a text below the inbound adapters names no path, method or header", fset.Position(n.Pos()), text.Value)
		}
		return true
	})
}

// stores are the names of the fields of services that hold a store.
var stores = []string{"Store", "Finder", "History", "Jobs", "Books"}

// Inbound adapters call services, not the stores of services.
func TestInboundAdaptersCallServices(t *testing.T) {
	for _, dir := range []string{"httpapi", "rdap", "mcp", "a2a", "agent", "discovery"} {
		paths, err := filepath.Glob(filepath.Join("internal", dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: got %v, %v", dir, paths, err)
		}
		for _, path := range paths {
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				// s.Zones.Store.Zone: a method of a store that is reached through a service.
				if method, ok := n.(*ast.SelectorExpr); ok {
					if store, ok := method.X.(*ast.SelectorExpr); ok && slices.Contains(stores, store.Sel.Name) {
						t.Errorf("%s: %s.%s is a store of a service: give the service a method", fset.Position(n.Pos()), store.Sel.Name, method.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

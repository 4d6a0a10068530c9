package network

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// exempt are folders whose code may state facts about chains: this one, and the
// client, which runs in the programs of others and imports nothing internal.
var exempt = []string{"internal/network", "client"}

// A fact about a chain is written here and nowhere else.
func TestNoOtherTable(t *testing.T) {
	facts := map[string]bool{}
	for _, n := range public {
		for _, fact := range []string{fmt.Sprint(n.ChainID), n.CAIP2(), n.X402V1, n.Title, string(n.Token.Address), string(n.Multicall), string(n.FeeOracle)} {
			facts[strings.ToLower(fact)] = true
		}
	}
	files := 0
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if d.IsDir() && (len(name) > 1 && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		for _, dir := range exempt {
			if d.IsDir() && name == dir {
				return filepath.SkipDir
			}
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		files++
		return findFacts(t, path, facts)
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 100 {
		t.Errorf("got %d files: this is not the whole module", files)
	}
}

func findFacts(t *testing.T, path string, facts map[string]bool) error {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(f, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && facts[strings.ToLower(strings.Trim(strings.ReplaceAll(lit.Value, "_", ""), "\"`"))] {
			t.Errorf("%s has %s: use package network", set.Position(lit.Pos()), lit.Value)
		}
		return true
	})
	return nil
}

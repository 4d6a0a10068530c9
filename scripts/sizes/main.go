// Command sizes prints the largest files and functions of the tree, without
// tests. They are printed to be looked at; nothing is enforced.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

type size struct {
	lines int
	what  string
}

func main() {
	files, funcs, err := measure(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "sizes:", err)
		os.Exit(1)
	}
	show("files", 300, files)
	show("functions", 50, funcs)
}

// measure counts the lines of every Go file below root and of every function.
func measure(root string) (files, funcs []size, err error) {
	set := token.NewFileSet()
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		files = append(files, size{set.File(f.FileStart).LineCount(), path})
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				lines := set.Position(fn.End()).Line - set.Position(fn.Pos()).Line + 1
				funcs = append(funcs, size{lines, path + " " + fn.Name.Name})
			}
		}
		return nil
	})
	return files, funcs, err
}

func show(what string, aim int, sizes []size) {
	slices.SortFunc(sizes, func(a, b size) int { return cmp.Compare(b.lines, a.lines) })
	above := slices.IndexFunc(sizes, func(s size) bool { return s.lines <= aim })
	fmt.Printf("%d %s, median %d lines, %d above %d; the largest:\n", len(sizes), what, sizes[len(sizes)/2].lines, above, aim)
	for _, s := range sizes[:min(3, len(sizes))] {
		fmt.Printf("  %4d  %s\n", s.lines, s.what)
	}
}

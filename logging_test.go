package deed_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// defaultLogger are the functions of log/slog that use the default logger: it
// bypasses the configured format, level and redaction.
var defaultLogger = []string{
	"Default", "SetDefault", "With", "Log", "LogAttrs",
	"Debug", "DebugContext", "Info", "InfoContext", "Warn", "WarnContext", "Error", "ErrorContext",
}

// allowedLogging are the exceptions: path and what it may use.
var allowedLogging = map[string]string{
	"cmd/deed/serve.go":      "slog.SetDefault", // for libraries that use the default logger
	"client/example/main.go": "log",             // an example program
}

// No package writes to a logger that was not passed to it.
func TestLoggersArePassedIn(t *testing.T) {
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
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, use := range strayLogging(f) {
			if allowedLogging[filepath.ToSlash(path)] != use {
				t.Errorf("%s uses %s: take a *slog.Logger", path, use)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// strayLogging returns the uses of loggers that were not passed in.
func strayLogging(f *ast.File) []string {
	imported := map[string]string{} // by the name that the file has for it
	var found []string
	for _, imp := range f.Imports {
		path, _ := strconv.Unquote(imp.Path.Value) // the parser read it
		name := path[strings.LastIndexByte(path, '/')+1:]
		if imp.Name != nil {
			name = imp.Name.Name
		}
		imported[name] = path
		if path == "log" {
			found = append(found, "log")
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imported[x.Name] == "log/slog" && slices.Contains(defaultLogger, n.Sel.Name) {
				found = append(found, "slog."+n.Sel.Name)
			}
		case *ast.CompositeLit:
			if sel, ok := n.Type.(*ast.SelectorExpr); ok && sel.Sel.Name == "Server" && !names(n, "ErrorLog") {
				if x, ok := sel.X.(*ast.Ident); ok && imported[x.Name] == "net/http" {
					found = append(found, "http.Server without ErrorLog")
				}
			}
		}
		return true
	})
	return found
}

// names reports whether a literal sets a field.
func names(lit *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(lit.Elts, func(e ast.Expr) bool {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := kv.Key.(*ast.Ident)
		return ok && key.Name == field
	})
}

func TestStrayLoggingIsFound(t *testing.T) {
	const source = `package a
import (
	"log"
	other "log/slog"
	"net/http"
)
func f() {
	other.Info("a")
	other.New(nil).Info("b")
	g(other.Default())
	_ = &http.Server{Addr: "a"}
	_ = &http.Server{ErrorLog: nil}
}`
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strayLogging(f), []string{"log", "slog.Info", "slog.Default", "http.Server without ErrorLog"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

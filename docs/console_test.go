// Package docs_test runs the examples in the docs. Every console block of README.md
// and of this folder is typed into a shell next to a new service, in the order of
// the page, and the output is compared with the page. Each page has one shell and
// one service, which its blocks share.
//
// In a block, a line that starts with "$ " is typed, "> " continues it, and all
// others are the expected output; [..] stands for any text, and alone on a line for
// any lines. A block of another language whose fence names a file is that file. The
// ports of the pages are mapped to those of the service, folders such as /etc/deed
// to temporary ones.
package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"deed.example/deed/internal/servicetest"
)

// binary is the command, built once for all pages.
var binary string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deed-docs")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) // it is temporary
		binary = filepath.Join(dir, "deed")
		if err := servicetest.Build(binary); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// needs names the environment variables that a page requires.
var needs = map[string][]string{"operate.md": {"TEST_POSTGRES_URL", "TEST_REDIS_URL"}}

func TestDocsRun(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, path := range append(pages, "../README.md") {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		blocks := parse(string(raw))
		if !hasConsole(blocks) {
			continue
		}
		run++
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, name := range needs[filepath.Base(path)] {
				if os.Getenv(name) == "" {
					t.Skip(name + " is not set; make test sets it")
				}
			}
			t.Parallel()
			open(t).read(t, blocks)
		})
	}
	if run < 4 {
		t.Errorf("only %d pages have something to type", run)
	}
}

// A block is the text between two fences.
type block struct {
	language, file string
	line           int // of its first line in the page
	lines          []string
}

var fence = regexp.MustCompile("^```(\\S*)(?: (\\S+))?$")

func parse(page string) (blocks []block) {
	var in *block
	for i, line := range strings.Split(page, "\n") {
		m := fence.FindStringSubmatch(line)
		switch {
		case m != nil && in == nil:
			in = &block{language: m[1], file: m[2], line: i + 2}
		case m != nil:
			blocks, in = append(blocks, *in), nil
		case in != nil:
			in.lines = append(in.lines, line)
		}
	}
	return blocks
}

func hasConsole(blocks []block) bool {
	for _, b := range blocks {
		if b.console() {
			return true
		}
	}
	return false
}

// console reports whether a block is typed. One that is marked `text npm` needs npm
// packages, and is typed only if they are installed.
func (b block) console() bool {
	return b.language == "console" || b.language == "text" && b.file == "npm" && packages != nil
}

// A step is one command and its expected output.
type step struct {
	line          int
	command, want string
}

func (b block) steps() (steps []step) {
	for i, line := range b.lines {
		last := len(steps) - 1
		switch {
		case strings.HasPrefix(line, "$ "):
			steps = append(steps, step{line: b.line + i, command: line[2:]})
		case last >= 0 && steps[last].want == "" && strings.HasPrefix(line, "> "):
			steps[last].command += "\n" + line[2:]
		case last >= 0:
			steps[last].want += line + "\n"
		}
	}
	return steps
}

// matches reports whether the output of a step is the expected one.
func (s step) matches(got string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(s.want) + "\n")
	pattern = regexp.MustCompile(`(?m)^\\\[\\\.\\\.\\\]\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
	pattern = strings.ReplaceAll(pattern, `\[\.\.\]`, `.*`)
	return regexp.MustCompile("^" + pattern + "$").MatchString(strings.TrimSpace(got) + "\n")
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		want, got string
		ok        bool
	}{
		{"a [..] c\n", "a b c\n", true},
		{"a [..] c\n", "a b\nc\n", false},
		{"a\n[..]\nc\n", "a\nb\nb\nc\n", true},
		{"a\n[..]\n", "a\n", true},
		{"a\n[..]\nc\n", "a\nb\n", false},
		{"", "\n", true},
		{"", "something\n", false},
		{"a.c\n", "abc\n", false},
	} {
		if got := (step{want: c.want}).matches(c.got); got != c.ok {
			t.Errorf("%q and %q: got %v", c.want, c.got, got)
		}
	}
}

// repository returns the folder of the module.
func repository(t *testing.T) string { return goSays(t, "list", "-m", "-f", "{{.Dir}}") }

// goSays returns the output of a go command.
func goSays(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Package docs_test does what the papers say. Every console block of README.md
// and of this folder is typed into a shell beside a fresh service, in the order
// of the paper, and what the shell shows is held against what the paper shows.
// A paper is one shell and one service: what a block makes, the next one finds.
//
// In a block, a line that begins with "$ " is typed, "> " goes on with it, and
// all others are what comes back; [..] stands for any text, and alone on a line
// for any lines. A block of another language whose fence names a file is that
// file. The ports of the papers are mapped to those of the service, folders
// such as /etc/deed to ones that go away.
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

// binary is the command, built once for all papers.
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

// needs names the variables without which a paper cannot be tried.
var needs = map[string][]string{"operate.md": {"TEST_POSTGRES_URL", "TEST_REDIS_URL"}}

func TestPapersDoWhatTheySay(t *testing.T) {
	papers, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	run := 0
	for _, path := range append(papers, "../README.md") {
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
		t.Errorf("only %d papers have something to type", run)
	}
}

// A block is what stands between two fences.
type block struct {
	language, file string
	line           int // of its first line in the paper
	lines          []string
}

var fence = regexp.MustCompile("^```(\\S*)(?: (\\S+))?$")

func parse(paper string) (blocks []block) {
	var in *block
	for i, line := range strings.Split(paper, "\n") {
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

// console reports whether a block is typed. One that is marked `text npm` needs
// packages of others, and is typed only where they are put there.
func (b block) console() bool {
	return b.language == "console" || b.language == "text" && b.file == "npm" && packages != nil
}

// A step is one command and what it shows.
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

// matches reports whether a step showed what it should.
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

// repository is where the papers are from.
func repository(t *testing.T) string { return goSays(t, "list", "-m", "-f", "{{.Dir}}") }

// goSays asks the go command something.
func goSays(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

// Package docs_test runs the examples in the docs. Every console block of README.md
// and of this folder is typed into a shell next to a service, in the order of
// the page, and the output is compared with the page. Each page has one shell; all
// share one service, as in the first hour of a new user, and must stay below the
// limits of one address.
//
// In a block, a line that starts with "$ " is typed, "> " continues it, and all
// others are the expected output; [..] stands for any text, and alone on a line for
// any lines. A block marked `console terminal` is typed on a terminal, so that commands
// ask questions. A block of another language whose fence names a file is that file. The
// ports of the pages are mapped to those of the service, folders such as /etc/deed
// to temporary ones.
package docs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// firstHour are the pages that a new user reads first, in order. The others follow by
// their names.
var firstHour = []string{"../README.md", "tutorial.md", "cli.md", "first-hour.md", "sandbox.md"}

// TestDocsRun runs all pages, one after the other, against one service that has its
// usual limits, from one address.
func TestDocsRun(t *testing.T) {
	service, err := servicetest.RunLimited(binary, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(service.Stop)
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = slices.DeleteFunc(pages, func(path string) bool { return slices.Contains(firstHour, path) })
	for _, path := range slices.Concat(firstHour, pages) {
		raw := read(t, path)
		blocks := parse(raw)
		if !hasConsole(blocks) {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			for _, name := range needs[filepath.Base(path)] {
				if os.Getenv(name) == "" {
					t.Skip(name + " is not set; make test sets it")
				}
			}
			s := open(t, service)
			if strings.Contains(raw, "epp.registry.example") {
				s.openRegistries(t)
			}
			s.read(t, blocks)
		})
		if path == "tutorial.md" {
			t.Run("a mistake", func(t *testing.T) { roomForAMistake(t, service) })
		}
	}
}

// roomForAMistake makes an order and pays for it. Whoever has run the demo and the
// tutorial can still do both today, and without resetting the limits.
func roomForAMistake(t *testing.T, service *servicetest.Service) {
	got, code := open(t, service).run(t, "DEED_PRIVATE_KEY=$(openssl rand -hex 32) sh -c 'deed wallet faucet && deed register my-mistake.com --max-price 15'")
	if code != "0" {
		t.Errorf("got exit code %s\n%s", code, got)
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

// spaces is what columns of a table are filled with, as far as its other cells ask.
var spaces = regexp.MustCompile(`[ \t]+`)

func squeeze(text string) string {
	return strings.ReplaceAll(spaces.ReplaceAllString(text, " "), " \n", "\n")
}

// matches reports whether the output of a step is the expected one. Columns may be
// wider or narrower.
func (s step) matches(got string) bool {
	want, got := squeeze(s.want), squeeze(got)
	pattern := regexp.QuoteMeta(strings.TrimSpace(want) + "\n")
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

package docs_test

import (
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// typedPassword is what is typed where a command asks for a password.
const typedPassword = "correct horse battery staple"

var (
	prompt = regexp.MustCompile(`(\[y/N\]|[Pp]assword(?: of \w+)?:) $`)
	answer = regexp.MustCompile(`\[y/N\] (\S+)`)
)

// tryOnTerminal types a command on a terminal, where it may ask: a question is
// answered as on the page, a password with typedPassword. The exit code may be any,
// because the screen does not show it.
func (s *shell) tryOnTerminal(t *testing.T, do step) {
	t.Helper()
	got := s.shown(s.onTerminal(t, do))
	t.Logf("$ %s\n%s", do.command, got)
	if !do.matches(got) {
		t.Errorf("line %d: $ %s\ngot\n%s\nwant\n%s", do.line, do.command, got, do.want)
	}
}

func (s *shell) onTerminal(t *testing.T, do step) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "--norc", "-c", s.typed(do.command))
	cmd.Dir, cmd.Env = s.dir, s.environ
	screen, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close() // all of it was read
	answers := answer.FindAllStringSubmatch(do.want, -1)
	var shown strings.Builder
	buffer := make([]byte, 4096)
	for {
		n, err := screen.Read(buffer)
		shown.Write(buffer[:n])
		if errors.Is(err, io.EOF) || errors.Is(err, syscall.EIO) { // the command has ended
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		asked := prompt.FindStringSubmatch(shown.String())
		if asked == nil {
			continue
		}
		typed := typedPassword
		if asked[1] == "[y/N]" {
			if len(answers) == 0 {
				t.Fatalf("line %d: $ %s\nasks more than the page: %s", do.line, do.command, shown.String())
			}
			typed, answers = answers[0][1], answers[1:]
		}
		if _, err := io.WriteString(screen, typed+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	_ = cmd.Wait() // the exit code may be any
	text := strings.ReplaceAll(shown.String(), "\r", "")
	return strings.ReplaceAll(text, typedPassword+"\n", "") // typed before the command turned the echo off
}

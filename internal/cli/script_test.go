package cli_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/rogpeppe/go-internal/testscript"

	"deed.example/deed/api"
	"deed.example/deed/client"
	"deed.example/deed/internal/servicetest"
)

// service is a running `deed serve`; its command is the one that scripts run.
var service *servicetest.Service

func TestMain(m *testing.M) {
	if key := os.Getenv("TEST_SIGNER_KEY"); key != "" {
		os.Exit(signAs(key))
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "deed-cli")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir) // it is temporary
		if service, err = servicetest.Start(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer service.Stop()
		return m.Run()
	}())
}

// TestScripts runs every command like a user or a program. Each script has a
// wallet with 1000 test USDC in DEED_PRIVATE_KEY, and an unused label in LABEL.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, service, files...)
}

// TestScriptsAlone runs the scripts that inject registry faults, or that need a
// registry without other orders, each on a service of its own.
func TestScriptsAlone(t *testing.T) {
	files, err := filepath.Glob("testdata/alone/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		own, err := servicetest.Run(service.Binary, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(own.Stop)
		runScripts(t, own, file)
	}
}

func runScripts(t *testing.T, s *servicetest.Service, files ...string) {
	testscript.Run(t, testscript.Params{
		Files:               files,
		Setup:               func(env *testscript.Env) error { return setUp(env, s) },
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"tty":   tty,
			"sees":  sees,
		},
	})
}

func setUp(env *testscript.Env, service *servicetest.Service) error {
	key, err := crypto.GenerateKey()
	if err != nil {
		return err
	}
	address := crypto.PubkeyToAddress(key.PublicKey)
	c, err := client.New(service.URL)
	if err != nil {
		return err
	}
	if _, err := c.Faucet(context.Background(), api.FaucetRequest{WalletAddress: address.Hex()}); err != nil {
		return err
	}
	env.Setenv("PATH", filepath.Dir(service.Binary)+string(os.PathListSeparator)+env.Getenv("PATH"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("DEED_SERVER", service.URL)
	env.Setenv("DATA", filepath.Join(service.Dir, "deed-data"))
	env.Setenv("DEED_PRIVATE_KEY", hex.EncodeToString(crypto.FromECDSA(key)))
	env.Setenv("ADDRESS", address.Hex())
	env.Setenv("WALLET", strings.ToLower(address.Hex()))
	env.Setenv("SIGNER", os.Args[0]) // see signAs
	env.Setenv("LABEL", fmt.Sprintf("s%x", address.Bytes()[:8]))
	return nil
}

// exits runs a command and checks its exit code: exits 4 deed register a.com
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	check(ts, ts.Exec(args[1], args[2:]...), args[0])
}

func check(ts *testscript.TestScript, err error, want string) {
	code := 0
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != want {
		ts.Fatalf("got exit code %d, want %s", code, want)
	}
}

// sees waits until a background command has written a text to a file: sees
// submitting err
func sees(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sees TEXT FILE")
	}
	for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(20 * time.Millisecond) {
		if raw, err := os.ReadFile(ts.MkAbs(args[1])); err == nil && bytes.Contains(raw, []byte(args[0])) {
			return
		}
	}
	ts.Fatalf("%s is not in %s", args[0], args[1])
}

// tty runs a command on a terminal, types a file into it, and writes the terminal
// output to the file "screen": tty 0 typed deed register a.com
func tty(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: tty CODE FILE COMMAND...")
	}
	program := args[2]
	if program == "deed" {
		program = service.Binary
	}
	cmd := exec.Command(program, args[3:]...)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "WORK", "XDG_CONFIG_HOME", "DEED_SERVER", "DEED_PRIVATE_KEY", "DEED_WALLET", "DEED_MAX_PRICE", "NO_COLOR"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
	ts.Check(err)
	defer terminal.Close() // it has been read completely
	_, err = io.WriteString(terminal, ts.ReadFile(args[1]))
	ts.Check(err)
	var screen bytes.Buffer
	file, err := os.Create(ts.MkAbs("screen"))
	ts.Check(err)
	defer file.Close()                                      // writes to it are not buffered
	_, _ = io.Copy(io.MultiWriter(&screen, file), terminal) // it ends with an error when the command ends
	err = cmd.Wait()
	ts.Logf("[screen]\n%s", &screen)
	check(ts, err, args[0])
}

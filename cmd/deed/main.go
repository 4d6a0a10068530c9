// Command deed sells domain names and runs their DNS for anyone with a wallet.
//
// `deed serve` without any configuration is a sandbox: a SQLite file, a cache in
// memory, an embedded chain with test money. This package has the commands of the
// service and reads its configuration (config.go); internal/app builds the service.
// The client commands are in internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
)

func main() {
	// The first signal starts a graceful shutdown; after it, signals have their
	// default effect again, so that a second one ends the process.
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as with nohup
		signals = append(signals, syscall.SIGHUP) // the terminal is gone
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	context.AfterFunc(ctx, stop)
	cmd, err := rootCommand().ExecuteContextC(ctx)
	os.Exit(cli.Report(os.Stderr, cmd, err))
}

func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "deed",
		Short:         "Domain names and their DNS, for anyone with a wallet",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version(),
	}
	root.AddCommand(serveCommand(), configCommand(), keysCommand(), adminCommand(), versionCommand())
	root.AddCommand(cli.Commands(startSandbox, speakMCP)...)
	cli.Finish(root)
	return root
}

// failpoint is called between the steps of payments, registrations and refunds. It
// is nil except in the test binary that kills itself there (failpoint.go).
var failpoint func(name string)

// localNow is the clock of this machine. It is nil, which is time.Now, except in the
// test binary, where it can be wrong.
var localNow func() time.Time

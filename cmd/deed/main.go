// Command deed sells domain names and runs their DNS for anyone with a wallet.
//
// `deed serve` without any configuration is the whole service on embedded
// parts: a SQLite file, a cache in memory, a chain with play money. This package
// reads the configuration (config.go), chooses the parts (backends.go), wires
// them (serve.go) and does nothing else. The client commands are in
// internal/cli.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"deed.example/deed/internal/cli"
)

func main() {
	// The first signal stops the service gently; after it, signals have their
	// usual effect again, so that a second one ends the process.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Report(os.Stderr, rootCommand().ExecuteContext(ctx)))
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

// failpoint is called between the steps of paying, registering and refunding.
// It is nil but in the binary that tests build to die there (failpoint.go).
var failpoint func(name string)

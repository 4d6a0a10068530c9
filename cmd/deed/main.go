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
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
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
	root.AddCommand(serveCommand(), configCommand(), keysCommand(), adminCommand(), &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { fmt.Fprintln(cmd.OutOrStdout(), version()) },
	})
	root.AddCommand(cli.Commands(startSandbox, speakMCP)...)
	cli.Finish(root)
	return root
}

// release is set by the linker when a release is built.
var release string

// version returns the release, or the commit this binary was built from.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// failpoint is called between the steps of paying, registering and refunding.
// It is nil but in the binary that tests build to die there (failpoint.go).
var failpoint func(name string)

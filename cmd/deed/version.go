package main

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// The linker sets these; scripts/version.sh says to what.
var release, commit, date string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, its commit and date, and the Go version",
		Args:  cobra.NoArgs,
		Run:   func(cmd *cobra.Command, _ []string) { printVersion(cmd.OutOrStdout(), thisBuild()) },
	}
}

// version returns the version of this binary.
func version() string { return thisBuild().version }

func thisBuild() build {
	info, _ := debug.ReadBuildInfo() // nil if there is none
	return build{version: release, commit: commit, date: date}.complete(info)
}

// A build is the version, commit and date of a binary.
type build struct {
	version, commit, date string
}

// complete sets fields that the linker did not set from the VCS data that `go
// build` stores in binaries.
func (b build) complete(info *debug.BuildInfo) build {
	if info != nil {
		if info.Main.Version != "(devel)" {
			b.version = cmp.Or(b.version, info.Main.Version)
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				b.commit = cmp.Or(b.commit, s.Value)
			case "vcs.time":
				b.date = cmp.Or(b.date, s.Value)
			}
		}
	}
	b.version = cmp.Or(b.version, "devel")
	return b
}

func printVersion(out io.Writer, b build) {
	fmt.Fprintf(out, "deed %s\n", b.version)
	fmt.Fprintf(out, "commit  %s\n", cmp.Or(b.commit, "unknown"))
	fmt.Fprintf(out, "date    %s\n", cmp.Or(b.date, "unknown"))
	fmt.Fprintf(out, "go      %s %s/%s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

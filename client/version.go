package client

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// modulePath is the module of this package.
const modulePath = "deed.example/deed"

// userAgent returns the User-Agent of this package: its version, and that of Go.
var userAgent = sync.OnceValue(func() string {
	return "deed-go/" + moduleVersion() + " (" + runtime.Version() + "; " + runtime.GOOS + "/" + runtime.GOARCH + ")"
})

// moduleVersion returns the version of the module that this package was built from.
func moduleVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == modulePath && m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return "devel"
}

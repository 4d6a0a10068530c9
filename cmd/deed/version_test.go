package main

import (
	"os/exec"
	"regexp"
	"runtime/debug"
	"testing"
)

func TestBuild(t *testing.T) {
	const pseudo, hash, at = "v0.0.0-20260102030405-0123456789ab", "0123456789abcdef0123456789abcdef01234567", "2026-01-02T03:04:05Z"
	clone := &debug.BuildInfo{Main: debug.Module{Version: pseudo}, Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: at}}}
	for name, tt := range map[string]struct {
		stamped build
		info    *debug.BuildInfo
		want    build
	}{
		"stamped":                  {build{"v1.2.3", "abc", "2026-05-06T07:08:09Z"}, clone, build{"v1.2.3", "abc", "2026-05-06T07:08:09Z"}},
		"go build in a clone":      {build{}, clone, build{pseudo, hash, at}},
		"only the version stamped": {build{version: "v1.2.3"}, clone, build{"v1.2.3", hash, at}},
		"go install of a version":  {build{}, &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, build{version: "v1.2.3"}},
		"go build without a clone": {build{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, build{version: "devel"}},
		"no build information":     {build{}, nil, build{version: "devel"}},
		"an empty version":         {build{}, &debug.BuildInfo{}, build{version: "devel"}},
	} {
		if got := tt.stamped.complete(tt.info); got != tt.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tt.want)
		}
	}
}

func TestVersionCommand(t *testing.T) {
	out, err := exec.Command(binary, "version").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^deed \S+\ncommit  \S+\ndate    \S+\ngo      go\S+ \w+/\w+\n$`).Match(out) {
		t.Errorf("got %v: %s", err, out)
	}
}

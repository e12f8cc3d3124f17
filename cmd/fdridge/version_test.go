package main

import (
	"runtime/debug"
	"testing"
)

// TestVersionOf: what is on record is told, and that nothing is.
func TestVersionOf(t *testing.T) {
	for want, info := range map[string]*debug.BuildInfo{
		"v1.2.3": {Main: debug.Module{Version: "v1.2.3"}},
		"v0.0.0-20260102030405-0123456789ab+dirty": {
			Main:     debug.Module{Version: "v0.0.0-20260102030405-0123456789ab+dirty"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}},
		},
		"of commit 0123456789abcdef": {
			Main:     debug.Module{Version: "(devel)"},
			Settings: []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.modified", Value: "false"}},
		},
		"of commit 0123456789abcdef+dirty": {
			Settings: []debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: "0123456789abcdef"}},
		},
		"unknown (built without a record of the commit, as go run builds)": {Main: debug.Module{Version: "(devel)"}},
	} {
		if got := versionOf(info); got != want {
			t.Errorf("%+v: %q, want %q", info, got, want)
		}
	}
}

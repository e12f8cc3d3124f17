package main

import (
	"runtime"
	"runtime/debug"
)

// version returns the version of the module. A build from a checkout has a pseudo-version that contains the commit.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "unknown (built without a record of the commit, as go run builds)"
}

// builtBy describes the build: compiler, platform and build tags.
func builtBy() string {
	by := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				by += ", tags " + s.Value
			}
		}
	}
	return by
}

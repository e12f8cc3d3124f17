package main

import (
	"runtime"
	"runtime/debug"
)

// version is that of what the program was built from: the module's, as go install fetched it; of a
// checkout the time and hash of its commit, as Go writes a version of these, and +dirty where it had
// changes besides; and where nothing was recorded, that.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	commit := setting(info, "vcs.revision")
	if commit == "" {
		return "unknown (built without a record of the commit, as go run builds)"
	}
	if setting(info, "vcs.modified") == "true" {
		commit += "+dirty"
	}
	return "of commit " + commit
}

// setting is one of a build, "" where it was not set.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// builtBy is the compiler, what it compiled for, and the tags.
func builtBy() string {
	by := runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	if info, ok := debug.ReadBuildInfo(); ok {
		if tags := setting(info, "-tags"); tags != "" {
			by += ", tags " + tags
		}
	}
	return by
}

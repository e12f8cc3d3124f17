package main

import (
	"runtime"
	"runtime/debug"

	"github.com/fdridge/fdridge/engine"
)

// build describes how this program was built.
type build struct {
	Version string `json:"version"`        // of the module
	Commit  string `json:"commit"`         // the first digits of the hash, or why it is not known
	Tags    string `json:"tags,omitempty"` // the build tags
}

// newBuild describes how this program was built, as the Go tool recorded it in the program.
func newBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describeBuild(info)
}

// describeBuild converts info to a build. If the program was built from a checkout without a tag, its version is a
// pseudo-version, which contains the commit. If it was built from a downloaded module, info has no commit.
func describeBuild(info *debug.BuildInfo) build {
	b := build{
		Version: "unknown (built without a record of the commit, as go run builds)",
		Commit:  "not recorded",
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	changed := false
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags":
			b.Tags = s.Value
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	if changed {
		b.Commit += " with changes"
	}
	return b
}

// String returns the version, commit, backend, Go version, platform and build tags in one line.
func (b build) String() string {
	out := b.Version + ", commit " + b.Commit + ", backend " + engine.Names()[0]
	out += ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	if b.Tags != "" {
		out += ", tags " + b.Tags
	}
	return out
}

// version returns the version of the module.
func version() string { return newBuild().Version }

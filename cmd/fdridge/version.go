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

// newBuild returns the build that the Go tool recorded in the program.
func newBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return describeBuild(info)
}

// describeBuild returns the build that info describes. A build from a checkout without a tag has a pseudo-version,
// which contains the commit. A build of a downloaded module has a version and no commit.
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

// String returns version, commit, backend, compiler, platform and build tags.
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

package job

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A Setting is something that two runs have in common if one is to go on from where the
// other was.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// digested follows a file's name in the setting that has its digest.
const digested = ", its first and last 64 KiB"

// OfFiles are the settings of files: size, time and, where wanted, a digest of each. It
// returns what they were, by name. A name that is no file's is left out: it may be that of a
// column.
func OfFiles(names []string, digests bool) ([]Setting, map[string]dataset.Stamp) {
	var out []Setting
	seen := map[string]dataset.Stamp{}
	for _, name := range names {
		known := slices.ContainsFunc(out, func(s Setting) bool { return s.Name == name })
		info, err := os.Stat(name)
		if err != nil || known {
			continue
		}
		stamp := dataset.StampOf(info)
		out = append(out, Setting{name, stamp.String()})
		if seen[name] = stamp; info.Mode().IsRegular() && digests {
			out = append(out, Setting{name + digested, digest(name, info.Size())})
		}
	}
	return out, seen
}

// ContentsOf are the size and a digest of each file, by which copies are alike whatever their
// names and times are. It returns what the files were, by name. A name that is no file's is left
// out, as of [OfFiles].
func ContentsOf(names []string) ([]string, map[string]dataset.Stamp) {
	settings, seen := OfFiles(names, true)
	var out []string
	for _, s := range settings {
		if name, ok := strings.CutSuffix(s.Name, digested); ok {
			out = append(out, fmt.Sprintf("%d %s", seen[name].Size, s.Value))
		}
	}
	return out, seen
}

// digest tells a file of so many bytes from another that has its size and time, as what was
// copied with its times may have: by the SHA-256 of its first and last 64 KiB. What cannot be
// read is told when it is opened, if it ever is.
func digest(name string, size int64) string {
	const end = 64 << 10
	f, err := os.Open(name)
	if err != nil {
		return "not readable"
	}
	defer f.Close() // only read
	h := sha256.New()
	_, err = io.Copy(h, io.NewSectionReader(f, 0, min(end, size)))
	if rest := min(end, size-end); err == nil && rest > 0 {
		_, err = io.Copy(h, io.NewSectionReader(f, size-rest, rest))
	}
	if err != nil {
		return "not readable"
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// OfBackend is the setting of what computes, and of the tuning that the bits depend on.
func OfBackend(be engine.Backend) (Setting, error) {
	t, err := engine.DefaultTuning()
	if err != nil {
		return Setting{}, err
	}
	c := be.Capabilities()
	machine := fmt.Sprintf("%s, %s, kc %d, %d rows per shrink, %d per block", be.Name(), c["kernel"], t.KC.Value, t.Shrink.Value, t.GradientRows(1))
	if t.Scatter.Value > 0 {
		machine += fmt.Sprintf(", AᵀA up to %d", t.Scatter.Value)
	}
	if !be.Accuracy().Reproducible {
		machine += fmt.Sprintf(", version %s, %s threads", c["version"], c["threads"])
	}
	return Setting{"the backend", machine}, nil
}

// differences are those between the settings of two runs.
func differences(was, is []Setting) []string {
	find := func(in []Setting, name string) (value string, there bool) {
		i := slices.IndexFunc(in, func(s Setting) bool { return s.Name == name })
		if i < 0 {
			return "", false
		}
		return in[i].Value, true
	}
	var out []string
	for _, s := range is {
		switch before, there := find(was, s.Name); {
		case !there:
			out = append(out, fmt.Sprintf("%s was not there, is %q", s.Name, excerpt.Of(s.Value)))
		case before != s.Value:
			out = append(out, fmt.Sprintf("%s was %q, is %q", s.Name, excerpt.Of(before), excerpt.Of(s.Value)))
		}
	}
	for _, s := range was {
		if _, there := find(is, s.Name); !there {
			out = append(out, fmt.Sprintf("%s was %q, is not there", s.Name, excerpt.Of(s.Value)))
		}
	}
	return out
}

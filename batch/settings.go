package batch

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A Setting is a named value that must be equal on all ranks and in all runs that resume a job.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A File identifies the content of a file.
type File struct {
	Name   string
	Stamp  dataset.Stamp // size and time
	Digest string        // SHA-256 of the first and last 64 KiB; "" if it is not a regular file
}

// Files returns a File for each name in names that exists. It leaves out duplicates.
func Files(names []string) []File {
	var out []File
	for _, name := range names {
		known := slices.ContainsFunc(out, func(f File) bool { return f.Name == name })
		info, err := os.Stat(name)
		if err != nil || known {
			continue
		}
		f := File{Name: name, Stamp: dataset.StampOf(info)}
		if info.Mode().IsRegular() {
			f.Digest = digest(name, info.Size())
		}
		out = append(out, f)
	}
	return out
}

// FileSettings returns settings with the size, time and digest of each file. The digest tells apart different files
// that have the same size and time.
func FileSettings(files []File) []Setting {
	var out []Setting
	for _, f := range files {
		out = append(out, Setting{f.Name, f.Stamp.String()})
		if f.Digest != "" {
			out = append(out, Setting{f.Name + ", its first and last 64 KiB", f.Digest})
		}
	}
	return out
}

func digest(name string, size int64) string {
	const end = 64 << 10
	f, err := os.Open(name)
	if err != nil {
		return "not readable"
	}
	defer f.Close() // only read
	h := sha256.New()
	rest := max(0, min(end, size-end))
	head := io.NewSectionReader(f, 0, min(end, size))
	if _, err := io.Copy(h, io.MultiReader(head, io.NewSectionReader(f, size-rest, rest))); err != nil {
		return "not readable"
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// BackendSetting returns a setting with the name of the backend and those tuning parameters that affect the bits of
// a result.
func BackendSetting(be engine.Backend) (Setting, error) {
	t, err := engine.DefaultTuning()
	if err != nil {
		return Setting{}, err
	}
	c := be.Capabilities()
	machine := fmt.Sprintf(
		"%s, %s, kc %d, %d rows per shrink, %d per block",
		be.Name(),
		c["kernel"],
		t.KC.Value,
		t.Shrink.Value,
		t.GradientRows(1),
	)
	if t.Scatter.Value > 0 {
		machine += fmt.Sprintf(", AᵀA up to %d", t.Scatter.Value)
	}
	if !be.Accuracy().Reproducible {
		machine += fmt.Sprintf(", version %s, %s threads", c["version"], c["threads"])
	}
	return Setting{"the backend", machine}, nil
}

// freeOptions may change between runs of a job.
var freeOptions = []string{"Tol", "MaxPasses"}

// OptionSettings returns a setting for each field of opts that affects the result. It leaves out functions and
// interfaces. It also leaves out Tol and MaxPasses, which may change when a job is resumed.
func OptionSettings(opts fdridge.Options) []Setting {
	var out []Setting
	v := reflect.ValueOf(opts)
	for i := range v.NumField() {
		field := v.Type().Field(i)
		k := field.Type.Kind()
		if k != reflect.Func &&
			k != reflect.Interface &&
			!slices.Contains(freeOptions, field.Name) {
			out = append(out, Setting{"Options." + field.Name, fmt.Sprint(v.Field(i))})
		}
	}
	return out
}

// differences describes the differences between the settings of two runs. A missing setting counts as equal to the
// value "". Therefore a checkpoint of an earlier version stays valid when a new setting is added.
func differences(was, is []Setting) []string {
	value := func(in []Setting, name string) *string {
		i := slices.IndexFunc(in, func(s Setting) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		return &in[i].Value
	}
	var out []string
	for _, s := range is {
		switch before := value(was, s.Name); {
		case before == nil && s.Value == "":
		case before == nil:
			out = append(out, fmt.Sprintf("%s was not set, is %q", s.Name, errtext.Excerpt(s.Value)))
		case *before != s.Value:
			out = append(out, fmt.Sprintf("%s was %q, is %q", s.Name, errtext.Excerpt(*before), errtext.Excerpt(s.Value)))
		}
	}
	for _, s := range was {
		if value(is, s.Name) == nil && s.Value != "" {
			out = append(out, fmt.Sprintf("%s was %q, is not set", s.Name, errtext.Excerpt(s.Value)))
		}
	}
	return out
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutFormat: --out-format decides the form of a model, and without it the name does.
func TestOutFormat(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(60))
	dir := t.TempDir()
	model := func(name string, more ...string) []byte {
		path := filepath.Join(dir, name)
		must(t, append([]string{"fit", "--data", rows, "--target", "y", "--gamma", "1", "--out", path}, more...)...)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	arrays, text := model("a.npz"), model("a.json")
	for name, want := range map[string][]byte{"a": arrays, "b.npz": arrays, "c.json": arrays} {
		if got := model(name, "--out-format", "npz"); !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes than those of a.npz", name)
		}
	}
	for _, name := range []string{"d", "e.npz"} {
		if got := model(name, "--out-format", "json"); !bytes.Equal(got, text) {
			t.Errorf("%s: %s, want %s", name, got, text)
		}
	}
	in := []string{"fit", "--data", rows, "--target", "y", "--gamma", "1"}
	for args, want := range map[string]string{
		"--out-format npz":         "--out-format: it needs --out",
		"--out-format xml --out o": `--out-format: "xml" must be one of`,
		"--out-format npz --out o --predict " + rows + " --per-target": "--predict",
	} {
		code, _, errs := call(append(in, strings.Fields(args)...)...)
		if code != usage || !strings.Contains(errs, want) {
			t.Errorf("%s: %d, %s, want %s", args, code, errs, want)
		}
	}
}

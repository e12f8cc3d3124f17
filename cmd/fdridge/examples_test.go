package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamples: what --help shows of each command runs, one after the other.
func TestExamples(t *testing.T) {
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	unpacked := firstRows(t, packed, 20640)
	t.Chdir(t.TempDir())
	if err := os.Symlink(unpacked, "rows.csv"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(data, "testdata"); err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		help := must(t, e.command, "--help")
		for _, line := range e.lines {
			if !strings.Contains(help, wrapCommand(line)+"\n") {
				t.Errorf("%s --help does not show %q", e.command, line)
			}
			if e.command == "paper" { // TestPaper does, on data that it finds in a clone
				continue
			}
			line, to, redirected := strings.Cut(line, " >")
			out := must(t, strings.Fields(line)[1:]...)
			if redirected {
				if err := os.WriteFile(to, []byte(out), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	for _, name := range strings.Fields("housing.json poly.fds live.fds housing.fds parts.fds solved.json predictions.txt spectrum.png fdridge-fit.1") {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnknownCommand: what was meant is said on the same line, in plain words.
func TestUnknownCommand(t *testing.T) {
	for word, want := range map[string]string{
		"fti":      "fdridge: unknown command \"fti\" for \"fdridge\"; did you mean fit?\n",
		"sketches": "fdridge: unknown command \"sketches\" for \"fdridge\"; did you mean sketch?\n",
		"train":    "fdridge: unknown command \"train\" for \"fdridge\"; see fdridge help\n",
	} {
		if code, _, errs := call(word); code != usage || errs != want {
			t.Errorf("%s: exit %d, %q", word, code, errs)
		}
	}
}

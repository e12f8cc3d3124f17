package mutants

import (
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parsed returns the mutants of the table.
func parsed(t *testing.T) []mutant {
	t.Helper()
	mutants, err := parse(table)
	if err != nil {
		t.Fatal(err)
	}
	return mutants
}

// TestParse: a record gives its mutant, and one that is not whole is an error.
func TestParse(t *testing.T) {
	const record = "name: a: b\nfile: x/y.go\n-old\n-\n+\n+\tnew\ntest: x ^TestA$|^TestB$\n"
	got, err := parse("# a comment\n\n# another\n" + record)
	want := (mutant{"a: b", "x/y.go", "old\n", "\n\tnew", "x", "^TestA$|^TestB$"})
	if err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	for _, line := range strings.SplitAfter(strings.Replace(record, "-\n+\n", "", 1), "\n") {
		_, err := parse(strings.Replace(record, line, "", 1))
		if err == nil && line != "" && line[0] != '-' && line[0] != '+' {
			t.Errorf("without %q: no error", line)
		}
	}
	for _, bad := range []string{"name: a\nfile: b\n-c\ntest: d e\n", "name: a\nfile: b\n+c\ntest: d e\n", record + "more", record + record} {
		if got, err := parse(bad); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}

// TestMutantsApply: every patch finds its place in the code as it is, changes it, and
// leaves Go that parses. That they are killed is for the command itself to find out.
func TestMutantsApply(t *testing.T) {
	mutants := parsed(t)
	if len(mutants) < 25 {
		t.Errorf("%d mutants", len(mutants))
	}
	names := make(map[string]bool)
	for _, m := range mutants {
		if names[m.name] {
			t.Errorf("two mutants are called %q", m.name)
		}
		names[m.name] = true
		text, err := m.apply("../../..")
		if err != nil {
			t.Errorf("%s: %v", m.name, err)
			continue
		}
		if m.old == m.new {
			t.Errorf("%s changes nothing", m.name)
		}
		if _, err := format.Source(text); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

// TestTestsAreThere checks that the package of each mutant has the tests that are to notice it.
func TestTestsAreThere(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	mutants := parsed(t)
	tests := map[string][]string{} // of each package
	for _, m := range mutants {
		if tests[m.pkg] == nil {
			files, err := filepath.Glob(filepath.Join("../../..", m.pkg, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				text, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for _, found := range declared.FindAllStringSubmatch(string(text), -1) {
					tests[m.pkg] = append(tests[m.pkg], found[1])
				}
			}
		}
		for _, test := range strings.Split(m.test, "|") {
			name, _, _ := strings.Cut(test, "/") // without subtests
			pattern, err := regexp.Compile(name)
			if err != nil || !slices.ContainsFunc(tests[m.pkg], pattern.MatchString) {
				t.Errorf("%s: %s has no test %s (%v)", m.name, m.pkg, test, err)
			}
		}
	}
}

// TestDrawn: a sample is drawn without repetition, the same by the same seed,
// and every mutant is in the sample of some seed.
func TestDrawn(t *testing.T) {
	mutants := parsed(t)
	if n := len(drawn(mutants, 0, 1)); n != len(mutants) {
		t.Errorf("%d of %d without a sample", n, len(mutants))
	}
	seen := map[string]bool{}
	for seed := range uint64(len(mutants)) {
		sample := drawn(mutants, 20, seed)
		if !slices.Equal(sample, drawn(mutants, 20, seed)) {
			t.Errorf("seed %d draws two samples", seed)
		}
		names := map[string]bool{}
		for _, m := range sample {
			names[m.name], seen[m.name] = true, true
		}
		if len(names) != 20 {
			t.Errorf("seed %d draws %d of 20", seed, len(names))
		}
	}
	if len(seen) != len(mutants) {
		t.Errorf("%d of %d mutants are ever drawn", len(seen), len(mutants))
	}
}

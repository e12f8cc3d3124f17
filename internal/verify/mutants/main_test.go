package main

import (
	"go/format"
	"regexp"
	"slices"
	"testing"
)

// TestMutantsApply: every patch finds its place in the code as it is, changes it, and
// leaves Go that parses. That they are killed is for the command itself to find out.
func TestMutantsApply(t *testing.T) {
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

// TestDrawn: a sample is drawn of what matches, without repetition, the same by the same seed,
// and every mutant is in the sample of some seed.
func TestDrawn(t *testing.T) {
	every := regexp.MustCompile("")
	if n := len(drawn(every, 0, 1)); n != len(mutants) {
		t.Errorf("%d of %d without a sample", n, len(mutants))
	}
	seen := map[string]bool{}
	for seed := range uint64(len(mutants)) {
		sample := drawn(every, 20, seed)
		if !slices.Equal(sample, drawn(every, 20, seed)) {
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
	for _, m := range drawn(regexp.MustCompile("^shrink"), 2, 3) {
		if m.name[:6] != "shrink" {
			t.Errorf("%q doesn't match", m.name)
		}
	}
}

package main

import (
	"go/format"
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

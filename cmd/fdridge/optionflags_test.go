package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
)

// TestOptionFlags: each field of fdridge.Options has a flag, unless the command sets it by itself.
func TestOptionFlags(t *testing.T) {
	own := []string{
		"Backend",
		"Chosen",
		"Gather",
		"MaxBytes",
		"Merge",
		"Observe",
		"Progress",
		"Rounding",
		"Summarize",
		"Summarized",
	}
	fields := reflect.VisibleFields(reflect.TypeFor[fdridge.Options]())
	fields = slices.DeleteFunc(fields, func(f reflect.StructField) bool { return !f.IsExported() })
	for _, f := range fields {
		name := f.Name
		if _, has := optionFlags[name]; has == slices.Contains(own, name) {
			t.Errorf("%s has a flag: %v", name, has)
		}
	}
	if len(optionFlags)+len(own) != len(fields) {
		t.Errorf("%d flags and %d others for %d fields", len(optionFlags), len(own), len(fields))
	}
	for name := range optionFlags {
		err := nameOptions(&fdridge.OptionError{Fields: []string{name, "Summarize"}, Rule: "broken"})
		if want := optionFlags[name] + ": broken"; err.Error() != want || exitCode(err) != usage {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

package main

import (
	"fmt"
	"strings"
	"testing"
)

// TestClassesOfNumbers: many classes whose labels are numbers are a warning. Fewer are none, and neither are texts.
func TestClassesOfNumbers(t *testing.T) {
	for _, c := range []struct {
		prefix string
		labels int
		want   bool
	}{{"", 101, true}, {"", 100, false}, {"k", 101, false}} {
		var text strings.Builder
		text.WriteString("x,y\n")
		for i := range 2 * c.labels {
			fmt.Fprintf(&text, "%d,%s%d\n", i*i%19, c.prefix, i%c.labels)
		}
		data := write(t, "numbers.csv", text.String())
		code, _, errs := call("fit", "--data", data, "--target", "y", "--classes", "--gamma", "1")
		const want = "warning: --classes: the target has 101 different numbers"
		if code != 0 || strings.Contains(errs, want) != c.want {
			t.Errorf("%d labels %s…: exit %d, %s", c.labels, c.prefix, code, errs)
		}
	}
}

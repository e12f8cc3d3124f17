package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
)

// TestWideSketch: a sketch keeps the preparation of its rows, 88,119 scales of columns,
// and is used again.
func TestWideSketch(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	var text strings.Builder
	r := rand.New(rand.NewPCG(88, 119))
	for range 3 {
		fmt.Fprint(&text, r.IntN(3))
		for j := range 88119 {
			fmt.Fprintf(&text, " %d:%.17g", j+1, r.NormFloat64())
		}
		text.WriteString("\n")
	}
	rows := write(t, "a.svm", text.String())
	reported(
		t,
		"fit",
		"--data",
		rows,
		"--standardize",
		"--gamma",
		"1",
		"--size",
		"2",
		"--method",
		"one-shot",
		"--out",
		in("model"),
		"--save-sketch",
		in("sketch"),
	)
	reported(t, "solve", in("sketch"), "--gamma", "1", "--out", in("again"))
	if diff, norm := distance(t, in("again"), in("model")); !(diff <= 1e-12*norm) {
		t.Errorf("weights of the sketch are %g away", diff)
	}
}

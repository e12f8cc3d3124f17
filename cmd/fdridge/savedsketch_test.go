package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSavedSketchBound: fit prints the bound of the sketch that it saves, beside the name of the file. It equals the
// bound that solve prints. The smaller error of AᵀA, which a later pass computed, has its own words.
func TestSavedSketchBound(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := firstRows(t, packed, 400)
	bound := `‖AᵀA − BᵀB‖ ≤ (\S+?)`
	for name, more := range map[string][]string{"loo": {"--gamma", "auto"}, "given": {"--gamma", "1"}} {
		fit := append(
			[]string{
				"fit",
				"--data",
				data,
				"--target",
				"last",
				"--standardize",
				"--features",
				"rff:60,gamma=0.3,seed=1",
				"--size",
				"12",
				"--method",
				"cg",
				"--out",
				in("m"),
				"--save-sketch",
				in("s"),
				"--report",
				in("page.html"),
			},
			more...)
		text := must(t, fit...)
		written := regexp.MustCompile(`sketch written to ` + regexp.QuoteMeta(in("s")) + `: ` + bound + `\n`)
		saved := written.FindStringSubmatch(text)
		first := regexp.MustCompile(`sketch of 12 rows; ` + bound + `[;\n]`).FindStringSubmatch(text)
		last := regexp.MustCompile(`sketch of 12 rows; ` + bound + `\n`)
		solved := last.FindStringSubmatch(must(t, "solve", in("s"), "--gamma", "1"))
		if saved == nil ||
			first == nil ||
			solved == nil ||
			saved[1] != solved[1] ||
			first[1] != solved[1] ||
			parse(t, saved[1]) < 0.1 {
			t.Errorf("%s: fit prints %v and %v, solve %v", name, first, saved, solved)
		}
		later := strings.Contains(text, "; a later pass computed AᵀA, with an error ≤ ")
		page := parsePage(t, in("page.html")).text
		if want := name == "loo"; later != want || strings.Contains(page, "A later pass computed AᵀA itself") != want {
			t.Errorf("%s: %s", name, text)
		}
		if !strings.Contains(text, "model written to "+in("m")+"; fdridge show "+in("m")+" prints its coefficients\n") {
			t.Errorf("%s does not say where the coefficients are", text)
		}
	}
	for flags, want := range map[string]string{
		"--target last --gamma 1":                     "\n44 coefficients are not printed; fdridge show --top 0",
		"--target last --gamma 1,2":                   "\n88 coefficients (44 for each gamma) are not printed; ",
		"--target first,last --gamma 1":               "\n70 coefficients (35 for each target) are not printed; ",
		"--target first,last --gamma 1,2,3":           "\n210 coefficients (35 for each gamma and target) are not printed; ",
		"--target last --gamma 1 --standard-errors":   "\n24 coefficients are not printed; ",
		"--target last --gamma 1,2 --standard-errors": "\n48 coefficients are not printed; ",
	} {
		args := append([]string{"fit", "--data", data, "--features", "poly:2"}, strings.Fields(flags)...)
		if text := must(t, args...); !strings.Contains(text, want) {
			t.Errorf("%s: the report does not state %q:\n%s", flags, want, text)
		}
	}
	text := must(t, "fit", "--data", data, "--target", "last", "--gamma", "1", "--out", in("m"))
	if strings.Contains(text, "fdridge show") {
		t.Errorf("%s sends the reader to show", text)
	}
}

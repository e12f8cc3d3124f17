//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestParts: the sketches of all parts merge into a sketch of all rows, for each format and each number of parts. These
// sketches are lossless, so their solutions have the same number of rows and the same weights.
func TestParts(t *testing.T) {
	foreign, err := filepath.Abs("../../dataset/parquet/testdata/duckdb-v1-snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	columns, err := filepath.Abs("../../dataset/arrow/testdata/node.arrow")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	shared(t, 240)
	table := rowsCSV(60)
	header, rows, _ := strings.Cut(table, "\n")
	for name, text := range map[string]string{
		"weights2.csv": strings.Repeat(contents(t, "weights.csv"), 2),
		"named.csv":    table, "nameless.csv": rows, "few.csv": strings.Repeat("1\n0.25\n", 60),
		"quoted.csv": "\"text\"," + header + "\n" + strings.ReplaceAll(
			"\n"+strings.TrimSuffix(rows, "\n"), "\n", "\n\"a, \"\"b\"\"\",",
		)[1:] + "\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range []string{
		"--data rows.csv --target 13 --columns -14",
		"--data rows.csv.gz --target 13 --columns -14",
		"--data rows.csv,rows.csv.gz,rows.csv --target 13,14",
		"--data rows.csv --target 13 --weights 14",
		"--data rows.npy --target 13 --columns -14",
		"--data rows.npy,rows.npy --target 13 --columns -14 --weights weights2.csv",
		"--data rows.csv,rows.csv.gz --target 13 --columns -14 --weights weights2.csv",
		"--data named.csv,nameless.csv --target few.csv",
		"--data pairs.svm --n-features 12 --target weights.csv --weights weights.csv",
		"--data rows.npy --target 13 --columns -14 --rows 7:201 --features poly:2",
		"--data quoted.csv --columns -text --target y",
		"--data named.csv,nameless.csv --target last",
		"--data nameless.csv,named.csv --target last",
		"--data pairs.svm,pairs.svm --n-features 12",
		"--data " + foreign + " --columns double,float,int16 --target int32",
		"--data " + columns + " --columns f32,f16,i8 --target f64",
	} {
		sketch := append(strings.Fields(flags), "--size", "64", "--lanes", "1")
		must(t, append(append([]string{"sketch"}, sketch...), "--out", "whole.fds")...)
		whole := reported(t, "solve", "whole.fds", "--gamma", "30", "--json", "--out", "whole.json")
		for _, n := range []int{2, 3, 7} {
			told := mergeAll(t, sketchParts(t, n, sketch...), "all.fds")
			if !strings.Contains(told, fmt.Sprintf("all %d parts", n)) {
				t.Errorf("%s in %d parts: %s", flags, n, told)
			}
			all := reported(t, "solve", "all.fds", "--gamma", "30", "--json", "--out", "all.json")
			if all["n"] != whole["n"] {
				t.Errorf("%s in %d parts: %v rows of %v", flags, n, all["n"], whole["n"])
			}
			if e := apart(weights(t, "all.json"), weights(t, "whole.json")); !(e <= 1e-10) {
				t.Errorf("%s in %d parts: %g away", flags, n, e)
			}
		}
	}
}

// TestPartsAreRanks: sketches of parts that are merged as ranks do it have the bits of these, and
// what one pass certifies is true of all rows.
func TestPartsAreRanks(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 600)
	const data = "--data rows.npy --target 13 --columns -14"
	sketch := strings.Fields(data + " --size 4 --lanes 1")
	fit := strings.Fields("fit --gamma 30 --out")
	p := sketchParts(t, 4, sketch...)
	must(t, "merge", p[0], p[1], "--out", "left.fds")
	must(t, "merge", p[2], p[3], "--out", "right.fds")
	must(t, "merge", "left.fds", "right.fds", "--out", "all.fds")
	certified := reported(t, "solve", "all.fds", "--gamma", "30", "--json", "--out", "all.json")
	must(t, append(append(fit, "exact.json", "--method", "exact"), strings.Fields(data)...)...)
	off, bound := apart(weights(t, "all.json"), weights(t, "exact.json")), first(certified["relative_error_bound"])
	if !(off <= bound*(1+1e-12)) || !(off > 1e-9) {
		t.Errorf("the parts are %g from the exact weights, certified %g", off, bound)
	}
	mustRanks(t, 4, append(append(fit, "ranks.json", "--method", "one-shot"), sketch...)...)
	if a, b := weights(t, "all.json"), weights(t, "ranks.json"); !slices.Equal(a, b) {
		t.Errorf("the weights of parts %v, of ranks %v", a, b)
	}
}

// TestFitPart: a fit of a part has the weights of a fit of the same rows. The sketches of parts that fit --part saves
// can be merged into a sketch of all rows.
func TestFitPart(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 100)
	const fit = "fit --data rows.npy --target 13 --columns -14 --gamma 3 --out "
	for i := range 3 {
		lo, hi := 100*i/3, 100*(i+1)/3
		must(t, strings.Fields(fit+fmt.Sprintf("rows.json --rows %d:%d", lo+1, hi))...)
		must(
			t,
			strings.Fields(
				fit+fmt.Sprintf(
					"part.json --part %d/3 --standardize=false --report part.html --save-sketch part%d.fds --method cg",
					i,
					i,
				),
			)...)
		if e := apart(weights(t, "part.json"), weights(t, "rows.json")); !(e <= 1e-7) {
			t.Errorf("part %d: %g away", i, e)
		}
		if page := contents(t, "part.html"); !strings.Contains(page, fmt.Sprintf("rows.npy, part %d of 3", i)) {
			t.Errorf("the page does not say of which part it is")
		}
	}
	told := must(t, "merge", "part2.fds", "part0.fds", "part1.fds", "--out", "all.fds")
	if !strings.HasPrefix(told, "all.fds: 100 rows") || !strings.Contains(told, "all.fds: all 3 parts\n") {
		t.Errorf("%s", told)
	}
	// Every part is empty but one, of a file that is not divided.
	told = must(t, strings.Fields("sketch --data rows.csv.gz --target 13 --part 0/3 --out empty.fds")...)
	if !strings.Contains(told, "empty.fds: 0 rows") ||
		!strings.Contains(told, "part 0 of 3; still missing: parts 1-2; it has no rows") {
		t.Errorf("%s", told)
	}
}

// TestPartsRefused: exit 2 and one line that says what is wrong with parts, or with what is merged
// and solved of them.
func TestPartsRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 100)
	const data = "--data rows.csv --target 13"
	p := sketchParts(t, 4, strings.Fields(data)...)
	must(t, "merge", p[3], p[0], "--out", "ends.fds")
	must(t, "merge", p[1], p[2], "--out", "middle.fds")
	for name, flags := range map[string]string{
		"of-3":   data + " --part 0/3",
		"other":  "--data rows.npy --target 13 --part 0/4",
		"again":  data + " --part 2/4",
		"0-of-1": data + " --part 0/1",
	} {
		must(t, append(strings.Fields("sketch "+flags), "--out", name+".fds")...)
	}
	quoted := "7,a,1\n8,\"" + strings.Repeat("\n1,2,3", 40) + "\",2\n" + strings.Repeat("9,b,3\n", 20)
	if err := os.WriteFile("quoted.csv", []byte(quoted), 0o600); err != nil {
		t.Fatal(err)
	}
	told := must(t, "merge", "ends.fds", "other.fds", "--out", "two.fds") // which may be of two days
	if !strings.Contains(told, "2 different divisions") {
		t.Errorf("of two divisions: %s", told)
	}
	for line, want := range map[string]string{
		"sketch --out x " + data + " --part 4/4": "--part: there is no part 4 of 4: parts are counted " +
			"from 0 to 3",
		"sketch --out x " + data + " --part 1":                 "--part: \"1\" must be I/N",
		"sketch --out x " + data + " --part 1/0":               "--part: \"1/0\" must be I/N",
		"sketch --out x " + data + " --part -1/4":              "--part: \"-1/4\" must be I/N",
		"sketch --out x " + data + " --part 0x1/4":             "must be I/N",
		"sketch --out x " + data + " --part /4":                "must be I/N",
		"sketch --out x " + data + " --part 0/99999999999":     "must be I/N",
		"sketch --out x " + data + " --part 0/4 --standardize": "--standardize: each part would have means",
		"sketch --out x " + data + " --part 0/4 --rows 1:50":   "it needs row numbers, which",
		"sketch --out x --data pairs.svm --part 0/4": "--part: pairs.svm is svmlight, and a part " +
			"cannot know the number of features of the others: use --n-features",
		"sketch --out x --data rows.csv --transposed --part 0/4": "--part: with --transposed a row of the file",
		"sketch --out x --data - --target 13 --part 0/4":         "--part: standard input is a pipe",
		"sketch --out x --data quoted.csv --columns -2 --target 3 " +
			"--part 0/4": "quoted.csv:16: the file is divided at a quoted line break",
		"fit --gamma 1 --data quoted.csv --columns -2 --target 3 --part 1/4": "the file is divided at a quoted line break",
		"fit --gamma 1 --part " +
			"0/4 --mpi " + data: "--part: with --mpi each rank already reads a part",
		"plan --part 0/4 " + data: "unknown flag",
		"solve " + p[1] + " --gamma 1": p[1] +
			" has only part 1 of 4: merge parts 0, 2-3 with it first",
		"solve ends.fds --gamma 1":                    "ends.fds has only parts 0, 3 of 4: merge parts 1-2 with it first",
		"solve two.fds --gamma 1":                     "merge parts 1-2 with it first",
		"merge ends.fds middle.fds again.fds --out x": "part 2 of 4 is in both: its rows would count twice",
		"merge middle.fds again.fds --out x":          "part 2 of 4 is in both: its rows would count twice",
		"merge middle.fds of-3.fds --out x": "the rows were divided into 4 parts for one sketch and 3 parts " +
			"for the other",
	} {
		code, out, errs := call(strings.Fields(line)...)
		if code != usage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, want) {
			t.Errorf("%s: exit %d, %q, %q; want %q", line, code, out, errs, want)
		}
		if _, err := os.Stat("x"); err == nil {
			t.Fatalf("%s: a file was written", line)
		}
	}
	must(t, "solve", "0-of-1.fds", "--gamma", "1")
	must(t, "merge", "ends.fds", "middle.fds", "--out", "all.fds")
	must(t, "solve", "all.fds", "--gamma", "1")
	// A part that is made when the file has grown is of other data: nothing completes it.
	if err := os.WriteFile("rows.csv", []byte(contents(t, "rows.csv")+strings.Repeat("1,", 13)+"1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	late := sketchParts(t, 4, strings.Fields(data)...)
	must(t, "sketch", "--data", "rows.npy", "--target", "13", "--out", "x") // p[1] is overwritten
	must(t, "merge", "ends.fds", late[1], late[2], "--out", "grown.fds")
	if code, _, errs := call("solve", "grown.fds", "--gamma", "1"); code != usage ||
		!strings.Contains(errs, "grown.fds has only parts 0, 3 of 4: merge parts 1-2") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

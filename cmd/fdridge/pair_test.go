package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// writeAll writes files into a new current directory.
func writeAll(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPairedByRow checks that rows of separate files are paired by their number, and that a policy for missing values
// leaves out a row in all files. Each table is fitted as one file and as several, and the models are compared.
func TestPairedByRow(t *testing.T) {
	writeAll(t, map[string]string{
		"x.csv": "x\n1\n2\n3\n\"\"\n5\n6\n8\n", "y.csv": "y\n10\n\n30\n40\n50\n60\n70\n\n", "w.csv": "w\n1\n1\n2\n2\n   \n1\n1\n\n\n",
		"all.csv": "x,y,w\n1,10,1\n2,,1\n3,30,2\n,40,2\n5,50,\n6,60,1\n8,70,1\n",
		"xy.csv":  "x,y\n1,10\n2,\n3,30\n,40\n5,50\n6,60\n8,70\n",
	})
	for _, flags := range []string{"--missing drop", "--missing mean --missing-target drop", "--missing drop --holdout 0.3", "--missing drop --rows 2:7", "--missing drop --cache ."} {
		fit := func(columns ...string) string {
			must(
				t,
				append(
					append([]string{"fit", "--gamma", "0.5", "--out", "m.json"}, strings.Fields(flags)...),
					columns...)...)
			_, model, _ := strings.Cut(contents(t, "m.json"), `"preparation"`) // behind the names of the columns
			return model
		}
		whole := fit("--data", "all.csv", "--target", "y", "--weights", "w")
		if got := fit("--data", "x.csv", "--target", "y.csv", "--weights", "w.csv"); got != whole {
			t.Errorf("%s: three files give\n%s\none gives\n%s", flags, got, whole)
		}
		if got := fit("--data", "xy.csv", "--target", "y", "--weights", "w.csv"); got != whole {
			t.Errorf("%s: two files give\n%s\none gives\n%s", flags, got, whole)
		}
	}
}

// TestTransposedMissing checks that files with features in their rows may have missing values, as if they had features
// in their columns.
func TestTransposedMissing(t *testing.T) {
	writeAll(t, map[string]string{
		"x.csv": "a,b\n1,7\n2,\n3,8\n,9\n5,6\n6,5\n8,1\n", "y.csv": "y\n10\n20\n30\n40\n\"\"\n60\n70\n",
		"t.csv": "1,2,3,NA,5,6,8\n7,,8,9,6,5,1\n", "new.csv": "4,5\n,2\n",
	})
	for _, flags := range []string{
		"--missing drop", "--missing mean --missing-target drop", "--missing median --missing-indicator --missing-target drop --standardize=numeric",
		"--missing drop --holdout 0.3", "--missing drop --cache .",
	} {
		fit := func(model string, columns ...string) string {
			must(
				t,
				append(
					append(
						[]string{"fit", "--gamma", "0.5", "--method", "exact", "--target", "y.csv", "--out", model},
						strings.Fields(flags)...),
					columns...)...)
			_, fits, _ := strings.Cut(contents(t, model), `"models"`)     // behind the names of the columns
			return strings.ReplaceAll(fits, `"passes": 2`, `"passes": 1`) // a pass counts the rows of a transposed file
		}
		plain, transposed := fit(
			"m.json",
			"--data",
			"x.csv",
		), fit(
			"t.json",
			"--data",
			"t.csv",
			"--header",
			"no",
			"--transposed",
		)
		if plain != transposed {
			t.Errorf("%s: features in columns give\n%s\nfeatures in rows give\n%s", flags, plain, transposed)
		}
	}
	lines := strings.Split(
		must(t, "predict", "--model", "t.json", "--data", "new.csv", "--header", "no", "--transposed"),
		"\n",
	)
	if len(lines) != 3 ||
		lines[0] != "NaN" ||
		lines[1] == "NaN" {
		t.Errorf("predictions %q", lines)
	}
	refused(
		t,
		"a gap",
		".",
		"t.csv:1:7: column 4: NA is a missing value",
		"fit",
		"--data",
		"t.csv",
		"--header",
		"no",
		"--transposed",
		"--target",
		"y.csv",
		"--gamma",
		"1",
		"--out",
		"o.json",
	)
}

// TestPairsRefused checks the position in errors about pairs of files.
func TestPairsRefused(t *testing.T) {
	writeAll(t, map[string]string{
		"x.csv": "x\n1\n2\n3\n4\n\n6\n", "y.csv": "y\n1\n2\n\"\"\n4\n5\n6\n", "long.csv": "v\n1\n2\n3\n4\n5\n6\n7\n\n\n", "few.csv": "v\n1\n2\n",
		"text.csv": "y\n1\nup\n3\n4\n5\n6\n", "full.csv": "x\n1\n2\n3\n4\n5\n6\n",
	})
	for _, c := range []struct{ data, target, weights, want string }{
		{"x.csv", "y.csv", "", "y.csv:4:1: column y is empty; fill in what is missing, or leave the row out (--missing-target drop"},
		{"y.csv", "x.csv", "", "y.csv:4:1: column y is empty; fill in what is missing, or leave the column out (--columns; or --missing mean or drop)"},
		{"full.csv", "full.csv", "y.csv", "y.csv:4:1: column y is empty; fill in what is missing, or leave the row out (--missing-target drop"},
		{"full.csv", "text.csv", "", "text.csv:3:1: column y: \"up\" is not a number; encode the column as numbers (--classes"},
		{"full.csv", "full.csv", "text.csv", "text.csv:3:1: column y: \"up\" is not a number; encode the column as numbers\n"},
		{"full.csv", "long.csv", "", "fdridge: 6 rows of features in full.csv, 7 of targets in long.csv: row 7 of long.csv has no partner\n"},
		{"full.csv", "few.csv", "", "fdridge: 6 rows of features in full.csv, 2 of targets in few.csv: row 3 of full.csv has no partner\n"},
		{"full.csv", "full.csv", "few.csv", "fdridge: 6 rows of features in full.csv, 2 of weights in few.csv: row 3 of full.csv has no partner\n"},
		{"full.csv,full.csv", "long.csv", "", "fdridge: 12 rows of features in full.csv, full.csv, 7 of targets in long.csv: row 8 of full.csv, full.csv has no partner\n"},
	} {
		args := []string{"fit", "--data", c.data, "--target", c.target, "--gamma", "1", "--out", "m.json"}
		if c.weights != "" {
			args = append(args, "--weights", c.weights)
		}
		refused(t, strings.Join(args, " "), ".", c.want, args...)
	}
}

// TestPredictsEachLine checks that predict writes a line for each row of a file of one column, or refuses with the
// line.
func TestPredictsEachLine(t *testing.T) {
	writeAll(t, map[string]string{
		"x.csv": "a\n1\n2\n3\n4\n", "y.csv": "y\n2\n3\n5\n7\n", "gaps.csv": "a\n1\n\n\"\"\n4\n \n6\n\n", "b.csv": "a,b\n1,u\n2,v\n3,u\n4,v\n",
		"faults.csv": "a,b\n1,u\n2,w\nNA,v\n4,u\n", "later.csv": "a,b\n1,u\nNA,u\n2,w\n",
	})
	must(t, "fit", "--data", "x.csv", "--target", "y.csv", "--gamma", "1", "--out", "plain.json")
	refused(
		t,
		"a gap",
		".",
		"gaps.csv:3:1: column a is empty",
		"predict",
		"--model",
		"plain.json",
		"--data",
		"gaps.csv",
		"--out",
		"p.txt",
	)
	must(t, "fit", "--data", "x.csv", "--target", "y.csv", "--gamma", "1", "--missing", "mean", "--out", "mean.json")
	if lines := strings.Split(must(t, "predict", "--model", "mean.json", "--data", "gaps.csv"), "\n"); len(lines) != 7 ||
		lines[1] != lines[2] ||
		lines[1] != lines[4] ||
		lines[0] == lines[1] {
		t.Errorf("predictions %q", lines)
	}
	must(t, "fit", "--data", "x.csv", "--target", "y.csv", "--gamma", "1", "--missing", "drop", "--out", "drop.json")
	if lines := strings.Split(must(t, "predict", "--model", "drop.json", "--data", "gaps.csv"), "\n"); len(lines) != 7 ||
		lines[1] != "NaN" ||
		lines[2] != "NaN" ||
		lines[4] != "NaN" ||
		lines[5] == "NaN" {
		t.Errorf("predictions %q", lines)
	}
	must(t, "fit", "--data", "b.csv", "--target", "y.csv", "--gamma", "1", "--onehot", "b", "--out", "b.json")
	refused(
		t,
		"an unknown level first",
		".",
		"faults.csv:3: column b has the level \"w\"",
		"predict",
		"--model",
		"b.json",
		"--data",
		"faults.csv",
		"--out",
		"p.txt",
	)
	refused(
		t,
		"a gap first",
		".",
		"later.csv:3:1: column a: NA is a missing value",
		"predict",
		"--model",
		"b.json",
		"--data",
		"later.csv",
		"--out",
		"p.txt",
	)
}

// TestUnknownLevelLine checks that an unknown level is named with the file and the line.
func TestUnknownLevelLine(t *testing.T) {
	writeAll(t, map[string]string{
		"b.csv": "a,b,y\n1,u,1\n2,v,2\n3,u,3\n4,v,5\n", "good.csv": "a,b\n1,u\n\n2,\"v\"\n",
		"lines.csv": "\na,b\n1,u\n\n2,\"v\n\"\n\n3,w\n", "gap.csv": "a,b\nNA,w\n1,u\n2,w\n",
		"rows.jsonl": "{\"a\":1,\"b\":\"u\"}\n\n{\"a\":2,\"b\":\"w\"}\n",
	})
	must(t, "fit", "--data", "b.csv", "--target", "y", "--gamma", "1", "--onehot", "b", "--out", "b.json")
	must(
		t,
		"fit",
		"--data",
		"b.csv",
		"--target",
		"y",
		"--gamma",
		"1",
		"--onehot",
		"b",
		"--missing",
		"drop",
		"--out",
		"drop.json",
	)
	for _, c := range []struct{ args, want string }{
		{"--model b.json --data lines.csv", "fdridge: lines.csv:8: column b has the level \"w\", which is not among the 2 levels learnt from the training rows; --unknown ignore"},
		{"--model b.json --data good.csv,lines.csv", "lines.csv:8: column b has the level \"w\""},
		{"--model b.json --data lines.csv,good.csv", "lines.csv:8: column b has the level \"w\""},
		{"--model b.json --data lines.csv --rows 2:3", "lines.csv:8: column b has the level \"w\""},
		{"--model drop.json --data gap.csv", "gap.csv:4: column b has the level \"w\""},
		{"--model b.json --data rows.jsonl", "rows.jsonl:3: column b has the level \"w\""},
	} {
		refused(t, c.args, ".", c.want, append(strings.Fields("predict --out p.txt"), strings.Fields(c.args)...)...)
	}
}

// TestSeparateText checks that the flags of text apply to separate files of targets and weights, and that the numbers
// of rows decide whether a first line is a header. Each table is fitted as one file and as several.
func TestSeparateText(t *testing.T) {
	writeAll(t, map[string]string{
		"x.csv": "a,b\n1,5\n2,3\n3,8\n4,1\n5,9\n6,2\n", "xn.csv": "1,5\n2,3\n3,8\n4,1\n5,9\n6,2\n",
		"labels.csv": "z\na\nb\na\nb\na\n", "label.csv": "kind\nz\na\nb\na\nb\na\n", "gap.csv": "NA\n2\n3\n4\n5\n6\n", "y.csv": "1\n2\n3\n4\n5\n6\n",
		"pandas.csv": "0\n1.5\n2\n3\n4\n5\n6.5\n", "commas.csv": "1,5\n2,5\n3,5\n4,5\n5,5\n7,5\n", "marks.csv": "y\n1\n-999\n3\n4\n5\n6\n",
		"titled.csv": "a title,of two\nx1,x2\n1,5\n2,3\n3,8\n4,1\n5,9\n6,2\n", "titledy.csv": "a title\ny\n1\n2\n3\n4\n5\n6\n",
		"hash.csv": "y\n1\n%\n2\n3\n4\n% 9\n5\n6\n", "semi.csv": "1;1\n2;1\n3;2\n4;1\n5;1\n6;2\n",
		"all.csv": "a,b,label,y,gap,comma,mark,pandas\n1,5,z,1,,1.5,1,1.5\n2,3,a,2,2,2.5,,2\n3,8,b,3,3,3.5,3,3\n4,1,a,4,4,4.5,4,4\n5,9,b,5,5,5.5,5,5\n6,2,a,6,6,7.5,6,6.5\n",
	})
	for _, c := range []struct{ separate, joined, note string }{
		{"--data xn.csv --target labels.csv --classes", "--target label --classes", "labels.csv:1: the first line (z) is read as a row, because xn.csv has as many rows then"},
		{"--data x.csv --target labels.csv --classes", "--target label --classes", "labels.csv:1: the first line (z) is read as a row"},
		{"--data x.csv --target label.csv --classes", "--target label --classes", ""},
		{"--data xn.csv --target labels.csv --classes --header no", "--target label --classes", ""},
		{"--data xn.csv --target labels.csv --classes --header no --rows 1:4", "--target label --classes --rows 1:4", ""},
		{"--data x.csv --target labels.csv --classes --rows 2:5", "--target label --classes --rows 2:5", "labels.csv:1: the first line (z) is read as a row"},
		{"--data x.csv --target gap.csv --missing drop --rows 1:5", "--target gap --missing drop --rows 1:5", "gap.csv:1: the first line (NA) is read as a row"},
		{"--data x.csv --target gap.csv --missing drop", "--target gap --missing drop", "gap.csv:1: the first line (NA) is read as a row"},
		{"--data x.csv --target pandas.csv --rows 1:5", "", "6 rows of features in x.csv, 7 of targets in pandas.csv: row 7 of pandas.csv has no partner; if the first line of pandas.csv (0) has names, use --header yes"},
		{"--data x.csv --target pandas.csv --rows 1:5 --header yes", "--target pandas --rows 1:5", ""},
		{"--data x.csv --target pandas.csv --header yes", "--target pandas", ""},
		{"--data x.csv --delimiter , --target semi.csv", "", "semi.csv:1:1: column 1: \"1;1\" is not a number"},
		{"--data x.csv --decimal , --target commas.csv", "--target comma", ""},
		{"--data x.csv --missing-marks=-999 --missing drop --target marks.csv", "--target mark --missing drop", ""},
		{"--data titled.csv --skip-rows 1 --target titledy.csv", "--target y", ""},
		{"--data x.csv --comment % --target hash.csv", "--target y", ""},
		{"--data x.csv --header yes --target y.csv --rows 1:3", "", "6 rows of features in x.csv, 5 of targets in y.csv: row 6 of x.csv has no partner"},
		{"--data x.csv --skip-rows 1 --target y.csv --rows 1:3", "", "6 rows of features in x.csv, 5 of targets in y.csv: row 6 of x.csv has no partner"},
	} {
		fit := func(args string) (model, stderr string) {
			code, _, stderr := call(append(strings.Fields("fit --gamma 0.5 --out m.json"), strings.Fields(args)...)...)
			if code != done {
				return "", stderr
			}
			_, model, _ = strings.Cut(contents(t, "m.json"), `"models"`) // behind the names of the columns
			return model, stderr
		}
		got, stderr := fit(c.separate)
		if c.note == "" && stderr != "" || !strings.Contains(stderr, c.note) {
			t.Errorf("%s: %q, want %q", c.separate, stderr, c.note)
		}
		want := ""
		if c.joined != "" {
			want, _ = fit("--data all.csv --columns a,b " + c.joined)
		}
		if withoutPasses(got) != withoutPasses(want) {
			t.Errorf("%s gives\n%s\n%s\nthe joined table gives\n%s", c.separate, stderr, got, want)
		}
	}
}

// withoutPasses returns a model without its number of passes.
func withoutPasses(model string) string {
	return regexp.MustCompile(`"passes": \d+`).ReplaceAllString(model, "")
}

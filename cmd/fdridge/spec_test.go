//go:build unix

package main

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/table"
)

// TestSpec fits rows by package table and by the command, for each field of table.Spec, and compares the models bit for
// bit.
func TestSpec(t *testing.T) {
	flats, err := filepath.Abs(filepath.Join("..", "..", "testdata", "flats.csv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	shared(t, 60)
	flat, numbers := []string{flats}, []string{"rows.csv"}
	rent, last := []string{"rent"}, []string{"last"}
	penalties := strings.TrimSuffix(strings.Repeat("2,", 13), ",")
	for name, text := range map[string]string{
		"p.csv":      penalties + "\n",
		"marks.csv":  "// a comment\na;b;y\n#1\n1,5;-9;2\n2,5;1;3\n4;2;-9\n3;7;1\n8;8;4\n",
		"one.svm":    "1 0:1 2:3\n2 1:4\n3 0:2 1:1\n1 2:7\n",
		"days.csv":   "day,x,y\n2024-01-02,1,3\n2024-05-07,2,5\n2025-02-01,4,1\n2023-11-30,3,2\n2024-08-15,9,4\n",
		"across.csv": "1,2,3,4,5\n2,7,1,8,2\n", "y.csv": "3\n1\n4\n1\n5\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	marks := table.Spec{
		Data: []string{"marks.csv"}, Target: []string{"y"}, Format: "csv", Delimiter: ";", Header: "yes", Decimal: ",",
		MissingMarks: []string{"-9"}, SkipRows: []string{"1"}, Comment: "#", Escape: `\`, Missing: []string{"drop"},
	}
	reached := map[string]bool{"Key": true} // predict reads the key
	for _, c := range []struct {
		spec  table.Spec
		flags string
	}{
		{
			marks,
			"--data marks.csv --target y --format csv --delimiter ; --header yes --decimal , --missing-marks=-9 " +
				"--skip-rows 1 --comment # --escape \\ --missing drop",
		},
		{
			table.Spec{Data: []string{"one.svm"}, NFeatures: 5, FirstIndex: "0"},
			"--data one.svm --n-features 5 --first-index 0",
		},
		{
			table.Spec{Data: numbers, Target: last, Columns: []string{"3", "1"}, Rows: "5:40"},
			"--data rows.csv --target last --columns 3,1 --rows 5:40",
		},
		{
			table.Spec{Data: numbers, Target: []string{"13"}, Weights: "14", Part: "1/3"},
			"--data rows.csv --target 13 --weights 14 --part 1/3",
		},
		{
			table.Spec{Data: []string{"across.csv"}, Target: []string{"y.csv"}, Transposed: true},
			"--data across.csv --target y.csv --transposed",
		},
		{
			table.Spec{Data: flat, Target: rent, Prepare: "auto", Holdout: 0.25},
			"--data FLATS --target rent --prepare auto --holdout 0.25",
		},
		{
			table.Spec{
				Data: flat, Target: rent, OneHot: []string{"text"}, MinShare: 0.1, Missing: []string{"median", "area=mean"},
				MissingIndicator: true, MissingTarget: "drop", Standardize: table.ScaleNumeric,
			},
			"--data FLATS --target rent --onehot text --min-share 0.1 --missing median,area=mean " +
				"--missing-indicator --missing-target drop --standardize=numeric",
		},
		{
			table.Spec{Data: []string{"days.csv"}, Target: []string{"y"}, Dates: []string{"day"}},
			"--data days.csv --target y --dates day",
		},
		{
			table.Spec{Data: numbers, Target: last, Standardize: table.ScaleAll, Features: "poly:2"},
			"--data rows.csv --target last --standardize --features poly:2",
		},
		{
			table.Spec{Data: numbers, Target: last, Penalty: "p.csv", Bands: []string{"1-3=4", "5"}, Unpenalized: []string{"4"}},
			"--data rows.csv --target last --penalty p.csv --bands 1-3=4,5 --unpenalized 4",
		},
		{
			table.Spec{
				Data: flat, Target: []string{"heating"}, Classes: true, ClassWeight: "balanced", Missing: []string{"drop"},
				OneHot: []string{"district"},
			},
			"--data FLATS --target heating --classes --class-weight balanced --missing drop --onehot district",
		},
	} {
		var words []string
		for _, word := range strings.Fields(c.flags) {
			words = append(words, strings.ReplaceAll(word, "FLATS", flats))
		}
		must(t, slices.Concat([]string{"fit", "--gamma", "3", "--lanes", "1", "--out", "command.json"}, words)...)
		options := fdridge.Options{Gammas: []float64{3}, Lanes: 1}
		fit, err := table.Fit(t.Context(), c.spec, options, table.Env{})
		if err != nil {
			t.Errorf("%s: %v", c.flags, err)
			continue
		}
		if err := fit.Model.Save("library.json"); err != nil {
			t.Fatal(err)
		}
		byCommand, err := model.Load("command.json")
		if err != nil {
			t.Fatal(err)
		}
		byLibrary, err := model.Load("library.json")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(byCommand, byLibrary) {
			t.Errorf("%s: the models differ:\n%s\n%s", c.flags, contents(t, "command.json"), contents(t, "library.json"))
		}
		v := reflect.ValueOf(c.spec)
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; !v.Field(i).IsZero() {
				reached[name] = true
				if flag := "--" + table.Field(name).Flag(); !strings.Contains(c.flags, flag) {
					t.Errorf("%s: %s is given, and %s is not", c.flags, name, flag)
				}
			}
		}
	}
	of := reflect.TypeFor[table.Spec]()
	for i := range of.NumField() {
		if name := of.Field(i).Name; !reached[name] {
			t.Errorf("no rows need the field %s", name)
		}
	}
}

// TestNoWeights: a flag whose value is empty, as by a variable of a shell that is not set, is not left out.
func TestNoWeights(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	for _, command := range []string{"fit", "sketch --out s.fds"} {
		args := append(strings.Fields(command), "--data", rows, "--target", "y", "--weights", "")
		code, _, errs := call(args...)
		if code != usage || !strings.Contains(errs, "--weights: no column or file is named") {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
}

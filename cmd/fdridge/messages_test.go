package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/paper"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestExitCodes: errors of the user's input end the command with 2, however they are wrapped,
// and all others with 1.
func TestExitCodes(t *testing.T) {
	for _, err := range []error{
		engine.ErrShape, engine.ErrInput, fd.ErrSize, &fd.NonFiniteError{}, &fd.RangeError{}, &fd.FormatError{},
		ridge.ErrShape, ridge.ErrEmpty, ridge.ErrOtherRows, &ridge.GammaError{}, &ridge.SizeError{}, &ridge.SingularError{},
		&choose.FoldsError{},
		dataset.ErrShape, &dataset.InputError{}, &dataset.ChangedError{}, &dataset.SourceError{},
		model.ErrUnrecorded, model.ErrPreparation, &model.VersionError{}, &model.GammaError{}, &model.OverflowError{},
		&model.FormatError{Err: errors.New("")}, &model.PreparationError{Err: errors.New("")},
		&model.CertificateError{Err: errors.New("")}, &model.SummaryError{Err: errors.New("")},
		&paper.SettingError{}, cli.BadInput("--flag"),
	} {
		for _, wrapped := range []error{err, fmt.Errorf("reading: %w", err), errors.Join(errors.New("closing"), err)} {
			if code := exitCode(wrapped); code != usage {
				t.Errorf("%T %q: exit %d", err, wrapped, code)
			}
		}
	}
	for _, err := range []error{
		errors.New("disk full"), engine.ErrNoConvergence, ridge.ErrUnproven, &ridge.ScaleError{},
		&ridge.NotConvergedError{Status: ridge.PassLimit},
	} {
		if code := exitCode(err); code != failed {
			t.Errorf("%T %q: exit %d", err, err, code)
		}
	}
	missed := &ridge.NotConvergedError{Status: ridge.RoundOff}
	for kept, want := range map[bool]int{true: short, false: failed} {
		for _, err := range []error{&shortError{"", kept, missed}, fmt.Errorf("closing: %w", &shortError{"", kept, missed})} {
			if code := exitCode(err); code != want || !errors.Is(err, ridge.ErrRoundOff) {
				t.Errorf("kept %v: exit %d", kept, code)
			}
		}
	}
}

// TestNameColumns: the flag that leaves a column out is named by the commands that have it, and by
// no other.
func TestNameColumns(t *testing.T) {
	dir, rows := t.TempDir(), write(t, "rows.csv", rowsCSV(30))
	model, text := filepath.Join(dir, "model.json"), write(t, "text.csv", "x1,x2,y\n1,2,3\n1,red,3\n")
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--out", model)
	for name, args := range map[string][]string{
		"fit":     {"fit", "--gamma", "1", "--target", "y"},
		"exact":   {"fit", "--gamma", "1", "--target", "y", "--method", "exact", "--standardize"},
		"plan":    {"plan", "--target", "y"},
		"sketch":  {"sketch", "--target", "y", "-o", filepath.Join(dir, "s")},
		"predict": {"predict", "--model", model},
	} {
		want := "or leave it out (--columns; or see --missing and --onehot)\n"
		if name == "predict" {
			want = "column x2: \"red\" is not a number; the model needs a number in this column\n"
		}
		code, _, errs := call(append(args, "--data", text)...)
		if code != usage || !strings.HasSuffix(errs, want) {
			t.Errorf("%s: exit %d, %q", name, code, errs)
		}
	}
}

// TestNameMissing: the error about a missing value says what helps. The advice differs between a feature or a target of
// a fit, and a row to predict for.
func TestNameMissing(t *testing.T) {
	dir, rows := t.TempDir(), write(t, "rows.csv", rowsCSV(30))
	model, sketch := filepath.Join(dir, "model.json"), filepath.Join(dir, "rows.fds")
	must(
		t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--out", model, "--save-sketch", sketch, "--method", "cg",
	)
	feature, target := write(t, "feature.csv", "x1,x2,y\n1,2,3\n1,NA,3\n"), write(
		t, "target.csv", "x1,x2,y\n1,2,3\n1,5,NA\n",
	)
	nan := write(t, "nan.csv", "x1,x2,y\n1,2,3\n1,NaN,3\n")
	array, infinite := write(
		t, "nan.npy", npyFile("<f8", "False", "(2, 3)", 1, 2, 3, 4, math.NaN(), 6),
	), write(t, "inf.csv", "x1,x2,y\n1,2,3\n1,inf,3\n")
	fit := []string{"fit", "--gamma", "1", "--target", "y", "--data"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(fit, nan), "column x2: NaN is not finite (if NaN is a missing value, see --missing)"},
		{
			[]string{"fit", "--gamma", "1", "--target", "3", "--data", array},
			"column 2 is NaN, which is not finite (if NaN is a missing value, see --missing)",
		},
		{append(fit, infinite), "column x2: inf is not finite"},
		{
			[]string{"predict", "--model", model, "--data", nan},
			"column x2: NaN is not finite; if NaN is a missing value, fit a model with --missing mean or drop",
		},
		{
			append(fit, feature),
			"column x2: NA is a missing value; fill in what is missing, or leave the column out (--columns; or --missing " +
				"mean or drop)",
		},
		{
			append(fit, target),
			"column y: NA is a missing value; fill in what is missing, or leave the row out (--missing-target drop leaves " +
				"out such rows)",
		},
		{append(fit, target, "--missing", "mean"), "leave the row out (--missing-target drop leaves out such rows)"},
		{
			[]string{"predict", "--model", model, "--data", feature},
			"column x2: NA is a missing value; fill it in, or fit a model with --missing mean or drop",
		},
		{
			[]string{"predict", "--model", model, "--data", target, "--target", "y"},
			"column y: NA is a missing value; fill it in, or leave out --target, which predictions do not need",
		},
		{
			[]string{"predict", "--model", model, "--data", feature, "--target", "z"},
			"there is no column \"z\"; the 3 columns are x1, x2, y; without --target, predict needs no target",
		},
		{
			[]string{"solve", sketch, "--gamma", "1", "--data", feature},
			"column x2: NA is a missing value; these are not the rows of the sketch",
		},
	} {
		if code, _, errs := call(c.args...); code != usage || !strings.HasSuffix(errs, c.want+"\n") {
			t.Errorf("%v: exit %d, %q, want %q", c.args, code, errs, c.want)
		}
	}
}

// TestCommaInFileName: a file may have a comma in its name. A comma separates two files only if no file has the whole
// name.
func TestCommaInFileName(t *testing.T) {
	rows := write(t, "a,b.csv", rowsCSV(30))
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1")
	if err := os.Rename(rows, filepath.Join(filepath.Dir(rows), "b.csv")); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call("fit", "--data", rows, "--target", "y", "--gamma", "1")
	if code != usage || !strings.Contains(errs, "/a: no such file") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// TestUnderscores: a number is written as in a file, without the _ that Go admits.
func TestUnderscores(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(30))
	for _, args := range [][]string{
		{"fit", "--data", rows, "--target", "y", "--gamma", "1_0"},
		{"fit", "--data", rows, "--target", "y", "--gamma", "auto:1,1_0"},
		{"fit", "--data", rows, "--target", "y", "--gamma", "1", "--size", "1_0"},
		{"plan", "--data", rows, "--target", "y", "--gamma", "1_0"},
		{"paper", "--out", t.TempDir(), "--figures", "1", "--ratio", "0.1_0"},
	} {
		if code, out, errs := call(args...); code != usage || out != "" || !strings.Contains(errs, `_0" is n`) {
			t.Errorf("%v: exit %d, %q, %q", args, code, out, errs)
		}
	}
}

// TestSolveNamesWeights: that the rows of a sketch had weights is said where they are not
// named, and not where there were none.
func TestSolveNamesWeights(t *testing.T) {
	dir, rows := t.TempDir(), write(t, "rows.csv", rowsCSV(40))
	weights := write(t, "w.csv", strings.Repeat("1\n0.5\n", 20))
	for name, flags := range map[string][]string{"weighted": {"--weights", weights}, "plain": nil} {
		sketch := filepath.Join(dir, name)
		must(t, append([]string{"sketch", "--data", rows, "--target", "y", "-o", sketch}, flags...)...)
		solve := []string{"solve", sketch, "--data", rows, "--gamma", "1"}
		must(t, append(solve, flags...)...)
		if flags == nil {
			continue
		}
		code, out, errs := call(solve...)
		if code != usage || out != "" ||
			!strings.Contains(
				errs,
				"--weights: the sketch in "+sketch+" has weighted rows (40 rows, total weight 30)",
			) {
			t.Errorf("exit %d, %q, %q", code, out, errs)
		}
	}
}

// TestAdviceNamesFlags: what the library advises its callers is said as flags.
func TestAdviceNamesFlags(t *testing.T) {
	wide := write(t, "wide.svm", "1 40000:3\n"+strings.Repeat("2 1:1\n", 40000))
	for _, c := range []struct {
		code int
		args []string
	}{
		{usage, []string{"--data", wide, "--gamma", "1", "--method", "exact"}},
		{
			short,
			[]string{
				"--data", housing, "--target", "last", "--rows", "1:500", "--gamma", "1e-6", "--size", "2", "--method", "one-shot",
			},
		},
	} {
		code, _, errs := call(append([]string{"fit"}, c.args...)...)
		if code != c.code || !strings.Contains(errs, "--method cg") {
			t.Errorf("%v: exit %d, %q", c.args, code, errs)
		}
	}
}

// TestStandardisingNamesData: a column that cannot be standardised is one of a file.
func TestStandardisingNamesData(t *testing.T) {
	huge := write(t, "huge.csv", "a,y\n1e200,1\n-1e200,2\n1,3\n")
	code, _, errs := call("fit", "--data", huge, "--target", "y", "--gamma", "1", "--standardize")
	if code != usage || !strings.Contains(errs, huge+": standardisation: the variance of feature 1") {
		t.Errorf("exit %d, %q", code, errs)
	}
}

// TestR2AtMostOne: no bracket of R² goes beyond 1.
func TestR2AtMostOne(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(60)) // which are linear
	for _, method := range []string{"exact", "cg", "one-shot"} {
		v := reported(t, "fit", "--data", rows, "--target", "y", "--gamma", "1e-6", "--method", method)
		if b := v["r2_bracket"].([]any)[0].([]any); !(b[1].(float64) <= 1) || !(math.Abs(b[0].(float64)-1) <= 1e-3) {
			t.Errorf("%s: %v", method, b)
		}
	}
}

// TestOnlyDimensionsDisagree: errors with another cause name that cause and do not mention dimensions.
func TestOnlyDimensionsDisagree(t *testing.T) {
	rows, other := write(t, "rows.csv", rowsCSV(40)), write(
		t, "other.csv", strings.Replace(rowsCSV(40), "\n0,", "\n0.5,", 1),
	)
	sketch := filepath.Join(t.TempDir(), "s")
	must(t, "sketch", "--data", rows, "--target", "y", "-o", sketch)
	fit := []string{"fit", "--data", rows, "--target", "y"}
	for want, args := range map[string][]string{
		"rows 30 to 50 were requested, but there are only 40": append(fit, "--gamma", "1", "--rows", "30:50"),
		"fold 41 of 41":           append(fit, "--gamma", "auto", "--cv", "41"),
		"other rows than the sum": {"solve", sketch, "--data", other, "--gamma", "1"},
	} {
		code, _, errs := call(args...)
		if code != usage || !strings.Contains(errs, want) || strings.Contains(errs, "dimensions") {
			t.Errorf("%v: exit %d, %q", args, code, errs)
		}
	}
}

// TestFlatTarget: the GCV of a constant target is zero up to underflow. A logarithmic axis cannot show zero, but the
// page is still written.
func TestFlatTarget(t *testing.T) {
	for name, rows := range map[string]string{"constant": "a,y\n1,3\n2,3\n5,3\n", "zero": "a,y\n1,0\n2,0\n5,0\n"} {
		data, page := write(t, name+".csv", rows), filepath.Join(t.TempDir(), "page.html")
		for _, gamma := range []string{"auto", "1,2"} {
			must(t, "fit", "--data", data, "--target", "y", "--gamma", gamma, "--report", page)
			if _, err := os.Stat(page); err != nil {
				t.Errorf("%s target, --gamma %s: %v", name, gamma, err)
			}
		}
	}
}

// TestUnwritten: what could not be written is no bad usage, of the version either.
func TestUnwritten(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("no /dev/full: ", err)
	}
	defer full.Close()
	if code := run(t.Context(), []string{"--version"}, full, io.Discard); code != failed {
		t.Errorf("--version: exit %d", code)
	}
}

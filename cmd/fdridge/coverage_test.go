package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/model"
)

// TestCoverageCommand: fit keeps intervals for new rows in the model, and predict writes them. They contain about the
// promised share of the rows.
func TestCoverageCommand(t *testing.T) {
	const flats = "../../testdata/flats.csv"
	dir := t.TempDir()
	out := filepath.Join(dir, "flats.json")
	text := must(t, "fit", "--data", flats, "--target", "rent", "--onehot", "district,heating", "--missing", "mean",
		"--standardize", "--holdout", "0.3", "--coverage", "0.9", "--gamma", "1,10", "--out", out, "--json")
	var record struct {
		Coverage []*model.Coverage
		Holdout  struct{ Rows int64 }
	}
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatal(err)
	}
	if len(record.Coverage) != 2 || record.Coverage[0].Level != 0.9 || record.Coverage[1].Rows != record.Holdout.Rows {
		t.Fatalf("%+v of %d rows", record.Coverage, record.Holdout.Rows)
	}
	m, err := readModel("", out)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Fits[1].Coverage.Radius[0]; got != record.Coverage[1].Radius[0] {
		t.Errorf("radius %v in the model, %v in the report", got, record.Coverage[1].Radius[0])
	}
	rows := filepath.Join(dir, "out.csv")
	must(t, "predict", "--model", out, "--gamma", "10", "--data", flats, "--interval", "coverage", "--key", "rent",
		"--out", rows)
	found, err := os.ReadFile(rows)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(found)), "\n")
	if lines[0] != "rent,prediction,low,high" {
		t.Error(lines[0])
	}
	within := 0
	for _, line := range lines[1:] {
		var v [4]float64
		for i, f := range strings.Split(line, ",") {
			if v[i], err = strconv.ParseFloat(f, 64); err != nil {
				t.Fatal(err)
			}
		}
		if v[2] <= v[0] && v[0] <= v[3] {
			within++
		}
		if half := float64(record.Coverage[1].Radius[0]); !(v[3]-v[1] >= half && v[1]-v[2] >= half) {
			t.Fatalf("%s: the radius is %v", line, half)
		}
	}
	if share := float64(within) / float64(len(lines)-1); !(share > 0.86 && share < 0.94) {
		t.Errorf("the intervals contain %.3f of the rows", share)
	}
	exact := must(t, "predict", "--model", out, "--gamma", "10", "--data", flats, "--interval", "exact")
	if by := must(t, "predict", "--model", out, "--gamma", "10", "--data", flats, "--interval", out); by != exact {
		t.Error("--interval exact differs from the model's name")
	}
	asJSON := must(t, "predict", "--model", out, "--gamma", "1", "--data", flats, "--interval", "coverage", "--json")
	if !strings.Contains(asJSON, `"intervals_from":"held-out rows"`) {
		t.Error("JSON does not tell where intervals come from")
	}
}

// TestCoverageRefused: options that contradict --coverage are refused in words.
func TestCoverageRefused(t *testing.T) {
	const flats = "../../testdata/flats.csv"
	plain := filepath.Join(t.TempDir(), "plain.json")
	must(t, "fit", "--data", flats, "--target", "rent", "--columns", "area", "--gamma", "1", "--out", plain)
	for _, c := range []struct{ line, want string }{
		{"fit --target rent --columns area --coverage 0.9", "it needs rows that take no part in the fit; add --holdout 0.2"},
		{"fit --target rent --columns area --holdout 0.2 --coverage 1", "--coverage: 1, must be between 0 and 1"},
		{"fit --target rent --columns area --holdout 0.2 --coverage 0", "--coverage: 0, must be between 0 and 1"},
		{
			"fit --target rent --columns area --holdout 0.2 --coverage 0.999 --gamma 1",
			"need at least 999 held-out rows, and 92 rows were held out",
		},
		{"fit --target balcony --columns area --holdout 0.2 --coverage 0.9 --classes", "--classes predicts labels"},
		{"predict --interval coverage --model " + plain, "fit again with --holdout 0.2 --coverage 0.9"},
		{"predict --interval coverage --digits --model " + plain, "prove no digits"},
	} {
		args := append(strings.Fields(c.line), "--data", flats)
		if code, _, errs := call(args...); code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d: %s", c.line, code, errs)
		}
	}
}

package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
)

const flats = "../../testdata/flats.csv"

// flatsTable reads the flats by the library's own reader of csv: cells of the features as text, with
// True and False as 1 and 0, and rents.
func flatsTable(t *testing.T) (cells [][]string, rents []float64) {
	t.Helper()
	f, err := os.Open(flats)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		for j, cell := range row {
			row[j] = map[string]string{"True": "1", "False": "0", "NA": ""}[cell]
			if row[j] == "" && cell != "NA" {
				row[j] = cell
			}
		}
		rent, err := strconv.ParseFloat(row[6], 64)
		if err != nil {
			t.Fatal(err)
		}
		cells, rents = append(cells, row[:6]), append(rents, rent)
	}
	return cells, rents
}

// encodedFlats are the flats in numbers, made by loops over the cells: means of the rows that train
// says, levels of all.
func encodedFlats(cells [][]string, train func(i int) bool) (names []string, x [][]float64) {
	x = make([][]float64, len(cells))
	add := func(name string, value func(row []string) float64) {
		names = append(names, name)
		for i, row := range cells {
			x[i] = append(x[i], value(row))
		}
	}
	for j, name := range []string{"area", "rooms", "district", "heating", "balcony", "floor"} {
		if name == "district" || name == "heating" {
			var levels []string
			for _, row := range cells {
				if !slices.Contains(levels, row[j]) {
					levels = append(levels, row[j])
				}
			}
			slices.Sort(levels)
			if levels[0] == "" {
				levels = append(levels[1:], "")
			}
			for _, level := range levels {
				add(name+"="+level, func(row []string) float64 {
					if row[j] == level {
						return 1
					}
					return 0
				})
			}
			continue
		}
		sum, n := 0.0, 0.0
		for i, row := range cells {
			if row[j] != "" && train(i) {
				v, _ := strconv.ParseFloat(row[j], 64)
				sum, n = sum+v, n+1
			}
		}
		add(name, func(row []string) float64 {
			if row[j] == "" {
				return sum / n
			}
			v, _ := strconv.ParseFloat(row[j], 64)
			return v
		})
	}
	return names, x
}

// ridgeBy solves the normal equations of centred rows.
func ridgeBy(x [][]float64, y []float64, gamma float64) (coef []float64, intercept float64) {
	d, n := len(x[0]), float64(len(x))
	mean, ybar := make([]float64, d), 0.0
	for i, row := range x {
		for j, v := range row {
			mean[j] += v / n
		}
		ybar += y[i] / n
	}
	h, c := mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
	for i, row := range x {
		for j := range row {
			c.SetVec(j, c.AtVec(j)+(row[j]-mean[j])*(y[i]-ybar))
			for k := range j + 1 {
				h.SetSym(j, k, h.At(j, k)+(row[j]-mean[j])*(row[k]-mean[k]))
			}
		}
	}
	for j := range d {
		h.SetSym(j, j, h.At(j, j)+gamma)
	}
	var factor mat.Cholesky
	factor.Factorize(h)
	var w mat.VecDense
	if err := factor.SolveVecTo(&w, c); err != nil {
		panic(err)
	}
	intercept = ybar
	for j := range d {
		intercept -= w.AtVec(j) * mean[j]
	}
	return w.RawVector().Data, intercept
}

// TestEncodedFit: a table with missing values, categories and truth values is fitted. The weights, and the scores of
// held-out rows, agree with plain loops over the cells and the normal equations. predict prepares rows in the same way.
func TestEncodedFit(t *testing.T) {
	dir := t.TempDir()
	cells, rents := flatsTable(t)
	for _, share := range []float64{0, 0.25} {
		held := dataset.Holdout{Share: share}
		names, x := encodedFlats(cells, func(i int) bool { return !held.Held(int64(i)) })
		var fit [][]float64
		var y []float64
		for i := range x {
			if !held.Held(int64(i)) {
				fit, y = append(fit, x[i]), append(y, rents[i])
			}
		}
		coef, intercept := ridgeBy(fit, y, 2)
		model, page := filepath.Join(dir, "m.json"), filepath.Join(dir, "r.html")
		got := reported(
			t,
			"fit",
			"--data",
			flats,
			"--target",
			"rent",
			"--onehot",
			"district,heating",
			"--missing",
			"mean",
			"--holdout",
			fmt.Sprint(share),
			"--gamma",
			"2",
			"--out",
			model,
			"--report",
			page,
			"--json",
		)
		saved, b := weightsOf(t, model)
		if len(saved) != len(coef) {
			t.Fatalf("%d weights, want %d", len(saved), len(coef))
		}
		for j := range coef {
			if !(math.Abs(saved[j]-coef[j]) <= 1e-9*(1+math.Abs(coef[j]))) {
				t.Errorf("share %v: weight of %s is %v, want %v", share, names[j], saved[j], coef[j])
			}
		}
		if !(math.Abs(b-intercept) <= 1e-9*math.Abs(intercept)) {
			t.Errorf("intercept %v, want %v", b, intercept)
		}
		var rss, tss, mean, n float64
		for i := range x {
			if held.Held(int64(i)) {
				mean, n = mean+rents[i], n+1
			}
		}
		mean /= n
		for i := range x {
			yhat := intercept
			for j, v := range x[i] {
				yhat += coef[j] * v
			}
			if held.Held(int64(i)) {
				rss, tss = rss+(rents[i]-yhat)*(rents[i]-yhat), tss+(rents[i]-mean)*(rents[i]-mean)
			}
		}
		scores, is := got["holdout"].(map[string]any)
		if is != (share > 0) {
			t.Fatalf("share %v: held out %v", share, got["holdout"])
		}
		if is {
			one := scores["fits"].([]any)[0].(map[string]any)
			if r2 := first(one["r2"]); !(math.Abs(r2-(1-rss/tss)) <= 1e-10) || scores["rows"].(float64) != n ||
				!(math.Abs(first(one["rmse"])-math.Sqrt(rss/n)) <= 1e-7) {
				t.Errorf("held out %v, want R² %v and RMSE %v of %v rows", scores, 1-rss/tss, math.Sqrt(rss/n), n)
			}
			for _, want := range []string{
				"Scores on held-out rows", "predicted against actual", "residuals", "held-out R²", "RMSE", "MAE",
				"baseline",
			} {
				if !strings.Contains(contents(t, page), want) {
					t.Errorf("the page has no %q", want)
				}
			}
		}
		code, out, errs := call("predict", "--model", model, "--data", flats, "--target", "rent")
		if code != done || !strings.Contains(errs, "missing values were replaced") {
			t.Fatalf("predict: exit %d, %q", code, errs)
		}
		for i, line := range strings.Fields(out) {
			yhat := intercept
			for j, v := range x[i] {
				yhat += coef[j] * v
			}
			if got := parse(t, line); !(math.Abs(got-yhat) <= 1e-8*(1+math.Abs(yhat))) {
				t.Fatalf("row %d is predicted %v, want %v", i, got, yhat)
			}
		}
	}
}

// TestEncodedDrop: rows with missing values are left out of the fit, and of predictions there stands
// NaN, or null, in their place.
func TestEncodedDrop(t *testing.T) {
	t.Chdir(t.TempDir())
	data := write(t, "rows.csv", "a,b,y\n1,u,1\n2,v,2.5\n,u,3\n4,,4\n5,v,NA\n6,u,6\n7,v,7.5\n")
	whole := write(t, "whole.csv", "a,b,y\n1,u,1\n2,v,2.5\n6,u,6\n7,v,7.5\n")
	for _, flags := range [][]string{{"--onehot", "b", "--missing", "drop"}, {"--missing", "drop", "--columns", "a"}} {
		fit := func(data, model string) map[string]any {
			return reported(
				t,
				append(
					[]string{"fit", "--data", data, "--target", "y", "--gamma", "1", "--out", model, "--json"},
					flags...)...)
		}
		got := fit(data, "a.json")
		fit(whole, "b.json")
		encoding := got["encoding"].(map[string]any)
		if n, left := got["n"].(float64), encoding["rows_left_out"].(float64); n+left != 7 ||
			n != map[bool]float64{true: 4, false: 5}[flags[0] == "--onehot"] {
			t.Errorf("%v: %v rows, %v left out", flags, n, left)
		}
		if flags[0] == "--onehot" {
			if a, b := weights(t, "a.json"), weights(t, "b.json"); !slices.Equal(a, b) {
				t.Errorf("weights %v, of whole rows %v", a, b)
			}
		}
	}
	code, out, errs := call("predict", "--model", "a.json", "--data", data)
	if lines := strings.Fields(out); code != done || len(lines) != 7 || lines[2] != "NaN" || lines[3] == "NaN" ||
		!strings.HasPrefix(errs, "1 row has a missing value and gets NaN") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	must(
		t,
		"fit",
		"--data",
		data,
		"--target",
		"y",
		"--gamma",
		"1",
		"--onehot",
		"b",
		"--missing",
		"drop",
		"--out",
		"c.json",
		"--save-sketch",
		"c.fds",
		"--method",
		"one-shot",
	)
	_, out, _ = call("predict", "--model", "c.json", "--data", data, "--interval", "c.fds")
	if lines := strings.Fields(out); len(lines) != 7 || lines[3] != "NaN,-Inf,+Inf" ||
		strings.Contains(lines[0], "Inf") {
		t.Errorf("%q", lines)
	}
	_, out, _ = call("predict", "--model", "c.json", "--data", data, "--json")
	var found struct{ Predictions [][]*float64 }
	if err := json.Unmarshal([]byte(out), &found); err != nil || len(found.Predictions) != 7 ||
		found.Predictions[3][0] != nil ||
		found.Predictions[4][0] == nil {
		t.Errorf("%v, %s", err, out)
	}
	if out := must(t, "solve", "c.fds", "--gamma", "1", "--data", data); !strings.Contains(out, "4 rows") {
		t.Errorf("solve: %s", out)
	}
}

// TestEncodedDoubt: a column that tells rows apart is said to be no category, once and before the fit,
// which goes on.
func TestEncodedDoubt(t *testing.T) {
	t.Chdir(t.TempDir())
	var named, bare strings.Builder
	named.WriteString("order_id,b,y\n")
	for i := range 1500 {
		row := fmt.Sprintf("A%d,%c,%d\n", i, 'u'+i%3, i%7)
		named.WriteString(row)
		bare.WriteString(row)
	}
	rows, unnamed := write(t, "rows.csv", named.String()), write(t, "bare.csv", bare.String())
	fit := []string{"fit", "--gamma", "1", "--target", "3", "--method", "one-shot", "--size", "4", "--data"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{
			append(fit, rows, "--onehot", "order_id,b", "--out", "m.json"),
			"warning: --onehot: column order_id has 1500 levels in 1500 rows, each with a column of its own; leave the " +
				"column out (--columns=-order_id), or",
		},
		{
			append(fit, unnamed, "--onehot", "1,2", "--out", "n.json"),
			"warning: --onehot: feature 1 has 1500 levels in 1500 rows, each with a column of its own; leave the column out " +
				"(--columns), or",
		},
		{append(fit, rows, "--onehot", "order_id,b", "--log-format", "json"), "--onehot: column order_id has 1500 levels"},
		{
			[]string{"sketch", "--target", "y", "--size", "4", "--data", rows, "--onehot", "order_id,b", "--out", "s.fds"},
			"warning: --onehot: column order_id has 1500 levels",
		},
	} {
		if code, _, errs := call(c.args...); code != done && code != short || strings.Count(errs, c.want) != 1 ||
			strings.Contains(errs, "column b has") {
			t.Errorf("%v: exit %d, %q", c.args, code, errs)
		}
	}
	if !strings.Contains(contents(t, "m.json"), "order_id=A1499") {
		t.Error("the columns are not there")
	}
	if code, _, errs := call(append(fit, rows, "--onehot", "b", "--columns=-order_id")...); code != done &&
		code != short ||
		strings.Contains(errs, "--onehot") {
		t.Errorf("without it: exit %d, %q", code, errs)
	}
}

// TestEncodedRefusals: what cannot be had is refused, in one line that says why.
func TestEncodedRefusals(t *testing.T) {
	t.Chdir(t.TempDir())
	data := write(t, "rows.csv", "a,b,y\n1,u,1\n2,v,2\n3,u,3\n4,\"w, \"\"x\"\"\",4\n")
	empty := write(t, "empty.csv", "a,b,y\n1,,1\n2,NA,2\n")
	foreign := write(t, "foreign.csv", "a,b\n1,u\n2,\"né, w\"\n")
	latin := write(t, "latin.csv", "a,b,y\n1,caf\xe9,1\n2,v,2\n")
	first := write(t, "first.csv", "a,b,y\n1,u,1\n2,v,2\n")
	fit := []string{"fit", "--target", "y", "--gamma", "1", "--data"}
	must(t, append(fit, data, "--onehot", "b", "--out", "m.json", "--save-sketch", "m.fds", "--method", "cg")...)
	must(t, "sketch", "--target", "y", "--data", first, "--onehot", "b", "--out", "first.fds")
	for _, c := range []struct {
		args []string
		want string
	}{
		{append(fit, data), "rows.csv:2:3: column b: \"u\" is not a number"},
		{append(fit, data, "--onehot", "c"), "there is no column \"c\""},
		{append(fit, data, "--onehot", "y"), "column \"y\" is not a feature"},
		{append(fit, empty), "empty.csv:2:3: column b is empty"},
		{append(fit, empty, "--missing", "mean"), "empty.csv: column b has no value in any training row"},
		{append(fit, empty, "--missing", "drop"), "empty.csv"},
		{append(fit, write(t, "header.csv", "a,b,y\n"), "--missing", "mean"), "there are no rows to learn an encoding from"},
		{
			append(fit, data, "--onehot", "b", "--missing", "mean", "--holdout", "0.999999"),
			"none of the 4 rows can be used for means: all are held out or have weight 0",
		},
		{
			append(fit, data, "--missing", "middle"),
			"--missing: \"middle\" must be one of refuse, mean, median, most-frequent, constant, drop, or COLUMN=POLICY",
		},
		{append(fit, latin, "--onehot", "b"), ":2:3: column b has a text that is not UTF-8"},
		{
			append(fit, data, "--onehot", "b", "--cache", ".", "--cache-keep"),
			"--cache-keep: a later run does not know the codes",
		},
		{append(fit, "-", "--onehot", "b"), "--onehot: it needs another pass over the rows, and standard input"},
		{append(fit, "-", "--missing", "mean"), "--missing mean: it needs another pass"},
		{
			[]string{"sketch", "--target", "y", "--data", data, "--missing", "mean", "--part", "1/2", "--out", "p.fds"},
			"--missing mean: each part would have means of its own",
		},
		{append(fit, "-", "--holdout", "0.2"), "--holdout: it needs another pass"},
		{append(fit, data, "--columns", "a", "--holdout", "0.999999"), "--holdout: 0.999999 leaves no row"},
		{append(fit, data, "--onehot", "b", "--holdout", "1"), "--holdout: 1, must be at least 0 and below 1"},
		{append(fit, data, "--onehot", "b", "--holdout", "NaN"), "--holdout: NaN"},
		{append(fit, data, "--onehot", "b", "--holdout", "-0.5"), "--holdout: -0.5"},
		{append(fit, data, "--onehot", "b", "--holdout", "0.2", "--part", "1/2"), "--holdout: it needs row numbers"},
		{
			append(fit, data, "--onehot", "b", "--transposed"),
			"--transposed: --onehot, --dates and --prepare need features as columns",
		},
		{
			[]string{"predict", "--model", "m.json", "--data", foreign},
			"foreign.csv:3: column b has the level \"né, w\", which is not among the 3 levels learnt from the training " +
				"rows; --unknown ignore sets the columns of such a level to zero",
		},
		{[]string{"predict", "--model", "m.json", "--data", foreign, "--unknown", "zero"}, "--unknown"},
		{[]string{"merge", "m.fds", "first.fds", "--out", "all.fds"}, "the levels of categorical columns differ"},
	} {
		if code, _, errs := call(c.args...); code != usage || !strings.Contains(errs, c.want) ||
			strings.Count(errs, "\n") != 1 {
			t.Errorf("%v: exit %d, %q, want %q", c.args, code, errs, c.want)
		}
	}
	const unknown = " that the model does not have (rare or absent in its training rows): " +
		"they count as (other), or the columns of these levels are zero\n"
	code, out, errs := call("predict", "--model", "m.json", "--data", foreign, "--unknown", "ignore")
	if code != done || len(strings.Fields(out)) != 2 ||
		errs != "1 value of 1 level"+unknown {
		t.Errorf("unknown levels ignored: exit %d, %q, %q", code, out, errs)
	}
	more := write(t, "more.csv", "a,b\n"+strings.Repeat("1,x\n2,y\n3,u\n", 7))
	for _, rows := range []struct{ some, want string }{
		{"1:21", "14 values of 2 levels"}, {"1:1", "1 value of 1 level"}, {"4:9", "4 values of 2 levels"},
	} {
		_, _, errs := call("predict", "--model", "m.json", "--data", more, "--unknown", "ignore", "--rows", rows.some)
		if errs != rows.want+unknown {
			t.Errorf("rows %s: %q, want %s", rows.some, errs, rows.want)
		}
	}
	one := write(t, "one.csv", "a,b,y\n1,u,1\n")
	out = must(t, append(fit, one, "--onehot", "b", "--holdout", "0.2", "--missing", "mean")...)
	if !strings.Contains(out, "no row was held out") ||
		!strings.Contains(out, "undefined") {
		t.Errorf("of one row: %s", out)
	}
	last := write(t, "last.csv", "a,b,y\n"+strings.Repeat("1,u,1\n2,v,2\n", 50)+"3,only here,3\n")
	must(t, append(fit, last, "--onehot", "b", "--out", "last.json")...)
	if !strings.Contains(contents(t, "last.json"), "b=only here") {
		t.Error("a level that the last row alone has is not there")
	}
}

// TestEncodedPiped: rows with missing values to be left out can come through a pipe, others where they
// are kept; True and False are 1 and 0.
func TestEncodedPiped(t *testing.T) {
	t.Chdir(t.TempDir())
	var rows strings.Builder
	rows.WriteString("a,b,c,y\n")
	for i := range 300 {
		a := fmt.Sprint(i % 17)
		if i%10 == 3 {
			a = "NA"
		}
		fmt.Fprintf(&rows, "%s,%s,%s,%d\n", a, []string{"u", "v", "w"}[i%3], []string{"True", "false"}[i%2], i%29)
	}
	data := write(t, "rows.csv", rows.String())
	for _, flags := range [][]string{
		{"--missing", "drop", "--columns", "a,c", "--method", "one-shot"},
		{"--missing", "mean", "--onehot", "b", "--cache", ".", "--method", "exact"},
		{"--missing", "mean", "--onehot", "b", "--cache", ".", "--holdout", "0.3", "--method", "cg"},
	} {
		must(
			t,
			append(
				[]string{"fit", "--data", data, "--target", "y", "--gamma", "1", "--out", "file.json", "--lanes", "1"},
				flags...)...)
		code, _, errs := piped(
			t.Context(),
			strings.NewReader(rows.String()),
			append(
				[]string{"fit", "--data", "-", "--target", "y", "--gamma", "1", "--out", "pipe.json", "--lanes", "1"},
				flags...)...)
		if code != done {
			t.Fatalf("%v: exit %d, %s", flags, code, errs)
		}
		if a, b := weights(t, "file.json"), weights(t, "pipe.json"); !slices.Equal(a, b) {
			t.Errorf("%v: %v from a file, %v through a pipe", flags, a, b)
		}
	}
}

// TestEncodedWide: thousands of levels are fitted as sparse rows, to the weights that a loop finds.
func TestEncodedWide(t *testing.T) {
	t.Chdir(t.TempDir())
	const levels = 3000
	var rows strings.Builder
	rows.WriteString("a,id,y\n")
	for i := range 2 * levels {
		fmt.Fprintf(&rows, "%d,level %d,%d\n", i%7, i%levels, i%7+i%levels%5)
	}
	data := write(t, "rows.csv", rows.String())
	got := reported(
		t,
		"fit",
		"--data",
		data,
		"--target",
		"y",
		"--onehot",
		"id",
		"--gamma",
		"0.1",
		"--method",
		"cg",
		"--size",
		"16",
		"--out",
		"m.json",
		"--json",
	)
	if got["d"].(float64) != levels+1 || got["nnz"].(float64) != 2*levels+2*levels*6/7 || got["converged"] != true {
		t.Errorf("%v features, %v nonzeros", got["d"], got["nnz"])
	}
}

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// figuresOf reads the csv file that diagnose wrote.
func figuresOf(t *testing.T, name string) (names []string, rows [][]float64) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[1:] {
		var row []float64
		for _, f := range strings.Split(line, ",") {
			v, err := strconv.ParseFloat(f, 64)
			if err != nil {
				t.Fatal(err)
			}
			row = append(row, v)
		}
		rows = append(rows, row)
	}
	return strings.Split(lines[0], ","), rows
}

// TestDiagnoseCommand: the figures of all rows agree with refits in 512 bits, in each form of file, for models with
// weights, penalties, unpenalised columns, scaled columns and held-out rows.
func TestDiagnoseCommand(t *testing.T) {
	const n = 30
	var text strings.Builder
	text.WriteString("a,b,c,y,w\n")
	x, y := make([][]float64, n), make([][]float64, n)
	w := make([]float64, n)
	for i := range n {
		v := float64(i)
		x[i] = []float64{math.Sin(v), 10 + 3*math.Cos(2*v), math.Mod(v*v, 7)}
		y[i] = []float64{2*x[i][0] - x[i][1] + math.Sin(9*v*v)}
		w[i] = 1 + math.Mod(v, 3)
		for _, f := range append(slices.Clone(x[i]), y[i][0], w[i]) {
			text.WriteString(strconv.FormatFloat(f, 'g', -1, 64) + ",")
		}
		text.WriteString("\n")
	}
	data := write(t, "rows.csv", strings.ReplaceAll(text.String(), ",\n", "\n"))
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name, flags string
		fitOnly     string
		weighted    bool
		penalty     []float64
		held        float64
	}{
		{name: "plain"},
		{name: "weights", flags: "--weights w", weighted: true},
		{name: "bands", fitOnly: "--bands 1-1=4,2-3=9", penalty: []float64{4, 9, 9}},
		{name: "unpenalised", fitOnly: "--unpenalized b", penalty: []float64{1, 0, 1}},
		{name: "held", flags: "--holdout 0.3", held: 0.3},
	} {
		columns := []string{"--columns", "a,b,c"}
		shared := append(strings.Fields(c.flags), "--data", data, "--target", "y")
		fit := append([]string{"fit", "--gamma", "0.5", "--out", in("m.json")}, columns...)
		must(t, slices.Concat(fit, strings.Fields(c.fitOnly), shared)...)
		must(t, slices.Concat([]string{"diagnose", "--model", in("m.json"), "--out", in("r.csv")}, shared)...)
		names, rows := figuresOf(t, in("r.csv"))
		if names[2] != "leverage" || names[8] != "leave_one_out" || len(names) != 11 {
			t.Fatalf("%v", names)
		}
		kept := make([]int, 0, n)
		for i := range n {
			if !(dataset.Holdout{Share: c.held}).Held(int64(i)) {
				kept = append(kept, i)
			}
		}
		if len(rows) != len(kept) {
			t.Fatalf("%s: %d of %d rows", c.name, len(rows), len(kept))
		}
		for at, i := range kept {
			if rows[at][0] != float64(i+1) {
				t.Errorf("%s: row %d is %v", c.name, i+1, rows[at][0])
			}
			var xs, ys [][]float64
			var ws []float64
			for _, k := range kept {
				if k != i {
					xs, ys, ws = append(xs, x[k]), append(ys, y[k]), append(ws, w[k])
				}
			}
			if !c.weighted {
				ws = nil
			}
			problem := refbig.New(xs, ys, ws, true)
			problem.Penalty = c.penalty
			s, err := problem.Solve(0.5)
			if err != nil {
				t.Fatal(err)
			}
			left := refbig.Float(y[i][0])
			left.Sub(left, s.Intercept[0])
			for k, v := range x[i] {
				left.Sub(left, refbig.Float(0).Mul(refbig.Float(v), s.Coef[0][k]))
			}
			v, _ := left.Float64()
			if f := rows[at]; !(f[9] <= v && v <= f[10] && math.Abs(f[8]-v) <= 1e-6*(1+math.Abs(v))) {
				t.Errorf("%s: row %d has the left-out residual %v, in [%v, %v], estimate %v", c.name, i+1, v, f[9], f[10], f[8])
			}
		}
		var record struct {
			N     int
			Worst []struct {
				Row     int
				LeftOut [2]float64 `json:"leave_one_out"`
			}
		}
		out := must(t, slices.Concat(
			[]string{"diagnose", "--model", in("m.json"), "--out", in("r.npy"), "--worst", "4", "--json"}, shared)...)
		if err := json.Unmarshal([]byte(out), &record); err != nil {
			t.Fatal(err)
		}
		order := slices.Clone(rows)
		slices.SortFunc(order, func(a, b []float64) int {
			if math.Abs(a[8]) > math.Abs(b[8]) {
				return -1
			}
			return 1
		})
		if len(record.Worst) != 4 || record.N != len(rows) {
			t.Fatalf("%s: %+v", c.name, record)
		}
		for i, o := range record.Worst {
			if float64(o.Row) != order[i][0] || o.LeftOut[0] != order[i][9] {
				t.Errorf("%s: the %d-th row is %+v, must be %v", c.name, i+1, o, order[i])
			}
		}
		f, err := os.Open(in("r.npy"))
		if err != nil {
			t.Fatal(err)
		}
		var array mat.Dense
		if err := npyio.Read(f, &array); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		for i, row := range rows {
			if !slices.Equal(array.RawRowView(i), row) {
				t.Fatalf("%s: row %d is %v in the array", c.name, i+1, array.RawRowView(i))
			}
		}
	}
}

// TestDiagnosePerTarget: with a gamma for each target, the figures of each target are the figures of a fit of this
// target alone at its gamma.
func TestDiagnosePerTarget(t *testing.T) {
	const n = 40
	var text strings.Builder
	text.WriteString("a,b,y,z,w\n")
	for i := range n {
		v := float64(i)
		a, b := math.Sin(v), math.Mod(v*v, 7)
		fmt.Fprintf(&text, "%v,%v,%v,%v,%v\n", a, b, 2*a-b+math.Sin(9*v*v), a+3*math.Cos(5*v), 1+math.Mod(v, 3))
	}
	data := write(t, "rows.csv", text.String())
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	type record struct {
		Gamma     float64
		Gammas    []float64
		RMSE      [][2]float64 `json:"leave_one_out_rmse"`
		Leverage  float64      `json:"leverage_sum"`
		Leverages []float64    `json:"leverage_sums"`
		Most      [2]float64   `json:"largest_leverage"`
		Mosts     [][2]float64 `json:"largest_leverages"`
		Worst     []struct {
			Row, Target int
			Leverage    [2]float64
		}
	}
	for _, flags := range []string{"", "--standardize", "--unpenalized b", "--bands 1-1=4,2-2=9"} {
		of := func(target string, more ...string) (record, []string, [][]float64) {
			shared := []string{"--data", data, "--target", target, "--weights", "w", "--holdout", "0.2"}
			fit := slices.Concat([]string{"fit", "--columns", "a,b", "--out", in("m.json")}, shared, strings.Fields(flags), more)
			must(t, fit...)
			diagnose := append([]string{"diagnose", "--model", in("m.json"), "--out", in("r.csv"), "--json"}, shared...)
			var rec record
			if err := json.Unmarshal([]byte(must(t, append(diagnose, "--plot", in("p.svg"))...)), &rec); err != nil {
				t.Fatal(err)
			}
			names, rows := figuresOf(t, in("r.csv"))
			return rec, names, rows
		}
		both, names, rows := of("y,z", "--per-target", "--gamma", "0.01,30")
		if len(both.Gammas) != 2 || both.Gammas[0] == both.Gammas[1] || len(both.Leverages) != 2 {
			t.Fatalf("%s: %+v", flags, both)
		}
		for j, target := range []string{"y", "z"} {
			one, own, alone := of(target, "--gamma", fmt.Sprint(both.Gammas[j]))
			if len(alone) != len(rows) || one.Gammas != nil {
				t.Fatalf("%s: %d rows, want %d", flags, len(alone), len(rows))
			}
			if !isNear(one.Leverage, both.Leverages[j]) || !isNear(one.Most[0], both.Mosts[j][0]) ||
				!isNear(one.RMSE[0][0], both.RMSE[j][0]) {
				t.Errorf("%s, target %d: %+v, alone %+v", flags, j+1, both, one)
			}
			if both.Gammas[j] == both.Gamma && (both.Leverage != both.Leverages[j] || both.Most != both.Mosts[j]) {
				t.Errorf("%s: the leverages of gamma %v are %v", flags, both.Gamma, both.Leverage)
			}
			for k, name := range own {
				at := slices.Index(names, fmt.Sprintf("%s_%d", name, j+1))
				if k < 2 {
					at = k
				}
				if at < 0 {
					t.Fatalf("%s: no column for %s in %v", flags, name, names)
				}
				for i := range rows {
					if !isNear(rows[i][at], alone[i][k]) {
						t.Errorf("%s: row %d: %s of target %d is %v, alone %v", flags, i+1, name, j+1, rows[i][at], alone[i][k])
					}
				}
			}
		}
		for _, o := range both.Worst {
			at := slices.IndexFunc(rows, func(row []float64) bool { return row[0] == float64(o.Row) })
			k := slices.Index(names, fmt.Sprintf("leverage_low_%d", o.Target))
			if rows[at][k] != o.Leverage[0] {
				t.Errorf("%s: row %d has the leverage %v, in the file %v", flags, o.Row, o.Leverage, rows[at][k])
			}
		}
	}
}

// isNear reports whether two numbers agree within the round-off of different solutions.
func isNear(a, b float64) bool { return math.Abs(a-b) <= 1e-8*(1+math.Abs(b)) }

// TestDiagnoseRowNumbers: row numbers are positions in the file, although rows are held out or left out because of
// missing values. The weights tell which row it is.
func TestDiagnoseRowNumbers(t *testing.T) {
	const n = 200
	var text strings.Builder
	text.WriteString("a,b,y,w\n")
	missing := func(i int) bool { return i == 0 || i%7 == 3 || i%11 == 5 || i > 190 }
	for i := range n {
		v := float64(i)
		a, y := fmt.Sprint(math.Sin(v)), fmt.Sprint(math.Cos(3*v))
		switch {
		case missing(i) && i%2 == 0:
			a = ""
		case missing(i):
			y = ""
		}
		fmt.Fprintf(&text, "%s,%v,%s,%v\n", a, math.Mod(v*v, 13), y, 1+v/n)
	}
	data := write(t, "gaps.csv", text.String())
	dir := t.TempDir()
	for _, c := range []struct {
		flags       string
		first, last int
		share       float64
	}{
		{"", 0, n, 0},
		{"--holdout 0.3", 0, n, 0.3},
		{"--rows 21:150", 20, 150, 0},
		{"--rows 21:150 --holdout 0.3", 20, 150, 0.3},
	} {
		shared := append(strings.Fields(c.flags), "--data", data, "--target", "y", "--weights", "w")
		must(t, append([]string{"fit", "--missing", "drop", "--gamma", "1", "--out", dir + "/m.json"}, shared...)...)
		must(t, append([]string{"diagnose", "--model", dir + "/m.json", "--out", dir + "/r.csv"}, shared...)...)
		_, rows := figuresOf(t, dir+"/r.csv")
		held := dataset.Holdout{Share: c.share}
		at := 0
		for i := c.first; i < c.last; i++ {
			if missing(i) || held.Share > 0 && held.Held(int64(i)) {
				continue
			}
			if at == len(rows) || rows[at][0] != float64(i+1) || math.Abs(rows[at][1]-1-float64(i)/n) > 1e-12 {
				t.Fatalf("%q: figures %d of %d: %v, want row %d", c.flags, at, len(rows), rows[min(at, len(rows)-1)][:2], i+1)
			}
			at++
		}
		if at != len(rows) {
			t.Errorf("%q: %d figures for %d rows", c.flags, len(rows), at)
		}
	}
}

// TestDiagnoseMayBeWorse: the table of the worst rows names a row that it may leave out by mistake, because the bracket
// of a leverage near 1 is wide. If all brackets are narrow, it names none.
func TestDiagnoseMayBeWorse(t *testing.T) {
	for _, c := range []struct {
		first string
		named bool
	}{{"10000000,5", true}, {"2,5", false}} {
		data := write(t, "rows.csv", "x,y\n"+c.first+"\n0,1\n0,1.5\n0,1.2\n0,-3\n")
		m := filepath.Join(t.TempDir(), "m.json")
		must(t, "fit", "--data", data, "--target", "y", "--gamma", "0.01", "--intercept=false", "--out", m)
		for worst, named := range map[string]bool{"2": c.named, "5": false, "0": false} {
			out := must(t, "diagnose", "--model", m, "--data", data, "--target", "y", "--worst", worst)
			if strings.Contains(out, "Row 1 is not among them, and may be worse: it is in [-") != named {
				t.Errorf("first row %s, --worst %s: %s", c.first, worst, out)
			}
		}
	}
}

// TestDiagnoseRefused: diagnose refuses rows that differ from the rows of the fit, models without residuals, and bad
// flags. The error says why.
func TestDiagnoseRefused(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data, other := write(t, "rows.csv", rowsCSV(30)), write(t, "other.csv", rowsCSV(29))
	labels := writeLabels(t, "labels.csv", []string{"red", "blue"}, func(i int) int { return i % 2 }, 20)
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--out", in("m.json"))
	must(t, "fit", "--data", labels, "--target", "kind", "--classes", "--gamma", "1", "--out", in("classes.json"))
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--model", in("m.json"), "--data", other, "--target", "y"}, "these are not the 30 rows of the fit"},
		{[]string{"--model", in("classes.json"), "--data", labels, "--target", "kind"}, "the model predicts classes"},
		{[]string{"--data", data}, "needs --model and --data"},
		{[]string{"--model", in("m.json"), "--data", data, "--target", "y", "--worst", "-1"}, "--worst: -1"},
		{[]string{"--model", in("m.json"), "--data", data, "--target", "y", "--out-format", "csv"}, "needs --out"},
		{[]string{"--model", in("m.json"), "--data", data, "--target", "y", "--plot", in("p.gif")}, "--plot: "},
		{[]string{"--model", in("m.json"), "--data", data, "--target", "y", "--plot", in("none/p.svg")}, "no such folder"},
		{
			[]string{"--model", in("m.json"), "--data", data, "--target", "y", "--plot", in("p.svg"), "--out", in("p.svg")},
			"is also written",
		},
	} {
		code, _, errs := call(append([]string{"diagnose"}, c.args...)...)
		if code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d: %s", c.args, code, errs)
		}
	}
}

// TestDiagnoseForms: the name of --out and --out-format choose the form of the figures, as in predict.
func TestDiagnoseForms(t *testing.T) {
	data := write(t, "rows.csv", "a,y\n1,2\n2,3\n3,5\n4,7\n5,6\n")
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--out", in("m.json"))
	for _, c := range []struct{ name, form, begins string }{
		{"r.arrows", "auto", "\xff\xff\xff\xff"},
		{"r.arrow", "auto", "ARROW1"},
		{"r.feather", "auto", "ARROW1"},
		{"r.npy", "auto", "\x93NUMPY"},
		{"r.csv", "auto", "row,"},
		{"r", "auto", "row,"},
		{"s", "arrows", "\xff\xff\xff\xff"},
		{"s.arrows", "csv", "row,"},
	} {
		must(
			t, "diagnose", "--model", in("m.json"), "--data", data, "--target", "y",
			"--out", in(c.name), "--out-format", c.form,
		)
		if text := contents(t, in(c.name)); !strings.HasPrefix(text, c.begins) {
			t.Errorf("%s as %s begins with %.10q, want %q", c.name, c.form, text, c.begins)
		}
		if strings.HasPrefix(c.begins, "row") || c.begins == "\x93NUMPY" {
			continue
		}
		out := must(t, "fit", "--data", in(c.name), "--target", "leave_one_out", "--columns", "leverage", "--gamma", "1")
		if !strings.HasPrefix(out, "5 rows") {
			t.Errorf("%s is not read again: %.100s", c.name, out)
		}
	}
}

// TestDiagnosePlot: the picture shows each row at its leverage and leave-one-out residual, on linear axes in the same
// proportions as the file of figures, and names the worst rows.
func TestDiagnosePlot(t *testing.T) {
	data := write(t, "rows.csv", rowsCSV(30))
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1", "--out", in("m.json"))
	out := must(
		t, "diagnose", "--model", in("m.json"), "--data", data, "--target", "y", "--worst", "3",
		"--out", in("r.csv"), "--plot", in("p.svg"),
	)
	svg := contents(t, in("p.svg"))
	if !strings.Contains(svg, ">all 30 rows; numbers count from 1</text>") {
		t.Error("the picture does not say how many rows it shows")
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	isWorst := map[string]bool{}
	for _, line := range lines[len(lines)-3:] {
		name, _, _ := strings.Cut(line, " ")
		isWorst[name] = true
		if !strings.Contains(svg, ">"+name+"</text>") {
			t.Errorf("row %s is not named", name)
		}
	}
	_, rows := figuresOf(t, in("r.csv"))
	slices.SortFunc(rows, func(a, b []float64) int { return cmp.Compare(a[2], b[2]) })
	// Coordinates in the picture must be linear functions of the figures. The legend has one more marker of each colour.
	for colour, worst := range map[string]bool{"0072B2": false, "D55E00": true} {
		var want [][2]float64 // leverage, leave-one-out residual
		for _, f := range rows {
			if isWorst[fmt.Sprint(int(f[0]))] == worst {
				want = append(want, [2]float64{f[2], f[8]})
			}
		}
		var got [][2]float64
		point := regexp.MustCompile(`d="M([-\d.]+),([-\d.]+)[^"]*" style="fill:#` + colour)
		for _, m := range point.FindAllStringSubmatch(svg, -1) {
			x, errX := strconv.ParseFloat(m[1], 64)
			y, errY := strconv.ParseFloat(m[2], 64)
			if err := errors.Join(errX, errY); err != nil {
				t.Fatal(err)
			}
			got = append(got, [2]float64{x, y})
		}
		if len(got) != len(want)+1 {
			t.Fatalf("colour %s: %d points, want %d", colour, len(got)-1, len(want))
		}
		got = got[:len(want)] // the legend is drawn last
		slices.SortFunc(got, func(a, b [2]float64) int { return cmp.Compare(a[0], b[0]) })
		last := len(want) - 1
		for k := range 2 {
			scale := (got[last][k] - got[0][k]) / (want[last][k] - want[0][k])
			for i := range want {
				at := got[0][k] + scale*(want[i][k]-want[0][k])
				if !(math.Abs(got[i][k]-at) <= 0.1) {
					t.Errorf("colour %s: coordinate %d of point %d is %v, want %v", colour, k, i, got[i][k], at)
				}
			}
		}
	}
}

// TestRowSample: the sample keeps all of few rows, and of many rows each with the same probability.
func TestRowSample(t *testing.T) {
	const n = 50 * mostSampled
	s := newRowSample()
	left := []float64{0}
	for i := range n {
		left[0] = float64(-i)
		s.add(&ridge.RowDiagnostics{LeverageEstimate: float64(i), LeftOutEstimate: left}, int64(i))
		if i < mostSampled && len(s.rows) != i+1 {
			t.Fatalf("%d of %d rows", len(s.rows), i+1)
		}
	}
	if len(s.rows) != mostSampled {
		t.Fatalf("%d rows", len(s.rows))
	}
	seen := map[int64]bool{}
	var tenths [10]int
	for _, r := range s.rows {
		if seen[r.Row] || r.Leverages[0] != float64(r.Row) || r.LeftOut[0] != -float64(r.Row) {
			t.Errorf("row %d is %+v, or twice", r.Row, r)
		}
		seen[r.Row] = true
		tenths[r.Row*10/n]++
	}
	for i, k := range tenths {
		// The standard deviation is 9.5.
		if k < 60 || k > 140 {
			t.Errorf("%d of %d sampled rows are in tenth %d", k, mostSampled, i+1)
		}
	}
}

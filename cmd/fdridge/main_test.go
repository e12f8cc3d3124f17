package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset/file"
)

const (
	w8a    = "../../testdata/w8a.svm.gz"
	packed = "../../testdata/cal_housing.csv.gz"
)

// housing is the unpacked file, which dozens of tests read. TestMain removes it.
var housing = unpack()

func unpack() string {
	if os.Getenv("FDRIDGE_TEST_COMMAND") != "" {
		return "" // this is the command, and runs no test
	}
	f, err := os.Open(packed)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		panic(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "housing")
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "cal_housing.csv")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		panic(err)
	}
	return path
}

// call runs a command line.
func call(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(context.Background(), args, &out, &errs)
	checkPrefix(args, errs.String())
	return code, out.String(), errs.String()
}

// must runs a command line that has to succeed.
func must(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := call(args...)
	if code != done {
		t.Fatalf("%v: exit %d: %s", args, code, errs)
	}
	return out
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// firstRows writes the first n lines of a compressed table as plain text: what is read
// time and again needs no more.
func firstRows(t *testing.T, path string, n int) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	lines := bufio.NewScanner(z)
	for range n {
		if !lines.Scan() {
			t.Fatalf("%s has fewer than %d lines: %v", path, n, lines.Err())
		}
		text.Write(lines.Bytes())
		text.WriteByte('\n')
	}
	return write(t, strings.TrimSuffix(filepath.Base(path), ".gz"), text.String())
}

// asNpy writes tables as one array, target last, which is read again without parsing.
func asNpy(t *testing.T, data, target string) string {
	t.Helper()
	src, err := file.Open(strings.Split(data, ","), file.Options{Target: []string{target}, Targets: 1})
	if err != nil {
		t.Fatal(err)
	}
	n, d := 0, 0
	var values []byte
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		d = len(b.X) / b.N
		for i := range b.N {
			for _, v := range b.X[i*d : (i+1)*d] {
				values = binary.LittleEndian.AppendUint64(values, math.Float64bits(v))
			}
			values = binary.LittleEndian.AppendUint64(values, math.Float64bits(b.Y[i]))
		}
		n += b.N
	}
	return write(t, "rows.npy", npyHead("<f8", n, d+1)+string(values))
}

// npyHead is how a .npy file of n rows of d values begins.
func npyHead(descr string, n, d int) string {
	head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, n, d)
	head += strings.Repeat(" ", 63-(10+len(head))%64) + "\n"
	return "\x93NUMPY\x01\x00" + string([]byte{byte(len(head)), byte(len(head) >> 8)}) + head
}

func contents(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// rowsCSV is n rows "x1,x2,y" of y = 2x₁ − x₂ + 5, without noise, after a header.
func rowsCSV(n int) string {
	var b strings.Builder
	b.WriteString("x1,x2,y\n")
	for i := range n {
		x1, x2 := math.Sin(float64(i)), 100+10*math.Cos(float64(3*i))
		fmt.Fprintf(&b, "%v,%v,%v\n", x1, x2, 2*x1-x2+5)
	}
	return b.String()
}

func replaceLine(text string, line int, with string) string {
	lines := strings.Split(text, "\n")
	lines[line-1] = with
	return strings.Join(lines, "\n")
}

// TestBadInput: exit 2, one clear line that says where, nothing on stdout and no
// model.
func TestBadInput(t *testing.T) {
	good := write(t, "good.csv", rowsCSV(30))
	nan := write(t, "nan.csv", replaceLine(rowsCSV(30), 17, "1,NaN,2"))
	ragged := write(t, "ragged.csv", replaceLine(rowsCSV(30), 9, "1,2"))
	text := write(t, "text.csv", replaceLine(rowsCSV(30), 9, "1,red,2"))
	label2 := write(t, "two.svm", "1 1:1\n1,2 1:0.5\n")
	empty := write(t, "empty.csv", "")
	header := write(t, "header.csv", "x1,x2,y\n")
	large := write(t, "large.csv", "x1,x2,y\n1e200,1,2\n")
	model := func(text string) []string {
		return []string{
			"predict",
			"--model",
			write(t, "m", `{"fdridge_model":1,`+text),
			"--data",
			good,
			"--target",
			"y",
		}
	}
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	if _, err := w.Write([]byte(rowsCSV(5000))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	cut := write(t, "cut.csv.gz", z.String()[:z.Len()/2])
	out := filepath.Join(t.TempDir(), "model.json")
	fit := func(args ...string) []string { return append([]string{"fit", "--out", out}, args...) }
	ok := func(args ...string) []string {
		return append(fit("--data", good, "--target", "y"), args...)
	}
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"NaN in row 17":     {fit("--data", nan, "--target", "y", "--gamma", "1"), nan + ":17:3: column x2: NaN is not finite"},
		"ragged":            {fit("--data", ragged, "--target", "y", "--gamma", "1"), ragged + ":9:3: the row has 2 fields"},
		"text":              {fit("--data", text, "--target", "y", "--gamma", "1"), text + ":9:3: column x2: \"red\" is not a number"},
		"truncated gzip":    {fit("--data", cut, "--target", "y", "--gamma", "1"), "the gzip stream is truncated"},
		"gamma -1":          {ok("--gamma", "-1"), "--gamma: -1 must be positive"},
		"gamma NaN":         {ok("--gamma", "nan"), "--gamma"},
		"gamma text":        {ok("--gamma", "1,big"), "--gamma: \"big\" is not a number"},
		"gamma 0":           {ok("--gamma", "0", "--method", "cg"), "--gamma: 0 must be positive"},
		"gamma twice":       {ok("--gamma", "1", "--gamma", "2"), "given twice"},
		"size text":         {ok("--gamma", "1", "--size", "big"), "--size: \"big\" is not a number of rows"},
		"coef a folder":     {ok("--gamma", "1", "--coef", filepath.Dir(out)), "--coef: "},
		"m = 0":             {ok("--gamma", "1", "--size", "0"), "--size: 0"},
		"missing file":      {fit("--data", good+"x", "--target", "y", "--gamma", "1"), good + "x: no such file"},
		"a folder":          {fit("--data", filepath.Dir(good), "--target", "y", "--gamma", "1"), "is a directory"},
		"data twice":        {ok("--gamma", "1", "--data", nan), "given twice (" + good + ", " + nan + "); several files are one list"},
		"empty file":        {fit("--data", empty, "--target", "y", "--gamma", "1"), empty + ": is empty"},
		"header alone":      {fit("--data", header, "--target", "y", "--gamma", "1"), header + ": no rows"},
		"header, scaled":    {fit("--data", header, "--target", "y", "--gamma", "1", "--standardize"), "cannot standardise: there are no rows with positive weight"},
		"squares overflow":  {fit("--data", large, "--target", "y", "--gamma", "1"), large + ": the squared norm of row 1"},
		"no data":           {fit("--gamma", "1"), "--data: no file"},
		"weights alone":     {fit("--data", good, "--weights", "x1", "--gamma", "1"), good + ": no target is selected"},
		"target twice":      {ok("--gamma", "1", "--target", "x1"), "given twice (y, x1)"},
		"two labels":        {fit("--data", label2, "--gamma", "1"), label2 + ":2:1: label \"1,2\" has several targets instead of one"},
		"no such target":    {fit("--data", good, "--target", "price", "--gamma", "1"), good + ":1: there is no column \"price\"; the 3 columns are x1, x2, y"},
		"no target":         {fit("--data", good, "--gamma", "1"), "no target is selected"},
		"unknown flag":      {ok("--gamma", "1", "--colour"), "unknown flag: --colour"},
		"alpha":             {ok("--alpha", "1"), "unknown flag: --alpha; use --gamma for the alpha of scikit-learn"},
		"flag value":        {ok("--gamma", "1", "--size", "many"), "--size"},
		"argument":          {ok("--gamma", "1", "now"), "unexpected argument \"now\"; use --data for files of rows"},
		"unknown command":   {[]string{"fix"}, "unknown command \"fix\""},
		"rff key":           {ok("--gamma", "1", "--features", "rff:8,gama=1"), "unknown setting \"gama=1\""},
		"rff D":             {ok("--gamma", "1", "--features", "rff:0,gamma=1"), "\"0\""},
		"rff gamma":         {ok("--gamma", "1", "--features", "rff:8,gamma=-1"), "gamma is \"-1\""},
		"rff gamma twice":   {ok("--gamma", "1", "--features", "rff:8,gamma=1,gamma=2"), "give gamma twice"},
		"rff seed":          {ok("--gamma", "1", "--features", "rff:8,gamma=1,seed=-1"), "seed is \"-1\""},
		"features":          {ok("--gamma", "1", "--features", "wavelets"), "must be rff:"},
		"rows":              {ok("--gamma", "1", "--rows", "5:2"), "--rows: \"5:2\""},
		"rows text":         {ok("--gamma", "1", "--rows", "all"), "--rows: \"all\""},
		"rows beyond":       {ok("--gamma", "1", "--rows", "5:200"), "rows 5 to 200 were requested, but there are only 30"},
		"rows of one":       {ok("--gamma", "1", "--rows", "31:31", "--method", "cg"), good + ": rows 31 to 31"},
		"tol":               {ok("--gamma", "1", "--tol", "0"), "--tol: 0"},
		"tol NaN":           {ok("--gamma", "1", "--tol", "NaN"), "--tol: NaN"},
		"max-passes":        {ok("--gamma", "1", "--max-passes", "0"), "--max-passes: 0"},
		"method":            {ok("--gamma", "1", "--method", "magic"), "--method: \"magic\" must be one of auto"},
		"format":            {ok("--gamma", "1", "--format", "xls"), "--format: \"xls\""},
		"size as an error":  {ok("--gamma", "1", "--size", "0.1"), "--size: \"0.1\" is not a number of rows; plan --error E finds"},
		"threads":           {ok("--gamma", "1", "--threads", "-1"), "--threads: -1"},
		"threads 0":         {ok("--gamma", "1", "--threads", "0"), "--threads: 0, must be 1"},
		"out":               {[]string{"fit", "--data", good, "--target", "y", "--gamma", "1", "--out", filepath.Join(out, "deep", "m")}, "--out: no such folder"},
		"out a folder":      {[]string{"fit", "--data", good, "--target", "y", "--gamma", "1", "--out", filepath.Dir(out)}, "is not a regular file"},
		"predict, out":      {[]string{"predict", "--model", out, "--data", good, "--out", filepath.Join(out, "deep", "m")}, "--out: no such folder"},
		"predict, folder":   {[]string{"predict", "--model", out, "--data", good, "--out", filepath.Dir(out)}, "is not a regular file"},
		"predict, nothing":  {[]string{"predict"}, "predict needs --model and --data"},
		"predict, no model": {[]string{"predict", "--model", out, "--data", good}, "--model"},
		"predict, no JSON":  {[]string{"predict", "--model", good, "--data", good}, "is a csv table, not a model; fdridge fit --out"},
		"predict, version":  {[]string{"predict", "--model", write(t, "m", `{"fdridge_model":9}`), "--data", good}, "version 9"},
		"predict, weights":  {[]string{"predict", "--model", write(t, "m", `{"fdridge_model":1,"preparation":{"inputs":3},"coef":[1,2],"intercept":0}`), "--data", good}, "2 weights for 3 features"},
		"predict, null":     {model(`"preparation":{"inputs":2},"coef":[1,null],"intercept":0}`), "a weight is null"},
		"predict, null b":   {model(`"preparation":{"inputs":2},"coef":[1,2],"intercept":null}`), "a weight is null"},
		"predict, scale 0":  {model(`"preparation":{"inputs":2,"scaling":{"mean":[0,0],"scale":[1,0]}},"coef":[1,2],"intercept":0}`), "scale 0"},
		"predict, overflow": {model(`"preparation":{"inputs":2},"coef":[0,1e308],"intercept":0}`), "row 1: the prediction exceeds"},
	} {
		code, stdout, stderr := call(c.args...)
		if code != usage || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit %d, stdout %q, stderr %q; want %q", name, code, stdout, stderr, c.want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%s: a model was written", name)
		}
	}
}

func reported(t *testing.T, args ...string) map[string]any {
	t.Helper()
	var v map[string]any
	out := must(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return v
}

func TestJSON(t *testing.T) {
	v := reported(
		t,
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--standardize",
		"--gamma",
		"10",
		"--size",
		"4",
		"--method",
		"cg",
	)
	for _, key := range strings.Fields("n d targets size nnz passes sketch_seconds total_seconds peak_rss_bytes gamma shrinkage contraction") {
		if _, ok := v[key].(float64); !ok {
			t.Errorf("%s is %v, want a number", key, v[key])
		}
	}
	for _, key := range []string{"error_bound", "relative_error_bound", "r2"} {
		if list, ok := v[key].([]any); !ok || len(list) != 1 {
			t.Errorf("%s is %v, want a list of one number", key, v[key])
		}
	}
	for _, key := range []string{"effective_dimension", "gcv", "rss", "objective", "r2_bracket"} {
		b, ok := v[key].([]any)
		if ok && key != "effective_dimension" {
			b, ok = b[0].([]any)
		}
		if !ok || len(b) != 2 || !(b[0].(float64) <= b[1].(float64)) {
			t.Errorf("%s is %v, want a bracket", key, v[key])
		}
	}
	if v["method"] != "cg" || v["converged"] != true || v["backend"] == "" || v["kernel"] == "" || v["n"] != 20640.0 ||
		v["d"] != 8.0 ||
		v["size"] != 4.0 ||
		v["nnz"] != 165120.0 {
		t.Errorf("%v", v)
	}
	if v["passes"] != v["reads"] {
		t.Errorf("%v passes, the file was read %v times", v["passes"], v["reads"])
	}
	several := reported(
		t,
		"fit",
		"--data",
		housing,
		"--target",
		"1,last",
		"--standardize",
		"--gamma",
		"1,10",
		"--method",
		"exact",
	)
	fits := several["fits"].([]any)
	if _, top := several["gamma"]; top || len(fits) != 2 || len(fits[1].(map[string]any)["r2"].([]any)) != 2 {
		t.Errorf("%v", several)
	}
}

// weights are the numbers of a model, by name.
func weights(t *testing.T, name string) (coef []float64) {
	t.Helper()
	var m struct {
		Models []struct {
			Coef, Intercept json.RawMessage
		}
		Coef, Intercept json.RawMessage
	}
	if err := json.Unmarshal([]byte(contents(t, name)), &m); err != nil {
		t.Fatal(err)
	}
	all := []json.RawMessage{m.Coef, m.Intercept}
	for _, f := range m.Models {
		all = append(all, f.Coef, f.Intercept)
	}
	for _, raw := range all {
		for _, s := range strings.FieldsFunc(string(raw), func(r rune) bool { return strings.ContainsRune("[], \n", r) }) {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			coef = append(coef, v)
		}
	}
	if len(coef) == 0 {
		t.Fatalf("%s has no weights", name)
	}
	return coef
}

// weightsOf reads the weights of the only fit of a model.
func weightsOf(t *testing.T, path string) (coef []float64, intercept float64) {
	t.Helper()
	m, err := readModel("", path)
	if err != nil {
		t.Fatal(err)
	}
	return m.Fits[0].Coef[0], m.Fits[0].Intercept[0]
}

// TestMethodsAgree: any two methods are as near as their certificates say, on the
// housing data. If FDRIDGE_THOROUGH is set, covtype and YearPredictionMSD are fitted
// too, from FDRIDGE_DATA or the clone.
func TestMethodsAgree(t *testing.T) {
	t.Run("housing", func(t *testing.T) {
		methodsAgree(t, "4", housing, "last", append(methodNames(false), "exact")...) // dual takes n² numbers
	})
	if os.Getenv("FDRIDGE_THOROUGH") == "" {
		return
	}
	dir := os.Getenv("FDRIDGE_DATA")
	if dir == "" {
		dir = "../../paper/data"
	}
	if _, err := os.Stat(filepath.Join(dir, "covtype.data.gz")); err != nil {
		t.Skip("covtype and YearPredictionMSD are left out: this is no clone, and FDRIDGE_DATA is not set: ", err)
	}
	t.Run("covtype", func(t *testing.T) {
		methodsAgree(t, "20", filepath.Join(dir, "covtype.data.gz"), "last", "exact", "one-shot", "cg")
	})
	t.Run("year", func(t *testing.T) {
		methodsAgree(t, "40", filepath.Join(dir, "YearPredictionMSD.sample7000.txt.gz")+","+filepath.Join(dir, "YearPredictionMSD.head1176.txt.gz"), "first", "exact", "one-shot", "cg")
	})
}

func methodsAgree(t *testing.T, size, data, target string, methods ...string) {
	type answer struct {
		coef  []float64
		bound float64
	}
	answers := map[string]answer{}
	var scale []float64
	rows := asNpy(t, data, target)
	for _, m := range methods {
		model := filepath.Join(t.TempDir(), m)
		v := reported(
			t,
			"fit",
			"--data",
			rows,
			"--target",
			"last",
			"--standardize",
			"--gamma",
			"100",
			"--size",
			size,
			"--method",
			m,
			"--out",
			model,
		)
		coef, _ := weightsOf(t, model)
		answers[m] = answer{coef, first(v["error_bound"])}
		scale = scalesOf(t, model)
		if m == "one-shot" && (v["passes"] != 2.0 || v["reads"] != 2.0) { // one of them to standardise
			t.Errorf("one-shot: %v passes", v["passes"])
		}
		if m == "auto" && v["method_reason"] == nil {
			t.Error("auto does not say why")
		}
	}
	if v := reported(
		t, "fit", "--data", data, "--target", target, "--rows", "1:2000", "--gamma", "100", "--size", size,
		"--method", "one-shot",
	); v["passes"] != 1.0 ||
		v["reads"] != 1.0 {
		t.Errorf("one-shot read the file %v times", v["reads"])
	}
	// The certificates are about the weights of the standardised columns.
	for a, x := range answers {
		for b, y := range answers {
			var diff float64
			for j, s := range scale {
				diff = math.Hypot(diff, s*(x.coef[j]-y.coef[j]))
			}
			if !(diff <= (x.bound+y.bound)*(1+1e-9)) {
				t.Errorf("%s and %s differ by %g, their certificates allow %g", a, b, diff, x.bound+y.bound)
			}
		}
	}
}

// scalesOf are the deviations of the columns that a model was fitted to.
func scalesOf(t *testing.T, model string) []float64 {
	t.Helper()
	m, err := readModel("", model)
	if err != nil {
		t.Fatal(err)
	}
	return m.FittedPreparation().Scaling.Scale
}

// TestRoundTrip: what predict prints is coef·x + intercept in the units of the
// file, and scores as the fit did.
func TestRoundTrip(t *testing.T) {
	data := write(t, "data.csv", rowsCSV(200))
	for name, flags := range map[string][]string{
		"plain": nil, "standardised": {"--standardize"}, "standardised, no intercept": {"--standardize", "--intercept=false"},
		"cg": {"--method", "cg"}, "one-shot": {"--method", "one-shot"},
	} {
		model := filepath.Join(t.TempDir(), "m")
		must(
			t,
			append([]string{"fit", "--data", data, "--target", "y", "--gamma", "1e-3", "--out", model}, flags...)...)
		coef, b := weightsOf(t, model)
		code, out, score := call("predict", "--model", model, "--data", data, "--target", "y")
		if code != done {
			t.Fatal(score)
		}
		lines := strings.Fields(out)
		if len(lines) != 200 {
			t.Fatalf("%s: %d predictions", name, len(lines))
		}
		for i, line := range lines {
			got, err := strconv.ParseFloat(line, 64)
			if err != nil {
				t.Fatal(err)
			}
			x1, x2 := math.Sin(float64(i)), 100+10*math.Cos(float64(3*i))
			if want := coef[0]*x1 + coef[1]*x2 + b; !(math.Abs(got-want) <= 1e-9) {
				t.Fatalf("%s: row %d is %v, want %v", name, i, got, want)
			}
			if want := 2*x1 - x2 + 5; !strings.Contains(name, "no intercept") && !(math.Abs(got-want) <= 1e-2) {
				t.Fatalf("%s: row %d is %v, the truth %v", name, i, got, want)
			}
		}
		if !strings.Contains(score, "R² = ") {
			t.Errorf("%s: no score: %q", name, score)
		}
	}
}

func TestFourierModel(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	v := reported(
		t,
		"fit",
		"--data",
		w8a,
		"--rows",
		"1:3000",
		"--features",
		"rff:64,gamma=0.05,seed=3",
		"--size",
		"16",
		"--gamma",
		"1",
		"--method",
		"cg",
		"--out",
		model,
	)
	if v["n"] != 3000.0 || v["d"] != 64.0 {
		t.Errorf("%v", v)
	}
	var p map[string]any
	err := json.Unmarshal([]byte(must(t, "predict", "--model", model, "--data", w8a, "--rows", "1:3000", "--json")), &p)
	if err != nil {
		t.Fatal(err)
	}
	if r2, want := first(p["r2"]), first(v["r2"]); !(math.Abs(r2-want) <= 1e-6) {
		t.Errorf("R² is %v when predicting, %v when fitting", r2, want)
	}
}

func TestSeveralGammas(t *testing.T) {
	data := write(t, "data.csv", rowsCSV(50))
	model, out := filepath.Join(t.TempDir(), "m"), filepath.Join(t.TempDir(), "yhat")
	must(t, "fit", "--data", data, "--target", "y", "--gamma", "1,10", "--out", model)
	for args, want := range map[string]string{"": "the model has fits for gamma = 1, 10", "--gamma=3": "3 is not among"} {
		a := []string{"predict", "--model", model, "--data", data, "--target", "y"}
		if args != "" {
			a = append(a, args)
		}
		if code, _, errs := call(a...); code != usage || !strings.Contains(errs, want) {
			t.Errorf("%q: exit %d, %s", args, code, errs)
		}
	}
	got := must(t, "predict", "--model", model, "--data", data, "--target", "y", "--gamma", "10", "--out", out)
	if got != "" {
		t.Errorf("printed %q", got)
	}
	if b, err := os.ReadFile(out); err != nil || bytes.Count(b, []byte("\n")) != 50 {
		t.Errorf("%d lines, %v", bytes.Count(b, []byte("\n")), err)
	}
	narrow := write(t, "narrow.csv", "1\n2\n")
	if code, _, errs := call("predict", "--model", model, "--gamma", "1", "--data", narrow); code != usage ||
		!strings.HasSuffix(
			errs,
			"has 1 features, the model has 2; the file has no header with the names of the model: x1, x2\n",
		) {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestModelNamesColumns: a model of a csv file keeps its header.
func TestModelNamesColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "m")
	must(t, "fit", "--data", write(t, "data.csv", rowsCSV(50)), "--target", "y", "--gamma", "1", "--out", path)
	m, err := readModel("", path)
	if err != nil || strings.Join(m.Columns, " ") != "x1 x2 y" || m.Target != "y" {
		t.Errorf("columns %q, target %q, %v", m.Columns, m.Target, err)
	}
}

// TestSingular: what Cholesky finds numerically singular is solved by QR, in a second reading,
// and it is said. A third is for the certificate.
func TestSingular(t *testing.T) {
	data := write(t, "twins.csv", "a,b,y\n1e9,1e9,1\n1e9,1e9,1.2\n-1e9,-1e9,-1\n1e9,1e9,0.9\n")
	for _, method := range []string{"auto", "exact"} {
		v := reported(
			t,
			"fit",
			"--data",
			data,
			"--target",
			"y",
			"--gamma",
			"1",
			"--intercept=false",
			"--method",
			method,
		)
		if v["method"] != "qr" && v["method"] != "exact" || v["reads"] != 3.0 ||
			!strings.Contains(fmt.Sprint(v["method_reason"]), "singular at gamma = 1, so QR") {
			t.Errorf("--method %s: %v in %v reads: %v", method, v["method"], v["reads"], v["method_reason"])
		}
	}
}

// TestDependentColumns checks that a fit at γ = 0 names dependent columns in the units of the file, names a γ that
// works, and writes the minimum-norm solution with exit code 3.
func TestDependentColumns(t *testing.T) {
	data := write(
		t,
		"dependent.csv",
		"a,b,c,d,y\n1,2,4,7,1\n2,1,5,7,2\n3,5,11,7,2\n4,4,12,7,5\n5,9,19,7,4.5\n6,1,13,7,7\n",
	)
	wide := write(t, "wide.csv", "a,b,c,d,y\n1,2,4,7,1\n2,1,5,8,2\n")
	for _, c := range []struct {
		data, gamma, want string
		flags             []string
	}{
		{data, "0", "c equals 2·a + b + a constant; d is constant", nil},
		{data, "0", "c equals 2·a + b + a constant; d is constant", []string{"--standardize"}},
		{data, "0,1", "c equals 2·a + b", []string{"--intercept=false"}}, // d is independent without an intercept
		{wide, "0", "2 rows are too few for the coefficients of 4 columns", nil},
	} {
		model := filepath.Join(t.TempDir(), "m.json")
		args := slices.Concat(
			[]string{"fit", "--data", c.data, "--target", "y", "--gamma", c.gamma, "--out", model},
			c.flags,
		)
		code, out, errs := call(args...)
		text := strings.ReplaceAll(out, "\n  ", " ")
		if code != short || !strings.Contains(text, c.want) || !strings.Contains(errs, c.want) ||
			!strings.Contains(text, "minimum-norm") {
			t.Errorf("%v: exit %d\n%s\n%s", args, code, out, errs)
		}
		_, after, found := strings.Cut(errs, "--gamma ")
		gamma, _, _ := strings.Cut(after, " ")
		if !found {
			t.Errorf("%v: no gamma is named: %s", args, errs)
			continue
		}
		must(
			t,
			slices.Concat([]string{"fit", "--data", c.data, "--target", "y"}, c.flags, []string{"--gamma", gamma})...)
		must(t, "predict", "--model", model, "--gamma", "0", "--data", c.data, "--target", "y")
	}
}

// TestFewSparseRows checks that γ = 0 works for few sparse rows of so many features that d×d numbers do not fit.
func TestFewSparseRows(t *testing.T) {
	const n, d = 40, 20000
	rng := rand.New(rand.NewPCG(4, 5))
	text := &strings.Builder{}
	for i := range n {
		fmt.Fprintf(text, "%d", i%7)
		for j := 1 + rng.IntN(600); j <= d; j += 1 + rng.IntN(1200) {
			fmt.Fprintf(text, " %d:%.3f", j, rng.NormFloat64())
		}
		text.WriteString("\n")
	}
	data := write(t, "few.svm", text.String())
	model := filepath.Join(t.TempDir(), "few.json")
	code, out, errs := call("fit", "--data", data, "--n-features", strconv.Itoa(d), "--gamma", "0", "--out", model)
	want := "40 rows are too few for the coefficients of 20000 columns"
	if code != short || !strings.Contains(errs, want) || !strings.Contains(out, "exact (dual)") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	_, _, errs = call("predict", "--model", model, "--data", data)
	if !strings.Contains(errs, "R² = 1.0000") {
		t.Errorf("the solution does not fit the rows: %s", errs)
	}
}

func TestInterrupt(t *testing.T) {
	model := write(t, "m", "the old model")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, method := range []string{"cg", "exact", "one-shot"} {
		var out, errs bytes.Buffer
		code := run(
			ctx,
			[]string{"fit", "--data", housing, "--target", "last", "--gamma", "1", "--method", method, "--out", model},
			&out,
			&errs,
		)
		if code != failed || errs.String() != "fdridge: interrupted\n" || out.Len() > 0 {
			t.Errorf("%s: exit %d, %q, %q", method, code, out.String(), errs.String())
		}
	}
	if b, err := os.ReadFile(model); err != nil || string(b) != "the old model" {
		t.Errorf("the model is now %q, %v", b, err)
	}
	if left, err := os.ReadDir(filepath.Dir(model)); err != nil || len(left) != 1 {
		t.Errorf("files left: %v, %v", left, err)
	}
}

func TestDoctor(t *testing.T) {
	out := must(t, "doctor")
	for _, want := range []string{
		"fdridge version " + version() + ", commit ", "backend ", "kernel: ", "kc ", "BLIS model", "GFLOP/s", "GB/s",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("doctor does not show %q:\n%s", want, out)
		}
	}
	said := regexp.MustCompile(doctorMPI).FindString(out)
	if said == "" {
		t.Errorf("doctor does not say %q:\n%s", doctorMPI, out)
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(must(t, "doctor", "--json")), &v); err != nil {
		t.Fatal(err)
	}
	if mpi, ok := v["mpi"]; ok != (byMPI.about != nil) || ok && said != fmt.Sprintf("\nMPI %v\n", mpi) {
		t.Errorf("mpi is %q, in words %q", mpi, said)
	}
	if v["version"] != newBuild().Version || v["commit"] != newBuild().Commit {
		t.Errorf("version %v, commit %v", v["version"], v["commit"])
	}
	if m := v["measured"].(map[string]any); !(m["gemm_gflops"].(float64) > 0) || v["tuning"] == nil {
		t.Errorf("%v", v)
	}
}

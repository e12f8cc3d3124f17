package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
)

// plotFiles makes one file of each sort that plot reads.
func plotFiles(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := []string{"--data", housing, "--target", "last", "--rows", "1:3000", "--standardize", "--size", "3"}
	reports := map[string][]string{
		"auto.json":     {"--gamma", "auto", "--save-sketch", in("sketch")},
		"cg.json":       {"--gamma", "1e4", "--method", "cg"},
		"several.json":  {"--gamma", "1000,10,100", "--method", "one-shot", "--out", in("models.json")},
		"one-shot.json": {"--gamma", "10", "--method", "one-shot", "--out", in("model.json")},
	}
	files := map[string]string{"sketch": in("sketch"), "models.json": in("models.json"), "model.json": in("model.json")}
	for name, args := range reports {
		files[name] = in(name)
		text := must(t, append(append([]string{"fit", "--json"}, args...), data...)...)
		if err := os.WriteFile(in(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestPlot: every kind is drawn of every sort of file that holds it, and what is
// asked of one that doesn't is an error that says where to find it.
func TestPlot(t *testing.T) {
	files := plotFiles(t)
	out := t.TempDir()
	for _, c := range []struct {
		files, kind string
		wants       string // in the svg; else in the error, where fails
		fails       bool
	}{
		{files: "auto.json", kind: "path", wants: "chosen"},
		{files: "auto.json", kind: "convergence", wants: "tolerance"},
		{files: "cg.json", wants: "predicted from"},
		{files: "several.json", wants: "effective dimension"},
		{files: "models.json", wants: "effective dimension"},
		{files: "sketch", kind: "spectrum", wants: "bound on the missing part"},
		{files: "sketch", kind: "path", wants: "chosen"},
		{files: "several.json models.json", wants: "GCV, models.json"},
		{files: "auto.json cg.json", wants: "convergence, cg.json"},
		{files: "sketch auto.json several.json", kind: "path", wants: "GCV, several.json"},

		{files: "auto.json", wants: "--kind: choose one, path or convergence", fails: true},
		{files: "sketch", wants: "--kind: choose one, path or spectrum", fails: true},
		{files: "cg.json", kind: "spectrum", wants: "use a sketch", fails: true},
		{files: "model.json", wants: "nothing to draw", fails: true},
		{files: "one-shot.json", kind: "convergence", wants: "has no convergence", fails: true},
		{files: "cg.json several.json", wants: "no kind of chart in common", fails: true},
		{files: "cg.json", kind: "pie", wants: `--kind: "pie" must be one of`, fails: true},
	} {
		svg := filepath.Join(out, "chart.svg")
		args := []string{"plot", "--out", svg}
		for _, f := range strings.Fields(c.files) {
			args = append(args, files[f])
		}
		if c.kind != "" {
			args = append(args, "--kind", c.kind)
		}
		code, said, errs := call(args...)
		if c.fails {
			if code != usage || said != "" || !strings.Contains(errs, c.wants) {
				t.Errorf("%s %s: exit %d, %q, want %q", c.files, c.kind, code, errs, c.wants)
			}
			if _, err := os.Stat(svg); err == nil {
				t.Errorf("%s %s: a chart was left behind", c.files, c.kind)
			}
			continue
		}
		if code != done || !strings.HasPrefix(said, svg+": ") {
			t.Fatalf("%s %s: exit %d, %q, %s", c.files, c.kind, code, said, errs)
		}
		text, err := os.ReadFile(svg)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), c.wants) {
			t.Errorf("%s %s: the chart has no %q", c.files, c.kind, c.wants)
		}
		if err := os.Remove(svg); err != nil {
			t.Fatal(err)
		}
	}
	picture := filepath.Join(out, "chart.png")
	must(t, "plot", files["cg.json"], "-o", picture)
	text, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := png.Decode(bytes.NewReader(text)); err != nil {
		t.Error(err)
	}
}

// TestPlotBadInput: exit 2 and one line that says what is wrong.
func TestPlotBadInput(t *testing.T) {
	dir := t.TempDir()
	svg := filepath.Join(dir, "chart.svg")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no file":       {[]string{"-o", svg}, "plot needs a file"},
		"no out":        {[]string{housing}, "--out: it needs a file"},
		"gif":           {[]string{housing, "-o", "chart.gif"}, "must end in .png or .svg"},
		"itself":        {[]string{svg, "-o", svg}, "would be overwritten"},
		"no folder":     {[]string{housing, "-o", filepath.Join(dir, "none", "c.svg")}, "no such folder"},
		"missing":       {[]string{filepath.Join(dir, "none"), "-o", svg}, "no such file"},
		"no sketch":     {[]string{housing, "-o", svg}, "is a csv table, not a report, a model or a sketch"},
		"no report":     {[]string{write(t, "r", `{"a": 1}`), "-o", svg}, "is not a report"},
		"damaged":       {[]string{write(t, "r", `{"fits": [`), "-o", svg}, "is not a report"},
		"no passes":     {[]string{write(t, "r", `{"fits": [], "trace": []}`), "-o", svg}, "nothing to draw"},
		"target 0":      {[]string{write(t, "r", `{"fits": [], "trace": [{"target": 0, "points": [{"pass": 1}]}]}`), "-o", svg}, "is about target 0"},
		"other type":    {[]string{write(t, "r", `{"fits": 7}`), "-o", svg}, "is not a report"},
		"no brackets":   {[]string{write(t, "r", `{"fits": [{"gamma":1},{"gamma":2}]}`), "-o", svg}, "are incomplete"},
		"empty trace":   {[]string{write(t, "r", `{"fits": [{"gamma":1}], "trace": [{"gamma":1}]}`), "-o", svg}, "no points"},
		"null trace":    {[]string{write(t, "r", `{"fits": [{"gamma":1}], "trace": [null]}`), "-o", svg}, "no points"},
		"unknown flag":  {[]string{housing, "-o", svg, "--colour"}, "unknown flag"},
		"uneven totals": {[]string{write(t, "r", `{"fits": [{"gamma":1,"gcv":[1,2],"rss":[1,2],"effective_dimension":[1,2]},{"gamma":2,"gcv":[[1,2],[3,4]],"rss":[1,2],"effective_dimension":[1,2]}]}`), "-o", svg}, "are incomplete"},
	} {
		code, out, errs := call(append([]string{"plot"}, c.args...)...)
		if code != usage || out != "" || !strings.Contains(errs, c.want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %q, %q", name, code, out, errs)
		}
	}
}

// TestTrace: the trace ends at the tolerance, within what was predicted, and rises by
// a pass.
func TestTrace(t *testing.T) {
	text := must(
		t,
		"fit",
		"--data",
		housing,
		"--target",
		"last",
		"--standardize",
		"--size",
		"6",
		"--gamma",
		"1e4,1e5",
		"--method",
		"newton",
		"--json",
	)
	var v struct{ Trace []*report.Trace }
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Trace) != 2 {
		t.Fatalf("%d traces", len(v.Trace))
	}
	for _, x := range v.Trace {
		last := x.Points[len(x.Points)-1]
		if !(last.RelativeError <= x.Tol) || !last.Proved || x.Tol != 1e-8 || x.Target != 1 {
			t.Errorf("gamma %v ends at %+v", x.Gamma, last)
		}
		if x.Predicted < 1 || len(x.Points) > x.Predicted+1 {
			t.Errorf("gamma %v: %d passes, predicted %d", x.Gamma, len(x.Points), x.Predicted)
		}
		for i := 1; i < len(x.Points); i++ {
			if x.Points[i].Pass != x.Points[i-1].Pass+1 {
				t.Errorf("pass %d follows %d", x.Points[i].Pass, x.Points[i-1].Pass)
			}
		}
	}
}

// TestTraceTargets: each target has a trace of its own, and an error without a bound
// is read back as infinite.
func TestTraceTargets(t *testing.T) {
	text := must(
		t,
		"fit",
		"--data",
		housing,
		"--target",
		"1,last",
		"--size",
		"2",
		"--gamma",
		"1e3,1e6",
		"--method",
		"cg",
		"--json",
	)
	var v struct{ Trace []*report.Trace }
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	seen := map[[2]float64]bool{}
	unbounded := 0
	for _, x := range v.Trace {
		seen[[2]float64{float64(x.Gamma), float64(x.Target)}] = true
		for _, p := range x.Points {
			if !(p.RelativeError > 0) {
				t.Errorf("gamma %v, target %d: %+v", x.Gamma, x.Target, p)
			}
			if math.IsInf(float64(p.RelativeError), 1) {
				unbounded++
			}
		}
	}
	if len(seen) != 4 || len(v.Trace) != 4 || unbounded == 0 {
		t.Errorf("%d traces of %v, %d points without a bound", len(v.Trace), seen, unbounded)
	}
}

// TestPlotExtremes: fits at any γ above zero have a page and can be drawn, and so can a sketch whose
// numbers were changed, unless it is refused.
func TestPlotExtremes(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	data := write(t, "data.csv", rowsCSV(30))
	for _, gammas := range []string{"1e-200,1e200", "1,1e307", "5e-324,1", "5e-324,1.7976931348623157e308", "1,1.0000000000000002"} {
		code, text, errs := call(
			"fit",
			"--data",
			data,
			"--target",
			"y",
			"--gamma",
			gammas,
			"--json",
			"--report",
			in("page.html"),
		)
		if code != done && code != short {
			t.Errorf("gamma %s: exit %d, %s", gammas, code, errs)
			continue
		}
		parsePage(t, in("page.html"))
		must(t, "plot", write(t, "report.json", text), "--kind", "path", "-o", in("path.svg"))
	}
	must(t, "sketch", "--data", data, "--target", "y", "--size", "2", "-o", in("s"))
	text, err := os.ReadFile(in("s"))
	if err != nil {
		t.Fatal(err)
	}
	inner := int(binary.LittleEndian.Uint64(text[88:]))
	drawn := 0
	for offset := 80; offset+8 < inner; offset += 8 {
		for i, v := range []float64{5e-324, 1e-200, 1e150, math.MaxFloat64, math.Inf(1), math.NaN(), -1} {
			if os.Getenv("FDRIDGE_THOROUGH") == "" && (offset/8+i)%19 > 0 {
				continue
			}
			forged := sealed(t, in("s"), map[int]uint64{offset: math.Float64bits(v)})
			for _, kind := range []string{"spectrum", "path"} {
				switch code, _, errs := call("plot", forged, "--kind", kind, "-o", in("forged.svg")); {
				case code == done:
					drawn++
				case errs == "" || strings.Count(errs, "\n") != 1:
					t.Errorf("byte %d, %v, %s: exit %d, %q", offset, v, kind, code, errs)
				}
			}
		}
	}
	if drawn == 0 {
		t.Error("no sketch was drawn")
	}
}

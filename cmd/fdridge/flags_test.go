package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/cli"
	"github.com/fdridge/fdridge/cmd/fdridge/internal/input"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// These tests are of what flags do where no other test would miss it.

// TestLists: a flag for a list refuses a list without items and a second list, in every command.
func TestLists(t *testing.T) {
	found := map[string]int{}
	for _, command := range newRoot(joiner{}).Commands() {
		command.Flags().VisitAll(func(f *pflag.Flag) {
			if _, ok := f.Value.(*cli.List); !ok {
				return
			}
			found[f.Name]++
			for _, c := range []struct {
				args []string
				want string
			}{
				{[]string{""}, "the list is empty"},
				{[]string{" , ,"}, "the list is empty"},
				{[]string{"a,b", "c"}, "given twice (a,b, c); several are one list"},
			} {
				args := []string{command.Name()}
				if command.Name() == "solve" {
					args = append(args, "file.fds")
				}
				for _, v := range c.args {
					args = append(args, "--"+f.Name+"="+v)
				}
				code, out, errs := call(args...)
				if code != usage || out != "" || !strings.Contains(errs, "--"+f.Name) ||
					!strings.Contains(errs, c.want) {
					t.Errorf("%q: exit %d, %q, %q", args, code, out, errs)
				}
			}
		})
	}
	for name, commands := range map[string]int{
		"columns": 5, "onehot": 3, "dates": 3, "bands": 4, "unpenalized": 1, "sizes": 1, "figures": 1, "ratio": 1,
	} {
		if found[name] != commands {
			t.Errorf("--%s is a list in %d commands, want %d", name, found[name], commands)
		}
	}
}

var rowsTold = regexp.MustCompile(`(\d+) rows ×`)

// TestFlagsOfFiles: every command that reads a file reads it as --format, --delimiter and
// --header say, where by itself it would take it for something else.
func TestFlagsOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"format":    strings.Repeat("1\n", 9000) + "2 1:1 2:3\n3 1:2 2:1\n", // the first 16 KiB could be csv
		"delimiter": strings.ReplaceAll(rowsCSV(40), ",", ":"),              // no delimiter of its own
		"header":    replaceLine(rowsCSV(40), 1, "2001,2002,2003"),          // years
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		flag, value string
		rows        int
	}{{"format", "svmlight", 9002}, {"delimiter", ":", 40}, {"header", "yes", 40}} {
		var target []string
		if c.flag != "format" {
			target = []string{"--target", "last"}
		}
		flag := []string{"--" + c.flag, c.value}
		data := []string{"--data", c.flag}
		must(
			t,
			slices.Concat([]string{"fit", "--gamma", "1", "--out", "m", "--save-sketch", "s"}, data, target, flag)...)
		for _, command := range [][]string{
			slices.Concat([]string{"fit", "--gamma", "1"}, data, target),
			slices.Concat([]string{"sketch", "-o", "out"}, data, target),
			slices.Concat([]string{"solve", "s", "--gamma", "1"}, data),
			slices.Concat([]string{"plan", "--sizes", "1"}, data, target),
			slices.Concat([]string{"predict", "--model", "m"}, data, target),
		} {
			rows := func(args []string) string {
				code, out, errs := call(args...)
				switch told := rowsTold.FindStringSubmatch(out); {
				case code != done:
					return errs
				case command[0] == "predict":
					return fmt.Sprint(strings.Count(out, "\n"))
				default:
					return told[1]
				}
			}
			if got := rows(append(command, flag...)); got != fmt.Sprint(c.rows) {
				t.Errorf("%v %v: %s rows, want %d", command, flag, got, c.rows)
			}
			knows := c.flag == "header" && (command[0] == "predict" || command[0] == "solve") // the names of the features
			if got := rows(command); (got == fmt.Sprint(c.rows)) != knows {
				t.Errorf("%v without --%s: %s rows", command, c.flag, got)
			}
		}
	}
}

// planned returns the configuration that plan derives from its flags, the sketch of its pilot, and its messages.
func planned(t *testing.T, args ...string) (plan.Config, *ridge.Summary, string) {
	t.Helper()
	o, c := &planOptions{in: input.NewFlags()}, &cobra.Command{}
	o.register(c)
	var errs bytes.Buffer
	if err := c.ParseFlags(args); err != nil {
		t.Fatal(err)
	}
	cfg, err := o.check()
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	be, err := o.runs.backend()
	if err != nil {
		t.Fatal(err)
	}
	p, err := o.makePilot(t.Context(), be, &errs)
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return cfg, p.sum, errs.String()
}

// sketched is the sketch that a command makes of its flags.
func sketched(t *testing.T, command string, args ...string) *ridge.Summary {
	t.Helper()
	if command == "plan" {
		_, sum, _ := planned(t, args...)
		return sum
	}
	name := filepath.Join(t.TempDir(), "s")
	out := map[string][]string{"sketch": {"-o", name}, "fit": {"--save-sketch", name, "--gamma", "1"}}[command]
	must(t, slices.Concat([]string{command}, out, args)...)
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	sum, _, err := load(name, be)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestFlagsOfSketches: fit, sketch and plan prepare and sketch the rows as they are told.
func TestFlagsOfSketches(t *testing.T) {
	var plain, tenfold strings.Builder
	plain.WriteString("x1,x2,y\n")
	tenfold.WriteString("x1,x2,y\n")
	const n = 50
	mean := 0.0
	for i := range n {
		x1, x2 := math.Sin(float64(i)), 100+10*math.Cos(float64(3*i))
		mean += x2 / n
		fmt.Fprintf(&plain, "%v,%v,%d\n", x1, x2, i%9)
		fmt.Fprintf(&tenfold, "%v,%v,%d\n", 10*x1, x2/10, i%9)
	}
	input := []string{"--target", "y", "--data", write(t, "plain.csv", plain.String())}
	other := []string{"--target", "y", "--data", write(t, "tenfold.csv", tenfold.String())}
	weights, penalty := write(t, "w.csv", strings.Repeat("2\n", n)), write(t, "p.csv", "4\n4\n")
	for _, command := range []string{"fit", "sketch", "plan"} {
		mass := func(input []string, more ...string) float64 { // ‖A‖²_F of the rows as they were sketched
			return sketched(t, command, append(slices.Clone(input), more...)...).Sketch().Bound().Frobenius2
		}
		base := mass(input)
		for flag, c := range map[string]struct{ got, want float64 }{
			"--penalty":     {mass(input, "--penalty", penalty), base / 4},
			"--weights":     {mass(input, "--weights", weights), base * 2},
			"--standardize": {mass(other, "--standardize"), 2 * n},
			"--columns":     {mass(input, "--columns", "x1") + mass(input, "--columns", "-x1"), base},
			"--intercept": {
				mass(input, "--columns", "x2", "--intercept=false") - mass(input, "--columns", "x2"), n * mean * mean,
			},
		} {
			if !(math.Abs(c.got-c.want) <= 1e-9*c.want) {
				t.Errorf("%s %s: %v, want %v", command, flag, c.got, c.want)
			}
		}
		two := []string{"--data", input[3], "--target", "y,x1", "--size", "1"}
		if cfg := sketched(t, command, two...).Config(); cfg.Targets != 2 || cfg.Size != 1 {
			t.Errorf("%s: %+v", command, cfg)
		}
	}
}

// TestFlagsOfPlan: what is asked of a plan arrives there.
func TestFlagsOfPlan(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(60))
	c, _, errs := planned(
		t,
		"--data",
		rows,
		"--target",
		"y",
		"--n",
		"1000",
		"--gamma",
		"3,4",
		"--sizes",
		"1,2",
		"--tol",
		"0.01",
		"--memory",
		"77",
		"--log-format",
		"json",
	)
	if c.Rows != 1000 || !slices.Equal(c.Gammas, []float64{3, 4}) || !slices.Equal(c.Sizes, []int{1, 2}) ||
		c.Tol != 0.01 ||
		c.MaxBytes != 77<<20 {
		t.Errorf("%+v", c)
	}
	if !strings.Contains(errs, `"stage":"sketching"`) {
		t.Errorf("log: %q", errs)
	}
}

// TestFlagThreads: commands use as many threads as they are told.
func TestFlagThreads(t *testing.T) {
	t.Chdir(t.TempDir())
	before := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(before)
	rows := write(t, "rows.csv", rowsCSV(60))
	for _, args := range [][]string{
		{"fit", "--gamma", "1", "--data", rows, "--target", "y"}, {"sketch", "-o", "s", "--data", rows, "--target", "y"},
		{"solve", "s", "--gamma", "1"},
		{"plan", "--sketch", "s"}, strings.Fields("paper --figures 1 --quick --rows 90 --dim 40 --size 10 --trials 1"),
	} {
		runtime.GOMAXPROCS(before + 2)
		must(t, append(args, "--threads", "1")...)
		if got := runtime.GOMAXPROCS(0); got != 1 {
			t.Errorf("%s: %d threads", args[0], got)
		}
	}
}

// TestFlagsOfSolvers: fit and solve iterate by the method, to the tolerance and in the
// passes they are told, with the rows and the shift they are told.
func TestFlagsOfSolvers(t *testing.T) {
	dir := t.TempDir()
	houses := firstRows(t, packed, 4000)
	input := []string{"--data", houses, "--target", "last", "--rows", "1:2000"}
	prepared := []string{"--features", "rff:40,gamma=1e-7,seed=2", "--size", "10"}
	sketch := filepath.Join(dir, "s")
	must(t, slices.Concat([]string{"sketch", "-o", sketch}, input, prepared)...)
	for name, command := range map[string][]string{
		"fit":   slices.Concat([]string{"fit", "--gamma", "1"}, input, prepared),
		"solve": slices.Concat([]string{"solve", sketch, "--gamma", "1"}, input),
	} {
		with := func(more ...string) map[string]any { return reported(t, slices.Concat(command, more)...) }
		coarse, fine := with("--method", "cg", "--tol", "0.1"), with("--method", "cg", "--tol", "1e-9")
		if coarse["method"] != "cg" || !(first(coarse["relative_error_bound"]) <= 0.1) ||
			!(first(fine["relative_error_bound"]) <= 1e-9) ||
			!(coarse["passes"].(float64) < fine["passes"].(float64)) {
			t.Errorf(
				"%s: %v passes to %v, %v to %v",
				name,
				coarse["passes"],
				coarse["relative_error_bound"],
				fine["passes"],
				fine["relative_error_bound"],
			)
		}
		if code, _, errs := call(slices.Concat(command, []string{"--method", "cg", "--max-passes", "1"})...); code != short ||
			!strings.Contains(errs, "tolerance not reached") {
			t.Errorf("%s in one pass: exit %d, %s", name, code, errs)
		}
		coef := filepath.Join(dir, name+".npy")
		code, _, errs := call(
			slices.Concat(command, []string{"--method", "cg", "--log-format", "json", "--coef", coef})...)
		var line struct{ Stage string }
		if err := json.Unmarshal([]byte(strings.SplitN(errs, "\n", 2)[0]), &line); code != done || err != nil ||
			line.Stage == "" {
			t.Errorf("%s: exit %d, log %q", name, code, errs)
		}
		if info, err := os.Stat(coef); err != nil || info.Size() < 41*8 {
			t.Errorf("%s: the weights: %v, %v", name, info, err)
		}
	}
	if code, _, errs := call("solve", sketch, "--gamma", "1", "--data", houses); code != usage ||
		!strings.Contains(errs, "4000 rows") {
		t.Errorf("solve without --rows: exit %d, %s", code, errs)
	}
	// The shift is η/2: the contraction is half of η against γ + η/2.
	for name, command := range map[string][]string{
		"fit":   slices.Concat([]string{"fit", "--method", "one-shot", "--gamma", "50"}, input, prepared),
		"solve": {"solve", sketch, "--gamma", "50"},
	} {
		v := reported(t, command...)
		eta, got := v["shrinkage"].(float64), v["contraction"].(float64)
		if want := eta / 2 / (50 + eta/2); !(math.Abs(got-want) <= 1e-6*want) {
			t.Errorf("%s: contraction %v, want %v", name, got, want)
		}
	}
	// Also a sketch alone has progress to tell.
	if _, _, errs := call(slices.Concat(
		[]string{"sketch", "-o", sketch, "--log-format", "json"}, input,
	)...); !strings.Contains(errs, `"stage":"sketching"`) {
		t.Errorf("sketch: log %q", errs)
	}
}

// TestMessagesAreCut: a message quotes no more than the beginning of what is wrong, and
// none is longer than a screen.
func TestMessagesAreCut(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	x := strings.Repeat("x", 100000)
	for _, c := range []struct {
		most int
		args []string
	}{
		{300, []string{"--gamma", x}},
		{300, []string{"--gamma", "1", "--rows", x}},
		{300, []string{"--gamma", "1", "--format", x}},
		{300, []string{"--gamma", "1", "--header", x}},
		{300, []string{"--gamma", "1", "--delimiter", x}},
		{500, []string{"--gamma", "1", "--features", "rff:5," + x}},
		{300, []string{"--gamma", "1", "--features", x}},
		{500, []string{"--gamma", "1", "--size", x}},
		{300, []string{"--gamma", "1", x}},
		{400, []string{"--gamma", "1", "--target", "a," + x}},
		{5000, []string{"--gamma", x, "--gamma", x}},
		{400, []string{"--gamma", "1", "--method", x}},
		{500, []string{"--gamma", "1", "--target", "y", "--columns", x}},
		{5000, []string{"--gamma", "1", "--" + x}},
	} {
		code, _, errs := call(append([]string{"fit", "--data", rows}, c.args...)...)
		if code != usage || len(errs) > c.most || len(errs) < 20 {
			t.Errorf("%.30v: exit %d, %d bytes: %.200s", c.args, code, len(errs), errs)
		}
	}
}

// TestFoldsBounded: more folds than there is memory for, or rows, are bad usage at once.
func TestFoldsBounded(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	for folds, want := range map[string]string{
		"1000000000000": "--cv: the sketches of 1000000000000 folds need about ",
		"41":            "fold 41 of 41 has no rows",
	} {
		code, out, errs := call("fit", "--data", rows, "--target", "y", "--gamma", "auto", "--cv", folds, "--size", "2")
		if code != usage || out != "" || !strings.Contains(errs, want) {
			t.Errorf("--cv %s: exit %d, %q, %q", folds, code, out, errs)
		}
	}
}

// first returns the number of the first target.
func first(list any) float64 { return list.([]any)[0].(float64) }

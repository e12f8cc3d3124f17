package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPaperBadInput: exit 2, one line that names what is wrong, and nothing written.
func TestPaperBadInput(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--figures one", "--figures"},
		{"--figures 1,9", "figure 9"},
		{"--gamma -1", "--gamma"},
		{"--gamma 1,x", "--gamma"},
		{"--gamma 1 --gamma 2", "given twice"},
		{"--ratio x", "--ratio"},
		{"--ratio 0.1,0.2,0.3", "ratios"},
		{"--figures 1 --ratio 7", "ratio 7"},
		{"--rows 0", "--rows"},
		{"--rows many", "--rows"},
		{"--size -3", "-3"},
		{"--trials -1", "-1"},
		{"--figures 2 --noise -1", "noise"},
		{"--threads 0", "--threads"},
		{"--seed -1", "seed"},
		{"--unknown", "unknown"},
		{"extra", "extra"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		args := append([]string{"paper", "--quick", "--out", out}, strings.Fields(c.args)...)
		code, stdout, stderr := call(args...)
		if code != usage || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.args, code, stdout, stderr)
		}
		if files, err := filepath.Glob(filepath.Join(out, "*.md")); err != nil || files != nil {
			t.Errorf("%s: wrote %v, %v", c.args, files, err)
		}
	}
	if code, _, stderr := call("paper", "--out", ""); code != usage || !strings.Contains(stderr, "--out") {
		t.Errorf("--out with no name: exit %d, %s", code, stderr)
	}
}

// TestPaper: the flags reach the experiment, the report names the files, and they
// are there.
func TestPaper(t *testing.T) {
	out := filepath.Join(t.TempDir(), "made")
	text := must(
		t,
		"paper",
		"--figures",
		"2",
		"--quick",
		"--json",
		"--out",
		out,
		"--seed",
		"7",
		"--rows",
		"90",
		"--dim",
		"40",
		"--size",
		"10",
		"--gamma",
		"2,0.5,2",
		"--ratio",
		"0.1,0.5",
		"--noise",
		"0.25",
		"--trials",
		"2",
	)
	var rep paperReport
	if err := json.Unmarshal([]byte(text), &rep); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(rep.Figures, []int{2}) || rep.Results != filepath.Join(out, "RESULTS.md") || len(rep.Files) != 5 ||
		rep.TotalTime <= 0 {
		t.Errorf("report %+v", rep)
	}
	for _, name := range rep.Files {
		if info, err := os.Stat(name); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	b, err := os.ReadFile(filepath.Join(out, "figures", "figure2.json"))
	if err != nil {
		t.Fatal(err)
	}
	var record struct {
		Environment struct{ Seed int }
		Settings    map[string]float64
		Rows        [][]any
	}
	if err := json.Unmarshal(b, &record); err != nil {
		t.Fatal(err)
	}
	for k, want := range map[string]float64{"n": 90, "d": 40, "m": 10, "R": 20, "ratio": 0.5, "noise": 0.25, "trials": 2} {
		if record.Settings[k] != want {
			t.Errorf("%s = %v, want %v", k, record.Settings[k], want)
		}
	}
	if record.Environment.Seed != 7 || len(record.Rows) != 2*7 || record.Rows[0][0] != 0.5 {
		t.Errorf("seed %d, %d rows", record.Environment.Seed, len(record.Rows))
	}
	results, err := os.ReadFile(rep.Results)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"fdridge paper", "--quick=true", "--seed 7", "--gamma 2,0.5,2", "Figure 1 was not run"} {
		if !strings.Contains(string(results), want) {
			t.Errorf("RESULTS.md has no %q", want)
		}
	}
	if strings.Contains(string(results), out) {
		t.Error("RESULTS.md names the folder it was made in")
	}
	if text := must(t, append(strings.Fields("paper --figures 1 --quick --rows 90 --dim 40 --size 10 --trials 1 --out"), out)...); !strings.Contains(text, "RESULTS.md") || strings.Contains(text, "{") {
		t.Errorf("for a person: %q", text)
	}
}

// TestPaperInterrupted: exit 1, "interrupted", and neither files nor folders are left but one that was there.
func TestPaperInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out", "deeper")
	var stdout, stderr bytes.Buffer
	code := run(ctx, []string{"paper", "--quick", "--figures", "1", "--out", out}, &stdout, &stderr)
	if code != failed || stderr.String() != "fdridge: interrupted\n" || stdout.Len() > 0 {
		t.Errorf("exit %d, %q, %q", code, stdout.String(), stderr.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("there are %v, %v", left, err)
	}
	if run(ctx, []string{"paper", "--quick", "--figures", "1", "--out", dir}, &stdout, &stderr) != failed {
		t.Errorf("%q", stderr.String())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("in a folder that was there are %v, %v", left, err)
	}
}

// TestPaperZero: a zero that is given is no default, and a list of nothing not all.
func TestPaperZero(t *testing.T) {
	for _, args := range []string{"--size 0", "--dim 0", "--noise 0", "--trials 0", "--iterations 0", "--figures ,"} {
		code, _, errs := call(append([]string{"paper", "--out", t.TempDir()}, strings.Fields(args)...)...)
		if code != usage || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
}

// TestPaperData: the real data come from the named folder, with the requested features and iterations. Missing data
// are an error, and no results are left.
func TestPaperData(t *testing.T) {
	folder, err := filepath.Abs(filepath.Dir(w8a))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir()) // no clone, where data are found by themselves
	must(
		t,
		"paper",
		"--figures",
		"3",
		"--quick",
		"--data",
		folder,
		"--features",
		"rff:128,gamma=0.5",
		"--iterations",
		"3",
	)
	var record struct {
		Settings struct {
			Dim  int
			From string
		}
		Rows [][]any // dataset, gamma, method, iteration, …
	}
	if err := json.Unmarshal([]byte(contents(t, filepath.Join("paper-results", "figures", "figure3.json"))), &record); err != nil {
		t.Fatal(err)
	}
	most := 0.0
	for _, row := range record.Rows {
		most = max(most, row[3].(float64))
	}
	if record.Settings.Dim != 128 || !strings.Contains(record.Settings.From, "rff:128,gamma=0.5") || most != 3 {
		t.Errorf("%+v, %v iterations", record.Settings, most)
	}
	out := filepath.Join(t.TempDir(), "out")
	code, _, errs := call("paper", "--figures", "3", "--quick", "--data", t.TempDir(), "--out", out)
	if _, err := os.Stat(out); !os.IsNotExist(err) {
		t.Errorf("the folder of the results is left: %v", err)
	}
	if code == done || !strings.Contains(errs, "data set not found: looked in") {
		t.Errorf("exit %d, %s", code, errs)
	}
}

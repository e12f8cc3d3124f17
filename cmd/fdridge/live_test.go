package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/live"
)

// lastTold is the last line of JSON of a live sketch.
func lastTold(t *testing.T, out string) (told struct {
	Rows, New_rows, Covered_rows int64
	End                          string
	Next                         *struct{ R2, RMSE []float64 }
	Fit                          *struct{ Gamma, Weight float64 }
}) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return told
}

// linesOf are rows lo to hi of a text, from 1, without its header.
func linesOf(text string, lo, hi int) string {
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[lo:hi+1], "")
}

// TestLiveAnew: a live sketch that cannot go on says all that has to be removed: the one before is gone on from,
// too.
func TestLiveAnew(t *testing.T) {
	t.Chdir(t.TempDir())
	sketch := func(size string) (code int, errs string) {
		code, _, errs = piped(
			t.Context(),
			strings.NewReader(rowsCSV(90)),
			"sketch",
			"--target",
			"y",
			"--every",
			"1h",
			"--data",
			"-",
			"-o",
			"live.fds",
			"--size",
			size,
		)
		return code, errs
	}
	for range 2 {
		if code, errs := sketch("1"); code != done {
			t.Fatalf("exit %d: %s", code, errs)
		}
	}
	for _, left := range []string{"live.fds and live.fds.previous", "live.fds.previous"} {
		code, errs := sketch("2")
		if code != usage || !strings.Contains(errs, "use another --out, or remove "+left+"\n") {
			t.Fatalf("exit %d: %s", code, errs)
		}
		name, _, _ := strings.Cut(left, " ")
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if code, errs := sketch("2"); code != done {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestLiveCommands: solve, predict, plot and merge read the files of live sketches, also of sketches that forget old
// rows. Each command counts the rows that are not forgotten. A run can continue from such a file, also if the file of
// its rows has grown.
func TestLiveCommands(t *testing.T) {
	leaktest.Check(t)
	dir, table := t.TempDir(), rowsCSV(900)
	header, _, _ := strings.Cut(table, "\n")
	file := func(name string) string { return filepath.Join(dir, name) }
	for i, c := range []struct {
		args, rows string
		weight     float64
	}{
		{"", "900 rows", 900},
		{"--lanes 2 --features rff:7,gamma=1,seed=2", "900 rows", 900},
		{"--penalty 2", "900 rows", 900},
		{"--window 100", "100 rows", 100},
		{"--window 10h", "900 rows", 900},
		{"--half-life 50 --gamma 3", "900 rows", 72.636},
		{"--half-life 1000h --gamma 3", "900 rows", 900},
	} {
		name := file(fmt.Sprint("live", i))
		sketch := append(
			[]string{"sketch", "--target", "y", "--size", "2", "--every", "1h", "-o", name},
			strings.Fields(c.args)...)
		if strings.Contains(c.args, "--penalty") {
			sketch[len(sketch)-1] = write(t, "penalty", "2\n3\n")
		}
		for k, rows := range []string{linesOf(table, 1, 400), linesOf(table, 401, 900)} {
			code, out, errs := piped(t.Context(), strings.NewReader(header+"\n"+rows), append(sketch, "--data", "-")...)
			says := fmt.Sprintf("fdridge: continuing from %s with 400 rows: the next row is row 401", name)
			if code != done || strings.HasPrefix(errs, says) != (k > 0) || lastTold(t, out).End != live.EndOfRows {
				t.Fatalf("%s: exit %d, %s%s", c.args, code, out, errs)
			}
			told := lastTold(t, out)
			if k > 0 &&
				(told.Rows != 900 || told.New_rows > 500 || told.Next == nil ||
					!(told.Fit.Weight > 0.99*c.weight && told.Fit.Weight < 1.01*c.weight)) {
				t.Errorf("%s: %s", c.args, out)
			}
		}
		// All rows again: they are there.
		before := contents(t, name)
		code, out, errs := piped(t.Context(), strings.NewReader(table), append(sketch, "--data", "-", "--replay")...)
		if code != done || lastTold(t, out).New_rows != 0 ||
			!strings.Contains(errs, "the first 900 rows of standard input are in it already and are skipped") {
			t.Fatalf("%s: exit %d, %s%s", c.args, code, out, errs)
		}
		if !strings.ContainsAny(c.args, "h") && contents(t, name) != before {
			t.Errorf("%s: the file is another", c.args)
		}
		model := file("model")
		if out := must(t, "solve", name, "--gamma", "1", "--out", model); !strings.HasPrefix(out, c.rows) {
			t.Errorf("%s: %s", c.args, out)
		}
		must(t, "predict", "--model", model, "--data", write(t, "rows.csv", table), "--target", "y", "--interval", name)
		must(t, "plot", name, "--kind", "spectrum", "--out", file("plot.png"))
		merged := file("merged")
		other := file("other")
		if err := os.WriteFile(other, []byte(contents(t, name)), 0o600); err != nil {
			t.Fatal(err)
		}
		if out := must(t, "merge", name, other, "-o", merged); !strings.Contains(out, "rows × ") {
			t.Error(out)
		}
		fades := strings.Contains(c.args, "half-life")
		for _, sketch := range []string{name, merged} {
			for _, args := range []string{"--gamma auto", "--gamma 1 --data " + write(t, "rows.csv", table)} {
				code, _, errs := call(append([]string{"solve", sketch}, strings.Fields(args)...)...)
				if refused := code == usage && strings.Contains(errs, "older rows of "); refused != fades {
					t.Errorf("%s: solve %s: exit %d, %s", c.args, args, code, errs)
				}
			}
		}
	}
	// A file begins anew, and may have grown; and what sketch made of rows is gone on from, too.
	grown, name := file("grown.csv"), file("grown.fds")
	for i, n := range []int{300, 900} {
		if err := os.WriteFile(grown, []byte(header+"\n"+linesOf(table, 1, n)), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"sketch", "--target", "y", "--size", "2", "--data", grown, "-o", name}
		if i > 0 {
			args = append(args, "--every", "1s")
		}
		out := must(t, args...)
		if i > 0 && (lastTold(t, out).Rows != 900 || lastTold(t, out).New_rows != 600) {
			t.Error(out)
		}
	}
	code, out, errs := call(
		"sketch",
		"--target",
		"y",
		"--size",
		"2",
		"--data",
		write(t, "few.csv", header+"\n"+linesOf(table, 1, 5)),
		"--every",
		"1s",
		"-o",
		name,
	)
	if code != usage || !strings.Contains(errs, "the source has 5 rows, but the sketch has 900") ||
		lastTold(t, out).End != live.Failed {
		t.Errorf("exit %d, %s", code, errs)
	}
}

// TestLiveRefused: what a live sketch cannot do is refused before a row is read, and files that are not its own are
// left as they are.
func TestLiveRefused(t *testing.T) {
	dir, table := t.TempDir(), rowsCSV(20)
	name, notes := filepath.Join(dir, "live.fds"), write(t, "notes.txt", "notes of mine, which are no sketch")
	rows := write(t, "rows.csv.previous", table)
	for _, c := range []struct{ args, want string }{
		{"--window 5", "--window: it needs --every"},
		{"--half-life 5", "--half-life: it needs --every"},
		{"--gamma 5", "--gamma: it needs --every"},
		{"--replay", "--replay: it needs --every"},
		{"--every 0s", "--every: 0s, must be 1ms or more"},
		{"--every 1s --standardize", "--standardize: it excludes --every: the means"},
		{"--every 1s --cache " + dir, "--cache: it excludes --every"},
		{"--every 1s --transposed", "--transposed: it reads the rows several times"},
		{"--every 1s --window 5 --half-life 5", "--half-life: it forgets old rows"},
		{"--every 1s --window 0", `--window: "0" is neither a number of rows nor a time`},
		{"--every 1s --window -5m", "is neither a number of rows nor a time"},
		{"--every 1s --half-life soon", "is neither a number of rows nor a time"},
		{"--every 1s --half-life 5", "--gamma: with --half-life give a number"},
		{"--every 1s --gamma 0", `--gamma: "0" is neither a positive number nor auto`},
		{"--every 1s --gamma 1,2", `--gamma: "1,2" is neither a positive number nor auto`},
		{"--every 1s -o " + notes, "--out: " + notes + " is not a sketch"},
	} {
		code, out, errs := piped(
			t.Context(),
			unread{t},
			append([]string{"sketch", "-o", name, "--data", "-"}, strings.Fields(c.args)...)...)
		if code != usage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s%s", c.args, code, out, errs)
		}
	}
	if code, _, errs := call(
		"sketch", "--data", rows, "--every", "1s", "-o", strings.TrimSuffix(rows, ".previous"),
	); code != usage ||
		!strings.Contains(errs, "is an input and would be overwritten") {
		t.Errorf("it would overwrite its rows: exit %d, %s", code, errs)
	}
	if code, _, errs := call("sketch", "--data", rows, "--every", "1s", "--part", "0/2", "-o", name); code != usage ||
		!strings.Contains(errs, "--part: it excludes --every") {
		t.Errorf("a part: exit %d, %s", code, errs)
	}
	part := filepath.Join(dir, "part.fds")
	must(t, "sketch", "--data", rows, "--target", "y", "--part", "0/2", "-o", part)
	if code, _, errs := call("sketch", "--data", rows, "--target", "y", "--every", "1s", "-o", part); code != usage ||
		!strings.Contains(errs, "it has parts of files") {
		t.Errorf("going on from a part: exit %d, %s", code, errs)
	}
	if contents(t, notes) != "notes of mine, which are no sketch" {
		t.Error("they are other notes")
	}
	sketch := func(args string) (int, string) {
		code, _, errs := piped(
			t.Context(),
			strings.NewReader(table),
			append([]string{"sketch", "--data", "-", "--every", "1s", "-o", name}, strings.Fields(args)...)...)
		return code, errs
	}
	if code, errs := sketch("--target y --size 2 --window 10"); code != done {
		t.Fatal(errs)
	}
	before := contents(t, name)
	for args, want := range map[string]string{
		"--target x1 --size 2 --window 10":                                `the target is "y" in one and "x1" in the other`,
		"--target y --size 2 --window 10 --features rff:2,gamma=1,seed=1": "the columns or features differ",
		"--target y --size 2 " +
			"--window 11": "it is of the last 10 rows; requested are the last 11 rows",
		"--target y --size 2":                       "it is of the last 10 rows; requested are all rows",
		"--target y --size 3 --window 10":           "size 2 and intercept true; requested are 2 and 1, 3 and true",
		"--target y --size 2 --window 10 --lanes 2": "--lanes: a window has one lane",
	} {
		if code, errs := sketch(args); code != usage || !strings.Contains(errs, want) || contents(t, name) != before {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	headed, headless := write(t, "headed.csv", table), write(t, "headless.csv", table[strings.Index(table, "\n")+1:])
	last := []string{"sketch", "--target", "last", "--every", "1s", "-o", filepath.Join(dir, "last.fds"), "--data"}
	must(t, append(last, headed)...)
	if code, _, errs := call(append(last, headless)...); code != usage ||
		!strings.Contains(errs, "without names in the other") {
		t.Errorf("rows without the header that the first had: exit %d, %s", code, errs)
	}
	if code, _, errs := piped(
		t.Context(), strings.NewReader("1 1:2\n"), "sketch", "--data", "-", "--every", "1s", "-o", name+"2",
	); code != usage ||
		!strings.Contains(errs, "by --n-features") {
		t.Errorf("svmlight: exit %d, %s", code, errs)
	}
	if code, _, errs := piped(
		t.Context(), strings.NewReader("x,y\n"), "sketch", "--data", "-", "--every", "1s", "-o", name+"2",
	); code != usage {
		t.Errorf("no rows: exit %d, %s", code, errs)
	}
	if left, err := filepath.Glob(name + "2*"); err != nil || len(left) > 0 {
		t.Errorf("there are %v", left)
	}
}

// TestLiveAlone: while one run writes a file, another run is refused before it reads a row. Other commands that would
// replace the file are refused, too. A run whose pipe stalls can be interrupted, and its file then has the rows that
// had arrived.
func TestLiveAlone(t *testing.T) {
	leaktest.Check(t)
	name := filepath.Join(t.TempDir(), "live.fds")
	args := []string{"sketch", "--data", "-", "--target", "y", "--every", "5ms", "-o", name}
	in, rows := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan string)
	go func() {
		code, out, errs := piped(ctx, in, args...)
		if code != done || errs != "" || lastTold(t, out).End != live.Stopped || lastTold(t, out).Rows != 50 {
			t.Errorf("exit %d, %s%s", code, out, errs)
		}
		close(ended)
	}()
	io.WriteString(rows, rowsCSV(50))
	for { // until all are in the file
		if code, out, _ := call("solve", name, "--gamma", "1"); code == done && strings.HasPrefix(out, "50 rows") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if code, _, errs := piped(t.Context(), unread{t}, args...); code == done ||
		!strings.Contains(errs, name+".lock is locked by process") {
		t.Errorf("exit %d, %s", code, errs)
	}
	before, table := contents(t, name), write(t, "rows.csv", rowsCSV(60))
	other := filepath.Join(t.TempDir(), "other.fds")
	must(t, "sketch", "--data", table, "--target", "y", "--out", other)
	for _, args := range []string{
		"sketch --data " + table + " --target y --out ", "merge " + name + " " + other + " --out ",
		"fit --data " + table + " --target y --gamma 1 --save-sketch ",
		"fit --data " + table + " --target y --gamma 1 --out ",
	} {
		code, _, errs := call(append(strings.Fields(args), name)...)
		if code == done || !strings.Contains(errs, name+".lock is locked by process") || contents(t, name) != before {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
	}
	interrupt()
	<-ended
	rows.Close()
	must(t, "sketch", "--data", table, "--target", "y", "--out", name)
	if left, err := filepath.Glob(name + "*"); err != nil || len(left) > 2 {
		t.Errorf("there are %v, %v", left, err)
	}
}

// TestLivePipedAsFile: a live sketch of a pipe has the bits of one of a file, however the rows arrive and however
// often the file is written meanwhile.
func TestLivePipedAsFile(t *testing.T) {
	dir, table := t.TempDir(), rowsCSV(3000)
	rows := write(t, "rows.csv", table)
	for _, more := range []string{"", "--rows 5:2900", "--half-life 700 --gamma 1"} {
		args := append(
			strings.Fields(more),
			"sketch",
			"--target",
			"y",
			"--size",
			"20",
			"--features",
			"rff:1000,gamma=0.5,seed=1",
			"-o",
		)
		file, pipe := filepath.Join(dir, "file"+more), filepath.Join(dir, "pipe"+more)
		must(t, append(args, file, "--every", "1h", "--data", rows)...)
		in, feed := io.Pipe()
		go func() {
			for lo := 0; lo < len(table); lo += 7919 {
				io.WriteString(feed, table[lo:min(lo+7919, len(table))])
			}
			feed.Close()
		}()
		code, _, errs := piped(t.Context(), in, append(args, pipe, "--every", "1ms", "--data", "-")...)
		if code != done {
			t.Fatalf("exit %d, %s", code, errs)
		}
		if contents(t, file) != contents(t, pipe) {
			t.Errorf("%q: other bits", more)
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// piped runs a command whose standard input is in.
func piped(ctx context.Context, in io.Reader, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(ctx, args, byMPI, in, &out, &errs)
	return code, out.String(), errs.String()
}

// TestPipedCommands: what comes through standard input gives the same bits as a file.
func TestPipedCommands(t *testing.T) {
	leaktest.Check(t)
	dir, table := t.TempDir(), rowsCSV(3000)
	rows := write(t, "rows.csv", table)
	sparse := &strings.Builder{}
	for i := range 500 {
		fmt.Fprintf(sparse, "%d 1:%d 4:%d\n", i%3, i%5, i%7-3)
	}
	sparseRows := write(t, "rows.svm", sparse.String())
	same := func(text, data string, args ...string) {
		t.Helper()
		a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
		must(t, append(args, "--data", data, "--out", a)...)
		code, _, errs := piped(t.Context(), strings.NewReader(text), append(args, "--data", "-", "--out", b)...)
		if code != done {
			t.Fatalf("%v: exit %d, %s", args, code, errs)
		}
		if contents(t, a) != contents(t, b) {
			t.Errorf("%v: other bits", args)
		}
	}
	same(table, rows, "sketch", "--target", "y")
	same(table, rows, "sketch", "--target", "y", "--standardize", "--cache", dir)
	same(sparse.String(), sparseRows, "sketch", "--n-features", "4")
	same(
		table,
		rows,
		"fit",
		"--target",
		"y",
		"--gamma",
		"1,10",
		"--method",
		"one-shot",
		"--features",
		"rff:20,gamma=0.5,seed=1",
	)
	same(table, rows, "fit", "--target", "y", "--gamma", "1", "--method", "cg", "--standardize", "--cache", dir)
	same(table, rows, "fit", "--target", "y", "--gamma", "1", "--rows", "5:900", "--method", "exact")
	model, sketch := filepath.Join(dir, "m"), filepath.Join(dir, "s")
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--rows", "5:900", "--out", model)
	must(t, "sketch", "--data", rows, "--target", "y", "--rows", "5:900", "-o", sketch)
	same(table, rows, "predict", "--model", model, "--target", "y", "--interval", sketch)

	code, out, errs := piped(
		t.Context(),
		strings.NewReader(table),
		"fit",
		"--data",
		"-",
		"--target",
		"y",
		"--gamma",
		"auto",
	)
	if code != done ||
		!strings.Contains(out, "method exact (tridiagonal): the rows can be read only once, and d² numbers fit") {
		t.Errorf("auto: exit %d, %s%s", code, out, errs)
	}
	code, out, errs = piped(
		t.Context(),
		strings.NewReader(table),
		"fit",
		"--data",
		"-",
		"--target",
		"y",
		"--gamma",
		"1",
		"--save-sketch",
		filepath.Join(dir, "s"),
	)
	if code != done ||
		!strings.Contains(out, "method one-shot: the rows can be read only once, and --save-sketch writes a sketch") {
		t.Errorf("auto, kept: exit %d, %s%s", code, out, errs)
	}
}

// unread fails whoever reads it.
type unread struct{ t *testing.T }

func (r unread) Read([]byte) (int, error) {
	r.t.Error("it was read")
	return 0, io.EOF
}

// TestPipedCut checks that each command notes that a pipe may be cut inside its last number.
func TestPipedCut(t *testing.T) {
	dir := t.TempDir()
	text := "a,y\n1,10.25\n2,20.50\n3,30.75\n4,41.25\n5,5"
	path := write(t, "rows.csv", text+"0.00\n")
	model := filepath.Join(dir, "model.json")
	must(t, "fit", "--data", path, "--target", "y", "--gamma", "1", "--out", model)
	for _, command := range []string{
		"fit --gamma 1",
		"fit --gamma 1 --standardize --cache " + dir,
		"sketch --out " + filepath.Join(dir, "rows.fds"),
		"sketch --every 1h --out " + filepath.Join(dir, "live.fds"),
		"predict --model " + model,
	} {
		args := append(strings.Fields(command), "--data", "-", "--target", "y")
		code, _, errs := piped(t.Context(), strings.NewReader(text), args...)
		const note = "note: standard input: the last line has no line end, and its last number (5)"
		if code != done || !strings.Contains(errs, note) {
			t.Errorf("%s: exit %d, %s", command, code, errs)
		}
		code, _, errs = piped(t.Context(), strings.NewReader(text+"0.00\n"), args...)
		if strings.Contains(errs, "line end") {
			t.Errorf("%s: a whole text: exit %d, %s", command, code, errs)
		}
	}
}

// TestPipedRefused: what reads rows again is refused before any is read, with the ways out.
func TestPipedRefused(t *testing.T) {
	dir, table := t.TempDir(), rowsCSV(60)
	rows := write(t, "rows.csv", table)
	sketch, model, out := filepath.Join(dir, "s"), filepath.Join(dir, "m"), filepath.Join(dir, "out")
	must(t, "sketch", "--data", rows, "--target", "y", "-o", sketch)
	must(t, "solve", sketch, "--gamma", "1", "--out", model)
	for _, c := range []struct{ command, want string }{
		{
			"fit --gamma 1 --standardize",
			"--standardize: it needs another pass over the rows, and standard input can be read only once: use --cache DIR",
		},
		{"fit --gamma 1 --checkpoint " + out, "--checkpoint: a resumed run reads the rows again"},
		{"fit --gamma 1 --mpi", "--mpi: ranks share files"},
		{"fit --gamma 1 --cache " + dir + " --cache-keep", "--cache-keep: a later run cannot know"},
		{"fit --gamma 1 --transposed", "--transposed: it reads the rows several times"},
		{"sketch --standardize -o " + out, "--standardize: it needs another pass over the rows"},
		{"plan", "plan reads rows several times"},
		{"solve --gamma 1 " + sketch, "refining needs several passes"},
	} {
		for _, data := range []string{"-", rows + ",-"} {
			code, printed, errs := piped(t.Context(), unread{t}, append(strings.Fields(c.command), "--data", data)...)
			want := c.want
			if data != "-" && !strings.Contains(errs, want) {
				want = "standard input cannot be combined"
			}
			if code != usage || printed != "" || !strings.Contains(errs, want) {
				t.Errorf("%s --data %s: exit %d, %s", c.command, data, code, errs)
			}
		}
	}
	for _, c := range []struct{ command, text, want string }{ // refused after a look at the first rows
		{
			"fit --target y --gamma 1 --method cg", table,
			"method cg needs another pass over the rows, and standard input can be read only once: use --method one-shot, " +
				"which needs one pass, or --cache DIR",
		},
		{"fit --target y --gamma auto --select loo", table, "leave-one-out errors needs another pass"},
		{"fit --target y --gamma 1 --strict --save-sketch " + out, table, "--strict: --method one-shot has no tolerance"},
		{
			"fit --gamma 1", "1 1:2\n2 3:4\n",
			"standard input is svmlight and can be read only once: give the number of features by --n-features",
		},
		{"predict --model " + model, "a,b\n1,2,3\n", "standard input"},
		{"sketch --target y -o " + out, table + "1,2", "standard input:62:"},
	} {
		code, printed, errs := piped(
			t.Context(),
			strings.NewReader(c.text),
			append(strings.Fields(c.command), "--data", "-")...)
		if code != usage || printed != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", c.command, code, errs)
		}
	}
	t.Chdir(dir)
	if err := os.WriteFile("-", []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "sketch", "--data", "./-", "--target", "y", "-o", "out")
}

// TestPipedPredictions: each row has its prediction before the next one is written.
func TestPipedPredictions(t *testing.T) {
	leaktest.Check(t)
	table := rowsCSV(60)
	rows, model := write(t, "rows.csv", table), filepath.Join(t.TempDir(), "m")
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--out", model)
	want := strings.SplitAfter(must(t, "predict", "--model", model, "--data", rows, "--target", "y"), "\n")
	in, to := io.Pipe()
	from, out := io.Pipe()
	code := make(chan int)
	go func() {
		var errs bytes.Buffer
		c := execute(
			t.Context(),
			[]string{"predict", "--model", model, "--data", "-", "--target", "y"},
			byMPI,
			in,
			out,
			&errs,
		)
		_ = out.Close()
		code <- c
	}()
	lines := strings.SplitAfter(table, "\n")
	answers := bufio.NewReader(from)
	for i, line := range lines[1:61] {
		if i == 0 {
			line = lines[0] + line
		}
		if _, err := io.WriteString(to, line); err != nil {
			t.Fatal(err)
		}
		if got, err := answers.ReadString('\n'); err != nil || got != want[i] {
			t.Fatalf("row %d: %q, %v; want %q", i+1, got, err, want[i])
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if c := <-code; c != done {
		t.Errorf("exit %d", c)
	}
}

// TestPipeHangs: an interrupt ends a command whose pipe hangs, at its beginning or amid the rows.
func TestPipeHangs(t *testing.T) {
	leaktest.Check(t)
	table := rowsCSV(60)
	model := filepath.Join(t.TempDir(), "m")
	must(t, "fit", "--data", write(t, "rows.csv", table), "--target", "y", "--gamma", "1", "--out", model)
	for _, command := range []string{
		"fit --target y --gamma 1", "sketch --target y -o " + model + "s", "predict --target y --model " + model,
	} {
		for _, head := range []string{"", "a,b", table} {
			from, to := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				_, _ = io.WriteString(to, head) // it may end before it is read
				time.Sleep(20 * time.Millisecond)
				cancel()
			}()
			if head == "" {
				time.AfterFunc(20*time.Millisecond, cancel)
			}
			code, _, errs := piped(ctx, from, append(strings.Fields(command), "--data", "-")...)
			if code != failed || !strings.Contains(errs, "interrupted") {
				t.Errorf("%s after %d bytes: exit %d, %s", command, len(head), code, errs)
			}
			cancel()
			_, _ = to.Close(), from.Close()
		}
	}
}

// TestArrowPredictions: a file and a stream of Arrow have what the lines have, and a row that comes
// through a pipe its batch before the next one is written.
func TestArrowPredictions(t *testing.T) {
	dir, table := t.TempDir(), rowsCSV(200)
	rows := write(t, "rows.csv", table)
	model, sketch := filepath.Join(dir, "m"), filepath.Join(dir, "s")
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--out", model, "--save-sketch", sketch)
	for _, with := range [][]string{nil, {"--interval", sketch}} {
		args := append([]string{"predict", "--model", model, "--data", rows, "--target", "y"}, with...)
		lines := must(t, args...)
		for name, as := range map[string]string{"p.arrow": "auto", "p.arrows": "auto", "p": "arrow", "q": "arrows"} {
			out := filepath.Join(dir, name)
			must(t, append(args, "--out", out, "--out-format", as)...)
			opened, err := file.Open([]string{out}, file.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if want := []string{"prediction", "low", "high"}[:1+len(with)]; !slices.Equal(opened.Names, want) {
				t.Errorf("%s: columns %v, want %v", name, opened.Names, want)
			}
			var got strings.Builder
			for b, err := range opened.Blocks(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range b.X {
					fmt.Fprint(
						&got,
						strconv.FormatFloat(v, 'g', -1, 64),
						map[bool]string{true: "\n", false: ","}[(i+1)%opened.Features == 0],
					)
				}
			}
			if got.String() != lines {
				t.Errorf("%s: other numbers than in lines", name)
			}
		}
		code, stdout, errs := call(append(args, "--out-format", "arrows")...)
		if code != done || stdout != contents(t, filepath.Join(dir, "q")) {
			t.Errorf("to standard output: exit %d, %d bytes, %s", code, len(stdout), errs)
		}
	}
	for _, c := range []struct{ flags, want string }{
		{"--out-format xlsx", "--out-format: \"xlsx\" must be one of"},
		{"--out-format csv --json", "--out-format: csv has numbers, not the text of --json"},
		{"--out-format arrows --json", "--out-format: arrows has numbers, not the text of --json"},
	} {
		code, _, errs := call(
			append(
				[]string{"predict", "--model", model, "--data", rows, "--target", "y"},
				strings.Fields(c.flags)...)...)
		if code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, %s", c.flags, code, errs)
		}
	}
}

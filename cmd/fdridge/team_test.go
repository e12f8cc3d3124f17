//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/engine"
)

// A thread is a rank in this process.
type thread struct{ dist.Transport }

func (t thread) Finalize() error { return t.Barrier(context.Background()) }

// rankName is the checkpoint of a rank.
func rankName(name string, rank, size int) string {
	return fmt.Sprintf("%s.rank%d-of-%d", name, rank, size)
}

// An ended has the exit code and the output of a rank.
type ended struct {
	code           int
	stdout, stderr string
}

// ranks runs a command line by so many ranks in this process. OpenBLAS gives each of
// them as many threads as are free at the moment, and so not the same bits: there
// TestMPI has processes.
func ranks(t *testing.T, ctx context.Context, n int, args func(rank int) []string) []ended {
	t.Helper()
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	if !be.Accuracy().Reproducible {
		t.Skipf(
			"the ranks of one process would share the threads of %s; see TestMPI, with -tags openblas,mpi",
			be.Name(),
		)
	}
	out := make([]ended, n)
	var all sync.WaitGroup
	for rank, own := range dist.Loopback(n) {
		all.Go(func() {
			var stdout, stderr bytes.Buffer
			join := joiner{join: func() (link, error) { return thread{own}, nil }}
			code := execute(ctx, args(rank), join, strings.NewReader(""), &stdout, &stderr)
			out[rank] = ended{code, stdout.String(), stderr.String()}
		})
	}
	all.Wait()
	return out
}

// mustRanks runs fit on n ranks with the same arguments and fails the test if a rank fails. It returns what rank 0
// prints.
func mustRanks(t *testing.T, n int, args ...string) string {
	t.Helper()
	args = append(slices.Clip(args), "--mpi")
	out := ranks(t, t.Context(), n, func(int) []string { return args })
	for rank, e := range out {
		if e.code != done || e.stderr != "" || (rank > 0 && e.stdout != "") {
			t.Fatalf("%v: rank %d of %d: exit %d, %q, %q", args, rank, n, e.code, e.stdout, e.stderr)
		}
	}
	return out[0].stdout
}

func apart(x, y []float64) float64 {
	if len(x) != len(y) {
		return math.Inf(1)
	}
	off, size := 0.0, 0.0
	for i := range x {
		off, size = math.Hypot(off, x[i]-y[i]), math.Hypot(size, y[i])
	}
	return off / size
}

// shared writes n rows of d features and two targets as rows.csv, rows.csv.gz and rows.npy. The second target can also
// serve as a sample weight. It also writes pairs.svm, penalty.csv and weights.csv.
func shared(t *testing.T, n int) {
	t.Helper()
	const d = 12
	rng := rand.New(rand.NewPCG(4, 4))
	var text, pairs strings.Builder
	var data []byte
	for i := range n {
		y, row := rng.NormFloat64(), make([]float64, d+2)
		fmt.Fprint(&pairs, i%2)
		for j := range d {
			row[j] = rng.NormFloat64() * math.Pow(2, -float64(j)/2)
			y += row[j]
			if rng.IntN(4) == 0 {
				fmt.Fprintf(&pairs, " %d:%v", j+1, row[j])
			}
		}
		row[d], row[d+1] = y, rng.Float64()+y*y/9
		for j, v := range row {
			fmt.Fprintf(&text, "%v%c", v, ",\n"[(j+1)/(d+2)])
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
		}
		pairs.WriteByte('\n')
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(text.String())); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"rows.csv": text.String(), "rows.csv.gz": packed.String(), "pairs.svm": pairs.String(),
		"penalty.csv": strings.Repeat("2\n", d), "weights.csv": strings.Repeat("1\n0.5\n", n/2),
		"rows.npy": npyHead("<f8", n, d+2) + string(data),
	} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// rankCommands moves to a folder with files and returns flags of fit for these files. With each of these flags several
// ranks must find the weights that one process finds.
func rankCommands(t *testing.T) []string {
	t.Helper()
	foreign, err := filepath.Abs("../../dataset/parquet/testdata/duckdb-v1-snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	shared(t, 1400)
	const least = " --size 4 --method cg --gamma 30 --tol 4e-11"
	return []string{
		"--data rows.npy --target 13 --columns -14" + least,
		"--data rows.npy --target 13 --columns -14 --size 4 --method galerkin --gamma 10,30,100 --tol 4e-11",
		"--data rows.npy --target 13,14 --method cg --size 8 --gamma 300 --tol 4e-11",
		"--data rows.npy --target 13 --columns -14 --weights weights.csv --intercept=false" + least,
		"--data rows.csv --target 13 --columns -14 --weights weights.csv --intercept=false" + least,
		"--data rows.csv --target weights.csv" + least,
		"--data rows.csv.gz --target weights.csv --weights weights.csv" + least,
		"--data pairs.svm --target weights.csv" + least,
		"--data rows.npy --target 13 --columns -14 --rows 7:1301 --standardize" + least,
		"--data " + foreign + " --columns double,float,int16 --target int32 --standardize" + least,
		"--data rows.csv --target 13 --weights 14 --standardize" + least,
		"--data rows.csv,rows.csv.gz,rows.csv --target 13 --columns -14" + least,
		"--data rows.csv --target 13 --columns -14 --features rff:30,gamma=0.01,seed=1" + least,
		"--data pairs.svm --method newton --size 6 --gamma 300 --tol 4e-11",
		"--data pairs.svm,pairs.svm --features poly:2 --standardize --size 20 --gamma 300 --method auto --tol 4e-11",
		"--data rows.npy --target 13 --columns -14 --penalty penalty.csv --gamma auto --size 12 --method auto --tol 4e-11",
		"--data rows.npy --target 13 --columns -14 --gamma auto --select loo --size 3 --method cg --tol 4e-11",
		"--data rows.npy --target 13 --columns -14 --gamma 1,100 --method one-shot --size 12",
		"--data rows.npy --target 13 --columns -14 --gamma auto:30 --cv 2 --size 12 --method cg --tol 4e-11",
		"--data rows.npy --target 13 --columns -14 --unpenalized 2,5" + least,
		"--data pairs.svm --classes --size 12 --gamma 300 --method cg --tol 4e-11",
	}
}

// fitAlone fits by one process, and iterates as several do, and returns the weights.
func fitAlone(t *testing.T, flags string) []float64 {
	t.Helper()
	args := append([]string{"fit", "--out", "alone.json"}, strings.Fields(flags)...)
	if strings.Contains(flags, "--method auto") { // which takes exact alone
		args = append(args, "--save-sketch", "alone.fds")
	}
	must(t, args...)
	return weights(t, "alone.json")
}

// TestRanks: one to seven ranks find the weights of one process, whatever the file and
// what is made of it, and report all of themselves.
func TestRanks(t *testing.T) {
	thorough := os.Getenv("FDRIDGE_THOROUGH") != ""
	for i, c := range rankCommands(t) {
		numbers := []int{2, []int{1, 7}[i%2]}
		if thorough {
			numbers = []int{1, 2, 3, 4, 7}
		}
		want := fitAlone(t, c)
		args := append([]string{"fit", "--json", "--out", "ranks.json"}, strings.Fields(c)...)
		for _, n := range numbers {
			var rep struct {
				N, NNZ int64
				Ranks  []report.Rank
			}
			if err := json.Unmarshal([]byte(mustRanks(t, n, args...)), &rep); err != nil {
				t.Fatal(err)
			}
			if e := apart(weights(t, "ranks.json"), want); !(e <= 1e-10) {
				t.Errorf("%s: %d ranks find other weights, %g away", c, n, e)
			}
			rows := int64(0)
			for rank, k := range rep.Ranks {
				rows += k.Rows
				if k.Rank != rank || !(k.Share >= 0 && k.Share <= 1) || (n > 1 && k.Sent == 0) {
					t.Errorf("%s: rank %d of %d: %+v", c, rank, n, k)
				}
			}
			if len(rep.Ranks) != n || rows != rep.N || rep.NNZ == 0 {
				t.Errorf(
					"%s: %d ranks report %d, %d rows of %d, %d nonzeros",
					c,
					n,
					len(rep.Ranks),
					rows,
					rep.N,
					rep.NNZ,
				)
			}
		}
	}
}

// TestRanksForgotten: processes of an MPI job that are not told so don't each fit all.
func TestRanksForgotten(t *testing.T) {
	args := []string{"fit", "--data", housing, "--target", "last", "--gamma", "1"}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "1")
	must(t, args...)
	t.Setenv("PMI_SIZE", "3")
	if code, _, errs := call(args...); code != usage ||
		!strings.Contains(errs, "one of 3 processes of an MPI job (PMI_SIZE)") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// TestRanksRefused: what several ranks cannot do, at all or with these files, is an error with its reason. If one rank
// finds an error in its rows, all ranks end, and the error names the file and the place.
func TestRanksRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 200)
	text := contents(t, "rows.csv")
	bad := replaceLine(text, 170, "1,2,x"+strings.Repeat(",3", 11))
	if err := os.WriteFile("bad.csv", []byte(bad), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, header := range map[string]string{"named.csv": "x1,x2,y", "other.csv": "x1,x3,y"} {
		if err := os.WriteFile(name, []byte(replaceLine(rowsCSV(40), 1, header)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const least = " --gamma 1 --size 4"
	for args, want := range map[string]string{
		"--data rows.csv --target 13 --method exact --gamma 1": "--mpi, --method: a direct method, which gamma = " +
			"0 needs, runs on one machine",
		"--data rows.csv --target 13 --rows 1:100" + least: "--rows: with --mpi",
		"--data pairs.svm --rows 1:100" + least:            "pairs.svm (svmlight) does not have: use npy",
		"--data named.csv,other.csv,other.csv --target y" +
			least: `other.csv: its columns differ from those of named.csv: feature 2 is "x3", not "x2" (files`,
		"--data named.csv,rows.csv,named.csv --target last" +
			least: "rows.csv: has 13 features and 1 targets, named.csv has 2 and 1 (files 2 and 1 of the list)",
		"--data rows.csv,named.csv,named.csv --target last" +
			least: "rows.csv: has 13 features and 1 targets, named.csv has 2 and 1 (files 1 and 2 of the list)",
		"--data rows.csv,rows.npy,rows.npy --target last" + least:       "rows.npy: is npy, but rows.csv is csv (files",
		"--data none.csv --target 13" + least:                           "none.csv: no such file",
		"--data bad.csv --target 13" + least:                            "bad.csv:170:5: column 3: \"x\" is not a number",
		"--data rows.npy --target 13 --rows 150:300" + least:            "there are only 200",
		"--data rows.csv --target 13 --checkpoint no/ck --gamma 1":      "no such folder",
		"--data rows.csv --target 13 --gamma 1 --size 4 --max-passes 1": "tolerance not reached",
		"--data rows.npy --target 13 --gamma 1e-300 --method one-shot":  "gamma is 1e-300",
	} {
		out := ranks(
			t,
			t.Context(),
			3,
			func(int) []string { return append([]string{"fit", "--mpi"}, strings.Fields(args)...) },
		)
		told := 0
		for rank, e := range out {
			if e.code == done {
				t.Errorf("%s: rank %d ends well", args, rank)
			}
			if strings.Contains(e.stderr, want) {
				told++
			} else if e.stderr != "" {
				t.Errorf("%s: rank %d says %q", args, rank, e.stderr)
			}
		}
		if told == 0 {
			t.Errorf("%s: %+v, must say %q", args, out, want)
		}
	}
	out := ranks(t, t.Context(), 3, func(rank int) []string {
		return strings.Fields(fmt.Sprintf("fit --mpi --data rows.csv --target 13 --gamma %d --size 4", 1+rank/2))
	})
	if !strings.Contains(out[0].stderr+out[2].stderr, "rank 2 has") || out[1].code == done {
		t.Errorf("ranks with another gamma: %+v", out)
	}
}

// TestRanksShort: all ranks end alike where the tolerance is not reached, and rank 0 alone tells,
// before the passes and after them, and writes.
func TestRanksShort(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 200)
	for flag, want := range map[string]int{"": short, "--strict": failed} {
		args := strings.Fields(
			"fit --mpi --data rows.csv --target 13 --gamma 1 --size 4 --method cg --tol 1e-40 --out model.json " + flag,
		)
		out := ranks(t, t.Context(), 3, func(int) []string { return args })
		for rank, e := range out {
			if e.code != want || (rank > 0) != (e.stderr == "") {
				t.Errorf("%v: rank %d ends with %d and says %q", args, rank, e.code, e.stderr)
			}
		}
		if lines := strings.Split(out[0].stderr, "\n"); len(lines) != 3 ||
			!strings.Contains(lines[0], "may not be reached") ||
			!strings.Contains(lines[1], "tolerance not reached") {
			t.Errorf("rank 0 says %q", out[0].stderr)
		}
		if _, err := os.Stat("model.json"); (err == nil) != (want == short) {
			t.Errorf("%v: the model: %v", args, err)
		}
		os.Remove("model.json")
	}
}

// TestRanksNames: if only the first file of a list has a header, all ranks use the names in that header. If only
// another file has one, the ranks use the names that one process uses.
func TestRanksNames(t *testing.T) {
	t.Chdir(t.TempDir())
	text := replaceLine(rowsCSV(40), 1, "x1,café,y")
	header, rows, _ := strings.Cut(text, "\n")
	half := len(rows)/2 + strings.Index(rows[len(rows)/2:], "\n") + 1
	for name, part := range map[string]string{"all": text, "a": header + "\n" + rows[:half], "b": rows[half:]} {
		if err := os.WriteFile(name+".csv", []byte(part), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, data := range []string{"all.csv", "a.csv,b.csv", "b.csv,a.csv"} {
		args := []string{
			"fit",
			"--data",
			data,
			"--target",
			"last",
			"--gamma",
			"1",
			"--size",
			"2",
			"--method",
			"cg",
			"--tol",
			"1e-11",
			"--out",
		}
		must(t, append(args, "alone.json")...)
		mustRanks(t, 2, append(args, "ranks.json")...)
		if e := apart(weights(t, "ranks.json"), weights(t, "alone.json")); !(e <= 1e-10) {
			t.Errorf("%s: %g away", data, e)
		}
		var names [2][]string
		for i, name := range []string{"ranks.json", "alone.json"} {
			m, err := readModel("", name)
			if err != nil {
				t.Fatal(err)
			}
			names[i] = m.Preparation.Names
		}
		if len(names[1]) != 2 || !slices.Equal(names[0], names[1]) {
			t.Errorf("%s: the features are %q, alone %q", data, names[0], names[1])
		}
	}
}

// TestRanksTraffic: a pass costs each rank what ridge.Reducer says, 8·(q·(d+2)+11) bytes
// for q systems, counted by the transport.
func TestRanksTraffic(t *testing.T) {
	const d = 12
	t.Chdir(t.TempDir())
	shared(t, 300)
	sent := func(q, n, passes int) (out []int64) {
		gammas := []string{"0.1", "0.2", "0.3"}[:q]
		args := fmt.Sprintf(
			"fit --mpi --json --data rows.npy --target 13 --columns -14 --size 2 --method cg --gamma %s --max-passes %d",
			strings.Join(gammas, ","),
			passes,
		)
		var rep struct{ Ranks []report.Rank }
		err := json.Unmarshal(
			[]byte(ranks(t, t.Context(), n, func(int) []string { return strings.Fields(args) })[0].stdout),
			&rep,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range rep.Ranks {
			out = append(out, k.Sent, k.Received)
		}
		return out
	}
	for _, q := range []int{1, 3} {
		for _, n := range []int{2, 5} {
			two, three := sent(q, n, 2), sent(q, n, 3)
			if len(two) != 2*n {
				t.Fatalf("%d numbers of %d ranks", len(two), n)
			}
			for i := range two {
				if got, want := three[i]-two[i], int64(8*(q*(d+2)+11)); got != want {
					t.Errorf("%d systems: a pass costs rank %d of %d %d bytes, not %d", q, i/2, n, got, want)
				}
			}
		}
	}
}

// TestRanksReport: the text and the page tell of the ranks, and more ranks than rows do
// no harm.
func TestRanksReport(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("few.csv", []byte(rowsCSV(4)), 0o600); err != nil {
		t.Fatal(err)
	}
	out := mustRanks(
		t,
		7,
		strings.Fields(
			"fit --data few.csv --target y --gamma 1 --size 2 --report page.html --coef coef.npy --save-sketch all.fds",
		)...)
	for _, want := range []string{
		"4 rows × 2 features", "method galerkin: several ranks share the rows", "rank  rows  seconds  communicating",
		"\n6     ",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	if page := contents(t, "page.html"); !strings.Contains(page, "7, each with a share of the rows") {
		t.Error("the page says nothing of the ranks")
	}
	if solved := must(t, "solve", "all.fds", "--gamma", "1"); !strings.Contains(solved, "4 rows × 2 features") {
		t.Errorf("the sketch is not of all rows: %s", solved)
	}
}

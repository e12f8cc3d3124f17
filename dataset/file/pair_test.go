package file_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	arrays "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// must returns v, or ends the test with err.
func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// A gapTable is a table of random numbers with missing values, which are NaN.
type gapTable struct {
	rng   *rand.Rand
	n     int
	names []string
	x     []float64 // row-major
}

func newGapTable(rng *rand.Rand, n, cols int, gaps float64) *gapTable {
	t := &gapTable{rng: rng, n: n}
	for j := range cols {
		t.names = append(t.names, fmt.Sprint("c", j))
	}
	for range n * cols {
		v := float64(rng.IntN(1000))
		if rng.Float64() < gaps {
			v = math.NaN()
		}
		t.x = append(t.x, v)
	}
	return t
}

// columns returns the table of columns lo to hi−1.
func (g *gapTable) columns(lo, hi int) *gapTable {
	out := &gapTable{rng: g.rng, n: g.n, names: g.names[lo:hi]}
	for i := range g.n {
		out.x = append(out.x, g.x[i*len(g.names):][lo:hi]...)
	}
	return out
}

// rows returns the first n rows, or as many rows with the last row repeated.
func (g *gapTable) rows(n int) *gapTable {
	out := &gapTable{rng: g.rng, n: n, names: g.names}
	for i := range n {
		out.x = append(out.x, g.x[min(i, g.n-1)*len(g.names):][:len(g.names)]...)
	}
	return out
}

func (g *gapTable) csv() string {
	var out strings.Builder
	out.WriteString(strings.Join(g.names, ",") + "\n")
	gaps := []string{"", `""`, "NA", "nan", " ", "null", `" "`}
	for i := range g.n {
		for j := range g.names {
			if j > 0 {
				out.WriteByte(',')
			}
			if v := g.x[i*len(g.names)+j]; v == v {
				out.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
				continue
			}
			gap := gaps[g.rng.IntN(len(gaps))]
			if i == g.n-1 && gap == "" { // an empty line at the end is no row
				gap = `""`
			}
			out.WriteString(gap)
		}
		out.WriteByte('\n')
	}
	if len(g.names) == 1 {
		out.WriteString(strings.Repeat("\n", g.rng.IntN(3)))
	}
	return out.String()
}

func (g *gapTable) jsonLines() string {
	var out strings.Builder
	for i := range g.n {
		for j, name := range g.names {
			out.WriteByte("{,"[min(j, 1)])
			if v := g.x[i*len(g.names)+j]; v == v {
				fmt.Fprintf(&out, "%q:%v", name, v)
			} else {
				fmt.Fprintf(&out, "%q:%s", name, []string{"null", `""`, `"NA"`}[g.rng.IntN(3)])
			}
		}
		out.WriteString("}\n")
	}
	return out.String()
}

func (g *gapTable) npy(order string) string {
	x := slices.Clone(g.x)
	if order == "True" {
		for i := range g.n {
			for j := range g.names {
				x[j*g.n+i] = g.x[i*len(g.names)+j]
			}
		}
	}
	return npy("<f8", order, fmt.Sprintf("(%d, %d)", g.n, len(g.names)), floats(binary.LittleEndian, x...))
}

func (g *gapTable) arrow(t *testing.T) string {
	var fields []arrow.Field
	for _, name := range g.names {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(schema))
	for lo := 0; lo < g.n; {
		hi := min(g.n, lo+1+g.rng.IntN(g.n))
		b := arrays.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := lo; i < hi; i++ {
			for j := range g.names {
				if v := g.x[i*len(g.names)+j]; v == v || g.rng.IntN(2) == 0 {
					b.Field(j).(*arrays.Float64Builder).Append(v)
				} else {
					b.Field(j).AppendNull()
				}
			}
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			t.Fatal(err)
		}
		lo = hi
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

var gapFormats = []string{"csv", "csv.gz", "npy", "fortran.npy", "npz", "parquet", "arrow", "jsonl"}

// write writes the table and returns the name of the file.
func (g *gapTable) write(t *testing.T, name, format string) string {
	t.Helper()
	text := ""
	switch format {
	case "csv", "csv.gz":
		text = g.csv()
		if format == "csv.gz" {
			text = zipped(t, text)
		}
	case "jsonl":
		text = g.jsonLines()
	case "npy":
		text = g.npy("False")
	case "fortran.npy":
		text = g.npy("True")
	case "npz":
		return named(t, name+".npz", npz(t, zip.Store, "x.npy", g.npy("False")))
	case "parquet":
		text = parquetFile(t, g.names, g.n, g.x)
	case "arrow":
		text = g.arrow(t)
	}
	return named(t, name+"."+format, text)
}

// encodedRows returns the numbers of all rows of src after encoding: the features, the targets and the weight of each
// row.
func encodedRows(
	ctx context.Context,
	src dataset.Source,
	policy prepare.Missing,
	cells *prepare.Cells,
) ([]float64, error) {
	_, d, t := src.Dims()
	e, err := prepare.NewEncoding(d, nil, policy, nil)
	if err != nil {
		return nil, err
	}
	if policy == prepare.MissingMean {
		if _, err := e.Learn(ctx, src, prepare.LearnOptions{Cells: cells}); err != nil {
			return nil, err
		}
	}
	src, err = e.Apply(src, prepare.EncodeOptions{Cells: cells})
	if err != nil {
		return nil, err
	}
	return numbersOf(ctx, src, d, t)
}

func numbersOf(ctx context.Context, src dataset.Source, d, t int) (out []float64, err error) {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return out, err
		}
		for i := range b.N {
			out = append(append(out, b.X[i*d:(i+1)*d]...), b.Y[i*t:(i+1)*t]...)
			out = append(out, b.Weight(i))
		}
	}
	return out, nil
}

func sameNumbers(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return x == y || x != x && y != y })
}

// A pairing is a table that is divided among files.
type pairing struct {
	all                *gapTable
	d, t               int
	x, y, w            string // names of the files; w may be ""
	inArchive          bool   // y is an array in the archive x
	xFormat            string
	policy             prepare.Missing
	joinedCells, cells *prepare.Cells
}

// separate opens the separate files.
func (p *pairing) separate(opts file.Options) (dataset.Source, error) {
	opts.Target, opts.Targets = []string{p.y}, p.t
	opts.Cells = nil
	if p.policy != prepare.RefuseMissing {
		opts.Cells = &prepare.Cells{Missing: p.policy}
	}
	if p.w != "" {
		opts.Weights = []string{p.w}
	}
	opened, err := file.Open([]string{p.x}, opts)
	if err != nil {
		return nil, err
	}
	p.cells = opened.Cells
	return opened, nil
}

// whole opens the same table as one csv file.
func (p *pairing) whole(t *testing.T) dataset.Source {
	names := p.all.names
	opts := file.Options{Target: names[p.d:], Targets: len(names) - p.d}
	if p.policy != prepare.RefuseMissing {
		opts.Cells = &prepare.Cells{Missing: p.policy}
	}
	opened := must(file.Open([]string{p.all.write(t, "all", "csv")}, opts))(t)
	p.joinedCells = opened.Cells
	if p.w == "" {
		return opened
	}
	return must(dataset.TargetAsWeight(opened))(t)
}

// firstFault returns the first row, and its file, with a missing value that the policy refuses.
func (p *pairing) firstFault() (row int, name string) {
	cols := len(p.all.names)
	for i := range p.all.n {
		for j, v := range p.all.x[i*cols : (i+1)*cols] {
			switch {
			case v == v || p.policy == prepare.MissingDrop || p.policy == prepare.MissingMean && j < p.d:
			case j < p.d:
				return i, p.x
			case j < p.d+p.t && p.inArchive:
				return i, p.x + ":" + p.y
			case j < p.d+p.t:
				return i, p.y
			default:
				return i, p.w
			}
		}
	}
	return -1, ""
}

// checkFault checks that the error names the first fault.
func (p *pairing) checkFault(t *testing.T, err error) {
	t.Helper()
	row, name := p.firstFault()
	var e *dataset.InputError
	if !errors.As(err, &e) || !e.Missing {
		t.Fatalf("%+v: %v, want a missing value in row %d of %s", p, err, row, name)
	}
	line := row + 1
	if strings.Contains(name, ".csv") {
		line++ // behind the header
	}
	if e.Line != line || !strings.HasPrefix(e.File, name) {
		t.Fatalf("%s, %s and %s: %v, want line %d of %s", p.x, p.y, p.w, err, line, name)
	}
}

// TestPairedFiles checks random tables with missing values. The rows of a table that is divided among files of any
// format equal the rows of the table in one file, with every policy for missing values.
func TestPairedFiles(t *testing.T) {
	cases := 60
	if testing.Short() {
		cases = 10
	}
	for seed := range cases {
		rng := rand.New(rand.NewPCG(uint64(seed), 7))
		p := &pairing{d: 1 + rng.IntN(3)*rng.IntN(2), t: 1 + rng.IntN(2)}
		weighted := rng.IntN(2)
		n := 1 + rng.IntN(30)
		if rng.IntN(8) == 0 {
			n += rng.IntN(3000)
		}
		p.all = newGapTable(rng, n, p.d+p.t+weighted, []float64{0.02, 0.1, 0.3, 1.2 / float64(n)}[rng.IntN(4)])
		p.policy = []prepare.Missing{prepare.MissingDrop, prepare.MissingDrop, prepare.MissingMean, prepare.RefuseMissing}[rng.IntN(4)]
		p.xFormat = gapFormats[rng.IntN(len(gapFormats))]
		p.x = p.all.columns(0, p.d).write(t, "x", p.xFormat)
		p.y = p.all.columns(p.d, p.d+p.t).write(t, "y", gapFormats[rng.IntN(len(gapFormats))])
		if weighted == 1 {
			p.w = p.all.columns(p.d+p.t, p.d+p.t+1).write(t, "w", gapFormats[rng.IntN(len(gapFormats))])
		}
		if p.xFormat == "npz" && rng.IntN(2) == 0 {
			x, y := p.all.columns(0, p.d), p.all.columns(p.d, p.d+p.t)
			p.x, p.y, p.inArchive = named(t, "both.npz", npz(t, zip.Deflate, "x.npy", x.npy("False"), "y.npy", y.npy("False"))), "y", true
		}
		want, wantErr := encodedRows(t.Context(), p.whole(t), p.policy, p.joinedCells)
		src, err := p.separate(file.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := encodedRows(t.Context(), src, p.policy, p.cells)
		if row, _ := p.firstFault(); row >= 0 {
			p.checkFault(t, err)
			p.checkFault(t, p.firstFaultOfParts(t, 3))
			continue
		}
		if (err == nil) != (wantErr == nil) || !sameNumbers(got, want) {
			t.Fatalf("%s, %s and %s, %q: %v, %v, want %v, %v", p.x, p.y, p.w, p.policy, got, err, want, wantErr)
		}
		p.checkWays(t, want)
	}
}

// firstFaultOfParts returns the error of the first part with an error.
func (p *pairing) firstFaultOfParts(t *testing.T, size int) error {
	for rank := range size {
		src := must(p.separate(file.Options{Share: dataset.Share{Rank: rank, Size: size}}))(t)
		if _, err := encodedRows(t.Context(), src, prepare.RefuseMissing, p.cells); err != nil {
			return err
		}
	}
	return nil
}

// checkWays reads the separate files in parts, through a cache, by a pipe and with held-out rows.
func (p *pairing) checkWays(t *testing.T, want []float64) {
	ctx := t.Context()
	open := func(opts file.Options) dataset.Source { return must(p.separate(opts))(t) }
	cache := must(dataset.Cached(open(file.Options{}), dataset.CacheOptions{Dir: t.TempDir()}))(t)
	for pass := range 2 {
		if got, _ := encodedRows(ctx, cache, p.policy, p.cells); len(want) > 0 && !sameNumbers(got, want) {
			t.Fatalf("pass %d of a cache: %v, want %v", pass, got, want)
		}
	}
	if err := cache.Close(); err != nil {
		t.Fatal(err)
	}
	if p.policy != prepare.MissingDrop {
		return
	}
	hold := dataset.Holdout{Share: 0.4}
	for i, whole := range []dataset.Source{p.whole(t), open(file.Options{})} {
		fitted, held, err := hold.Split(whole)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := encodedRows(ctx, fitted, p.policy, p.cells)
		b, _ := encodedRows(ctx, held, p.policy, p.cells)
		if i == 0 {
			want = append(a, b...)
		} else if got := append(a, b...); !sameNumbers(got, want) {
			t.Fatalf("held-out rows: %v, want %v", got, want)
		}
	}
	want = must(numbersOf(ctx, p.whole(t), p.d, p.t))(t)
	for _, isRank := range []bool{false, true} {
		var got []float64
		size, before := 1+p.all.rng.IntN(6), int64(0)
		for rank := range size {
			opts := file.Options{Share: dataset.Share{Rank: rank, Size: size}}
			opts.Alone = !isRank
			if isRank {
				opts.FirstRow = func(rows int64) (int64, error) {
					before += rows
					return before - rows, nil
				}
			}
			got = append(got, must(numbersOf(ctx, open(opts), p.d, p.t))(t)...)
		}
		if !sameNumbers(got, want) {
			t.Fatalf("%s, %s and %s in %d parts: %v, want %v", p.x, p.y, p.w, size, got, want)
		}
	}
	if slices.Contains([]string{"csv", "npy"}, p.xFormat) {
		table := p.all.columns(0, p.d)
		text := table.csv()
		if p.xFormat == "npy" {
			text = table.npy("False")
		}
		pipe := dribble(t, text, p.all.rng.Uint64())
		got := must(numbersOf(ctx, open(file.Options{Origin: file.Origin{Pipe: pipe}}), p.d, p.t))(t)
		if !sameNumbers(got, want) {
			t.Fatalf("a pipe: %v, want %v", got, want)
		}
	}
}

// TestRowCounts checks the error for different numbers of rows in files of any format.
func TestRowCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	all := newGapTable(rng, 20, 3, 0)
	for _, xFormat := range gapFormats {
		for _, yFormat := range gapFormats {
			for _, rows := range []int{1, 19, 21, 40} {
				p := &pairing{
					all: all,
					d:   2,
					t:   1,
					x:   all.columns(0, 2).write(t, "x", xFormat),
					y:   all.columns(2, 3).rows(rows).write(t, "y", yFormat),
				}
				read := func(opts file.Options) error {
					src, err := p.separate(opts)
					if err == nil {
						_, err = numbersOf(t.Context(), src, p.d, p.t)
					}
					return err
				}
				errs := map[string]error{"whole": read(file.Options{})}
				if xFormat != "arrow" || yFormat != "arrow" {
					errs["last part"] = read(file.Options{Share: dataset.Share{Rank: 2, Size: 3}})
				}
				if rows == 1 && xFormat == "csv" {
					errs["part in the middle"] = read(file.Options{Share: dataset.Share{Rank: 19 - 1, Size: 20}})
				}
				if src, err := p.separate(file.Options{}); err == nil {
					src = src.(*file.Opened).Source
					if _, ok := dataset.ByColumns(src); ok {
						_, _, errs["by columns"] = dataset.Samples(t.Context(), src)
					}
				}
				longer := p.x
				if rows > 20 {
					longer = p.y
				}
				for way, err := range errs {
					var e *dataset.RowCountError
					if !errors.As(err, &e) || e.Features != 20 || e.Others != int64(rows) || e.What != "targets" ||
						!errors.Is(err, dataset.ErrShape) {
						t.Errorf("%s, %s and %s: %v, want 20 and %d rows", way, p.x, p.y, err, rows)
					} else if !strings.HasSuffix(err.Error(), fmt.Sprintf(": row %d of %s has no partner", min(20, rows)+1, longer)) {
						t.Errorf("%s: %v", way, err)
					}
				}
			}
		}
	}
}

package file_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	libarray "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// A randomTable has n rows of d columns. Two thirds of the numbers have only 64 different values.
type randomTable struct {
	rng  *rand.Rand
	n, d int
	x    []float64 // row by row
}

func newRandomTable(rng *rand.Rand) *randomTable {
	t := &randomTable{rng: rng, d: 1 + rng.IntN(40)}
	if rng.IntN(4) == 0 {
		t.d = 1 + rng.IntN(300)
	}
	t.n = 1 + rng.IntN(1+40000/t.d)
	t.x = make([]float64, t.n*t.d)
	for i := range t.x {
		t.x[i] = float64(rng.IntN(64)) / 8
		if i%3 == 0 {
			t.x[i] = float64(rng.IntN(1<<20)) / 1024
		}
	}
	for range max(0, rng.IntN(6)-3) {
		t.x[rng.IntN(len(t.x))] = []float64{math.NaN(), math.Inf(1)}[rng.IntN(2)]
	}
	return t
}

// column returns column j.
func (t *randomTable) column(j int) []float64 {
	out := make([]float64, t.n)
	for i := range out {
		out[i] = t.x[i*t.d+j]
	}
	return out
}

func (t *randomTable) npy(fortran bool) string {
	x, order := t.x, "False"
	if fortran {
		x, order = nil, "True"
		for j := range t.d {
			x = append(x, t.column(j)...)
		}
	}
	return npy("<f8", order, fmt.Sprintf("(%d, %d)", t.n, t.d), floats(le, x...))
}

func (t *randomTable) parquet(tb testing.TB) string {
	l := layout{
		codec:    []int{uncompressed, snap, gz, brot, zst, lz}[t.rng.IntN(6)],
		encoding: []int{plain, indices, split}[t.rng.IntN(3)],
		version2: t.rng.IntN(2) == 0, pageRows: 1 + t.rng.IntN(2*t.n),
	}
	cols := make([]column, t.d)
	for j := range cols {
		values, nullable := t.column(j), t.rng.IntN(3) == 0
		cols[j] = column{node: node(fmt.Sprint("c", j), nullable, double, nil), values: values}
		if nullable {
			valid := slices.Repeat([]bool{true}, t.n)
			if t.rng.IntN(20) == 0 {
				at := t.rng.IntN(t.n)
				valid[at], cols[j].values = false, slices.Delete(values, at, at+1)
			}
			cols[j].valid = valid
		}
	}
	return string(encode(tb, 1+t.rng.IntN(3), cols, l))
}

func (t *randomTable) arrow(tb testing.TB, stream bool) string {
	var fields []lib.Field
	lists := t.rng.IntN(3) == 0
	for j := range t.d {
		fields = append(fields, lib.Field{Name: fmt.Sprint("c", j), Type: lib.PrimitiveTypes.Float64, Nullable: true})
	}
	if lists {
		fields = []lib.Field{{Name: "x", Type: lib.FixedSizeListOf(int32(t.d), lib.PrimitiveTypes.Float64)}}
	}
	schema := lib.NewSchema(fields, nil)
	opts := [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}}[t.rng.IntN(3)]
	var out bytes.Buffer
	var w interface {
		Write(lib.RecordBatch) error
		Close() error
	}
	opts = append(opts, ipc.WithSchema(schema))
	w = ipc.NewWriter(&out, opts...)
	if !stream {
		var err error
		w, err = ipc.NewFileWriter(&out, opts...)
		if err != nil {
			tb.Fatal(err)
		}
	}
	null := t.rng.IntN(20*t.n) - 19*t.n
	for lo := 0; lo < t.n; {
		hi := min(t.n, lo+1+t.rng.IntN(t.n))
		b := libarray.NewRecordBuilder(memory.DefaultAllocator, schema)
		for i := lo; i < hi; i++ {
			row := t.x[i*t.d : (i+1)*t.d]
			if lists {
				list := b.Field(0).(*libarray.FixedSizeListBuilder)
				list.Append(true)
				list.ValueBuilder().(*libarray.Float64Builder).AppendValues(row, nil)
				continue
			}
			for j, v := range row {
				if i == null && j == t.d/2 {
					b.Field(j).AppendNull()
				} else {
					b.Field(j).(*libarray.Float64Builder).Append(v)
				}
			}
		}
		if err := w.Write(b.NewRecordBatch()); err != nil {
			tb.Fatal(err)
		}
		lo = hi
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.String()
}

func (t *randomTable) text(svmlight bool) string {
	var out []byte
	for i := range t.n {
		if svmlight {
			out = append(out, '1')
		}
		for j, v := range t.x[i*t.d : (i+1)*t.d] {
			switch {
			case svmlight && v == 0:
				continue
			case svmlight:
				out = append(strconv.AppendInt(append(out, ' '), int64(j+1), 10), ':')
			case j > 0:
				out = append(out, ',')
			}
			out = strconv.AppendFloat(out, v, 'g', -1, 64)
		}
		out = append(out, '\n')
	}
	return string(out)
}

// lines returns the table as JSON lines. NaN is null, or a key that the line does not have.
func (t *randomTable) lines() string {
	var out []byte
	for i := range t.n {
		out = append(out, '{')
		for j, v := range t.x[i*t.d : (i+1)*t.d] {
			if v != v && i > 0 && j%2 == 0 {
				continue
			}
			if out[len(out)-1] != '{' {
				out = append(out, ',')
			}
			out = append(strconv.AppendInt(append(out, "\"c"...), int64(j), 10), "\":"...)
			switch {
			case v != v:
				out = append(out, "null"...)
			case math.IsInf(v, 1):
				out = append(out, "Infinity"...)
			default:
				out = strconv.AppendFloat(out, v, 'g', -1, 64)
			}
		}
		out = append(out, "}\n"...)
	}
	return string(out)
}

// randomFile returns a file of a random format, and how to read it.
func (t *randomTable) randomFile(tb *testing.T) (format, text string, opts file.Options) {
	switch format = []string{
		"npy", "npy F", "npz", "parquet", "parquet", "arrow", "arrow stream", "csv", "svmlight", "jsonl",
	}[t.rng.IntN(10)]; format {
	case "npy", "npy F":
		text = t.npy(format == "npy F")
	case "npz":
		text = npz(tb, []uint16{zip.Store, zip.Store, zip.Deflate}[t.rng.IntN(3)], "x.npy", t.npy(false))
	case "parquet":
		text = t.parquet(tb)
	case "arrow", "arrow stream":
		text = t.arrow(tb, format == "arrow stream")
	case "csv":
		text, opts.Header = t.text(false), csv.Absent
	case "svmlight":
		text, opts.Features = t.text(true), t.d
	case "jsonl":
		text = t.lines()
	}
	opts.Targets = t.rng.IntN(2)
	if opts.Targets > 0 && t.d > 1 && opts.Features == 0 {
		opts.Target = []string{[]string{"first", "last"}[t.rng.IntN(2)]}
	} else if opts.Features == 0 {
		opts.Targets = 0
	}
	switch t.rng.IntN(12) {
	case 0:
		format, text = format+".gz", zipped(tb, text)
	case 1:
		format, text = format+".zst", zstandard(tb, text)
	}
	if t.rng.IntN(3) == 0 { // damage
		damaged := []byte(text)
		for range 1 + t.rng.IntN(3) {
			damaged[t.rng.IntN(len(damaged))] ^= byte(1 + t.rng.IntN(255))
		}
		if t.rng.IntN(4) == 0 {
			damaged = damaged[:t.rng.IntN(len(damaged))]
		}
		text = string(damaged)
	}
	return format, text, opts
}

// TestRandomParallel reads random files on one core and on several: formats × codecs × encodings × damage. Blocks
// and errors must be equal, bit for bit. So must be blocks from a cache, blocks from the middle of the file on,
// columns, transposed rows and a share of the rows. FDRIDGE_THOROUGH reads 300 files.
func TestRandomParallel(t *testing.T) {
	files := 50
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		files = 300
	}
	dir := t.TempDir()
	read, failed, made := map[string]int{}, 0, 0
	for seed := range files {
		rng := rand.New(rand.NewPCG(uint64(seed), 3701))
		table := newRandomTable(rng)
		format, text, opts := table.randomFile(t)
		path := filepath.Join(dir, "data")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := file.Open([]string{path}, opts)
		if err != nil { // nothing is read in parallel yet
			failed++
			continue
		}
		read[format]++
		first, cores := int64(0), 2+rng.IntN(9)
		if n, _, _ := src.Dims(); n > 0 && rng.IntN(3) == 0 {
			first = rng.Int64N(n)
		}
		want, wantErr := blockBits(t, src, first, 1)
		got, err := blockBits(t, src, first, cores)
		if fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("seed %d, %s, %d cores: error %v, on one core %v", seed, format, cores, err, wantErr)
		}
		if !slices.Equal(got, want) {
			t.Errorf("seed %d, %s, %d cores: the blocks differ from those that one core reads", seed, format, cores)
		}
		for _, d := range derived(t, src.Source, table) {
			want, wantErr := blockBits(t, d, 0, 1)
			got, err := blockBits(t, d, 0, cores)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
				t.Errorf(
					"seed %d, %s, %d cores, %T: error %v, on one core %v; equal blocks: %v",
					seed,
					format,
					cores,
					d,
					err,
					wantErr,
					slices.Equal(got, want),
				)
			}
			made++
		}
		if wantErr != nil {
			failed++
			continue
		}
		cache, err := dataset.Cached(src, dataset.CacheOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first pass writes the file
			got, err = blockBits(t, cache, 0, cores)
			if err != nil || first == 0 && !slices.Equal(got, want) {
				t.Errorf("seed %d, %s, %d cores, cache: other blocks, %v", seed, format, cores, err)
			}
		}
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files: %v; %d had errors; %d sources made from them", files, read, failed, made)
	if len(read) < 8 || failed < files/10 || failed > files*9/10 {
		t.Errorf("of %d files, %v were read, and %d had errors", files, read, failed)
	}
}

// derived returns sources made from src: a share of the rows, the transposed rows, and the columns as they are and
// standardised.
func derived(t *testing.T, src dataset.Source, table *randomTable) []dataset.Source {
	_, d, _ := src.Dims()
	_, held, err := dataset.Holdout{Share: 0.3}.Split(src)
	if err != nil {
		t.Fatal(err)
	}
	out := []dataset.Source{held}
	// The windows have a third of the rows of the result.
	if transposed, err := dataset.Transpose(t.Context(), dataset.WithoutTargets(src), 8*table.n*(1+d/3)); err == nil {
		out = append(out, transposed)
	}
	scaling := &dataset.Scaling{}
	for j := range d {
		scaling.Mean, scaling.Scale = append(scaling.Mean, float64(j)), append(scaling.Scale, 1+float64(j%7))
	}
	scaled, err := scaling.Apply(src)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []dataset.Source{src, scaled} {
		if columns, ok := dataset.ByColumns(s); ok {
			out = append(out, columns)
		}
	}
	return out
}

// TestRandomEncoded learns and applies encodings of random files on one core and on several: missing values, numbers
// and levels as categories, levels that were not learnt. Features, counts and errors must be equal.
func TestRandomEncoded(t *testing.T) {
	files := 60
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		files = 300
	}
	path := filepath.Join(t.TempDir(), "data")
	failed, missing, unknown := 0, 0, 0
	for seed := range files {
		rng := rand.New(rand.NewPCG(uint64(seed), 3702))
		table := newRandomTable(rng)
		for i := range table.x { // three columns of few levels
			if j := i % table.d; j < 3 || math.IsInf(table.x[i], 0) && rng.IntN(4) > 0 {
				table.x[i] = float64(rng.IntN(3 + 8*j))
			}
			if rng.IntN(200) == 0 {
				table.x[i] = math.NaN()
			}
		}
		var text string
		var opts file.Options
		format := []string{"npy", "npy F", "parquet", "arrow", "csv", "memory"}[rng.IntN(6)]
		switch format {
		case "npy", "npy F":
			text = table.npy(format == "npy F")
		case "parquet":
			text = table.parquet(t)
		case "arrow":
			text = table.arrow(t, false)
		case "csv":
			text, opts.Header = table.text(false), csv.Absent
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		policy := []prepare.Missing{
			prepare.MissingMean, prepare.MissingMean, prepare.MissingDrop, prepare.RefuseMissing,
		}[rng.IntN(4)]
		apply := prepare.EncodeOptions{IgnoreUnknown: rng.IntN(2) == 0, KeepIncomplete: rng.IntN(4) == 0}
		learnt := 1 + rng.Int64N(int64(table.n)) // levels are learnt from the first rows
		encoded := func(cores int) (out []uint64, tally *prepare.Tally, err error) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
			tally = new(prepare.Tally)
			apply := apply
			apply.Tally, apply.Incomplete = tally, func(row int64) { out = append(out, uint64(row)) }
			e, err := prepare.NewEncoding(table.d, nil, policy, []int{0, 1, 2}[:min(3, table.d)])
			if err != nil {
				t.Fatal(err)
			}
			open := func() (dataset.Source, *prepare.Cells) {
				if format == "memory" {
					src, openErr := dataset.FromTable(table.n, table.d, 0, table.x, nil)
					err = openErr
					return src, nil
				}
				opts := opts
				opts.Cells = e.Cells()
				src, openErr := file.Open([]string{path}, opts)
				err = openErr
				if err != nil {
					return nil, nil
				}
				return src, src.Cells
			}
			src, cells := open()
			if err != nil {
				return nil, tally, err
			}
			first, err := dataset.Rows(src, 0, learnt)
			if err != nil {
				return nil, tally, err
			}
			_, err = e.Learn(t.Context(), first, prepare.LearnOptions{Cells: cells})
			if err != nil {
				return nil, tally, err
			}
			src, cells = open()
			if err != nil {
				return nil, tally, err
			}
			apply.Cells = cells
			features, err := e.Apply(src, apply)
			if err != nil {
				return nil, tally, err
			}
			bits, err := blockBits(t, features, 0, cores)
			return append(out, bits...), tally, err
		}
		want, wantTally, wantErr := encoded(1)
		got, tally, err := encoded(2 + rng.IntN(9))
		if fmt.Sprint(err) != fmt.Sprint(wantErr) || !slices.Equal(got, want) {
			t.Errorf(
				"seed %d, %s, %q: error %v, on one core %v; equal features: %v",
				seed,
				format,
				policy,
				err,
				wantErr,
				slices.Equal(got, want),
			)
		}
		if wantErr != nil {
			failed++
			continue
		}
		counts := func(c *prepare.Tally) [5]int64 {
			return [5]int64{
				c.Filled.Load(),
				c.Foreign.Load(),
				c.Dropped.Load(),
				c.Unknown.Load(),
				int64(c.UnknownLevels()),
			}
		}
		if counts(tally) != counts(wantTally) {
			t.Errorf(
				"seed %d, %s, %q: counts %v, on one core %v",
				seed,
				format,
				policy,
				counts(tally),
				counts(wantTally),
			)
		}
		missing += int(min(tally.Filled.Load()+tally.Dropped.Load(), 1))
		unknown += int(min(tally.Unknown.Load(), 1))
	}
	t.Logf(
		"%d files: %d had errors, %d missing values, %d levels that were not learnt",
		files,
		failed,
		missing,
		unknown,
	)
	if failed < files/10 || failed > files*9/10 || missing < files/10 || unknown < 2 {
		t.Errorf(
			"of %d files, %d had errors, %d missing values, %d levels that were not learnt",
			files,
			failed,
			missing,
			unknown,
		)
	}
}

// blockBits reads the blocks from row first on, with the given number of cores. It returns their positions and the
// bits of their numbers.
func blockBits(t *testing.T, src dataset.Source, first int64, cores int) (out []uint64, err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(cores))
	for b, err := range dataset.From(t.Context(), src, first) {
		if err != nil {
			return out, err
		}
		out = append(out, uint64(b.First), uint64(b.N))
		numbers := [][]float64{b.X, b.Y, b.W}
		if b.Sparse != nil {
			numbers = append(numbers, b.Sparse.Val)
			for _, j := range b.Sparse.ColIdx {
				out = append(out, uint64(j))
			}
		}
		for _, v := range slices.Concat(numbers...) {
			out = append(out, math.Float64bits(v))
		}
	}
	return out, nil
}

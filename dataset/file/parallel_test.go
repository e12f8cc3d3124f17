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
)

// A randomTable has n rows of d columns, some of which have few different values.
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
	t.n = 1 + rng.IntN(1+100000/t.d)
	t.x = make([]float64, t.n*t.d)
	for i := range t.x {
		if t.x[i] = float64(rng.IntN(64)) / 8; i%3 == 0 {
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
		codec: []int{uncompressed, snap, gz, brot, zst, lz}[t.rng.IntN(6)], encoding: []int{plain, indices, split}[t.rng.IntN(3)],
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
	if w = ipc.NewWriter(&out, opts...); !stream {
		var err error
		if w, err = ipc.NewFileWriter(&out, opts...); err != nil {
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

// randomFile returns a file of a random format, and how to read it.
func (t *randomTable) randomFile(tb *testing.T) (format, text string, opts file.Options) {
	switch format = []string{"npy", "npy F", "npz", "parquet", "parquet", "arrow", "arrow stream", "csv", "svmlight"}[t.rng.IntN(9)]; format {
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
	}
	if opts.Targets = t.rng.IntN(2); opts.Targets > 0 && t.d > 1 && opts.Features == 0 {
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

// TestRandomParallel reads random files on one core and on several: formats × codecs × encodings × damage. Blocks and
// errors must be equal, bit for bit. So must be blocks from a cache, and blocks from the middle of the file on.
// FDRIDGE_THOROUGH reads 1000 files.
func TestRandomParallel(t *testing.T) {
	files := 50
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		files = 1000
	}
	dir := t.TempDir()
	read, failed := map[string]int{}, 0
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
		if wantErr != nil {
			failed++
			continue
		}
		cache, err := dataset.Cached(src, dataset.CacheOptions{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the first pass writes the file
			if got, err = blockBits(t, cache, 0, cores); err != nil || first == 0 && !slices.Equal(got, want) {
				t.Errorf("seed %d, %s, %d cores, cache: other blocks, %v", seed, format, cores, err)
			}
		}
		if err := cache.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d files: %v; %d had errors", files, read, failed)
	if len(read) < 8 || failed < files/10 || failed > files*9/10 {
		t.Errorf("of %d files, %v were read, and %d had errors", files, read, failed)
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

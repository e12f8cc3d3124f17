package parquet_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/parquet"
)

// A column is a node of a schema and its values, a slice of the physical type.
// Where valid is set it tells which rows are there; values then has only those.
type column struct {
	node   schema.Node
	values any
	valid  []bool
}

func node(name string, optional bool, t pq.Type, logical schema.LogicalType) schema.Node {
	rep := pq.Repetitions.Required
	if optional {
		rep = pq.Repetitions.Optional
	}
	length := -1
	if t == pq.Types.FixedLenByteArray {
		length = 2
	}
	return schema.Must(schema.NewPrimitiveNodeLogical(name, rep, logical, t, length, -1))
}

// encode writes the same columns as groups row groups.
func encode(tb testing.TB, groups int, cols []column, opts ...pq.WriterProperty) []byte {
	tb.Helper()
	var fields schema.FieldList
	for _, c := range cols {
		fields = append(fields, c.node)
	}
	var out bytes.Buffer
	root := schema.MustGroup(schema.NewGroupNode("schema", pq.Repetitions.Required, fields, -1))
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(pq.NewWriterProperties(opts...)))
	for range groups {
		g, err := w.AppendRowGroupChecked()
		if err != nil {
			tb.Fatal(err)
		}
		for _, c := range cols {
			if err := put(g, c); err != nil {
				tb.Fatal(err)
			}
		}
		if err := g.Close(); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func put(g file.SerialRowGroupWriter, c column) error {
	w, err := g.NextColumn()
	if err != nil {
		return err
	}
	var levels []int16
	for _, there := range c.valid {
		levels = append(levels, map[bool]int16{true: 1}[there])
	}
	switch w := w.(type) {
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]float64), levels, nil)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]float32), levels, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]int64), levels, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]int32), levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]bool), levels, nil)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]pq.ByteArray), levels, []int16{0, 0}[:len(levels)])
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]pq.FixedLenByteArray), levels, nil)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(c.values.([]pq.Int96), levels, nil)
	}
	return errors.Join(err, w.Close())
}

func write(tb testing.TB, content []byte) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "data.parquet")
	rewrite(tb, path, content)
	return path
}

// rewrite gives a file another content. It is for many of them: a folder for each takes
// longer than reading it.
func rewrite(tb testing.TB, path string, content []byte) {
	tb.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		tb.Fatal(err)
	}
}

// contents reads all rows, targets behind features.
func contents(src dataset.Source) (string, error) {
	_, d, t := src.Dims()
	var b strings.Builder
	for blk, err := range src.Blocks(context.Background()) {
		if err != nil {
			return b.String(), err
		}
		for i := range blk.N {
			fmt.Fprint(&b, blk.X[i*d:(i+1)*d], blk.Y[i*t:(i+1)*t], " ")
		}
	}
	return strings.TrimSpace(b.String()), nil
}

func open(path string, opts parquet.Options) (string, error) {
	s, err := parquet.Open(path, opts)
	if err != nil {
		return "", err
	}
	return contents(s)
}

var (
	double, float, long, word = pq.Types.Double, pq.Types.Float, pq.Types.Int64, pq.Types.Int32
	none                      = schema.NoLogicalType{}
)

// TestRead: every type that is read, and columns by name. want is either rows or,
// after "!", the error behind the file's name.
func TestRead(t *testing.T) {
	a := column{node("a", false, double, none), []float64{1, 2}, nil}
	y := column{node("y", true, double, none), []float64{5, 6}, []bool{true, true}}
	text := column{node("sex", false, pq.Types.ByteArray, schema.StringLogicalType{}), []pq.ByteArray{pq.ByteArray("M"), pq.ByteArray("F")}, nil}
	integer := func(t pq.Type, bits int8, signed bool, v any) column {
		return column{node("i", false, t, schema.NewIntLogicalType(bits, signed)), v, nil}
	}
	group := column{schema.MustGroup(schema.NewGroupNode("g", pq.Repetitions.Required, schema.FieldList{node("b", false, double, none)}, -1)), []float64{1, 2}, nil}
	list := column{schema.Must(schema.NewPrimitiveNode("l", pq.Repetitions.Repeated, pq.Types.ByteArray, -1, -1)), []pq.ByteArray{nil, nil}, []bool{true, true}}
	for name, c := range map[string]struct {
		cols []column
		opts parquet.Options
		want string
	}{
		"features alone":     {[]column{a, y}, parquet.Options{}, "[1 5] [] [2 6] []"},
		"target by name":     {[]column{y, a}, parquet.Options{Targets: []string{"y"}}, "[1] [5] [2] [6]"},
		"target last":        {[]column{a, y}, parquet.Options{Targets: []string{"last"}}, "[1] [5] [2] [6]"},
		"columns in order":   {[]column{a, text, y}, parquet.Options{Columns: []string{"y", "a"}}, "[5 1] [] [6 2] []"},
		"a column left out":  {[]column{a, text, y}, parquet.Options{Targets: []string{"y"}, Columns: []string{"-sex"}}, "[1] [5] [2] [6]"},
		"nested left out":    {[]column{group, a}, parquet.Options{Columns: []string{"a"}}, "[1] [] [2] []"},
		"float32":            {[]column{{node("f", false, float, none), []float32{0.5, -3}, nil}}, parquet.Options{}, "[0.5] [] [-3] []"},
		"booleans":           {[]column{{node("b", false, pq.Types.Boolean, none), []bool{true, false}, nil}}, parquet.Options{}, "[1] [] [0] []"},
		"int32":              {[]column{{node("i", false, word, none), []int32{-7, 8}, nil}}, parquet.Options{}, "[-7] [] [8] []"},
		"int64":              {[]column{{node("i", false, long, none), []int64{-7, 1 << 53}, nil}}, parquet.Options{}, "[-7] [] [9.007199254740992e+15] []"},
		"int8":               {[]column{integer(word, 8, true, []int32{-128, 127})}, parquet.Options{}, "[-128] [] [127] []"},
		"uint32":             {[]column{integer(word, 32, false, []int32{-1, 1})}, parquet.Options{}, "[4.294967295e+09] [] [1] []"},
		"uint64":             {[]column{integer(long, 64, false, []int64{3, 1 << 53})}, parquet.Options{}, "[3] [] [9.007199254740992e+15] []"},
		"decimal":            {[]column{{node("d", false, long, schema.NewDecimalLogicalType(18, 2)), []int64{-125, 10}, nil}}, parquet.Options{}, "[-1.25] [] [0.1] []"},
		"decimal in int32":   {[]column{{node("d", true, word, schema.NewDecimalLogicalType(9, 3)), []int32{1, 1000}, []bool{true, true}}}, parquet.Options{}, "[0.001] [] [1] []"},
		"no such column":     {[]column{a, y}, parquet.Options{Targets: []string{"price"}}, "!: there is no column \"price\"; the 2 columns are a, y"},
		"nothing but target": {[]column{a}, parquet.Options{Targets: []string{"a"}}, "!: no column is left for the features"},
		"text":               {[]column{a, text}, parquet.Options{}, "!: column sex holds text or categories; encode it as numbers, or leave it out"},
		"a nested column":    {[]column{a, group}, parquet.Options{}, "!: column g holds nested values; make columns of its fields, or leave it out"},
		"a list":             {[]column{a, list}, parquet.Options{}, "!: column l holds nested values"},
		"a date":             {[]column{{node("d", false, word, schema.DateLogicalType{}), []int32{1, 2}, nil}}, parquet.Options{}, "!: column d holds values of type Date; encode it as numbers"},
		"an old timestamp":   {[]column{{node("t", false, pq.Types.Int96, none), []pq.Int96{{}, {}}, nil}}, parquet.Options{}, "!: column t holds timestamps; encode it as numbers"},
		"half floats":        {[]column{{node("h", false, pq.Types.FixedLenByteArray, schema.Float16LogicalType{}), []pq.FixedLenByteArray{{0, 0}, {0, 0}}, nil}}, parquet.Options{}, "!: column h holds values of type Float16; cast it to double"},
		"decimal in bytes":   {[]column{{node("d", false, pq.Types.ByteArray, schema.NewDecimalLogicalType(30, 2)), []pq.ByteArray{{0}, {0}}, nil}}, parquet.Options{}, "!: column d holds values of type Decimal(precision=30, scale=2) as bytes; cast it to double"},
		"null":               {[]column{a, {node("z", true, double, none), []float64{5}, []bool{true, false}}}, parquet.Options{}, "!:2:2: column z has no value (null); fill in what is missing, or leave the column out"},
		"NaN":                {[]column{{node("z", false, double, none), []float64{1, math.NaN()}, nil}, a}, parquet.Options{}, "!:2:1: column z: NaN is not finite"},
		"infinite target":    {[]column{a, {node("z", true, float, none), []float32{1, float32(math.Inf(-1))}, []bool{true, true}}}, parquet.Options{Targets: []string{"z"}}, "!:2:2: column z: -Inf is not finite"},
		"beyond 2^53":        {[]column{{node("i", false, long, none), []int64{5, 1<<53 + 1}, nil}, a}, parquet.Options{}, "!:2:1: column i: an integer beyond 2⁵³, which float64 does not hold"},
		"below -2^53":        {[]column{{node("i", false, long, none), []int64{-1<<53 - 1, 5}, nil}, a}, parquet.Options{}, "!:1:1: column i: an integer beyond 2⁵³"},
		"uint64 beyond":      {[]column{integer(long, 64, false, []int64{-1, 1}), a}, parquet.Options{}, "!:1:1: column i: an integer beyond 2⁵³"},
		"no rows":            {[]column{{node("a", false, double, none), []float64{}, nil}}, parquet.Options{}, "!: has no rows"},
	} {
		path := write(t, encode(t, 1, c.cols))
		got, err := open(path, c.opts)
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		switch {
		case !bad && (err != nil || got != c.want):
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		case bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)):
			t.Errorf("%s: %q, %v; want %q", name, got, err, part)
		case bad && e.NonFinite != strings.Contains(part, "is not finite"):
			t.Errorf("%s: NonFinite is %v", name, e.NonFinite)
		}
	}
}

func sequence(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i) + 0.25
	}
	return v
}

// TestPages: row groups of many pages, in every encoding and compression, in blocks
// that end within pages and groups, read twice.
func TestPages(t *testing.T) {
	const n, groups = 3000, 3
	some, valid := make([]bool, n), make([]bool, n)
	for i := range n {
		some[i], valid[i] = i%3 == 0, true
	}
	cols := []column{
		{node("a", false, double, none), sequence(n), nil},
		{node("b", false, pq.Types.Boolean, none), some, nil},
		{node("c", true, double, none), sequence(n), valid},
	}
	for name, opts := range map[string][]pq.WriterProperty{
		"plain":        {pq.WithDictionaryDefault(false)},
		"dictionary":   {pq.WithDictionaryDefault(true)},
		"snappy":       {pq.WithCompression(compress.Codecs.Snappy)},
		"zstd":         {pq.WithCompression(compress.Codecs.Zstd)},
		"gzip":         {pq.WithCompression(compress.Codecs.Gzip)},
		"brotli":       {pq.WithCompression(compress.Codecs.Brotli)},
		"lz4":          {pq.WithCompression(compress.Codecs.Lz4Raw)},
		"version 2":    {pq.WithDataPageVersion(pq.DataPageV2), pq.WithCompression(compress.Codecs.Snappy)},
		"stream split": {pq.WithDictionaryDefault(false), pq.WithEncodingFor("a", pq.Encodings.ByteStreamSplit), pq.WithEncodingFor("c", pq.Encodings.ByteStreamSplit)},
	} {
		s, err := parquet.Open(write(t, encode(t, groups, cols, append(opts, pq.WithDataPageSize(1000), pq.WithBatchSize(100))...)), parquet.Options{Targets: []string{"c"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.BlockRows = 257
		for range 2 {
			if err := compare(s, cols, n); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if rows, _, _ := s.Dims(); rows != groups*n {
			t.Errorf("%s: %d rows", name, rows)
		}
	}
}

func compare(s dataset.Source, cols []column, n int) error {
	a, b, c := cols[0].values.([]float64), cols[1].values.([]bool), cols[2].values.([]float64)
	at := 0
	for blk, err := range s.Blocks(context.Background()) {
		if err != nil {
			return err
		}
		for i := range blk.N {
			k := (at + i) % n
			if blk.X[2*i] != a[k] || (blk.X[2*i+1] == 1) != b[k] || blk.Y[i] != c[k] {
				return fmt.Errorf("row %d is %v, %v", at+i, blk.X[2*i:2*i+2], blk.Y[i])
			}
		}
		at += blk.N
	}
	return nil
}

// TestWide: more columns than are put into rows together, wherever they go.
func TestWide(t *testing.T) {
	const n, d = 1500, 21
	var cols []column
	for j := range d {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(100*i + j)
		}
		cols = append(cols, column{node: node(fmt.Sprint("x", j+1), j%2 == 0, double, none), values: v, valid: map[bool][]bool{true: slicesOf(n)}[j%2 == 0]})
	}
	path := write(t, encode(t, 2, cols))
	for _, c := range []struct {
		columns, targets string
	}{{"", ""}, {"", "x5"}, {"", "x21,x1"}, {"x21,x20,x19,x18,x17,x16,x15,x14,x1,x2,x3", ""}, {"-x3,-x12", ""}, {"x1,x2,x3,x4,x5,x6,x7,x8,x9,x10,x11,x12,x13,x14,x15", "x21"}} {
		split := func(list string) []string { return strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) }
		opts := parquet.Options{Columns: split(c.columns), Targets: split(c.targets)}
		features, targets, err := parquet.Names(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parquet.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		at := 0
		for b, err := range s.Blocks(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range b.N {
				for k, name := range append(features, targets...) {
					got := b.Y
					if k < len(features) {
						got, k = b.X, i*len(features)+k
					} else {
						k = i*len(targets) + k - len(features)
					}
					var j int
					if fmt.Sscanf(name, "x%d", &j); got[k] != float64(100*(at%n)+j-1) {
						t.Fatalf("%+v: row %d, %s is %v", c, at+1, name, got[k])
					}
				}
				at++
			}
		}
		if at != 2*n {
			t.Errorf("%+v: %d rows", c, at)
		}
		byColumns(t, s, features, targets, n)
	}
}

// byColumns holds the columns of what TestWide reads to what they are.
func byColumns(t *testing.T, s *dataset.Stream, features, targets []string, n int) {
	t.Helper()
	columns, ok := dataset.ByColumns(s)
	if !ok {
		t.Fatal("no columns")
	}
	columns.(*dataset.Stream).BlockRows = 4
	is := func(name string, row int, v float64) {
		var j int
		if fmt.Sscanf(name, "x%d", &j); v != float64(100*(row%n)+j-1) {
			t.Fatalf("by columns: row %d, %s is %v", row+1, name, v)
		}
	}
	seen := 0
	for b, err := range columns.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.N {
			for i, v := range b.X[k*2*n : (k+1)*2*n] {
				is(features[seen], i, v)
			}
			seen++
		}
	}
	if seen != len(features) {
		t.Errorf("%d columns of %d", seen, len(features))
	}
	y, _, err := dataset.Samples(context.Background(), s)
	if err != nil || len(y) != 2*n*len(targets) {
		t.Fatalf("%d targets, %v", len(y), err)
	}
	for i, v := range y {
		is(targets[i%len(targets)], i/len(targets), v)
	}
}

// TestNullFarIn: the row of a null is counted over row groups and pages.
func TestNullFarIn(t *testing.T) {
	const n = 1000
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = i != 777
	}
	cols := []column{{node("a", true, double, none), sequence(n - 1), valid}, {node("b", false, double, none), sequence(n), nil}}
	path := write(t, encode(t, 1, cols, pq.WithDataPageSize(500), pq.WithBatchSize(50)))
	s, err := parquet.Open(path, parquet.Options{Targets: []string{"b"}})
	if err != nil {
		t.Fatal(err)
	}
	s.BlockRows = 100
	if _, err := contents(s); err == nil || !strings.HasPrefix(err.Error(), path+":778:1: column a has no value") {
		t.Error(err)
	}
	columns, _ := dataset.ByColumns(s)
	for _, err := range columns.Blocks(context.Background()) {
		if err == nil || !strings.HasPrefix(err.Error(), path+":778:1: column a has no value") {
			t.Error(err)
		}
	}
}

// TestDamaged: whatever is cut off or changed, of every fifth byte or, where FDRIDGE_THOROUGH is set, of
// each, there is an error with a file, or
// numbers, but no panic.
func TestDamaged(t *testing.T) {
	whole := encode(t, 2, []column{{node("a", true, double, none), sequence(50), slicesOf(50)}, {node("b", false, long, none), make([]int64, 50), nil}},
		pq.WithCompression(compress.Codecs.Snappy))
	path := write(t, whole)
	try := func(what string, content []byte) {
		rewrite(t, path, content)
		_, err := open(path, parquet.Options{Targets: []string{"last"}})
		var e *dataset.InputError
		if err != nil && (!errors.As(err, &e) || strings.Contains(err.Error(), "runtime error")) {
			t.Errorf("%s: %v", what, err)
		}
	}
	step := 5
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		step = 1
	}
	for i := 0; i < len(whole); i += step {
		bent := bytes.Clone(whole)
		bent[i] ^= 0x55
		try(fmt.Sprintf("byte %d", i), bent)
	}
	for _, n := range []int{0, 3, 4, 11, 12, len(whole) / 2, len(whole) - 1} {
		if _, err := open(write(t, whole[:n]), parquet.Options{}); err == nil || !strings.Contains(err.Error(), "is no readable Parquet file") {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := open(write(t, append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, whole...)), parquet.Options{}); err == nil || !strings.Contains(err.Error(), "is a gzip stream") {
		t.Errorf("gzip: %v", err)
	}
}

func slicesOf(n int) []bool {
	v := make([]bool, n)
	for i := range v {
		v[i] = true
	}
	return v
}

// TestLeavingEarly: a pass that is left or cancelled closes the file and ends.
func TestLeavingEarly(t *testing.T) {
	s, err := parquet.Open(write(t, encode(t, 3, []column{{node("a", false, double, none), sequence(1000), nil}})), parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.BlockRows = 10
	for range s.Blocks(context.Background()) {
		break
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range s.Blocks(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	cut, err := dataset.Rows(s, 1500, 1502)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := contents(cut); err != nil || got != "[500.25] [] [501.25] []" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestChangedFile: a file that is another one in the second pass is refused.
func TestChangedFile(t *testing.T) {
	a := column{node("a", false, double, none), sequence(10), nil}
	path := write(t, encode(t, 1, []column{a}))
	s, err := parquet.Open(path, parquet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Stamp = dataset.Stamp{}
	if err := os.WriteFile(path, encode(t, 2, []column{a}), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := contents(s); err == nil || !strings.Contains(err.Error(), "is now 20×1, was 10×1") {
		t.Error(err)
	}
}

func normal(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	v := make([]float64, n)
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return v
}

// BenchmarkRead: bytes of float64 a second, delivered to a consumer that does
// nothing.
func BenchmarkRead(b *testing.B) {
	for _, d := range []int{20, 1000} {
		n := (64 << 20) / 8 / d
		for name, codec := range map[string]compress.Compression{"plain": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd} {
			for _, optional := range []bool{false, true} {
				var cols []column
				for j := range d {
					c := column{node: node(fmt.Sprint("x", j), optional, double, none), values: normal(n)}
					if optional {
						c.valid = slicesOf(n)
					}
					cols = append(cols, c)
				}
				b.Run(fmt.Sprintf("%s/optional=%v/d=%d", name, optional, d), func(b *testing.B) {
					path := write(b, encode(b, 4, cols, pq.WithDictionaryDefault(false), pq.WithCompression(codec)))
					s, err := parquet.Open(path, parquet.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.SetBytes(int64(4 * 8 * n * d))
					b.ReportAllocs()
					for b.Loop() {
						for _, err := range s.Blocks(context.Background()) {
							if err != nil {
								b.Fatal(err)
							}
						}
					}
				})
			}
		}
	}
}

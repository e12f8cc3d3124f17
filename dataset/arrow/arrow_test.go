package arrow_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	lib "github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/arrow"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// rowsOf are the rows of a pass, features and targets of each, and where its blocks end.
func rowsOf(src dataset.Source, first int64) (rows [][]float64, ends []int64, err error) {
	_, d, k := src.Dims()
	for b, err := range dataset.From(ctx, src, first) {
		if err != nil {
			return rows, ends, err
		}
		for i := range b.N {
			if len(b.X) != b.N*d || len(b.Y) != b.N*k {
				return rows, ends, fmt.Errorf("%d and %d numbers for %d rows", len(b.X), len(b.Y), b.N)
			}
			rows = append(rows, slices.Concat(b.X[i*d:(i+1)*d], b.Y[i*k:(i+1)*k]))
		}
		ends = append(ends, b.First+int64(b.N))
	}
	return rows, ends, nil
}

func same(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal[[]float64]) }

// golden is a file that the apache-arrow of npm has written, see testdata/make.mjs.
func golden(name string) string { return filepath.Join("testdata", name) }

// TestForeign reads what another implementation has written.
func TestForeign(t *testing.T) {
	var all [][]float64
	half := []float64{0, 1, -2, 0.333251953125, 65504}
	for i := range 10 {
		yes := 0.0
		if i%3 == 0 {
			yes = 1
		}
		f := float64(i)
		all = append(all, []float64{f / 3, f / 4, half[i%5], -f, 65535 - f, f - 1<<31, f - 1<<53, 1<<53 - f, yes})
	}
	for _, name := range []string{"node.arrow", "node.arrows"} {
		src := must(arrow.Open(golden(name), arrow.Options{}))(t)
		rows, _, err := rowsOf(src, 0)
		if n, _, _ := src.Dims(); err != nil || !same(rows, all) || n != 10 {
			t.Errorf("%s: %v, %v", name, rows, err)
		}
		names := must(arrow.Columns(golden(name), arrow.Options{}))(t)
		if want := "f64 f32 f16 i8 u16 i32 i64 u64 yes"; strings.Join(names, " ") != want {
			t.Errorf("%s: columns %v", name, names)
		}
	}
	for target, want := range map[string]string{"y": "[0 1 2 100]", "x[2]": "[100 0 2 1]", "x": "[100 0 1 2]"} {
		rows, _, err := rowsOf(must(arrow.Open(golden("lists.arrow"), arrow.Options{Targets: []string{target}}))(t), 0)
		if err != nil || len(rows) != 10 || fmt.Sprint(rows[0]) != want {
			t.Errorf("lists, target %s: %v, %v", target, rows, err)
		}
	}
	if _, err := arrow.Open(
		golden("lists.arrow"), arrow.Options{Targets: []string{"y"}, Columns: []string{"-x"}},
	); err == nil ||
		!strings.Contains(err.Error(), "no column is left") {
		t.Errorf("without its list: %v", err)
	}
}

// TestRefused is of what a column may hold that is no number.
func TestRefused(t *testing.T) {
	for column, want := range map[string]string{
		"word": "column word holds categories (it is dictionary-encoded); encode it as numbers, or leave it out",
		"text": "column text holds text or bytes", "when": "column when holds values of type date64",
		"nothing": "there is no column \"nothing\"",
	} {
		_, err := arrow.Open(golden("words.arrow"), arrow.Options{Columns: []string{"a", column}})
		if err == nil || !strings.Contains(err.Error(), "words.arrow: "+want) {
			t.Errorf("%s: %v", column, err)
		}
	}
	rows, _, err := rowsOf(must(arrow.Open(golden("words.arrow"), arrow.Options{Columns: []string{"a"}}))(t), 0)
	if err != nil || fmt.Sprint(rows) != "[[1] [2] [3]]" {
		t.Errorf("beside categories: %v, %v", rows, err)
	}
	_, _, err = rowsOf(must(arrow.Open(golden("null.arrows"), arrow.Options{}))(t), 0)
	if err == nil ||
		!strings.HasSuffix(
			err.Error(),
			"null.arrows:2:2: column b has a missing value (null); fill in what is missing, or leave the column out",
		) {
		t.Errorf("a missing value: %v", err)
	}
	for name, c := range map[string]struct {
		of   func(b *array.RecordBuilder)
		want string
	}{
		"NaN": {func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, math.NaN()}, nil)
			b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, 2}, nil)
		}, ":2:1: column a: NaN is not finite"},
		"large": {func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
			b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, 1<<53 + 1}, nil)
		}, ":2:2: column b: an integer beyond 2⁵³"},
		"null": {func(b *array.RecordBuilder) {
			b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
			b.Field(1).(*array.Int64Builder).AppendValues([]int64{1, 2}, []bool{false, true})
		}, ":1:2: column b has a missing value (null)"},
	} {
		schema := lib.NewSchema(
			[]lib.Field{
				{Name: "a", Type: lib.PrimitiveTypes.Float64},
				{Name: "b", Type: lib.PrimitiveTypes.Int64, Nullable: true},
			},
			nil,
		)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		c.of(b)
		path := written(t, schema, true, []lib.RecordBatch{b.NewRecordBatch()})
		_, _, err := rowsOf(must(arrow.Open(path, arrow.Options{}))(t), 0)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// written is a file or a stream of batches.
func written(t testing.TB, schema *lib.Schema, stream bool, batches []lib.RecordBatch, opts ...ipc.Option) string {
	t.Helper()
	var out bytes.Buffer
	var w interface {
		Write(lib.RecordBatch) error
		Close() error
	}
	opts = append(opts, ipc.WithSchema(schema))
	w = ipc.NewWriter(&out, opts...)
	if !stream {
		w = must(ipc.NewFileWriter(&out, opts...))(t)
	}
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "data.arrow")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// table is n rows of numbers in batches of any size, as columns of a kind: "float64", "mixed" types,
// a "list", or lists among others.
func table(rng *rand.Rand, kind string, n int) (schema *lib.Schema, batches []lib.RecordBatch, rows [][]float64) {
	var fields []lib.Field
	field := func(dt lib.DataType) {
		fields = append(fields, lib.Field{Name: fmt.Sprint("c", len(fields)), Type: dt, Nullable: true})
	}
	switch kind {
	case "list":
		field(lib.FixedSizeListOfNonNullable(5, lib.PrimitiveTypes.Float64))
	case "one":
		field(lib.PrimitiveTypes.Float64)
	case "float64":
		for range 19 {
			field(lib.PrimitiveTypes.Float64)
		}
	case "mixed":
		for i := range 23 {
			field(
				[]lib.DataType{
					lib.PrimitiveTypes.Float64, lib.PrimitiveTypes.Float32, lib.FixedWidthTypes.Float16,
					lib.PrimitiveTypes.Int8, lib.PrimitiveTypes.Uint32, lib.FixedWidthTypes.Boolean,
				}[i*i%6],
			)
		}
	case "lists":
		field(lib.PrimitiveTypes.Float64)
		field(lib.FixedSizeListOf(3, lib.PrimitiveTypes.Int16))
		field(lib.FixedSizeListOf(4, lib.PrimitiveTypes.Float64))
		field(lib.PrimitiveTypes.Float32)
	}
	schema = lib.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i := range n {
		var row []float64
		for j := range fields {
			row = appended(rng, b.Field(j), row)
		}
		rows = append(rows, row)
		if rng.IntN(300) == 0 || i == n-1 {
			batches = append(batches, b.NewRecordBatch())
		}
		if rng.IntN(2000) == 0 {
			batches = append(batches, b.NewRecordBatch())
		}
	}
	return schema, batches, rows
}

// appended appends a random number to column b. It returns row with the value that the reader must return for this
// number.
func appended(rng *rand.Rand, b array.Builder, row []float64) []float64 {
	v := float64(rng.IntN(100))
	switch b := b.(type) {
	case *array.Float64Builder:
		v = rng.NormFloat64()
		b.Append(v)
	case *array.Float32Builder:
		b.Append(float32(v) / 4)
		v /= 4
	case *array.Float16Builder:
		b.Append(float16.New(float32(v) / 2))
		v /= 2
	case *array.Int8Builder:
		b.Append(int8(-v))
		v = -v
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Uint32Builder:
		b.Append(uint32(v) + 1<<31)
		v += 1 << 31
	case *array.BooleanBuilder:
		b.Append(v > 50)
		v = float64(int(v) / 51)
		if v > 0 {
			v = 1
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*lib.FixedSizeListType).Len() {
			row = appended(rng, b.ValueBuilder(), row)
		}
		return row
	}
	return append(row, v)
}

// TestAgree: whatever the batches, the compression and the way in, rows and blocks are the same.
func TestAgree(t *testing.T) {
	leaktest.Check(t)
	for seed, kind := range []string{"float64", "mixed", "list", "lists", "one"} {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		schema, batches, want := table(rng, kind, 5000)
		for _, c := range []struct {
			name   string
			stream bool
			opts   []ipc.Option
		}{
			{"file", false, nil}, {"stream", true, nil}, {"file, lz4", false, []ipc.Option{ipc.WithLZ4()}},
			{"stream, zstd", true, []ipc.Option{ipc.WithZstd()}},
		} {
			path := written(t, schema, c.stream, batches, c.opts...)
			text := must(os.ReadFile(path))(t)
			packed := filepath.Join(t.TempDir(), "data.gz")
			if err := os.WriteFile(packed, zipped(t, text), 0o600); err != nil {
				t.Fatal(err)
			}
			for way, open := range map[string]func() (*dataset.Stream, error){
				"as it is": func() (*dataset.Stream, error) { return arrow.Open(path, arrow.Options{}) },
				"in gzip":  func() (*dataset.Stream, error) { return arrow.Open(packed, arrow.Options{}) },
				"by a pipe": func() (*dataset.Stream, error) {
					return arrow.Open("-", arrow.Options{Pipe: dataset.NewPipe(ctx, "the pipe", bytes.NewReader(text))})
				},
				"as it comes": func() (*dataset.Stream, error) {
					p := dataset.NewPipe(ctx, "the pipe", bytes.NewReader(text))
					p.Prompt = true
					return arrow.Open("-", arrow.Options{Pipe: p})
				},
			} {
				src := must(open())(t)
				src.BlockRows = 700
				got, ends, err := rowsOf(src, 0)
				if err != nil || !same(got, want) {
					t.Fatalf("%s, %s, %s: %d rows, %v", kind, c.name, way, len(got), err)
				}
				if way != "as it comes" && fmt.Sprint(ends) != "[700 1400 2100 2800 3500 4200 4900 5000]" {
					t.Errorf("%s, %s, %s: blocks end at %v", kind, c.name, way, ends)
				}
				if dataset.Once(src) {
					continue
				}
				for _, first := range []int64{1, 700, 701, 2500, 4999, 5000, 6000} {
					got, ends, err := rowsOf(src, first)
					from := min(first/700*700, 4900)
					if err != nil || first < 5000 && !same(got, want[from:]) || first >= 5000 && len(ends) > 1 {
						t.Errorf("%s, %s, %s from row %d: %d rows, %v", kind, c.name, way, first, len(got), err)
					}
				}
				part := must(dataset.Cut(src, 1234, 3210))
				got, _, err = rowsOf(part(t), 0)
				if err != nil || !same(got, want[1234:3210]) {
					t.Errorf("%s, %s, %s: a part: %d rows, %v", kind, c.name, way, len(got), err)
				}
			}
		}
	}
}

// TestChosen: columns in any order, as features and targets.
func TestChosen(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, kind := range []string{"float64", "mixed", "lists"} {
		schema, batches, all := table(rng, kind, 900)
		path := written(t, schema, false, batches)
		names := must(arrow.Columns(path, arrow.Options{}))(t)
		for range 20 {
			order := rng.Perm(len(names))
			d := 1 + rng.IntN(len(names)-1)
			var opts arrow.Options
			for k, j := range order {
				if k < d {
					opts.Columns = append(opts.Columns, names[j])
				} else if k < d+2 {
					opts.Targets = append(opts.Targets, names[j])
				}
			}
			got, _, err := rowsOf(must(arrow.Open(path, opts))(t), 0)
			if err != nil {
				t.Fatal(err)
			}
			for i, row := range got {
				for k := range row {
					if row[k] != all[i][order[k]] {
						t.Fatalf("%s: %v, row %d: %v", kind, opts, i, row)
					}
				}
			}
		}
	}
}

// TestDamaged: a file that is cut off, or in which a bit is changed, is an error that says where, or
// rows; and never more than that.
func TestDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, stream := range []bool{true, false} {
		for _, opts := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			schema, batches, _ := table(rng, "lists", 20)
			path := written(t, schema, stream, batches, opts...)
			text := must(os.ReadFile(path))(t)
			try := func(what string, text []byte, whole bool) {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				for _, piped := range []bool{false, true} {
					o := arrow.Options{}
					if piped {
						o.Pipe = dataset.NewPipe(ctx, "the pipe", bytes.NewReader(text))
					}
					src, err := arrow.Open(path, o)
					if err == nil {
						_, _, err = rowsOf(src, 0)
					}
					if err != nil {
						e, ok := err.(*dataset.InputError)
						if !ok || e.File == "" || strings.Contains(err.Error(), "runtime error") ||
							strings.Contains(err.Error(), "unknown error") {
							t.Fatalf("%s, piped %v: %T %v", what, piped, err, err)
						}
					} else if !whole {
						t.Fatalf("%s, piped %v: no error", what, piped)
					}
				}
			}
			step := 61
			if os.Getenv("FDRIDGE_THOROUGH") != "" {
				step = 7
			}
			for i := rng.IntN(step); i < len(text); i += step {
				ends := stream &&
					bytes.HasPrefix(text[i:], []byte("\xff\xff\xff\xff")) // as a stream may, between messages
				try(fmt.Sprintf("cut off at byte %d of %d", i, len(text)), text[:i], ends)
				changed := slices.Clone(text)
				changed[i] ^= 1 << (i % 8)
				try(fmt.Sprintf("byte %d of %d", i, len(text)), changed, true)
			}
		}
	}
}

// TestNode checks that apache-arrow of npm writes the files in testdata and reads files of Writer. It is skipped unless
// FDRIDGE_NODE_MODULES names a folder with apache-arrow.
func TestNode(t *testing.T) {
	modules := os.Getenv("FDRIDGE_NODE_MODULES")
	if modules == "" {
		t.Skip("FDRIDGE_NODE_MODULES does not name a folder of node modules that has apache-arrow")
	}
	dir := t.TempDir()
	script := filepath.Join(dir, "make.mjs")
	if err := os.WriteFile(script, must(os.ReadFile(golden("make.mjs")))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(must(filepath.Abs(modules))(t), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("node", script).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range []string{"node.arrow", "node.arrows", "lists.arrow", "null.arrows", "words.arrow"} {
		if !bytes.Equal(must(os.ReadFile(filepath.Join(dir, name)))(t), must(os.ReadFile(golden(name)))(t)) {
			t.Errorf("%s is not what node makes", name)
		}
	}
	for _, stream := range []bool{true, false} {
		var text bytes.Buffer
		w := must(arrow.NewWriter(&text, stream, []string{"prediction", "low"}, "gamma", "3"))(t)
		var want [2][]float64
		for i := range 1000 {
			row := []float64{float64(i) / 7, -float64(i)}
			want[0], want[1] = append(want[0], row[0]), append(want[1], row[1])
			if err := w.Append(row); err != nil {
				t.Fatal(err)
			}
			if i%400 == 0 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", script, "read")
		cmd.Stdin = &text
		var got struct {
			Names   []string
			Notes   map[string]string
			Batches int
			Columns [2][]float64
		}
		if err := json.Unmarshal(must(cmd.Output())(t), &got); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(got.Names) != "[prediction low]" || got.Notes["gamma"] != "3" || got.Batches != 4 ||
			!slices.Equal(got.Columns[0], want[0]) ||
			!slices.Equal(got.Columns[1], want[1]) {
			t.Errorf("stream %v: node reads %v, %v, %d batches", stream, got.Names, got.Notes, got.Batches)
		}
	}
}

func zipped(t *testing.T, text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRefusesAll: all columns that hold no numbers are told at once, texts apart from others.
func TestRefusesAll(t *testing.T) {
	field := func(name string, of lib.DataType) lib.Field { return lib.Field{Name: name, Type: of} }
	schema := lib.NewSchema([]lib.Field{
		field("a", lib.BinaryTypes.String), field("x", lib.PrimitiveTypes.Float64),
		field("when", lib.FixedWidthTypes.Timestamp_us),
		field("b", &lib.DictionaryType{IndexType: lib.PrimitiveTypes.Int8, ValueType: lib.BinaryTypes.String}),
		field("y", lib.BinaryTypes.String),
	}, nil)
	path := written(t, schema, true, nil)
	_, err := arrow.Open(path, arrow.Options{Targets: []string{"y"}})
	e, ok := errors.AsType[*dataset.InputError](err)
	if !ok || !slices.Equal(e.Texts, []string{"a", "b"}) || !slices.Equal(e.Others, []string{"when"}) {
		t.Fatalf("%+v", err)
	}
	want := path + ": column a holds text or bytes; 3 columns are not numeric: a, b, when; " +
		"encode it as numbers, or leave it out"
	if e.Error() != want {
		t.Errorf("%v, want %s", e, want)
	}
	if _, err := arrow.Open(path, arrow.Options{Targets: []string{"x"}, Columns: []string{"b", "x"}}); err == nil ||
		!strings.Contains(err.Error(), `column "x" is named as a feature and as a target`) {
		t.Error(err)
	}
}

// TestBeside: a column is read beside columns of every other type, which are left out, and texts are
// read however they are stored.
func TestBeside(t *testing.T) {
	number := lib.PrimitiveTypes.Int16
	item := lib.Field{Name: "item", Type: number, Nullable: true}
	others := []lib.DataType{
		lib.Null, lib.BinaryTypes.Binary, lib.BinaryTypes.LargeBinary, lib.BinaryTypes.LargeString,
		lib.BinaryTypes.StringView, lib.BinaryTypes.BinaryView,
		lib.FixedWidthTypes.Time32ms, lib.FixedWidthTypes.Duration_ms, lib.FixedWidthTypes.MonthInterval,
		lib.FixedWidthTypes.MonthDayNanoInterval, &lib.FixedSizeBinaryType{ByteWidth: 3},
		&lib.Decimal128Type{Precision: 20, Scale: 2}, lib.ListOf(number), lib.LargeListOf(number), lib.ListViewOf(number),
		lib.LargeListViewOf(number), lib.MapOf(number, number),
		lib.StructOf(item, lib.Field{Name: "text", Type: lib.BinaryTypes.StringView}),
		lib.SparseUnionOf([]lib.Field{item}, []int8{0}), lib.DenseUnionOf([]lib.Field{item}, []int8{0}),
		lib.RunEndEncodedOf(lib.PrimitiveTypes.Int32, number),
		&lib.DictionaryType{IndexType: number, ValueType: lib.BinaryTypes.Binary},
	}
	fields := []lib.Field{{Name: "x", Type: number}}
	for i, of := range others {
		fields = append(fields, lib.Field{Name: fmt.Sprint("other", i), Type: of, Nullable: true})
	}
	texts := []lib.DataType{
		lib.BinaryTypes.String,
		lib.BinaryTypes.LargeString,
		lib.BinaryTypes.StringView,
		&lib.DictionaryType{IndexType: lib.PrimitiveTypes.Uint8, ValueType: lib.BinaryTypes.String},
		&lib.DictionaryType{IndexType: lib.PrimitiveTypes.Int64, ValueType: lib.BinaryTypes.String},
	}
	names := []string{"x"}
	for i, of := range texts {
		names = append(names, fmt.Sprint("text", i))
		fields = append(fields, lib.Field{Name: names[i+1], Type: of, Nullable: true})
	}
	schema := lib.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, c := range []struct {
		name   string
		stream bool
		opts   []ipc.Option
	}{
		{"file", false, nil}, {"stream", true, nil},
		{"dictionaries that grow", true, []ipc.Option{ipc.WithDictionaryDeltas(true)}},
		{"lz4", true, []ipc.Option{ipc.WithLZ4()}},
	} {
		var batches []lib.RecordBatch
		for i := range 30 {
			b.Field(0).(*array.Int16Builder).Append(int16(i))
			for k := range others {
				if i%3 == 0 {
					b.Field(k + 1).AppendNull()
				} else {
					b.Field(k + 1).AppendEmptyValue()
				}
			}
			text := fmt.Sprint("a text ", strings.Repeat("long ", i%5), i%7)
			if !c.stream || c.name == "lz4" {
				// in a file, and without deltas, dictionaries do not change
				text = fmt.Sprint("a text ", strings.Repeat("long ", i%5))
			}
			for k := range texts {
				if err := b.Field(1 + len(others) + k).AppendValueFromString(text); err != nil {
					t.Fatal(err)
				}
			}
			if i%10 == 9 {
				batches = append(batches, b.NewRecordBatch())
			}
		}
		path := written(t, schema, c.stream, batches, c.opts...)
		opts := arrow.Options{
			Columns: names,
			Cells:   &prepare.Cells{OneHot: names[1:]},
			Pipe:    dataset.NewPipe(ctx, "the pipe", bytes.NewReader(must(os.ReadFile(path))(t))),
		}
		rows, _, err := rowsOf(must(arrow.Open(path, opts))(t), 0)
		if err != nil || len(rows) != 30 {
			t.Fatalf("%s: %d rows, %v", c.name, len(rows), err)
		}
		codes := map[string]float64{}
		for i, row := range rows {
			text := fmt.Sprint(i%5, i%7)
			if !c.stream || c.name == "lz4" {
				text = fmt.Sprint(i % 5)
			}
			if _, seen := codes[text]; !seen {
				codes[text] = float64(len(codes))
			}
			for k, v := range row {
				if want := codes[text]; k > 0 && v != want || k == 0 && v != float64(i) {
					t.Fatalf("%s: row %d is %v, want texts of code %v", c.name, i, row, want)
				}
			}
		}
	}
}

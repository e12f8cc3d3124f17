package file_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	arrays "github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// writeTyped writes a table with dates, times, texts, categories, a truth and numbers as csv, Arrow and Parquet.
func writeTyped(t *testing.T, n int) map[string]string {
	t.Helper()
	category := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	of := arrow.NewSchema([]arrow.Field{
		{Name: "day", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_us, Nullable: true},
		{Name: "town", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "kind", Type: category, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	text := new(strings.Builder)
	text.WriteString("day,at,town,kind,flag,x,y\n")
	b := arrays.NewRecordBuilder(memory.DefaultAllocator, of)
	for i := range n {
		day, at := time.Date(1965, 3, 1+i*7, 0, 0, 0, 0, time.UTC), time.Date(2001, 1, 1, i%24, 5, 0, 250e6, time.UTC)
		town, kind, x := []string{"Rome", "Oslo", "Bern"}[i%3], []string{"a", "b"}[i%2], float64(i*i%17)
		if i%9 == 4 {
			b.Field(0).AppendNull()
			b.Field(2).AppendNull()
			b.Field(5).AppendNull()
			fmt.Fprintf(text, ",%s,,%s,%v,NA,", at.Format(time.RFC3339Nano), kind, i%2 == 0)
		} else {
			b.Field(0).(*arrays.Date32Builder).Append(arrow.Date32FromTime(day))
			b.Field(2).(*arrays.StringBuilder).Append(town)
			b.Field(5).(*arrays.Float64Builder).Append(x)
			fmt.Fprintf(text, "%s,%s,%s,%s,%v,%v,", day.Format(time.DateOnly), at.Format(time.RFC3339Nano), town, kind, i%2 == 0, x)
		}
		b.Field(1).(*arrays.TimestampBuilder).Append(arrow.Timestamp(at.UnixMicro()))
		if err := b.Field(3).(*arrays.BinaryDictionaryBuilder).AppendString(kind); err != nil {
			t.Fatal(err)
		}
		b.Field(4).(*arrays.BooleanBuilder).Append(i%2 == 0)
		if i%10 == 3 {
			b.Field(6).AppendNull()
			text.WriteString("\n")
			continue
		}
		b.Field(6).(*arrays.Float64Builder).Append(float64(i))
		fmt.Fprintf(text, "%d\n", i)
	}
	batch := b.NewRecordBatch()
	var asArrow bytes.Buffer
	w, err := ipc.NewFileWriter(&asArrow, ipc.WithSchema(of))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(batch); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for format, content := range map[string][]byte{"csv": []byte(text.String()), "arrow": asArrow.Bytes(), "parquet": parquetOf(t, batch)} {
		out[format] = filepath.Join(t.TempDir(), "table."+format)
		if err := os.WriteFile(out[format], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// parquetOf writes a batch of writeTyped.
func parquetOf(t *testing.T, batch arrow.RecordBatch) []byte {
	t.Helper()
	micros := as(8, 1, true, 2, structOf(fields(nil, 2, structOf(fields(nil)))))
	cols := []column{
		{node: node("day", true, word, as(6)), values: []int32{}},
		{node: node("at", true, long, micros), values: []int64{}},
		{node: node("town", true, bytesType, as(1)), values: []string{}},
		{node: node("kind", true, bytesType, as(1)), values: []string{}},
		{node: node("flag", true, boolean, nil), values: []bool{}},
		{node: node("x", true, double, nil), values: []float64{}},
		{node: node("y", true, double, nil), values: []float64{}},
	}
	for j := range cols {
		c := &cols[j]
		for i := range int(batch.NumRows()) {
			c.valid = append(c.valid, !batch.Column(j).IsNull(i))
			if batch.Column(j).IsNull(i) {
				continue
			}
			switch a := batch.Column(j).(type) {
			case *arrays.Date32:
				c.values = append(c.values.([]int32), int32(a.Value(i)))
			case *arrays.Timestamp:
				c.values = append(c.values.([]int64), int64(a.Value(i)))
			case *arrays.String:
				c.values = append(c.values.([]string), a.Value(i))
			case *arrays.Dictionary:
				c.values = append(c.values.([]string), a.Dictionary().(*arrays.String).Value(a.GetValueIndex(i)))
			case *arrays.Boolean:
				c.values = append(c.values.([]bool), a.Value(i))
			case *arrays.Float64:
				c.values = append(c.values.([]float64), a.Value(i))
			}
		}
	}
	return encode(t, 1, cols, layout{encoding: indices})
}

// prepared returns the encoding that Prepare decides and the encoded rows.
func prepared(t *testing.T, paths []string, opts file.Options) (*prepare.Encoding, []float64) {
	t.Helper()
	opened, e, err := file.Prepare(t.Context(), paths, opts, prepare.LookOptions{Rules: prepare.Rules{Auto: true}})
	if err != nil {
		t.Fatal(err)
	}
	src, err := e.Apply(opened, prepare.EncodeOptions{Cells: opened.Cells})
	if err != nil {
		t.Fatal(err)
	}
	var rows []float64
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		rows = append(append(rows, b.X...), b.Y...)
	}
	return e, rows
}

// TestPrepare: the types of Arrow and Parquet give the decisions and rows of the same table as csv.
func TestPrepare(t *testing.T) {
	opts := file.Options{Target: []string{"y"}, Targets: 1}
	tables := writeTyped(t, 200)
	want, rows := prepared(t, []string{tables["csv"]}, opts)
	var uses []string
	for _, c := range want.Columns {
		uses = append(uses, fmt.Sprint(c.Name, " ", c.Kind, " ", c.Use, " ", c.Width()))
	}
	// day: elapsed, year, 12 months, 2 weekdays would be constant; at: elapsed and 24 hours of one day
	if got := strings.Join(uses, "; "); got != "day date date 15; at date date 25; town text levels 4; kind text levels 2; flag number number 1; x number number 2" ||
		len(rows)%180 != 0 {
		t.Errorf("%s; %d numbers", got, len(rows))
	}
	for _, format := range []string{"arrow", "parquet"} {
		e, got := prepared(t, []string{tables[format]}, opts)
		if !reflect.DeepEqual(e, want) {
			t.Errorf("%s: %+v\nwant %+v", format, e.Columns, want.Columns)
		}
		if !reflect.DeepEqual(got, rows) {
			t.Errorf("%s has other rows", format)
		}
	}
	_, twice := prepared(t, []string{tables["csv"], tables["csv"]}, opts)
	if !reflect.DeepEqual(len(twice), 2*len(rows)) {
		t.Errorf("%d numbers in two files, %d in one", len(twice), len(rows))
	}
	opts.Pipe = dataset.NewPipe(t.Context(), "a pipe", strings.NewReader("a,y\n1,2\n"))
	if _, _, err := file.Prepare(t.Context(), []string{"a pipe"}, opts, prepare.LookOptions{}); err == nil ||
		!strings.Contains(err.Error(), "a look at all columns") {
		t.Errorf("a pipe: %v", err)
	}
}

// TestRareLevels: a level of one row is pooled, and of two rows is not; of many rows a level must have 0.02 %.
func TestRareLevels(t *testing.T) {
	for _, c := range []struct{ rows, few int }{{200, 2}, {20000, 4}} {
		var text strings.Builder
		text.WriteString("s,y\n")
		for i := range c.rows {
			level := "common"
			switch {
			case i < c.few-1:
				level = "pooled"
			case i < 2*c.few-1:
				level = "kept"
			case i%2 == 0:
				level = "often"
			}
			fmt.Fprintf(&text, "%s,%d\n", level, i)
		}
		_, e, err := file.Prepare(
			t.Context(),
			[]string{named(t, "data.csv", text.String())},
			file.Options{Target: []string{"y"}, Targets: 1},
			prepare.LookOptions{Rules: prepare.Rules{Auto: true}},
		)
		if err != nil {
			t.Fatal(err)
		}
		got := e.Columns[0]
		if want := []string{"common", "kept", "often"}; !slices.Equal(got.Levels, want) || !got.Other {
			t.Errorf("%d rows: levels %q, others pooled: %v; want %q", c.rows, got.Levels, got.Other, want)
		}
	}
}

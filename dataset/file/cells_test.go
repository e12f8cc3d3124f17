package file_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
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

// A tableRow has a number, a text, a whole number that is a category, a truth and a target; nil is missing.
type tableRow struct {
	x    *float64
	text *string
	code *int64
	flag *bool
	y    float64
}

// tableRows returns n rows whose text column has so many levels. The text and the code of the last row occur only
// there.
func tableRows(n, levels int) []tableRow {
	rng := rand.New(rand.NewPCG(uint64(n), uint64(levels)))
	out := make([]tableRow, n)
	for i := range out {
		x, text, code, flag := rng.NormFloat64(), fmt.Sprintf(
			"lëvel, \"%d\"", rng.IntN(levels),
		), int64(rng.IntN(3)*5-5), rng.IntN(2) == 1
		if i == n-1 {
			text, code = "seen once", 70
		}
		out[i] = tableRow{&x, &text, &code, &flag, float64(i)}
		switch rng.IntN(20) {
		case 0:
			out[i].x = nil
		case 1:
			out[i].text = nil
		case 2:
			out[i].flag = nil
		}
	}
	return out
}

// asCSV writes rows as text, what is missing in one way or another.
func asCSV(rows []tableRow) []byte {
	var b bytes.Buffer
	b.WriteString("x,text,code,flag,y\n")
	gaps := []string{"", "NA", "nan", " n/a ", "None", "<NA>", "?"}
	for i, r := range rows {
		cells := make([]string, 5)
		for k := range cells {
			cells[k] = gaps[(i+k)%len(gaps)]
		}
		if r.x != nil {
			cells[0] = fmt.Sprint(*r.x)
		}
		if r.text != nil {
			cells[1] = `"` + strings.ReplaceAll(*r.text, `"`, `""`) + `"`
		}
		cells[2] = fmt.Sprint(*r.code)
		if r.flag != nil {
			cells[3] = map[bool]string{true: []string{"True", "TRUE", "true"}[i%3], false: "False"}[*r.flag]
		}
		cells[4] = fmt.Sprint(r.y)
		b.WriteString(strings.Join(cells, ",") + "\n")
	}
	return b.Bytes()
}

// batches are the rows as record batches of Arrow, texts as they are or dictionary-encoded.
func batches(t *testing.T, rows []tableRow, dictionary bool) (*arrow.Schema, []arrow.RecordBatch) {
	t.Helper()
	var text arrow.DataType = arrow.BinaryTypes.String
	if dictionary {
		text = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "text", Type: text, Nullable: true},
		{Name: "code", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "y", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	var out []arrow.RecordBatch
	b := arrays.NewRecordBuilder(memory.DefaultAllocator, schema)
	for i, r := range rows {
		if x := b.Field(0).(*arrays.Float64Builder); r.x != nil {
			x.Append(*r.x)
		} else {
			x.AppendNull()
		}
		switch f := b.Field(1); {
		case r.text == nil:
			f.AppendNull()
		case dictionary:
			if err := f.(*arrays.BinaryDictionaryBuilder).AppendString(*r.text); err != nil {
				t.Fatal(err)
			}
		default:
			f.(*arrays.StringBuilder).Append(*r.text)
		}
		b.Field(2).(*arrays.Int64Builder).Append(*r.code)
		if f := b.Field(3).(*arrays.BooleanBuilder); r.flag != nil {
			f.Append(*r.flag)
		} else {
			f.AppendNull()
		}
		b.Field(4).(*arrays.Float64Builder).Append(r.y)
		if i == len(rows)-1 || !dictionary && i%700 == 699 {
			out = append(out, b.NewRecordBatch())
		}
	}
	return schema, out
}

func asArrow(t *testing.T, rows []tableRow, dictionary bool) []byte {
	t.Helper()
	of, all := batches(t, rows, dictionary)
	var out bytes.Buffer
	w, err := ipc.NewFileWriter(&out, ipc.WithSchema(of))
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// asParquet writes rows in groups, dictionary-encoded or plain, in many pages.
func asParquet(t *testing.T, rows []tableRow, dictionary bool) []byte {
	t.Helper()
	var groups [][]column
	for part := range slices.Chunk(rows, 1100) {
		var x, y []float64
		var texts []string
		var codes []int64
		var flags []bool
		valid := make([][]bool, 3)
		for _, r := range part {
			valid[0], valid[1], valid[2] = append(valid[0], r.x != nil), append(valid[1], r.text != nil),
				append(valid[2], r.flag != nil)
			if r.x != nil {
				x = append(x, *r.x)
			}
			if r.text != nil {
				texts = append(texts, *r.text)
			}
			if r.flag != nil {
				flags = append(flags, *r.flag)
			}
			codes, y = append(codes, *r.code), append(y, r.y)
		}
		groups = append(groups, []column{
			{node("x", true, double, nil), x, valid[0]}, {node("text", true, bytesType, as(1)), texts, valid[1]},
			{node("code", false, long, nil), codes, nil}, {node("flag", true, boolean, nil), flags, valid[2]},
			{node("y", false, double, nil), y, nil},
		})
	}
	return encodeGroups(t, groups, layout{encoding: map[bool]int{true: indices}[dictionary], pageRows: 200})
}

// TestCells: a table has the same rows, missing values and levels in every format, and these are those
// that were written.
func TestCells(t *testing.T) {
	for _, levels := range []int{3, 1500} {
		rows := tableRows(3000, levels)
		dir := t.TempDir()
		for name, content := range map[string][]byte{
			"a.csv": asCSV(rows), "a.arrow": asArrow(t, rows, false), "dictionary.arrow": asArrow(t, rows, true),
			"plain.parquet": asParquet(t, rows, false), "dictionary.parquet": asParquet(t, rows, true),
		} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			for _, missing := range []prepare.Missing{prepare.MissingMean, prepare.MissingDrop} {
				t.Run(fmt.Sprint(levels, name, missing), func(t *testing.T) { checkCells(t, path, rows, missing) })
			}
			if _, err := passCells(path, &prepare.Cells{OneHot: []string{"text", "code"}}); err == nil ||
				!errors.Is(err, dataset.ErrInput) {
				t.Errorf("%s: missing values that are not asked for: %v", name, err)
			}
		}
	}
}

// passCells reads a file.
func passCells(path string, cells *prepare.Cells) (*file.Opened, error) {
	opened, err := file.Open(
		[]string{path},
		file.Options{Target: []string{"y"}, Targets: 1, Origin: file.Origin{Cells: cells}},
	)
	if err != nil {
		return nil, err
	}
	for _, err := range opened.Blocks(context.Background()) {
		if err != nil {
			return nil, err
		}
	}
	return opened, nil
}

func checkCells(t *testing.T, path string, rows []tableRow, missing prepare.Missing) {
	ctx := context.Background()
	opened, err := passCells(path, &prepare.Cells{Missing: missing, OneHot: []string{"code", "text"}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := prepare.NewEncoding(4, opened.Names, missing, opened.Cells.Features)
	if err != nil {
		t.Fatal(err)
	}
	learnt, err := e.Learn(ctx, opened, prepare.LearnOptions{Cells: opened.Cells})
	if err != nil {
		t.Fatal(err)
	}
	kept := slices.DeleteFunc(slices.Clone(rows), func(r tableRow) bool {
		return missing == prepare.MissingDrop && (r.x == nil || r.text == nil || r.flag == nil)
	})
	texts := map[string]bool{}
	var gap bool
	var sum, n float64
	for _, r := range kept {
		if r.text != nil {
			texts[*r.text] = true
		}
		gap = gap || r.text == nil
		if r.x != nil {
			sum, n = sum+*r.x, n+1
		}
	}
	var want []string
	for text := range texts {
		want = append(want, text)
	}
	slices.Sort(want)
	if gap {
		want = append(want, "")
	}
	if got := e.Categories[0].Levels; !slices.Equal(got, want) {
		t.Fatalf("levels %.200q, want %.200q", got, want)
	}
	if got := e.Categories[1].Levels; !slices.Equal(got, []string{"-5", "0", "5", "70"}) {
		t.Fatalf("levels of a whole number %q", got)
	}
	if learnt.Dropped != int64(len(rows)-len(kept)) {
		t.Errorf("%d rows left out, want %d", learnt.Dropped, len(rows)-len(kept))
	}
	out, err := e.Apply(opened, prepare.EncodeOptions{Cells: opened.Cells})
	if err != nil {
		t.Fatal(err)
	}
	at, width := 0, e.Width()
	for b, err := range out.Blocks(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			row := make([]float64, width)
			if b.Sparse == nil {
				copy(row, b.X[i*width:])
			} else {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			r := kept[at]
			text := ""
			if r.text != nil {
				text = *r.text
			}
			x := sum / n
			if r.x != nil {
				x = *r.x
			}
			d := row[0] - x
			if !(d*d <= 1e-24) || row[1+slices.Index(want, text)] != 1 ||
				row[width-5+slices.Index([]int64{-5, 0, 5, 70}, *r.code)] != 1 ||
				b.Y[i] != r.y {
				t.Fatalf("row %d: %v of %+v", at, row, r)
			}
			ones := 0.0
			for _, v := range row[1 : width-1] {
				ones += v
			}
			flag := row[width-1]
			if ones != 2 || r.flag != nil && flag != map[bool]float64{true: 1}[*r.flag] ||
				r.flag == nil && !(flag > 0.4 && flag < 0.6) {
				t.Fatalf("row %d: %v levels, truth %v of %+v", at, ones, row[width-1], r)
			}
			at++
		}
	}
	if at != len(kept) {
		t.Errorf("%d rows, want %d", at, len(kept))
	}
}

// TestCellsRefused: columns that are none, no features, of too many levels, or in formats that have
// none are refused in words.
func TestCellsRefused(t *testing.T) {
	for _, c := range []struct {
		text, target string
		cells        prepare.Cells
		want         string
	}{
		{"a,b,y\nu,1,2\n", "y", prepare.Cells{OneHot: []string{"c"}}, "there is no column \"c\""},
		{"a,b,y\nu,1,2\n", "y", prepare.Cells{OneHot: []string{"y"}}, "column \"y\" is not a feature"},
		{"a,b,y\nu,1,2\n", "y", prepare.Cells{OneHot: []string{"a", "1"}}, "named twice"},
		{"a,b,y\nu,1,2\nv,,3\n", "y", prepare.Cells{OneHot: []string{"a"}}, "3:3: column b is empty"},
		{"a,b,y\nu,1,2\nNA,2,3\n", "y", prepare.Cells{OneHot: []string{"a"}}, "3:1: column a: NA is a missing value"},
		{
			"a,b,y\nu,1,2\nv,2,\n", "y", prepare.Cells{OneHot: []string{"a"}, Missing: prepare.MissingMean},
			"3:5: column y is empty",
		},
		{
			"a,b,y\nu,1,2\nv,inf,3\n", "y", prepare.Cells{OneHot: []string{"a"}, Missing: prepare.MissingMean},
			"inf is not finite",
		},
		{
			"1 1:2 3:4\n2 2:1\n", "", prepare.Cells{Missing: prepare.MissingMean},
			"is svmlight, whose rows have no missing values (absent entries are zero) and no categories",
		},
	} {
		path := filepath.Join(t.TempDir(), "rows")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var target []string
		if c.target != "" {
			target = []string{c.target}
		}
		opened, err := file.Open(
			[]string{path},
			file.Options{Target: target, Targets: 1, Origin: file.Origin{Cells: &c.cells}},
		)
		if err == nil {
			for _, err = range opened.Blocks(context.Background()) {
				if err != nil {
					break
				}
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !errors.Is(err, dataset.ErrInput) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestCellsNPY: NaN is a missing value of an array, numbers are levels, and integers that float64 does
// not hold stay refused.
func TestCellsNPY(t *testing.T) {
	var header = func(kind string, n, d int) []byte {
		text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", kind, n, d)
		text += strings.Repeat(" ", 64-(10+len(text)+1)%64) + "\n"
		return append([]byte{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, byte(len(text)), byte(len(text) >> 8)}, text...)
	}
	path := filepath.Join(t.TempDir(), "a.npy")
	// 1 NaN, 2 1
	content := append(header("<f4", 2, 2), 0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3f)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err := file.Open(
		[]string{path},
		file.Options{Origin: file.Origin{Cells: &prepare.Cells{Missing: prepare.MissingMean, OneHot: []string{"1"}}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	e, err := prepare.NewEncoding(2, nil, prepare.MissingMean, opened.Cells.Features)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Learn(context.Background(), opened, prepare.LearnOptions{Cells: opened.Cells}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(e.Categories[0].Levels, []string{"1", "2"}) || e.Means[1] != 1 ||
		!slices.Equal(e.MadeNames(), []string{"x1=1", "x1=2", "x2"}) {
		t.Errorf("%+v", e)
	}
	content = append(header("<i8", 1, 1), 1, 0, 0, 0, 0, 0, 0, 0x7f)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	opened, err = file.Open(
		[]string{path},
		file.Options{Origin: file.Origin{Cells: &prepare.Cells{Missing: prepare.MissingDrop}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range opened.Blocks(context.Background()) {
		if err == nil || !strings.Contains(err.Error(), "an integer beyond 2⁵³") {
			t.Errorf("an integer that float64 does not hold: %v", err)
		}
	}
}

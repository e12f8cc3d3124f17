package file_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// sparkRow returns the values of row i of a table: a number, an integer, a decimal, a truth, a text and a target. The
// number and the text are missing in some rows, and equal for many rows in a row, so that runs are long.
func sparkRow(i int) (x float64, n int32, d int64, flag bool, text string, y float64) {
	x = float64(i/20) / 7
	if i%40 > 28 {
		x = math.NaN()
	}
	text = []string{"red", "green", ""}[i/11%3]
	return x, int32(i % 5), int64(i*25 - 1000), i%3 == 0, text, float64(i) / 3
}

// sparkParquet returns a Parquet file with the rows from, from + 1, …, to − 1. It has the name of the root, the
// metadata, the dictionaries and the runs of Spark's writer.
func sparkParquet(t *testing.T, from, to, pageRows int) []byte {
	var (
		x, y               []float64
		n                  []int32
		d                  []int64
		flags              []bool
		texts              []string
		hasX, hasT, hasAll []bool
	)
	for i := from; i < to; i++ {
		v, m, c, flag, text, target := sparkRow(i)
		hasX, hasT = append(hasX, v == v), append(hasT, text != "")
		if v == v {
			x = append(x, v)
		}
		if text != "" {
			texts = append(texts, text)
		}
		n, d, flags, y = append(n, m), append(d, c), append(flags, flag), append(y, target)
		hasAll = append(hasAll, true)
	}
	cols := []column{
		{node("x", true, double, nil), x, hasX},
		{node("n", true, word, nil), n, hasAll},
		{node("d", true, long, as(5, 1, int32(2), 2, int32(12))), d, hasAll},
		{node("flag", true, boolean, nil), flags, hasAll},
		{node("s", true, bytesType, as(1)), texts, hasT},
		{node("y", true, double, nil), y, hasAll},
	}
	return encode(t, 1, cols, layout{codec: snap, encoding: indices, pageRows: pageRows, spark: true})
}

// TestSparkParquet reads a folder of Parquet files as Spark writes it.
func TestSparkParquet(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const rows = 2000
	for k := range 2 {
		from, to, pageRows := 0, 1200, 333
		if k == 1 { // in some pages, no value is valid
			from, to, pageRows = 1200, rows, 8
		}
		name := fmt.Sprintf("part-%05d-2f3c1f6e-c000.snappy.parquet", k)
		put(name, sparkParquet(t, from, to, pageRows))
		put("."+name+".crc", []byte("crc\x00\x00\x00\x02\x00"))
	}
	put("_SUCCESS", nil)
	put("._SUCCESS.crc", []byte("crc\x00"))
	cells := &prepare.Cells{Missing: prepare.MissingMean, OneHot: []string{"s"}}
	opts := file.Options{Target: []string{"y"}, Targets: 1}
	opts.Cells = cells
	s, err := file.Open(file.Folder(dir), opts)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for b, err := range s.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for k := range b.N {
			x, n, d, flag, text, y := sparkRow(i)
			code, _ := cells.Lexicons[0].CodeOf(text)
			if text == "" {
				code = math.NaN()
			}
			want := []float64{x, float64(n), float64(d) / 100, 0, code, y}
			if flag {
				want[3] = 1
			}
			got := append(b.X[k*5:k*5+5:k*5+5], b.Y[k])
			for j := range want {
				if !sameBits(got[j], want[j]) {
					t.Fatalf("row %d: %v, want %v", i, got, want)
				}
			}
			i++
		}
	}
	if i != rows {
		t.Errorf("%d rows", i)
	}
}

package parquet_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/parquet"
	"github.com/fdridge/fdridge/fd"
)

// packed compresses a text by "gzip", "zstd" or not at all.
func packed(t *testing.T, by string, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch by {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "zstd":
		z, err := zstd.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	default:
		return text
	}
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// sketched is the sketch of the features of a source, as it is stored.
func sketched(t *testing.T, src *dataset.Stream, blockRows int) []byte {
	t.Helper()
	src.BlockRows = blockRows
	_, d, _ := src.Dims()
	s, err := fd.New(fd.Config{Dim: d, Size: 5})
	if err != nil {
		t.Fatal(err)
	}
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := s.AppendRows(b.N, b.X, d); err != nil {
			t.Fatal(err)
		}
	}
	out, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSketchesAgree: the same numbers give the same sketch, bit for bit, from CSV, from npy in either order and from
// Parquet. This holds for float64 and float32, for each compression, and for blocks of any number of rows.
func TestSketchesAgree(t *testing.T) {
	const n, d = 1100, 11 // more rows than a window of Fortran order
	for _, size := range []int{8, 4} {
		r := rand.New(rand.NewPCG(5, 6))
		x := make([]float64, n*d)
		for i := range x {
			x[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(20)-10))
			if size == 4 {
				x[i] = float64(float32(x[i]))
			}
		}
		entry := func(out []byte, v float64) []byte {
			if size == 4 {
				return binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(v)))
			}
			return binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
		}
		array := func(fortran string) []byte {
			dict := fmt.Sprintf("{'descr': '<f%d', 'fortran_order': %s, 'shape': (%d, %d), }\n", size, fortran, n, d)
			out := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict))), dict...)
			for k := range x {
				if fortran == "True" {
					k = k%n*d + k/n
				}
				out = entry(out, x[k])
			}
			return out
		}
		var text strings.Builder
		cols := make([]column, d)
		for j := range cols {
			f8, f4 := make([]float64, n), make([]float32, n)
			for i := range n {
				f8[i], f4[i] = x[i*d+j], float32(x[i*d+j])
			}
			cols[j] = column{node: node(fmt.Sprint("x", j), false, double, nil), values: f8}
			if size == 4 {
				cols[j] = column{node: node(fmt.Sprint("x", j), false, float, nil), values: f4}
			}
		}
		for i, v := range x {
			text.WriteString(strconv.FormatFloat(v, 'g', -1, 64))
			text.WriteByte(",\n"[(i%d+1)/d])
		}

		sources := map[string]*dataset.Stream{}
		add := func(name string, content []byte, open func(path string) (*dataset.Stream, error)) {
			path := filepath.Join(t.TempDir(), "data")
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			s, err := open(path)
			if err != nil {
				t.Fatal(err)
			}
			sources[name] = s
		}
		openNpy := func(path string) (*dataset.Stream, error) { return npy.Open(path, npy.Options{}) }
		for _, by := range []string{"plain", "gzip", "zstd"} {
			add("npy, "+by, packed(t, by, array("False")), openNpy)
			add(
				"csv, "+by,
				packed(t, by, []byte(text.String())),
				func(path string) (*dataset.Stream, error) { return csv.Open(path, csv.Options{}) },
			)
			codec := map[string]int{"plain": uncompressed, "gzip": gz, "zstd": zst}[by]
			add(
				"Parquet, "+by,
				encode(t, 1, cols, layout{codec: codec}),
				func(path string) (*dataset.Stream, error) { return parquet.Open(path, parquet.Options{}) },
			)
		}
		add("npy, Fortran", array("True"), openNpy)
		want := sketched(t, sources["npy, plain"], 0)
		for name, s := range sources {
			for _, rows := range []int{0, 1, 7, 64, 1000} {
				if got := sketched(t, s, rows); !bytes.Equal(got, want) {
					t.Errorf("float%d, %s, in blocks of %d: another sketch", 8*size, name, rows)
				}
			}
		}
	}
}

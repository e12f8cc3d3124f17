package npy_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// table reads all rows as dense rows, targets behind features.
func table(tb testing.TB, src dataset.Source, first int64) (rows [][]float64, err error) {
	tb.Helper()
	_, d, t := src.Dims()
	for b, err := range dataset.From(tb.Context(), src, first) {
		if err != nil {
			return rows, err
		}
		for i := range b.N {
			at := b.First + int64(i)
			if at < first { // the first block may begin earlier
				continue
			}
			if at != first+int64(len(rows)) {
				tb.Errorf("row %d comes instead of row %d", at, first+int64(len(rows)))
			}
			row := make([]float64, d, d+t)
			if b.Sparse != nil {
				last := int32(-1)
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					if j <= last || val[k] == 0 {
						tb.Errorf("row %d: columns %v, values %v", len(rows), idx, val)
					}
					row[j], last = val[k], j
				}
			} else {
				copy(row, b.X[i*d:(i+1)*d])
			}
			rows = append(rows, append(row, b.Y[i*t:(i+1)*t]...))
		}
	}
	return rows, nil
}

// dense returns the rows of an array of testdata.
func dense(tb testing.TB, name string) [][]float64 {
	tb.Helper()
	src, err := npy.Open(filepath.Join("testdata", name), npy.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	rows, err := table(tb, src, 0)
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

func equal(a, b [][]float64) bool { return slices.EqualFunc(a, b, slices.Equal) }

// TestSparse compares the files that SciPy wrote with the dense array, from every row on, twice, in blocks of any
// number of rows.
func TestSparse(t *testing.T) {
	want := dense(t, "dense.npy")
	files, err := filepath.Glob(filepath.Join("testdata", "sparse-*.npz"))
	if err != nil || len(files) < 15 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		for _, blockRows := range []int{0, 1, 5} {
			src, err := npy.OpenMember(path, "", npy.Options{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			if n, d, targets := src.Dims(); n != 24 || d != 12 || targets != 0 {
				t.Errorf("%s: %d×%d, %d targets", path, n, d, targets)
			}
			src.BlockRows = blockRows
			for _, first := range []int64{0, 1, 6, 10, 23} {
				got, err := table(t, src, first)
				if err != nil || !equal(got, want[first:]) {
					t.Errorf(
						"%s, blocks of %d rows, from row %d: %v\n%v\nwant %v",
						path,
						blockRows,
						first,
						err,
						got,
						want[first:],
					)
					break
				}
			}
		}
	}
}

// TestSparseColumns selects columns of sparse matrices as features and as targets, in another order.
func TestSparseColumns(t *testing.T) {
	full := dense(t, "dense.npy")
	opts := npy.Options{Targets: []string{"last", "1"}, Columns: []string{"5", "3", "10"}}
	for _, name := range []string{"csr", "csr-unsorted", "csc", "coo", "bsr"} {
		src, err := npy.OpenMember(filepath.Join("testdata", "sparse-"+name+".npz"), "", opts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := table(t, src, 0)
		var want [][]float64
		for _, row := range full {
			want = append(want, []float64{row[4], row[2], row[9], row[11], row[0]})
		}
		if err != nil || !equal(got, want) {
			t.Errorf("%s: %v\n%v\nwant %v", name, err, got, want)
		}
	}
}

// An archive maps the names of arrays to their types, shapes and entries.
type archive map[string]entries

type entries struct {
	descr, shape string
	values       any
}

// write writes an archive without compression, or with deflate.
func (a archive) write(tb testing.TB, path string, method uint16) {
	tb.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for name, e := range a {
		dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", e.descr, e.shape)
		body := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict))), dict...)
		body, err := binary.Append(body, binary.LittleEndian, e.values)
		if err != nil {
			tb.Fatal(err)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: method})
		if err == nil {
			_, err = w.Write(body)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func format(name string) entries { return entries{"|S3", "", []byte(name)} }

func integers(values ...int32) entries {
	return entries{"<i4", fmt.Sprint(len(values), ","), values}
}

func numbers(values ...float64) entries {
	return entries{"<f8", fmt.Sprint(len(values), ","), values}
}

func longs(values ...int64) entries { return entries{"<i8", fmt.Sprint(len(values), ","), values} }

// TestSparseDamaged: arrays that contradict each other, or values that cannot be read, are errors.
func TestSparseDamaged(t *testing.T) {
	csr := func(changes archive) archive {
		out := archive{
			"format":  format("csr"),
			"shape":   longs(2, 3),
			"data":    numbers(1, 2, 3),
			"indices": integers(0, 2, 1),
			"indptr":  integers(0, 2, 3),
		}
		for name, e := range changes {
			out[name] = e
		}
		return out
	}
	csc := archive{
		"format":  format("csc"),
		"shape":   longs(3, 2),
		"data":    numbers(1, 2, 3),
		"indices": integers(0, 2, 1),
		"indptr":  integers(0, 2, 3),
	}
	coo := func(changes archive) archive {
		out := archive{
			"format": format("coo"),
			"shape":  longs(2, 3),
			"data":   numbers(1, 2),
			"row":    integers(0, 1),
			"col":    integers(2, 0),
		}
		for name, e := range changes {
			out[name] = e
		}
		return out
	}
	bsr := func(changes archive) archive {
		out := archive{
			"format":  format("bsr"),
			"shape":   longs(2, 4),
			"data":    {"<f8", "1, 2, 2", []float64{1, 2, 3, 4}},
			"indices": integers(1),
			"indptr":  integers(0, 1),
		}
		for name, e := range changes {
			out[name] = e
		}
		return out
	}
	inf, nan := math.Inf(1), math.NaN()
	cases := map[string]struct {
		in   archive
		want string
	}{
		"csr": {csr(nil), ""},
		"csr, no values": {
			csr(archive{"data": numbers(), "indices": integers(), "indptr": integers(0, 0, 0)}),
			"",
		},
		"csr, more values": {csr(archive{"indptr": integers(0, 1, 2)}), ""},
		"integers":         {csr(archive{"data": longs(1, -2, 1<<53)}), ""},
		"format dia": {
			csr(archive{"format": format("dia")}),
			`: holds a sparse matrix of scipy in the format "dia"; convert it to csr`,
		},
		"a number as format": {csr(archive{"format": integers(1)}), `:format: is no text, but "<i4"`},
		"no rows":            {csr(archive{"shape": longs(0, 3)}), ": has no rows"},
		"no columns": {
			csr(archive{"shape": longs(2, 0)}),
			": has shape [2 0]; the columns must be 1 to 2147483647",
		},
		"too many columns": {csr(archive{"shape": longs(2, 1<<31)}), ": has shape [2 2147483648]"},
		"one dimension": {
			csr(archive{"shape": longs(3)}),
			": holds a sparse array of 1 dimensions instead of 2",
		},
		"data of 2 dimensions": {
			csr(archive{"data": {"<f8", "1, 3", []float64{1, 2, 3}}}),
			": is damaged: the array data has 2 dimensions",
		},
		"complex": {
			csr(archive{"data": {"<c8", "1,", []float32{1, 2}}}),
			`:data: holds entries of type "<c8"`,
		},
		"short indptr": {
			csr(archive{"indptr": integers(0, 3)}),
			": is damaged: indptr has 2 entries instead of 3",
		},
		"short indices": {csr(archive{"indices": integers(0, 1)}), "indices has 2 and data 3"},
		"indptr from 1": {
			csr(archive{"indptr": integers(1, 2, 3)}),
			": is damaged: indptr begins with 1 instead of 0",
		},
		"indptr decreases": {csr(archive{"indptr": integers(0, 2, 1)}), ": is damaged: entry 3 of indptr is 1"},
		"indptr beyond":    {csr(archive{"indptr": integers(0, 2, 4)}), ": is damaged: entry 3 of indptr is 4"},
		"indptr of floats": {
			csr(archive{"indptr": numbers(0, 2, 3)}),
			`:indptr: is damaged: its entries have the type "<f8" instead of integers`,
		},
		"column beyond": {
			csr(archive{"indices": integers(0, 2, 3)}),
			":2: is damaged: row 2 has a value in column 4 of 3",
		},
		"column below": {
			csr(archive{"indices": integers(0, -1, 1)}),
			":1: is damaged: row 1 has a value in column 0 of 3",
		},
		"column of 64 bits": {
			csr(archive{"indices": longs(0, 1<<40, 1)}),
			":1: is damaged: row 1 has a value in column 0 of 3",
		},
		"NaN": {
			csr(archive{"data": numbers(1, 2, nan)}),
			":2:2: row 2, column 2 is NaN, which is not finite",
		},
		"infinity": {csr(archive{"data": numbers(1, inf, 3)}), ":1:3: row 1, column 3 is +Inf"},
		"integer beyond 2^53": {
			csr(archive{"data": longs(1, 1<<53+1, 3)}),
			":1:3: row 1, column 3 is an integer beyond 2⁵³",
		},
		"a sum overflows": {
			csr(archive{"data": numbers(1.7e308, 1.7e308, 3), "indices": integers(1, 1, 1)}),
			":1:2: row 1, column 2 is +Inf",
		},
		"csc": {csc, ""},
		"csc, indptr": {
			archive{
				"format":  format("csc"),
				"shape":   longs(3, 2),
				"data":    numbers(1, 2, 3),
				"indices": integers(0, 2, 1),
				"indptr":  integers(0, 2, 1),
			},
			":indptr: is damaged: its entries decrease",
		},
		"csc, many rows": {
			archive{
				"format":  format("csc"),
				"shape":   longs(1<<40, 1),
				"data":    numbers(1),
				"indices": integers(0),
				"indptr":  integers(0, 1),
			},
			": has shape [1099511627776 1]; the rows of csc must be at most",
		},
		"coo":                {coo(nil), ""},
		"coo, row beyond":    {coo(archive{"row": integers(0, 2)}), ": is damaged: value 2 is in row 3 of 2"},
		"coo, row below":     {coo(archive{"row": integers(-1, 0)}), ": is damaged: value 1 is in row 0 of 2"},
		"coo, column beyond": {coo(archive{"col": integers(3, 0)}), ":1: is damaged: row 1 has a value in column"},
		"coo, short rows":    {coo(archive{"row": integers(0)}), ": is damaged: row has 1 entries, data 2 and col 2"},
		"coords":             {coo(archive{"coords": {"<i4", "2, 2", []int32{0, 1, 2, 0}}}), ""},
		"short coords": {
			coo(archive{"coords": integers(0, 1)}),
			": is damaged: coords has 2 entries, data 2 and coords 2",
		},
		"fill value": {
			coo(archive{"fill_value": {"<f8", "", []float64{1}}}),
			": is a sparse array whose absent entries are [1] instead of 0",
		},
		"bsr": {bsr(nil), ""},
		"bsr, rows": {
			bsr(archive{"shape": longs(3, 4)}),
			": is damaged: a matrix of 3×4 cannot have blocks of 2×2",
		},
		"bsr, flat": {
			bsr(archive{"data": numbers(1, 2, 3, 4)}),
			": is damaged: the array data has shape [4]",
		},
		"bsr, empty blocks": {
			bsr(archive{"data": {"<f8", "1, 0, 2", []float64{}}}),
			": is damaged: the array data has shape [1 0 2]",
		},
		"bsr, column beyond": {bsr(archive{"indices": integers(2)}), ":1: is damaged: row 1 has a value in column"},
		"bsr, column below":  {bsr(archive{"indices": integers(-1)}), ":1: is damaged: row 1 has a value in column"},
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	for name, c := range cases {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			c.in.write(t, path, method)
			src, err := npy.OpenMember(path, "", npy.Options{})
			if err == nil {
				_, err = table(t, src, 0)
			}
			var e *dataset.InputError
			switch {
			case c.want == "" && err == nil:
			case c.want == "" || err == nil || !errors.As(err, &e) || !strings.Contains(err.Error(), path+c.want) && !strings.Contains(err.Error(), c.want):
				t.Errorf("%s, method %d: %v, want %q", name, method, err, c.want)
			}
		}
	}
}

// TestSparseTwice: values of the same column are added, also if the columns are in order.
func TestSparseTwice(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	archive{
		"format":  format("csr"),
		"shape":   longs(1, 3),
		"data":    numbers(1, 2, 4),
		"indices": integers(0, 0, 1),
		"indptr":  integers(0, 3),
	}.write(
		t,
		path,
		zip.Store,
	)
	src, err := npy.OpenMember(path, "", npy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table(t, src, 0); err != nil || !equal(got, [][]float64{{3, 4, 0}}) {
		t.Error(got, err)
	}
}

// TestSparseChecksum: a changed byte of a stored array is an error when the array was read.
func TestSparseChecksum(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "sparse-csr-stored.npz"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.npz")
	for name, place := range map[string]int{"data": 3, "indices": 0, "shape": 8} {
		bent := bytes.Clone(text)
		at := bytes.Index(bent, []byte(name+".npy"))
		at += bytes.IndexByte(bent[at:], '\n') + 1 + place
		bent[at] ^= 1 // another number that could be right
		if err := os.WriteFile(path, bent, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := npy.OpenMember(path, "", npy.Options{})
		if err == nil {
			_, err = table(t, src, 0)
		}
		if err == nil || !strings.Contains(err.Error(), "checksum") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSparseCells: a sparse matrix has neither missing values nor categories.
func TestSparseCells(t *testing.T) {
	_, err := npy.OpenMember(
		filepath.Join("testdata", "sparse-csr.npz"),
		"",
		npy.Options{Cells: &prepare.Cells{Missing: prepare.MissingMean}},
	)
	if err == nil || !strings.Contains(err.Error(), "is a sparse matrix, whose rows have no missing values") {
		t.Error(err)
	}
}

// TestSparseHostile: lengths that the file does not have need no memory.
func TestSparseHostile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npz")
	for name, a := range map[string]archive{
		"csr": {"format": format("csr"), "shape": longs(1<<40, 5), "data": {"<f8", "1099511627776,", []float64{1}}, "indices": {"<i4", "1099511627776,", []int32{1}}, "indptr": {"<i8", "1099511627777,", []int64{0, 1 << 40}}},
		"csc": {"format": format("csc"), "shape": longs(1<<37, 5), "data": numbers(1), "indices": integers(1), "indptr": integers(0, 1, 1, 1, 1, 1)},
		"bsr": {"format": format("bsr"), "shape": longs(1<<30, 1<<30), "data": {"<f8", "1, 1073741824, 1073741824", []float64{1}}, "indices": integers(0), "indptr": integers(0, 1)},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			a.write(t, path, method)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			src, err := npy.OpenMember(path, "", npy.Options{})
			if err == nil {
				for b, errBlock := range src.Blocks(t.Context()) {
					err = errBlock
					if b.First > 1<<20 {
						break
					}
				}
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 400<<20 || name != "csc" && err == nil {
				t.Errorf("%s: %d MiB were allocated; %v", name, used>>20, err)
			}
		}
	}
}

// FuzzSparse: no archive makes the reader panic.
func FuzzSparse(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "sparse-*.npz"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, uint16(60), byte(3))
	}
	path := filepath.Join(f.TempDir(), "x.npz")
	f.Fuzz(func(t *testing.T, text []byte, at uint16, change byte) {
		if len(text) > 1<<16 {
			return
		}
		z, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		if err := os.WriteFile(path, damaged(z, int(at), change), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := npy.OpenMember(path, "", npy.Options{})
		if err != nil {
			return
		}
		for b, err := range src.Blocks(t.Context()) {
			if err != nil || b.First > 1<<16 {
				return
			}
			for i := range b.N {
				if b.Sparse == nil {
					return
				}
				_, d, _ := src.Dims()
				for _, j := range first(b.Sparse.Row(i)) {
					if int(j) >= d {
						t.Fatalf("column %d of %d", j, d)
					}
				}
			}
		}
	})
}

func first(idx []int32, _ []float64) []int32 { return idx }

// damaged copies an archive with right checksums, and changes byte number at of the members, counted across all.
func damaged(z *zip.Reader, at int, change byte) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, m := range z.File {
		r, err := m.Open()
		if err != nil {
			continue
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(io.LimitReader(r, 1<<20))
		text := body.Bytes()
		if err != nil {
			continue
		}
		if at >= 0 && at < len(text) {
			text[at] ^= change
		}
		at -= len(text)
		to, err := w.CreateRaw(
			&zip.FileHeader{
				Name:               m.Name,
				Method:             zip.Store,
				CRC32:              crc32.ChecksumIEEE(text),
				CompressedSize64:   uint64(len(text)),
				UncompressedSize64: uint64(len(text)),
			},
		)
		if err == nil {
			_, err = to.Write(text)
		}
		if err != nil {
			return nil
		}
	}
	if w.Close() != nil {
		return nil
	}
	return out.Bytes()
}

package file_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// npz is an archive of arrays, names and contents in turn.
func npz(t *testing.T, method uint16, members ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(members); i += 2 {
		m, err := w.CreateHeader(&zip.FileHeader{Name: members[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Write([]byte(members[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// lying is an archive with one stored member x.npy, whose header is changed.
func lying(t *testing.T, text string, change func(h *zip.FileHeader)) string {
	t.Helper()
	h := &zip.FileHeader{
		Name:               "x.npy",
		Method:             zip.Store,
		CRC32:              crc32.ChecksumIEEE([]byte(text)),
		CompressedSize64:   uint64(len(text)),
		UncompressedSize64: uint64(len(text)),
	}
	change(h)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m, err := w.CreateRaw(h)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bend changes the byte at an offset behind the first mark.
func bend(text, mark string, offset int, to byte) string {
	b := []byte(text)
	b[strings.Index(text, mark)+offset] = to
	return string(b)
}

// TestNpz: arrays of archives. want is either rows or, after "!", the error behind
// the name of the archive.
func TestNpz(t *testing.T) {
	x := npy("<f8", "False", "(2, 2)", floats(le, 1, 2, 3, 4))
	fortran := npy("<f8", "True", "(2, 2)", floats(le, 1, 3, 2, 4))
	y := npy("<f4", "False", "(2,)", singles(5, 6))
	deep := npy("<f8", "False", "(1, 1, 1)", floats(le, 1))
	const s, d = zip.Store, zip.Deflate
	for name, c := range map[string]struct {
		text, array, target string
		want                string
	}{
		"the only one":    {npz(t, s, "a.npy", x), "", "", "[1 2] [] [3 4] []"},
		"x":               {npz(t, s, "y.npy", y, "x.npy", x), "", "", "[1 2] [] [3 4] []"},
		"X and y":         {npz(t, d, "X.npy", x, "y.npy", y), "", "y", "[1 2] [5] [3 4] [6]"},
		"named":           {npz(t, s, "a.npy", x, "b.npy", y), "a", "b", "[1 2] [5] [3 4] [6]"},
		"named, deflated": {npz(t, d, "a.npy", x, "b.npy", y), "b", "", "[5] [] [6] []"},
		"a column":        {npz(t, s, "x.npy", x), "", "last", "[1] [2] [3] [4]"},
		"Fortran":         {npz(t, s, "x.npy", fortran, "y.npy", y), "", "y", "[1 2] [5] [3 4] [6]"},
		"Fortran, deflated": {
			npz(t, d, "x.npy", fortran), "", "", "!:x: is in Fortran order and compressed, so its rows cannot be streamed",
		},
		"which":     {npz(t, s, "a.npy", x, "b.npy", y), "", "", "!: holds the arrays a, b; select one, as in"},
		"not there": {npz(t, s, "a.npy", x), "z", "", "!: has no array \"z\"; it holds a"},
		"no such target": {
			npz(t, s, "x.npy", x), "", "z",
			"!:x: there is no column \"z\"; the 2 columns have no names: use first, last or a number from 1 to 2",
		},
		"no arrays":        {npz(t, s, "readme", "text"), "", "", "!: holds no arrays"},
		"an empty archive": {npz(t, s), "", "", "!: holds no arrays"},
		"three dimensions": {npz(t, s, "x.npy", deep), "", "", "!:x: has 3 dimensions instead of 1 or 2"},
		"no array":         {npz(t, s, "x.npy", "0123456789"), "", "", "!:x: is not a .npy file"},
		"an empty member":  {npz(t, s, "x.npy", ""), "", "", "!:x: is too short for a .npy file"},
		"NaN": {
			npz(t, d, "x.npy", npy("<f8", "False", "(2, 1)", floats(le, 1, nan))), "", "",
			"!:x:2:1: row 2, column 1 is NaN, which is not finite",
		},
		"rows differ": {
			npz(t, s, "x.npy", x, "y.npy", npy("<f4", "False", "(3,)", singles(5, 6, 7))), "", "y",
			"!!2 rows of features in , 3 of targets in :y: row 3 of :y has no partner",
		},
		"array truncated": {npz(t, s, "x.npy", x[:len(x)-3]), "", "", "!:x: is truncated: 2×2 entries of 8 bytes need"},
		"array too long":  {npz(t, d, "x.npy", x+"z"), "", "", "!:x: has more bytes than its 2 rows"},
		"archive truncated": {
			npz(t, s, "x.npy", x)[:100], "", "", "!: is not a readable .npz archive: zip: not a valid zip file",
		},
		"bad checksum": {
			lying(t, x, func(h *zip.FileHeader) { h.CRC32++ }), "", "", "!:x:2: the archive cannot be read: zip: checksum error",
		},
		"beyond the end": {
			bend(npz(t, s, "x.npy", x), "PK\x01\x02", 44, 0x7f), "", "", "!:x: the archive cannot be read: unexpected EOF",
		},
		"encrypted": {
			lying(t, x, func(h *zip.FileHeader) { h.Flags |= 1 }), "", "", "!:x: the archive cannot be read: it is encrypted",
		},
		"unknown method": {
			lying(t, x, func(h *zip.FileHeader) { h.Method = 99 }), "", "",
			"!:x: the archive cannot be read: zip: unsupported compression algorithm",
		},
		"not deflated": {lying(t, x, func(h *zip.FileHeader) { h.Method = d }), "", "", "!:x: "},
		"says it is longer": {
			lying(t, npy("<f8", "False", "(9, 9)", nil), func(h *zip.FileHeader) { h.UncompressedSize64 = 1 << 40 }), "", "",
			"!:x",
		},
		"2³¹ rows in no room": {
			npz(t, d, "x.npy", npy("<f8", "False", "(2147483647, 2)", nil)), "", "", "!:x: is truncated",
		},
		"two billion columns": {npz(t, d, "x.npy", npy("<f8", "False", "(1, 2000000000)", nil)), "", "", "!:x: has shape"},
	} {
		path := named(t, "data.npz", c.text)
		opts := file.Options{Target: list(c.target), Targets: len(list(c.target))}
		full := path
		if c.array != "" {
			full += ":" + c.array
		}
		got, err := open(full, opts)
		if part, other := strings.CutPrefix(c.want, "!!"); other {
			if err == nil || strings.ReplaceAll(err.Error(), path, "") != part {
				t.Errorf("%s: %v, want %q", name, err, part)
			}
			continue
		}
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		if !bad && (err != nil || got != c.want) ||
			bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
	path := named(t, "data.csv", "1,2\n")
	if _, err := open(path+":x", file.Options{}); err == nil ||
		err.Error() != path+": is csv, which has no arrays such as \"x\"" {
		t.Errorf("an array of a csv file: %v", err)
	}
	if _, err := open(filepath.Join(t.TempDir(), "absent.npz:x"), file.Options{}); err == nil ||
		!strings.HasSuffix(err.Error(), "absent.npz: no such file") {
		t.Errorf("an absent archive: %v", err)
	}
	paths := []string{
		named(t, "a.npz", npz(t, s, "x.npy", x, "y.npy", y)),
		named(t, "b.npz", npz(t, d, "x.npy", x, "y.npy", y)),
	}
	o := opened(t, paths, file.Options{Target: []string{"y"}, Targets: 1})
	if got, err := contents(o); err != nil || got != "[1 2] [5] [3 4] [6] [1 2] [5] [3 4] [6]" || o.Passes() != 1 {
		t.Errorf("two archives: %q, %v, %d passes", got, err, o.Passes())
	}
	own := []string{named(t, "y.npz", npz(t, s, "a.npy", x, "b.npy", y)) + ":b"}
	if got, err := open(named(t, "x.npy", x), file.Options{Target: own, Targets: 1}); err != nil ||
		got != "[1 2] [5] [3 4] [6]" {
		t.Errorf("targets in an archive of their own: %q, %v", got, err)
	}
	if _, err := open(named(t, "z", zipped(t, npz(t, s, "x.npy", x))), file.Options{Format: "npz"}); err == nil ||
		!strings.HasSuffix(err.Error(), ": is a gzip stream, not a .npz archive") {
		t.Errorf("an archive within gzip: %v", err)
	}
}

// TestIntegers: whole numbers that float64 does not hold are refused.
func TestIntegers(t *testing.T) {
	word := func(v int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	for name, c := range map[string]struct{ descr, body, want string }{
		"2^53":  {"<i8", string(word(1 << 53)), "[9.007199254740992e+15] []"},
		"-2^53": {"<i8", string(word(-1 << 53)), "[-9.007199254740992e+15] []"},
		"2^53+1": {
			"<i8", string(word(1<<53 + 1)), "!:1:1: row 1, column 1 is an integer beyond 2⁵³, which float64 cannot represent",
		},
		"-2^53-1":     {"<i8", string(word(-1<<53 - 1)), "!:1:1: "},
		"uint64 2^53": {"<u8", string(word(1 << 53)), "[9.007199254740992e+15] []"},
		"uint64":      {"<u8", string(word(-1)), "!:1:1: "},
		"uint32":      {"<u4", "\xff\xff\xff\xff", "[4.294967295e+09] []"},
		"int32":       {"<i4", "\xff\xff\xff\xff", "[-1] []"},
		"uint16":      {"<u2", "\xff\xff", "[65535] []"},
		"int16":       {"<i2", "\xfe\xff", "[-2] []"},
		"uint8":       {"|u1", "\xff", "[255] []"},
		"big uint16":  {">u2", "\x01\x02", "[258] []"},
		"int8":        {"|i1", "\xfe", "[-2] []"},
		"bool":        {"|b1", "\x01", "[1] []"},
		"big float32": {">f4", "\x3f\x00\x00\x00", "[0.5] []"},
		"big int64":   {">i8", "\x00\x00\x00\x00\x00\x00\x01\x00", "[256] []"},
		"native?":     {"=f8", "12345678", "!: holds entries of type \"=f8\""},
		"complex":     {"<c8", "12345678", "!: holds entries of type"},
		"text":        {"<U2", "12345678", "!: holds entries of type"},
	} {
		path := named(t, "data", npy(c.descr, "False", "(1, 1)", []byte(c.body)))
		got, err := open(path, file.Options{})
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		if !bad && (err != nil || got != c.want) ||
			bad && (!errors.As(err, &e) || e.NonFinite || !strings.HasPrefix(err.Error(), path+part)) {
			t.Errorf("%s: %q, %v; want %q", name, got, err, c.want)
		}
	}
}

// TestBytesAfterArray: bytes after an array are an error that names the first such byte. np.save may append another
// array to an open file, and then the error tells that there is another array.
func TestBytesAfterArray(t *testing.T) {
	rows := npy("<f8", "False", "(2, 2)", floats(le, 1, 2, 3, 4))
	columns := npy("<f8", "True", "(2, 2)", floats(le, 1, 3, 2, 4))
	byteAfter := fmt.Sprintf("has more bytes than its 2 rows, from byte %d on", len(rows))
	another := byteAfter + ", another array; save each array to its own file, or all with np.savez"
	for name, c := range map[string]struct{ file, text, member, want string }{
		"plain":               {"x.npy", rows + "z", "", byteAfter},
		"Fortran":             {"x.npy", columns + "zzzzzzzzzz", "", byteAfter},
		"gzip":                {"x.npy.gz", zipped(t, rows+"z"), "", byteAfter},
		"zstd":                {"x.npy.zst", zstandard(t, rows+"z"), "", byteAfter},
		"stored":              {"x.npz", npz(t, zip.Store, "x.npy", rows+"z"), ":x", byteAfter},
		"deflated":            {"x.npz", npz(t, zip.Deflate, "x.npy", rows+"z"), ":x", byteAfter},
		"two arrays":          {"x.npy", rows + rows, "", another},
		"two, Fortran":        {"x.npy", columns + rows, "", another},
		"two arrays, gzip":    {"x.npy.gz", zipped(t, rows+rows), "", another},
		"two arrays, stored":  {"x.npz", npz(t, zip.Store, "x.npy", rows+rows), ":x", another},
		"a bit of the second": {"x.npy", rows + rows[:5], "", byteAfter},
	} {
		path := named(t, c.file, c.text)
		_, err := open(path, file.Options{})
		var e *dataset.InputError
		if !errors.As(err, &e) || err.Error() != path+c.member+": "+c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestFortranWindows: an array in Fortran order of more than one window, in blocks
// that do not divide it.
func TestFortranWindows(t *testing.T) {
	const n, d = 7000000, 3 // 21 MB, in windows of 16 MiB
	body := make([]byte, n*d)
	for i := range body {
		body[i] = byte(i % 251)
	}
	path := named(t, "x.npy", npy("|u1", "True", fmt.Sprintf("(%d, %d)", n, d), body))
	o := opened(t, []string{path}, file.Options{Target: []string{"2"}, Targets: 1})
	at := 0
	for b, err := range o.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			r := at + i
			if b.X[2*i] != float64(r%251) || b.Y[i] != float64((n+r)%251) || b.X[2*i+1] != float64((2*n+r)%251) {
				t.Fatalf("row %d is %v, %v", r, b.X[2*i:2*i+2], b.Y[i])
			}
		}
		at += b.N
	}
	if at != n {
		t.Errorf("%d rows", at)
	}
}

// TestWideFortran: an array with more columns than are transposed at a time gives the same rows in both orders. This
// holds for all types of entries and all choices of columns. An entry that is not finite is an error with its position.
func TestWideFortran(t *testing.T) {
	const n, d = 300, 21
	value := func(i, j int) int { return (31*i + 7*j) % 120 }
	body := func(size int, big, fortran bool) []byte {
		out := make([]byte, 0, n*d*size)
		for k := range n * d {
			i, j := k/d, k%d
			if fortran {
				i, j = k%n, k/n
			}
			entry := make([]byte, size)
			if big {
				entry[size-1] = byte(value(i, j))
			} else {
				entry[0] = byte(value(i, j))
			}
			out = append(out, entry...)
		}
		return out
	}
	for _, descr := range []string{"|i1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", ">u4", "<i8", ">i8", ">u8"} {
		size, big := int(descr[2]-'0'), descr[0] == '>'
		rows := named(t, "rows.npy", npy(descr, "False", fmt.Sprintf("(%d, %d)", n, d), body(size, big, false)))
		cols := named(t, "cols.npy", npy(descr, "True", fmt.Sprintf("(%d, %d)", n, d), body(size, big, true)))
		for _, opts := range []file.Options{
			{}, {Target: list("5"), Targets: 1}, {Target: list("last,first"), Targets: 2},
			{Columns: list("21,20,19,18,17,16,15,14,1,2,3")}, {Columns: list("-3,-12")},
			{Columns: list("1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"), Target: list("last"), Targets: 1},
		} {
			want, err := open(rows, opts)
			got, err2 := open(cols, opts)
			if err != nil || err2 != nil || got != want {
				t.Errorf("%s, %+v: the orders differ, or %v, %v", descr, opts, err, err2)
			}
			first := fmt.Sprint("[", value(0, 0), value(0, 1))
			if opts.Targets+len(opts.Columns) == 0 && !strings.HasPrefix(got, first) {
				t.Errorf("%s begins with %.20s, not %s", descr, got, first)
			}
		}
	}
	x := make([]float64, n*d)
	x[13*n+257] = math.Inf(1)
	x[2*n+258] = math.NaN()
	path := named(t, "x.npy", npy("<f8", "True", fmt.Sprintf("(%d, %d)", n, d), floats(le, x...)))
	if _, err := open(path, file.Options{}); err == nil ||
		!strings.HasPrefix(err.Error(), path+":258:14: row 258, column 14 is +Inf") {
		t.Error(err)
	}
}

// TestTruncatedWhileRead: a file that is cut short during a pass ends it with an
// error.
func TestTruncatedWhileRead(t *testing.T) {
	const n, d = 100000, 40
	body := make([]byte, n*d*8)
	for format, text := range map[string]string{
		"C":       npy("<f8", "False", fmt.Sprintf("(%d, %d)", n, d), body),
		"Fortran": npy("<f8", "True", fmt.Sprintf("(%d, %d)", n, d), body),
		"npz":     npz(t, zip.Store, "x.npy", npy("<f8", "False", fmt.Sprintf("(%d, %d)", n, d), body)),
	} {
		path := named(t, "data", text)
		o := opened(t, []string{path}, file.Options{})
		var last error
		for b, err := range o.Blocks(context.Background()) {
			last = err
			if err == nil && b.First == 0 {
				if err := os.Truncate(path, int64(len(text)/4)); err != nil {
					t.Fatal(err)
				}
			}
		}
		var e *dataset.ChangedError
		if !errors.As(last, &e) || e.Is.Size != int64(len(text)/4) {
			t.Errorf("%s: %v", format, last)
		}
	}
}

// parquetFile writes a matrix with column names, in row groups of 100 rows.
func parquetFile(t *testing.T, names []string, n int, x []float64) string {
	t.Helper()
	var groups [][]column
	for lo := 0; lo < n; lo += 100 {
		var cols []column
		for j, name := range names {
			var values []float64
			for i := lo; i < min(lo+100, n); i++ {
				values = append(values, x[i*len(names)+j])
			}
			cols = append(cols, column{node: node(name, false, double, nil), values: values})
		}
		groups = append(groups, cols)
	}
	return string(encodeGroups(t, groups, layout{encoding: indices}))
}

// TestFormatsAgree: the same numbers give the same blocks, bit for bit, in every
// format and compression, with and without a choice of columns.
func TestFormatsAgree(t *testing.T) {
	const n, d = 777, 6
	names := []string{"a", "b", "c", "d", "e", "y"}
	r := rand.New(rand.NewPCG(3, 4))
	x, columns := make([]float64, n*d), make([]float64, n*d)
	var text strings.Builder
	text.WriteString(strings.Join(names, ",") + "\n")
	for i := range x {
		switch r.IntN(3) {
		case 0:
			x[i] = r.NormFloat64() * math.Pow(10, float64(r.IntN(60)-30))
		case 1:
			x[i] = float64(r.IntN(100000)) / 1000
		default:
			x[i] = math.Float64frombits(r.Uint64() &^ (1 << 62)) // below 2, denormal too
		}
		columns[i%d*n+i/d] = x[i]
		text.WriteString(strconv.FormatFloat(x[i], 'g', -1, 64))
		text.WriteByte(",\n"[b2i(i%d == d-1)])
	}
	shape := fmt.Sprintf("(%d, %d)", n, d)
	c, f := npy("<f8", "False", shape, floats(le, x...)), npy(">f8", "True", shape, floats(be, columns...))
	csv := text.String()
	for _, choice := range []file.Options{
		{Target: []string{"6"}, Targets: 1},
		{Target: []string{"6", "1"}, Targets: 2, Columns: []string{"5", "2", "3"}},
	} {
		var want []uint64
		for i, content := range []string{
			c, f, csv, parquetFile(t, names, n, x), zipped(t, c), zstandard(t, c), zipped(t, csv), zstandard(t, csv),
			strings.ReplaceAll(csv, ",", ";"), strings.ReplaceAll(csv, ",", "  "),
			npz(t, zip.Store, "x.npy", c), npz(t, zip.Deflate, "x.npy", c), npz(t, zip.Store, "x.npy", f),
		} {
			var got []uint64
			for b, err := range opened(t, []string{named(t, "data", content)}, choice).Blocks(context.Background()) {
				if err != nil {
					t.Fatalf("file %d: %v", i, err)
				}
				got = append(got, uint64(b.First), uint64(b.N))
				for _, v := range slices.Concat(b.X, b.Y) {
					got = append(got, math.Float64bits(v))
				}
			}
			if i == 0 {
				want = got
			}
			if len(want) < n*4 || !slices.Equal(got, want) {
				t.Errorf("file %d differs from the first", i)
			}
		}
	}
}

// TestLongTransposed: rows of a transposed file that are too long for 16 rows in 8 MiB are read in smaller blocks.
func TestLongTransposed(t *testing.T) {
	const d, n = 18, 70000
	x := make([]float64, d*n)
	for i := range x {
		x[i] = float64(i)
	}
	path := named(t, "x.npy", npy("<f8", "False", fmt.Sprintf("(%d, %d)", d, n), floats(le, x...)))
	src, err := file.Open([]string{path}, file.Options{Transposed: true})
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			for j, v := range b.X[i*d : (i+1)*d] {
				if v != float64(j*n+row) {
					t.Fatalf("row %d has %v in column %d", row, v, j)
				}
			}
			row++
		}
	}
	columns, _ := dataset.ByColumns(src.Source)
	for b, err := range columns.Blocks(t.Context()) {
		if err != nil || 8*b.N*n > 8<<20 {
			t.Errorf("a block of %d columns: %v", b.N, err)
		}
	}
	if row != n {
		t.Errorf("%d rows", row)
	}
}

// TestFortranLabels: the labels of an array in Fortran order are codes in windows with missing values and in others.
func TestFortranLabels(t *testing.T) {
	const n = 3000
	x := make([]float64, 2*n) // a feature with a gap in the first window, then labels
	x[5] = math.NaN()
	for i := range n {
		x[n+i] = float64(7 - 4*(i%2))
	}
	labels := prepare.NewLabels()
	opts := file.Options{
		Target:  []string{"last"},
		Targets: 1,
		Origin:  file.Origin{Cells: &prepare.Cells{Missing: prepare.MissingMean, Labels: labels}},
	}
	src, err := file.Open(
		[]string{named(t, "x.npy", npy("<f8", "True", fmt.Sprintf("(%d, 2)", n), floats(le, x...)))},
		opts,
	)
	if err != nil {
		t.Fatal(err)
	}
	row := 0
	for b, err := range src.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for _, y := range b.Y {
			if y != float64(row%2) || labels.Label(y) != []string{"7", "3"}[row%2] {
				t.Fatalf("row %d has the code %v of the label %q", row, y, labels.Label(y))
			}
			row++
		}
	}
	if row != n {
		t.Errorf("%d rows", row)
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func FuzzNpz(f *testing.F) {
	t := new(testing.T) // npz fails only where memory does
	x := npy("<f8", "True", "(2, 2)", floats(le, 1, 2, 3, 4))
	f.Add([]byte(npz(t, zip.Store, "x.npy", x)))
	f.Add([]byte(npz(t, zip.Deflate, "X.npy", x, "y.npy", x)))
	for _, name := range []string{"csr", "csc-stored", "coo", "bsr"} {
		text, err := os.ReadFile(filepath.Join("..", "npy", "testdata", "sparse-"+name+".npz"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) { fuzz(t, "npz", text) })
}

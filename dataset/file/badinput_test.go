package file_test

import (
	"archive/zip"
	"errors"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// columnsOf is a Parquet file of one row group of columns a, b, … of float64.
func columnsOf(t testing.TB, columns [][]float64, codec int) string {
	t.Helper()
	var cols []column
	for j, values := range columns {
		cols = append(cols, column{node: node(string(rune('a'+j)), false, double, nil), values: values})
	}
	return string(encode(t, 1, cols, layout{codec: codec}))
}

// A badFile is a file with wrong or unusual input, in one format. row names the kind of input. want has the expected
// rows, or, after "!", the error behind the name of the file.
type badFile struct{ row, name, text, want string }

func badFiles(t *testing.T) []badFile {
	f8 := func(order, shape string, x ...float64) string { return npy("<f8", order, shape, floats(le, x...)) }
	archive := func(text string) string { return npz(t, zip.Deflate, "x.npy", text) }
	inf := []float64{1, 2}
	inf[1] /= 0 * inf[0]
	rows := "[1] [2] [3] [4]"
	return []badFile{
		{"not finite", "csv", "a,b\n1,2\n3,NaN\n", "!:3:3: column b: NaN is not finite"},
		{"not finite", "csv, infinite", "1,2\n-Infinity,4\n", "!:2:1: column 1: -Infinity is not finite"},
		{"not finite", "csv, beyond the range", "1,2\n3,1e309\n", "!:2:3: column 2: 1e309 exceeds the range"},
		{"not finite", "csv, missing", "1,2\n3,NA\n", "!:2:3: column 2: NA is a missing value"},
		{"not finite", "svmlight", "1 1:2\n3 1:nan\n", "!:2:5: value nan is not finite"},
		{"not finite", "svmlight, label", "1 1:2\n-inf 1:1\n", "!:2:1: label -inf is not finite"},
		{"not finite", "npy", f8("False", "(2, 2)", 1, 2, 3, nan), "!:2:2: row 2, column 2 is NaN"},
		{"not finite", "npy, infinite", f8("False", "(1, 2)", inf...), "!:1:2: row 1, column 2 is +Inf"},
		{"not finite", "npz", archive(f8("False", "(2, 2)", 1, 2, 3, nan)), "!:x:2:2: row 2, column 2 is NaN"},
		{
			"not finite",
			"parquet",
			columnsOf(t, [][]float64{{1, 2}, {3, nan}}, uncompressed),
			"!:2:2: column b: NaN is not finite",
		},

		{"denormals", "csv", "5e-324,2\n1e-400,4\n", "[5e-324] [2] [0] [4]"},
		{"denormals", "svmlight", "2 1:5e-324\n", "[5e-324] [2]"},
		{"denormals", "npy", f8("False", "(1, 2)", 5e-324, 2), "[5e-324] [2]"},

		{"no rows", "csv", "", "!: is empty"},
		{"no rows", "csv, blank", "\n\r\n  \n", "!: has no rows"},
		{"no rows", "csv, a header", "a,b\n", ""},
		{"no rows", "svmlight, comments", "# 1 1:2\n#\n", "!"},
		{"no rows", "npy", f8("False", "(0, 2)"), "!: has no rows"},
		{"no rows", "npz", npz(t, zip.Store), "!: holds no arrays"},
		{"no rows", "parquet", columnsOf(t, [][]float64{{}, {}}, uncompressed), "!: has no rows"},
		{"no rows", "gzip", zipped(t, ""), "!: is empty"},
		{"no rows", "zstd", zstandard(t, ""), "!: is empty"},

		{"ragged", "csv, short", "1,2\n3\n", "!:2:1: the row has 1 fields, the first line has 2"},
		{"ragged", "csv, long", "1,2\n3,4,5\n", "!:2:3: the row has 3 fields"},
		{"ragged", "csv, quoted", "1,2\n\"3\"\n", "!:2:1: the row has 1 fields"},
		{"empty lines", "csv", "\n1,2\n\n\n3,4\n\n", rows},
		{"empty lines", "svmlight", "\n2 1:1\n\n# x\n4 1:3\n\n", rows},
		{"CRLF", "csv", "1,2\r\n3,4\r\n", rows},
		{"CRLF", "csv, quoted", "\"1\",2\r\n3,\"4\"\r\n", rows},
		{"CRLF", "svmlight", "2 1:1\r\n4 1:3\r\n", rows},
		{"BOM", "csv", "\ufeff1,2\n3,4\n", rows},
		{"BOM", "csv, header", "\ufeffa,b\n1,2\n3,4\n", rows},
		{"BOM", "svmlight", "\ufeff2 1:1\n4 1:3\n", rows},
		{"quoted", "csv", "\"a,b\",\"c\nd\"\n\"1\",2\n3,\"4\"\n", rows},
		{"quoted", "csv, not closed", "1,2\n3,\"4\n", "!:2:"},
		{"quoted", "csv, within a field", "1,2\n3,4\"5\n", "!:2:"},
		{"no newline", "csv", "1,2\n3,4", rows},
		{"no newline", "csv, quoted", "1,2\n3,\"4\"", rows},
		{"no newline", "svmlight", "2 1:1\n4 1:3", rows},
		{"indices", "unsorted", "1 2:1 1:1\n", "!:1:7: index 1 after index 2: they must increase"},
		{"indices", "twice", "1 1:1\n1 3:1 3:2\n", "!:2:7: index 3 after index 3"},
		{"indices", "0", "1 0:1\n", "[1] [1]"},
		{"indices", "negative", "1 1:1\n1 -1:1\n", "!:2:3: index -1 is less than 1"},
		{"indices", "2³¹", "1 1:1\n1 2147483648:1\n", "!:2:3: index 2147483648 is more than"},
		{"indices", "2⁶⁴", "1 1:1\n1 18446744073709551616:1\n", "!:2:3: \"18446744073709551616\" is not an index"},
		{"header", "none", "1,2\n3,4\n", rows},
		{"header", "there", "a,b\n1,2\n3,4\n", rows},
		{"header", "text below it", "a,b\n1,2\nred,4\n", "!:3:1: column a: \"red\" is not a number"},
		{"dtype", "object", npy("|O", "False", "(2, 2)", make([]byte, 32)), "!: holds entries of type \"|O\""},
		{"dtype", "complex", npy("<c16", "False", "(1, 2)", make([]byte, 32)), "!: holds entries of type"},
		{"dtype", "structured", npy("[('a', '<f8')]", "False", "(2,)", make([]byte, 16)), "!: "},
		{
			"dtype",
			"object in npz",
			archive(npy("|O", "False", "(2, 2)", make([]byte, 32))),
			"!:x: holds entries of type",
		},
		{"Fortran", "npy", f8("True", "(2, 2)", 1, 3, 2, 4), rows},
		{"Fortran", "npz, stored", npz(t, zip.Store, "x.npy", f8("True", "(2, 2)", 1, 3, 2, 4)), rows},
		{
			"Fortran",
			"npz, deflated",
			archive(f8("True", "(2, 2)", 1, 3, 2, 4)),
			"!:x: is in Fortran order and compressed",
		},
		{"Fortran", "gzip", zipped(t, f8("True", "(2, 2)", 1, 3, 2, 4)), "!: is in Fortran order and compressed"},
		{"truncated", "gzip", zipped(t, strings.Repeat("1,2\n", 9000))[:60], "!:"},
		{
			"truncated",
			"gzip, all but the checksum",
			zipped(t, "1,2\n3,4\n")[:len(zipped(t, "1,2\n3,4\n"))-1],
			"!:3: the gzip stream is truncated",
		},
		{
			"truncated",
			"gzip, bad checksum",
			bend(zipped(t, "1,2\n3,4\n"), "", len(zipped(t, "1,2\n3,4\n"))-8, 0),
			"!:3: the gzip stream is damaged",
		},
		{"truncated", "zstd", zstandard(t, strings.Repeat("1,2\n", 9000))[:20], "!"},
		{"other", "xz", "\xfd7zXZ\x00\x00\x04", "!: is compressed by xz, which is not supported"},
		{
			"other",
			"bzip2",
			"BZh91AY&SY\x01",
			"!: is compressed by bzip2, which is not supported: decompress it, or let bzip2 -dc write to a pipe",
		},
		{"other", "lz4", "\x04\x22\x4d\x18d", "!: is compressed by lz4, which is not supported"},
		{"truncated", "svmlight", "1 1:1\n1 1:", "!:2:5: value \"\" is not a number"},
		{"truncated", "npy", f8("False", "(2, 2)", 1, 2, 3), "!: is truncated: 2×2 entries"},
		{"truncated", "npz", archive(f8("False", "(2, 2)", 1, 2, 3)), "!:x: is truncated"},
		{
			"truncated",
			"parquet",
			columnsOf(t, [][]float64{{1, 2}, {3, 4}}, uncompressed)[:60],
			"!: is not a readable Parquet file",
		},
		{"shape overflow", "2⁶³", npy("<f8", "False", "(9223372036854775808, 2)", nil), "!: has a malformed header"},
		{"shape overflow", "2⁶³ − 1", npy("<f8", "False", "(9223372036854775807, 2)", nil), "!: has shape"},
		{"shape overflow", "columns", npy("<f8", "False", "(1, 16777217)", nil), "!: has shape"},
		{"shape overflow", "a product", npy("<f8", "False", "(4294967296, 16777216)", nil), "!: is truncated"},
		{"shape overflow", "negative", npy("<f8", "False", "(2, -2)", nil), "!: "},
		{"shape overflow", "npz", archive(npy("<f8", "False", "(4611686018427387904, 2)", nil)), "!:x: has shape"},
	}
}

// TestBadFiles goes through the table of wrong and odd input, row by row: rows that
// are right, or an error that says in which file, line and column.
func TestBadFiles(t *testing.T) {
	for _, c := range badFiles(t) {
		opts := file.Options{Target: list("last"), Targets: 1}
		if strings.Contains(c.name, "svmlight") || c.row == "indices" {
			opts = file.Options{Format: "svmlight", Targets: 1}
		}
		path := named(t, "data", c.text)
		got, err := open(path, opts)
		part, bad := strings.CutPrefix(c.want, "!")
		var e *dataset.InputError
		switch {
		case !bad && (err != nil || got != c.want):
			t.Errorf("%s: %s: %q, %v; want %q", c.row, c.name, got, err, c.want)
		case bad && (!errors.As(err, &e) || !strings.HasPrefix(err.Error(), path+part)):
			t.Errorf("%s: %s: %q, %v; want %q", c.row, c.name, got, err, part)
		case bad && c.row == "not finite" && !e.NonFinite && !strings.Contains(c.name, "missing"):
			t.Errorf("%s: %s: is not marked as not finite: %v", c.row, c.name, err)
		}
	}
}

// TestOnlyNamed: no file is read but those that are named, where that is asked for.
func TestOnlyNamed(t *testing.T) {
	data, own := named(t, "x.csv", "1,2\n3,4\n"), named(t, "y.csv", "7\n8\n")
	for _, target := range []string{own, "../../etc/passwd", "absent.npy", "absent.npz:x"} {
		_, err := open(data, file.Options{Target: list(target), Targets: 1, OnlyNamed: true})
		var e *dataset.InputError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), data+": has no target column") {
			t.Errorf("%s: %v", target, err)
		}
	}
	if got, err := open(data, file.Options{Target: list("2"), Targets: 1, OnlyNamed: true}); err != nil ||
		got != "[1] [2] [3] [4]" {
		t.Errorf("a column: %q, %v", got, err)
	}
}

package file_test

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// utf16Of is a text in UTF-16 with a byte order mark.
func utf16Of(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// TestEncodings: UTF-8 and UTF-16 with a byte order mark are read, compressed or not; other
// encodings are refused where they stand.
func TestEncodings(t *testing.T) {
	const table = "größe,𝛾,y\r\n1,2,3\r\n4,5,6\r\n"
	const rows = "[1 2] [3] [4 5] [6]"
	big, little := binary.BigEndian, binary.LittleEndian
	last := file.Options{Target: []string{"last"}, Targets: 1}
	only := file.Options{Target: []string{"y"}, Targets: 1, Columns: []string{"größe"}}
	long := strings.Repeat("1.25,-3,7\n", 60000)
	for name, c := range map[string]struct {
		text string
		opts file.Options
		want string
	}{
		"UTF-8":               {table, last, rows},
		"little-endian":       {utf16Of(table, little), last, rows},
		"big-endian":          {utf16Of(table, big), last, rows},
		"gzip":                {zipped(t, utf16Of(table, little)), last, rows},
		"zstd":                {zstandard(t, utf16Of(table, big)), last, rows},
		"by name":             {utf16Of(table, little), only, "[1] [3] [4] [6]"},
		"JSON lines":          {utf16Of("{\"a\":1,\"y\":3}\n{\"a\":4,\"y\":6}\n", little), last, "[1] [3] [4] [6]"},
		"svmlight":            {utf16Of("3 1:1 2:2\n6 1:4 2:5\n", little), file.Options{Targets: 1}, rows},
		"a text not a number": {utf16Of("a,y\n1,2\nx,3\n", little), last, "!:3:1: column a: \"x\" is not a number"},
		"nothing":             {utf16Of("", little), last, "!: is empty"},
		"half a character": {
			utf16Of("1,2\n", little) + "3", last, "!:2: the UTF-16 text is damaged: it ends within a character",
		},
		"half a pair": {
			utf16Of("1,2\n", little) + "\x00\xd83\x00", last,
			"!:2: the UTF-16 text is damaged: half of a surrogate pair stands alone",
		},
		"UTF-32": {
			"\xff\xfe\x00\x001\x00\x00\x00", last,
			"!: is UTF-32, which is not supported; text must be UTF-8, or UTF-16 with a byte order mark: convert it, for " +
				"instance by iconv -f UTF-32 -t UTF-8",
		},
		"without a mark": {
			utf16Of("a,y\n1,2\n", little)[2:], last,
			"!:1:1: the name of column 1 has a zero byte, as in UTF-16 without a byte order mark",
		},
		"numbers without one": {utf16Of("1,2\n3,4\n", big)[2:], last, "!:1:1: the name of column 1 has a zero byte"},
		"Latin-1": {
			"a,gr\xf6\xdfe,y\n1,2,3\n", last,
			"!:1:3: the name of column 2 is not UTF-8: \"gr\\xf6\\xdfe\"; text must be UTF-8, or UTF-16 with a byte order " +
				"mark: convert it, for instance by iconv -f CP1252 -t UTF-8",
		},
		"Latin-1, quoted": {"a,\"gr\xf6\xdfe\",y\n1,2,3\n", last, "!:1:3: the name of column 2 is not UTF-8"},
		"Latin-1, a level": {
			"1,red,2\n2,gr\xfcn,3\n",
			file.Options{
				Target:  []string{"last"},
				Targets: 1,
				Origin:  file.Origin{Cells: &prepare.Cells{OneHot: []string{"2"}}},
			},
			"!:2:3: column 2 has a text that is not UTF-8: \"gr\\xfcn\"; text must be UTF-8",
		},
		"Latin-1, not read": {
			"1,red,2\n2,gr\xfcn,3\n", file.Options{Target: []string{"3"}, Targets: 1, Columns: []string{"1"}}, "[1] [2] [2] [3]",
		},
		"CR alone": {
			"a,y\r1,2\r3,4\r", last, "!:1: the line ends with CR only; lines must end with LF or CRLF",
		},
		"CR alone, LF once":     {"a,y\r1,2\r3,4\n", last, "!:1: the line ends with CR only"},
		"CR in quotes":          {"\"a\rb\",y\n1,2\n", last, "[1] [2]"},
		"two CR":                {"a,y\r\r\n1,2\r\n", last, "[1] [2]"},
		"skippable, then zstd":  {"\x50\x2a\x4d\x18\x04\x00\x00\x00\x01\x02\x03\x04" + zstandard(t, table), last, rows},
		"skippable, of no data": {"\x5f\x2a\x4d\x18\x00\x00\x00\x00" + zstandard(t, table), last, rows},
		"two gzip streams":      {zipped(t, "1,2\n") + zipped(t, "3,4\n"), last, "[1] [2] [3] [4]"},
		"gzip, then text": {
			zipped(t, "1,2\n") + "3,4\n", last, "!:2: bytes that are not gzip follow the gzip stream: remove them",
		},
		"gzip, then half of one": {zipped(t, "1,2\n") + zipped(t, "3,4\n")[:9], last, "!:2: the gzip stream is truncated"},
	} {
		path := named(t, "data", c.text)
		got, err := open(path, c.opts)
		part, bad := strings.CutPrefix(c.want, "!")
		if !bad && (err != nil || got != c.want) || bad && (err == nil || !strings.HasPrefix(err.Error(), path+part)) {
			t.Errorf("%s: %.80q, %v; want %q", name, got, err, c.want)
		}
	}
	want, err := open(named(t, "data", long), last)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := open(named(t, "data", utf16Of(long, little)), last); err != nil || got != want {
		t.Errorf("a long text in UTF-16: %v, %d bytes of rows, want %d", err, len(got), len(want))
	}
}

// TestFloat16: half-precision numbers of an array, little- and big-endian, are read as float64 exactly. Infinite
// numbers and NaN are errors.
func TestFloat16(t *testing.T) {
	bits := []uint16{0x0000, 0x8000, 0x3c00, 0xc000, 0x0001, 0x83ff, 0x0400, 0x7bff}
	want := "[0 0 1 -2 5.960464477539063e-08 -6.097555160522461e-05 6.103515625e-05 65504] []"
	for descr, order := range map[string]binary.AppendByteOrder{"<f2": binary.LittleEndian, ">f2": binary.BigEndian} {
		var body []byte
		for _, b := range bits {
			body = order.AppendUint16(body, b)
		}
		got, err := open(named(t, "data", npy(descr, "False", "(1, 8)", body)), file.Options{})
		if strings.Replace(got, "-0 ", "0 ", 1) != want || err != nil {
			t.Errorf("%s: %s, %v", descr, got, err)
		}
		for _, b := range []uint16{0x7c00, 0xfc00, 0x7e00} {
			_, err := open(named(t, "data", npy(descr, "False", "(1, 1)", order.AppendUint16(nil, b))), file.Options{})
			if err == nil || !strings.Contains(err.Error(), "is not finite") {
				t.Errorf("%s, %x: %v", descr, b, err)
			}
		}
	}
}

// TestTexts: all columns that hold no numbers are told at once, in all formats; a column that has
// numbers, too, is none of them.
func TestTexts(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"three": {
			"city,a,zip,b,y\nRome,1,x1,low,2\nOslo,2,x2,high,3\n",
			":2:1: column city: \"Rome\" is not a number; 3 columns are not numeric: city, zip, b; encode the column as " +
				"numbers, or leave it out",
		},
		"one": {"city,a,y\nRome,1,2\n", ":2:1: column city: \"Rome\" is not a number; encode the column"},
		"a gap": {
			"city,zip,y\nRome,,2\nOslo,x2,3\n",
			":2:1: column city: \"Rome\" is not a number; 2 columns are not numeric: city, zip; encode",
		},
		"numbers, too": {
			"city,zip,y\nRome,x1,2\nOslo,7,3\n", ":2:1: column city: \"Rome\" is not a number; encode the column",
		},
		"one bad cell":     {"a,b,y\nn.d.,low,2\n5,high,3\n", ":2:1: column a: \"n.d.\" is not a number; encode the column"},
		"later":            {"a,b,y\n1,2,2\nx,y,3\n", ":3:1: column a: \"x\" is not a number; encode the column"},
		"a text target":    {"a,b,y\n1,2,yes\n", ":2:5: column y: \"yes\" is not a number; encode the column"},
		"ragged behind":    {"a,b,y\nx,y,2\n1\n", ":2:1: column a: \"x\" is not a number; 2 columns are not numeric: a, b;"},
		"the last line":    {"a,b,y\nx,y,2", ":2:1: column a: \"x\" is not a number; 2 columns are not numeric: a, b;"},
		"without a header": {"x,y,2\nu,v,3\n", ":1:1: column 1: \"x\" is not a number; 2 columns are not numeric: 1, 2;"},
	} {
		opts := file.Options{Target: []string{"last"}, Targets: 1}
		if name == "without a header" {
			opts.Header = 2
		}
		path := named(t, "data", c.text)
		if got, err := open(path, opts); err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%s: %q, %v, want %q", name, got, err, c.want)
		}
	}
	all := tableRows(20, 3)
	for name, text := range map[string][]byte{
		"Arrow":        asArrow(t, all, false),
		"dictionaries": asArrow(t, all, true),
		"Parquet":      asParquet(t, all, false),
	} {
		_, err := open(named(t, "data", string(text)), file.Options{Target: []string{"y"}, Targets: 1})
		e, ok := errors.AsType[*dataset.InputError](err)
		if !ok || !slices.Equal(e.Texts, []string{"text"}) || e.Others != nil {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

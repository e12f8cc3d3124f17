package file_test

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// A dialect tells the independent parse how a program writes a table.
type dialect struct {
	comma    rune // 0: binary or JSON
	decimal  string
	skip     int // columns before the first
	nameless bool
	// exact is false if the program rounds numbers.
	exact bool
}

// programs has the dialect of each file of testdata/programs.
var programs = map[string]dialect{
	"table.csv":            {comma: ',', exact: true},
	"pandas-index.csv":     {comma: ',', skip: 1, exact: true},
	"pandas-semicolon.csv": {comma: ';', decimal: ",", exact: true},
	"pandas-quoted.csv":    {comma: ',', exact: true},
	"pandas-na.tsv":        {comma: '\t', exact: true}, "pandas-utf16.csv": {comma: ',', exact: true},
	"pandas-bom.csv":    {comma: ',', exact: true},
	"pandas.csv.gz":     {comma: ',', exact: true},
	"pandas-digits.csv": {comma: ','}, "pandas.jsonl": {}, "pandas-ascii.jsonl.gz": {},
	"pandas-unnamed.csv": {comma: ',', nameless: true, exact: true},
	"pandas-bare.csv":    {comma: ',', nameless: true, exact: true},
	"numpy.txt":          {comma: ' ', nameless: true, exact: true},
	"numpy-header.txt":   {comma: ' ', exact: true}, "numpy.csv": {comma: ',', exact: true},
	"numpy.npy":         {nameless: true, exact: true},
	"numpy-fortran.npy": {nameless: true, exact: true}, "numpy-records.npy": {exact: true},
	"numpy.npz":            {nameless: true, exact: true},
	"numpy-compressed.npz": {nameless: true, exact: true}, "scipy-csr.npz": {nameless: true, exact: true},
	"scipy-csc.npz":   {nameless: true, exact: true},
	"r-csv.csv":       {comma: ',', skip: 1},
	"r-csv-norow.csv": {comma: ','}, "r-csv2.csv": {comma: ';', decimal: ","},
	"r-table.txt": {comma: ' ', skip: 1}, "r-tab.txt": {comma: '\t'},
	"r-matrix.txt": {comma: ' ', nameless: true},
	"readr.csv":    {comma: ',', exact: true},
	"readr.tsv":    {comma: '\t', exact: true}, "readr2.csv": {comma: ';', decimal: ","},
	"readr-excel.csv": {comma: ',', exact: true}, "readr-delim.txt": {comma: '|', exact: true},
	"data.table.csv": {comma: ','}, "data.table-dec.csv": {comma: ';', decimal: ","}, "data.table.csv.gz": {comma: ','},
	"duckdb.csv": {comma: ',', exact: true},
	"duckdb.tsv": {comma: '\t', exact: true}, "duckdb-quoted.csv": {comma: ',', exact: true},
	"duckdb.csv.zst": {comma: ',', exact: true}, "duckdb.ndjson": {exact: true},
	"duckdb-snappy.parquet": {exact: true},
	"duckdb-zstd.parquet":   {exact: true}, "duckdb-v2.parquet": {exact: true},
	"duckdb-lz4.parquet": {exact: true}, "duckdb-brotli.parquet": {exact: true},
	"pyarrow-brotli.parquet":       {exact: true},
	"pyarrow-checksum.parquet":     {exact: true},
	"pyarrow-delta.parquet":        {exact: true},
	"pyarrow-gzip.parquet":         {exact: true},
	"pyarrow-index.parquet":        {exact: true},
	"pyarrow-lz4.parquet":          {exact: true},
	"pyarrow-plain.parquet":        {exact: true},
	"pyarrow-snappy.parquet":       {exact: true},
	"pyarrow-split.parquet":        {exact: true},
	"pyarrow-v2.parquet":           {exact: true},
	"pyarrow-v2-delta.parquet":     {exact: true},
	"pyarrow-zstd.parquet":         {exact: true},
	"pyarrow-uncompressed.feather": {exact: true},
	"pyarrow-lz4.feather":          {exact: true},
	"pyarrow-zstd.feather":         {exact: true},
	"pyarrow-dictionary.arrows":    {exact: true},
	"sqlite.csv":                   {comma: ',', exact: true},
	"sqlite.tsv":                   {comma: '\t', exact: true}, "sqlite.txt": {comma: '|', exact: true},
	"gnumeric-english.csv": {comma: ',', exact: true}, "gnumeric-german.csv": {comma: ';', decimal: ",", exact: true},
}

// inShape are files of programs that the scripts of testdata/programs do not run, in the shape that these write. The
// argument of write is the table of table.csv.
var inShape = map[string]struct {
	dialect
	write func(rows [][]string) string
}{
	"excel-german.csv": {dialect{comma: ';', decimal: ",", exact: true}, func(rows [][]string) string { // CSV UTF-8
		return "\ufeff" + joined(
			rows,
			";",
			"\r\n",
			excelQuoted,
			func(s string) string { return strings.ReplaceAll(s, ".", ",") },
		)
	}},
	"excel-english.csv": {dialect{comma: ',', exact: true}, func(rows [][]string) string {
		return "\ufeff" + joined(rows, ",", "\r\n", excelQuoted, func(s string) string { return s })
	}},
	"excel-unicode.txt": {dialect{comma: '\t', exact: true}, func(rows [][]string) string {
		return utf16Of(joined(rows, "\t", "\r\n", excelQuoted, func(s string) string { return s }), binary.LittleEndian)
	}},
	"spark.csv": {
		dialect{comma: ',', exact: true},
		func(rows [][]string) string { // header=true; Spark quotes where it must, and writes exponents as Java does
			return joined(
				rows,
				",",
				"\n",
				excelQuoted,
				func(s string) string { return strings.ReplaceAll(s, "e-05", "E-5") },
			)
		},
	},
	"spark.json": {dialect{exact: true}, func(rows [][]string) string { // ignoreNullFields=true
		var out strings.Builder
		for _, row := range rows[1:] {
			missing := ""
			if row[3] != "" {
				missing = `,"m":` + row[3]
			}
			text, _ := json.Marshal(row[2]) // a string
			fmt.Fprintf(&out, "{\"a\":%s,\"n\":%s,\"s\":%s%s,\"y\":%s}\n", row[0], row[1], text, missing, row[4])
		}
		return out.String()
	}},
}

// excelQuoted puts a text in quotes if it has a delimiter or a quote.
func excelQuoted(s string) string {
	if strings.ContainsAny(s, ",;\t\"\n") {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}

// joined writes rows as text. number changes the notation of numbers, which are all columns except the third.
func joined(rows [][]string, delimiter, end string, quoted, number func(string) string) string {
	var out strings.Builder
	for i, row := range rows {
		for j, s := range row {
			if j > 0 {
				out.WriteString(delimiter)
			}
			if i > 0 && j != 2 {
				s = number(s)
				if strings.Contains(s, delimiter) {
					s = quoted(s)
				}
			} else if strings.Contains(s, delimiter) || strings.Contains(s, `"`) {
				s = quoted(s)
			}
			out.WriteString(s)
		}
		out.WriteString(end)
	}
	return out.String()
}

// unpacked returns the text of a file, decompressed and as UTF-8 without a byte order mark.
func unpacked(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var r io.Reader
	switch {
	case strings.HasSuffix(path, ".gz"):
		r, err = gzip.NewReader(bytes.NewReader(data))
	case strings.HasSuffix(path, ".zst"):
		r, err = zstd.NewReader(bytes.NewReader(data))
	}
	if err == nil && r != nil {
		data, err = io.ReadAll(r)
	}
	if err != nil {
		t.Fatal(err)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) {
		var units []uint16
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, binary.LittleEndian.Uint16(data[i:]))
		}
		data = []byte(string(utf16.Decode(units)))
	}
	return bytes.TrimPrefix(data, []byte("\ufeff"))
}

// parse returns the numbers a, n, m and y of each row by an independent parse: encoding/csv or encoding/json, and
// strconv. A missing m is NaN. For nameless tables there is no m.
func (d dialect) parse(t *testing.T, path string) (out [][]float64) {
	t.Helper()
	text := unpacked(t, path)
	number := func(s string) float64 {
		if d.decimal != "" {
			s = strings.Replace(s, d.decimal, ".", 1)
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		switch strings.TrimSpace(s) {
		case "", "NA", "NULL":
			return math.NaN()
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return v
	}
	if d.comma == 0 { // JSON
		for line := range bytes.Lines(text) {
			var row map[string]any
			r := json.NewDecoder(bytes.NewReader(line))
			r.UseNumber()
			if err := r.Decode(&row); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			numbers := []float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
			for i, key := range []string{"a", "n", "m", "y"} {
				if v, ok := row[key].(json.Number); ok {
					numbers[i] = number(string(v))
				}
			}
			out = append(out, numbers)
		}
		return out
	}
	var records [][]string
	for line := range strings.Lines(string(text)) {
		r := csv.NewReader(strings.NewReader(strings.TrimPrefix(line, "# ")))
		r.Comma, r.LazyQuotes = d.comma, true
		record, err := r.Read()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		records = append(records, record)
	}
	if _, err := strconv.ParseFloat(records[0][0], 64); err != nil || strings.Contains(path, "unnamed") {
		records = records[1:]
	}
	for _, r := range records {
		r = r[d.skip:]
		if len(r) == 3 {
			out = append(out, []float64{number(r[0]), number(r[1]), number(r[2])})
			continue
		}
		out = append(out, []float64{number(r[0]), number(r[1]), number(r[3]), number(r[4])})
	}
	return out
}

// TestPrograms: files as programs write them are read with no option but the target. Their numbers equal the numbers of
// an independent parse, bit for bit.
func TestPrograms(t *testing.T) {
	truth := programs["table.csv"].parse(t, filepath.Join("testdata", "programs", "table.csv"))
	all := map[string]dialect{}
	for name, d := range programs {
		all[filepath.Join("testdata", "programs", name)] = d
	}
	rows, err := csv.NewReader(bytes.NewReader(unpacked(t, filepath.Join("testdata", "programs", "table.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range inShape {
		all[named(t, name, c.write(rows))] = c.dialect
	}
	if len(all) < 40 {
		t.Errorf("%d files", len(all))
	}
	for path, d := range all {
		want := d.independent(t, path, truth)
		opts := file.Options{Target: []string{"y"}, Targets: 1}
		if d.nameless {
			opts.Target = []string{"last"}
		}
		if len(want[0]) == 4 {
			opts.Columns = []string{"a", "n", "m"}
			opts.Cells = &prepare.Cells{Missing: prepare.MissingDrop}
		}
		s, err := file.Open([]string{path}, opts)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var got [][]float64
		for b, err := range s.Blocks(t.Context()) {
			if err != nil {
				t.Errorf("%s: %v", path, err)
				break
			}
			_, w, _ := s.Dims()
			for i := range b.N {
				row := make([]float64, w)
				if b.Sparse != nil {
					columns, values := b.Sparse.Row(i)
					for k, j := range columns {
						row[j] = values[k]
					}
				} else {
					copy(row, b.X[i*w:])
				}
				got = append(got, append(row, b.Y[i]))
			}
		}
		if len(got) != len(want) {
			t.Errorf("%s: %d rows, want %d", path, len(got), len(want))
			continue
		}
		for i := range want {
			for j, v := range want[i] {
				if x := got[i][j]; math.Float64bits(x) != math.Float64bits(v) && !(x != x && v != v) {
					t.Errorf("%s: row %d, number %d is %v, want %v", path, i+1, j+1, x, v)
				}
				near := truth[i][j]
				if len(want[i]) == 3 && j == 2 {
					near = truth[i][3]
				}
				if near != near && v != v {
					continue
				}
				if d.exact && v != near || !(math.Abs(v-near) <= 1e-9*math.Abs(near)) {
					t.Errorf(
						"%s: row %d, number %d is %v by the independent parse, and %v was written",
						path,
						i+1,
						j+1,
						v,
						near,
					)
				}
			}
		}
	}
}

// independent returns the independent parse of a text, or what was written into a binary file.
func (d dialect) independent(t *testing.T, path string, truth [][]float64) [][]float64 {
	if d.comma != 0 || strings.Contains(path, "json") {
		return d.parse(t, path)
	}
	if !strings.HasSuffix(path, ".npy") && !strings.HasSuffix(path, ".npz") {
		return truth
	}
	var out [][]float64
	for _, row := range truth {
		out = append(out, []float64{row[0], row[1], row[3]})
	}
	return out
}

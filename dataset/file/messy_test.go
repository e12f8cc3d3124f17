package file_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// A messy table is the text of a random table, with the numbers that it holds.
type messy struct {
	text   string
	names  []string    // of the columns of numbers, or nil if the table has no header
	rows   [][]float64 // of the columns of numbers; NaN is a missing value
	column int         // position of the column of texts, from 1, or 0
	marks  []string    // to be named by the user
	noted  bool        // a note may say that the line with the names is skipped, as a comment
	drawn  []string    // what was drawn, for messages
}

// A writer writes the cells of a messy table.
type messyWriter struct {
	r                       *rand.Rand
	delimiter, decimal, end string
	group                   string // separator of thousands
	quotes                  string // "", "texts", "header" or "all"
	blanks                  bool   // blanks around fields
	backslash               bool   // a quote within quotes is \"
}

// drawMessy draws a table.
func drawMessy(seed uint64) *messy {
	r := rand.New(rand.NewPCG(seed, 45))
	m := &messy{}
	w := &messyWriter{r: r, delimiter: pick(r, ",", ",", ",", ";", "\t", "|", " "), decimal: ".", end: "\n"}
	if w.delimiter != "," && chance(r, 3) {
		w.decimal = ","
	}
	if chance(r, 4) {
		w.end = "\r\n"
	}
	w.quotes = pick(r, "", "", "", "texts", "header", "all")
	w.blanks = w.delimiter != " " && w.delimiter != "\t" && chance(r, 8)
	if chance(r, 8) && w.delimiter != " " {
		w.group = pick(r, " ", "'", map[string]string{".": ",", ",": "."}[w.decimal])
		if w.group == "." && w.delimiter == "|" { // a point alone is a decimal point
			w.group = "'"
		}
	}
	n, d := 2+r.IntN(20), 1+r.IntN(6)
	if (w.delimiter != "," || w.group == " ") && d == 1 { // 1 853 may be two columns
		d = 2
	}
	columns := make([]messyColumn, d)
	for j := range columns {
		columns[j] = drawColumn(r, w, n)
	}
	if chance(r, 6) && d > 1 { // columns of one kind
		for j := range columns {
			columns[j] = columnOf(r, w, n, columns[0].kind)
		}
	}
	m.dropSome(r, columns, n)
	m.rows = make([][]float64, n)
	for i := range m.rows {
		for _, c := range columns {
			m.rows[i] = append(m.rows[i], c.values[i])
		}
	}
	m.write(w, columns)
	m.drawn = append(
		m.drawn,
		fmt.Sprintf("%d × %d, delimiter %q, decimal %q", n, d, w.delimiter, w.decimal),
		fmt.Sprintf("group %q, quotes %q", w.group, w.quotes),
	)
	return m
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

// chance returns true once in n calls, on average.
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// A messyColumn has the numbers of a column and their texts.
type messyColumn struct {
	kind   string
	values []float64
	cells  []string
}

var messyKinds = []string{
	"unit", "unit", "normal", "padded", "small", "small", "wide", "binary", "count", "sorted", "price", "tiny", "years",
	"half",
}

func drawColumn(r *rand.Rand, w *messyWriter, n int) messyColumn {
	return columnOf(r, w, n, pick(r, messyKinds...))
}

func columnOf(r *rand.Rand, w *messyWriter, n int, kind string) messyColumn {
	c := messyColumn{kind: kind}
	start, step := r.IntN(2000), 1+r.IntN(10)
	for i := range n {
		var s string
		switch kind {
		case "unit":
			s = strconv.FormatFloat(r.Float64(), 'f', 1+r.IntN(17), 64)
		case "normal":
			s = strconv.FormatFloat(100*r.NormFloat64(), 'g', -1, 64)
		case "padded":
			s = strconv.FormatFloat(100*r.NormFloat64(), 'f', 2, 64)
		case "small":
			s = fmt.Sprint(r.IntN(10))
		case "wide":
			s = fmt.Sprint(r.IntN(2_000_000))
		case "binary":
			s = fmt.Sprint(r.IntN(2))
		case "count":
			s = fmt.Sprint(start + i)
		case "sorted":
			start += r.IntN(step)
			s = fmt.Sprint(start)
		case "price":
			s = strconv.FormatFloat(10000*r.Float64(), 'f', 2, 64)
		case "tiny":
			s = strconv.FormatFloat(1e-9*r.NormFloat64(), 'e', r.IntN(16), 64)
		case "years":
			s = fmt.Sprint(1990 + r.IntN(30))
		case "half":
			s = fmt.Sprint(float64(r.IntN(40)) / 2)
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(err)
		}
		c.values, c.cells = append(c.values, v), append(c.cells, w.number(s))
	}
	return c
}

// number writes a number in the notation of the table.
func (w *messyWriter) number(s string) string {
	whole, rest, isCut := strings.Cut(s, ".")
	if !isCut {
		if i := strings.IndexByte(s, 'e'); i >= 0 {
			whole, rest = s[:i], s[i:]
		}
	}
	digits := strings.TrimPrefix(whole, "-")
	if w.group != "" && len(digits) > 3 {
		grouped := ""
		for ; len(digits) > 3; digits = digits[:len(digits)-3] {
			grouped = w.group + digits[len(digits)-3:] + grouped
		}
		whole = whole[:len(whole)-len(strings.TrimPrefix(whole, "-"))] + digits + grouped
	}
	if isCut {
		whole += w.decimal
	}
	return whole + rest
}

// dropSome replaces cells by marks of missing values.
func (m *messy) dropSome(r *rand.Rand, columns []messyColumn, n int) {
	if !chance(r, 4) {
		return
	}
	mark := pick(r, "", "NA", "NaN", "nan", "?", ".", "null", "None", "-", "#N/A", "-999", "\\N", "<NA>", "--")
	if mark == "" && len(columns) == 1 { // an empty line is no row at the top and at the end
		mark = "NA"
	}
	if slices.Contains([]string{"-", "#N/A", "-999", "\\N", "--"}, mark) && chance(r, 2) {
		m.marks = []string{mark}
	}
	if slices.Contains([]string{"-999"}, mark) {
		m.marks = []string{mark}
	}
	m.drawn = append(m.drawn, fmt.Sprintf("missing %q, marks %q", mark, m.marks))
	for range 1 + r.IntN(n) {
		j, i := r.IntN(len(columns)), r.IntN(n)
		if chance(r, 5) {
			i = 0
		}
		columns[j].values[i], columns[j].cells[i] = math.NaN(), mark
	}
	for j := range columns { // a column without numbers is no feature
		if !slices.ContainsFunc(columns[j].values, func(v float64) bool { return v == v }) {
			columns[j].values[n-1], columns[j].cells[n-1] = 7, "7"
		}
	}
}

// drawNames draws a header for d columns.
func (m *messy) drawNames(r *rand.Rand, w *messyWriter, d int) []string {
	out := make([]string, d)
	kind := pick(
		r, "words", "words", "words", "pandas", "pandas", "from 1", "years", "steps", "units", "last word", "dates", "marks",
		"dots", "R",
	)
	start, step := 1900+r.IntN(120), pick(r, 5, 10, 50, 100)
	for j := range out {
		switch kind {
		case "words":
			word := pick(r, "age", "income", "Größe", "x", "y", "temp (°C)", "a b", "no.", "1st", "d'eau")
			out[j] = word + fmt.Sprint("_", j)
		case "pandas", "last word":
			out[j] = fmt.Sprint(j)
		case "from 1":
			out[j] = fmt.Sprint(j + 1)
		case "years":
			out[j] = fmt.Sprint(start + j)
		case "steps":
			out[j] = fmt.Sprint((start/step + j) * step)
		case "units":
			out[j] = fmt.Sprint(5*(j+1), pick(r, " mg", "%", " h"))
		case "dates":
			out[j] = fmt.Sprintf("2020-%02d-01", j+1)
		case "marks":
			out[j] = pick(r, "Na", "x") + strings.Repeat("_", j)
		case "dots":
			out[j] = fmt.Sprint(".", "abcdef"[j:j+1])
		case "R":
			out[j] = fmt.Sprint("V", j+1)
		}
	}
	if kind == "last word" {
		out[d-1] = "target"
	}
	isNumeric := slices.Contains([]string{"pandas", "from 1", "years", "steps"}, kind)
	if kind == "steps" && d < 3 || isNumeric && d == 1 { // nothing tells them from a row
		return m.drawNames(r, w, d)
	}
	if kind == "marks" && d == 1 { // Na is a missing value as well
		out[0] = "Natrium"
	}
	m.drawn = append(m.drawn, "header "+kind)
	return out
}

var messyComments = []string{
	"comment", "comment 0", "a b c", "written 2020-01-01", "source: x, y", "1 2 3", "units: m;s;kg", "0 1", "",
	"see \"notes\"", "x,y,z", "columns: 0,1,2", "version 2", "----",
}

// write sets the text of the table.
func (m *messy) write(w *messyWriter, columns []messyColumn) {
	r := w.r
	n, d := len(m.rows), len(columns)
	var records [][]string
	for i := range n {
		var record []string
		for _, c := range columns {
			record = append(record, c.cells[i])
		}
		records = append(records, record)
	}
	var header []string
	if !chance(r, 3) {
		header = m.drawNames(r, w, d)
		m.names = slices.Clone(header)
	}
	if chance(r, 4) {
		header = m.addTexts(w, header, records)
	}
	isComment := chance(r, 12) && header != nil
	switch margin := r.IntN(12); {
	case margin == 0 && header != nil && m.column == 0: // pandas' index
		m.drawn = append(m.drawn, "index")
		header, m.names = append([]string{""}, header...), append([]string{""}, m.names...)
		for i := range records {
			records[i] = append([]string{fmt.Sprint(i)}, records[i]...)
			m.rows[i] = append([]float64{float64(i)}, m.rows[i]...)
		}
	case margin == 1 && header != nil && m.column == 0 && !isComment: // R's names of rows
		m.drawn = append(m.drawn, "names of rows")
		for i := range records {
			records[i] = append([]string{fmt.Sprint(pick(r, "", "r"), i+1)}, records[i]...)
		}
	case margin == 2 && w.delimiter != " ":
		m.drawn = append(m.drawn, "trailing delimiter")
		if header != nil && chance(r, 2) {
			header = append(header, "")
		}
		for i := range records {
			records[i] = append(records[i], "")
		}
	}
	var out strings.Builder
	if chance(r, 10) {
		out.WriteString("\ufeff")
	}
	if chance(r, 10) && d > 1 { // a blank line of one column is a row
		m.drawn = append(m.drawn, "blank line at the top")
		out.WriteString(w.end)
	}
	if chance(r, 5) {
		m.drawn = append(m.drawn, "comments")
		for range 1 + r.IntN(2) {
			out.WriteString("#" + pick(r, " ", "") + pick(r, messyComments...) + w.end)
		}
	}
	if header != nil {
		if isComment {
			m.drawn, m.noted = append(m.drawn, "header in a comment"), true
			out.WriteString("# ")
		}
		out.WriteString(w.record(header, true))
		if chance(r, 15) {
			m.drawn = append(m.drawn, "units")
			units, hasUnit := make([]string, len(header)), false
			for j := range units {
				units[j] = pick(r, "m", "kg", "-", "°C", "", "1")
				if j != m.column-1 {
					hasUnit = hasUnit || units[j] == "m" || units[j] == "kg" || units[j] == "°C"
				}
			}
			if !hasUnit {
				units[0] = "m"
				if m.column == 1 {
					units[1] = "m"
				}
			}
			out.WriteString(w.record(units, true))
		}
	}
	for i, record := range records {
		if chance(r, 60) && d > 1 {
			m.drawn = append(m.drawn, "blank line")
			out.WriteString(w.end)
		}
		if chance(r, 400) {
			m.drawn = append(m.drawn, "comment within")
			out.WriteString("# " + pick(r, messyComments...) + w.end)
		}
		if chance(r, 400) && header != nil && i > 0 && !isComment {
			m.drawn = append(m.drawn, "header again")
			out.WriteString(w.record(header, true))
		}
		out.WriteString(w.record(record, false))
	}
	m.text = out.String()
	switch {
	case chance(r, 8):
		m.text = strings.TrimSuffix(m.text, w.end)
	case chance(r, 8):
		m.text += w.end + w.end
	}
}

// addTexts inserts a column of texts.
func (m *messy) addTexts(w *messyWriter, header []string, records [][]string) []string {
	r := w.r
	kind := pick(r, "levels", "levels", "keys", "odd", "backslash")
	m.drawn = append(m.drawn, "texts "+kind)
	at := r.IntN(len(records[0]) + 1)
	m.column = at + 1
	for i := range records {
		var s string
		switch kind {
		case "levels":
			s = pick(r, "red", "green", "blue")
		case "keys":
			s = fmt.Sprint("id", i)
		case "odd":
			s = pick(r, "a, b", "5\" pipe", "x;y", "tab\there", "two\nlines", "", "O'Neil", "ü", "#1", "a|b")
		case "backslash":
			s = pick(r, `say "hi"`, `5" pipe`, `"`, `a, "b"`, "plain", `C:\`)
			w.backslash = true
		}
		records[i] = slices.Insert(records[i], at, s)
	}
	if header != nil {
		return slices.Insert(header, at, "text")
	}
	return nil
}

// record returns a line of the table.
func (w *messyWriter) record(cells []string, isHeader bool) string {
	out := make([]string, len(cells))
	for j, s := range cells {
		_, err := strconv.ParseFloat(strings.ReplaceAll(s, ",", "."), 64)
		isText := err != nil && s != ""
		quoted := w.quotes == "all" || w.quotes == "texts" && (isText || isHeader) || w.quotes == "header" && isHeader
		if s == "" && w.delimiter == " " || strings.ContainsAny(s, "\n\"") || strings.Contains(s, w.delimiter) {
			quoted = true
		}
		switch {
		case quoted && w.backslash:
			s = `"` + strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`) + `"`
		case quoted:
			s = `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
		}
		if w.blanks {
			s = strings.Repeat(" ", w.r.IntN(3)) + s
		}
		out[j] = s
	}
	return strings.Join(out, w.delimiter) + w.end
}

// Outcomes of reading a messy table.
const (
	same    = "same"
	refused = "refused"
	warned  = "warned" // other numbers, with a warning that both readings are as likely
	noted   = "noted"  // other numbers, with a note that names the reading and the option for the other one
	silent  = "silent"
)

// read reads the table and compares it with its numbers.
func (m *messy) read(t *testing.T, path string) (outcome, detail string) {
	if err := os.WriteFile(path, []byte(m.text), 0o600); err != nil {
		t.Fatal(err)
	}
	opts := file.Options{Text: prepare.Text{Marks: m.marks}}
	opts.Cells = &prepare.Cells{Missing: prepare.MissingMean}
	if m.column > 0 {
		column := fmt.Sprint(m.column)
		if slices.Contains(m.names, column) { // a name precedes a number
			column = "text"
		}
		opts.Columns = []string{"-" + column}
	}
	s, err := file.Open([]string{path}, opts)
	if err != nil {
		return refused, err.Error()
	}
	var got [][]float64
	for b, err := range s.Blocks(context.Background()) {
		if err != nil {
			return refused, err.Error()
		}
		_, d, _ := s.Dims()
		for i := range b.N {
			got = append(got, slices.Clone(b.X[i*d:(i+1)*d]))
		}
	}
	equal := func(a, b []float64) bool { return slices.EqualFunc(a, b, sameBits) }
	if slices.EqualFunc(got, m.rows, equal) && (len(s.Names) > 0 || m.names == nil || m.noted) {
		return same, ""
	}
	detail = fmt.Sprintf("names %q, want %q\n%v\nwant\n%v", s.Names, m.names, got, m.rows)
	outcome = silent
	for _, remark := range s.Remarks() {
		detail += "\n" + remark.String()
		switch {
		case remark.Doubt:
			outcome = warned
		case outcome == silent && strings.Contains(remark.Msg, "--"):
			outcome = noted
		}
	}
	return outcome, detail
}

func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || math.IsNaN(a) && math.IsNaN(b)
}

// TestMessy reads random tables as people write them. Each is read to its own numbers, or refused, or read with a
// remark that names the option for the other reading. These variables control the test:
//
//   - FDRIDGE_MESSY is the number of tables (default 300). A:B draws the tables A to B−1.
//   - FDRIDGE_MESSY_SEED is the seed (default 1).
//   - FDRIDGE_MESSY_SHOW is an outcome, such as refused, whose tables are shown.
func TestMessy(t *testing.T) {
	first, n, seed := 0, 300, 1
	number := func(text string) int {
		v, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if text := os.Getenv("FDRIDGE_MESSY"); text != "" {
		if a, b, ok := strings.Cut(text, ":"); ok {
			first, text = number(a), b
		}
		n = number(text)
	}
	if text := os.Getenv("FDRIDGE_MESSY_SEED"); text != "" {
		seed = number(text)
	}
	path := filepath.Join(t.TempDir(), "messy.csv")
	counts := map[string]int{}
	for i := first; i < n; i++ {
		m := drawMessy(uint64(seed)<<32 + uint64(i))
		outcome, detail := m.read(t, path)
		counts[outcome]++
		switch {
		case outcome == silent:
			t.Errorf("table %d, %s: %q:\n%s\n%s", i, outcome, m.drawn, m.text, detail)
		case outcome == os.Getenv("FDRIDGE_MESSY_SHOW"):
			t.Logf("table %d, %s: %q:\n%s\n%s", i, outcome, m.drawn, m.text, detail)
		}
	}
	t.Logf("%d tables of seed %d: %v", n-first, seed, counts)
	if first == 0 && counts[same] < n/2 {
		t.Errorf("only %d of %d tables are read to their numbers", counts[same], n)
	}
}

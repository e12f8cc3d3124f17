package csv

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// Limits on the records that inspect examines.
const (
	sampleCells   = 1 << 14
	sampleRecords = 100
	// sampleRow is the largest size, in bytes, of a record after the first that is examined. The reader holds its
	// own copy of the records, so longer records would take memory twice.
	sampleRow = 1 << 20
)

// A headKey is the key under which Heads keeps the findings of examineFile. It has the file and the options that
// examineFile uses.
type headKey struct {
	name     string
	pipe     *dataset.Pipe
	settings string
}

// A head holds what the first lines of a file show. It does not depend on the column names that the options select.
type head struct {
	layout  layout
	line    int   // of the first record
	badName error // about the first record, if it is a header
	*search       // nil if the layout is decided
	*sample       // nil if only the first record was read
}

// inspect finds the lines to skip, the delimiter, the notation of numbers and the header. It reads the first lines
// of the file. If opts.Heads has the findings of an earlier call, inspect uses them and reads nothing.
func inspect(name string, opts Options) (*layout, error) {
	key := headKey{name: name, pipe: opts.Pipe}
	if opts.Heads != nil {
		key.settings = fmt.Sprintf(
			"%q %d %q %q %t %v %q %d",
			opts.Delimiter,
			opts.Header,
			opts.Text.Decimal,
			opts.Text.Marks,
			opts.Text.IsDefault,
			opts.Skip,
			opts.Comment,
			opts.Text.Escape,
		)
	}
	h, err := rawfile.Keep(opts.Heads, key, func() (*head, error) {
		return examineFile(name, opts)
	})
	if err != nil {
		return nil, err
	}
	return h.conclude(opts.name(name), &opts)
}

// conclude completes the layout that h holds, with the options that h does not depend on, such as the selected
// names. The result shares no memory with h that the callers of inspect change.
func (h *head) conclude(name string, opts *Options) (*layout, error) {
	l := h.layout
	l.Names = slices.Clone(l.Names)
	l.remarks = slices.Clip(l.remarks)
	switch {
	case h.search == nil:
		if opts.Header == Auto && !l.header && hasNames(l.Names, opts.Known) {
			l.header = true
			l.remarkHeader(name, h.line, errtext.List(l.Names, 5))
		}
	case h.sample == nil:
		if opts.Header == Auto {
			header, _, said := h.isHeader(wanted(opts), opts.Known)
			l.header = header
			if said != "" {
				l.remarkHeader(name, h.line, said)
			}
			l.guess = h.guess(l.header, wanted(opts))
		}
	default:
		found := *h.search
		found.first = slices.Clone(found.first)
		if err := l.conclude(name, h.line, &found, h.sample, opts); err != nil {
			return nil, err
		}
	}
	if l.header {
		return &l, h.badName
	}
	l.Names = columns.Numbers(len(l.Names))
	if l.margin == emptyField {
		l.Names = l.Names[:len(l.Names)-1]
	}
	return &l, nil
}

// examineFile reads the first lines of a file.
func examineFile(name string, opts Options) (*head, error) {
	f, err := rawfile.Look(name, opts.Pipe)
	if err != nil {
		return nil, err
	}
	name = f.Name
	defer f.Close() // opened for reading, so an error of Close does no harm
	f.SkipBOM()
	h := &head{layout: layout{
		delimiter: byte(opts.Delimiter),
		header:    opts.Header == Present,
		stamp:     f.Stamp(),
		comment:   opts.Comment,
		Parser: columns.Parser{
			Notation: cell.NotationOf(opts.Text.Decimal),
			Marks:    cell.NewMarks(opts.Text.Marks),
		},
	}}
	l := &h.layout
	if c := opts.Delimiter; c < 0 || c > '~' || c == '"' || c == '\r' || c == '\n' {
		return nil, &dataset.InputError{File: name, Msg: fmt.Sprintf("%q cannot be a delimiter", c)}
	}
	l.findTop(f, &opts)
	if l.delimiter == 0 {
		l.delimiter = sniff(f, l.skip, opts.Text.Decimal == "," && !opts.Text.IsDefault)
	}
	if err := checkLineEnd(f); err != nil {
		return nil, err
	}
	if err := skipLines(f, l.skip); err != nil {
		return nil, err
	}
	l.findEscapes(f, opts.Text.Escape)
	r := newRecords(f, l)
	switch err := r.next(); {
	case err == io.EOF:
		return nil, &dataset.InputError{File: name, Msg: "has no rows"}
	case err != nil:
		return nil, err
	}
	l.Names = r.trimmed()
	h.badName = r.checkNames()
	h.examine(r, &opts)
	return h, nil
}

// skipLines skips n lines.
func skipLines(f *rawfile.File, n int) error {
	for range n {
		if _, err := f.ReadLine(); err != nil && err != io.EOF {
			return err
		}
		f.EndRow()
	}
	return nil
}

func (l *layout) remark(f string, line int, doubt bool, format string, args ...any) {
	l.remarks = append(l.remarks, dataset.Remark{
		File:  f,
		Line:  line,
		Msg:   fmt.Sprintf(format, args...),
		Doubt: doubt,
	})
}

// findTop sets l.skip to the number of lines before the header: the lines that opts.Skip lists, and comments. A
// last comment that has as many fields as the line below is the header, as numpy.savetxt writes it.
func (l *layout) findTop(f *rawfile.File, opts *Options) {
	n, blank := 0, 0      // lines so far, and blank lines if there are no others
	comments := 0         // comments so far
	var previous [][]byte // the last lines, if they are comments
	for {
		line, ok := lineAt(f, n)
		trimmed := bytes.TrimSpace(line)
		begins := len(trimmed) > 0 &&
			(trimmed[0] == '#' && l.comment == 0 && !beginsWithMark(trimmed) ||
				l.comment != 0 && trimmed[0] == l.comment)
		switch {
		case ok && (opts.skips(n+1) || begins):
		case ok && len(trimmed) == 0:
			if blank == n {
				blank++
			}
		default:
			for len(previous) > 0 &&
				l.comment == 0 &&
				l.isRow(f, n, previous[len(previous)-1]) {
				previous = previous[:len(previous)-1]
				n--
				comments--
			}
			if len(previous) > 0 &&
				l.comment == 0 &&
				l.isNamed(f, n, previous[len(previous)-1]) {
				n--
				comments--
			}
			if n == blank { // the reader skips blank lines before a header
				n = 0
			}
			l.skip = n
			if comments > 0 {
				l.hashes = l.comment == 0
				l.remark(f.Name, n, false, "the %s skipped", linesOf(comments))
			}
			return
		}
		if begins && !opts.skips(n+1) {
			const most = 100
			previous = append(previous[max(len(previous)-most, 0):], bytes.Clone(line))
			comments++
		} else {
			previous = nil
		}
		n++
	}
}

// beginsWithMark reports whether a line begins with a mark of a missing value such as #N/A, which spreadsheets
// write. Such a line is a row and no comment.
func beginsWithMark(line []byte) bool {
	for _, mark := range otherMarks {
		if mark[0] == '#' &&
			len(line) >= len(mark) &&
			strings.EqualFold(string(line[:len(mark)]), mark) {
			return len(line) == len(mark) || !isWordByte(line[len(mark)])
		}
	}
	return false
}

func linesOf(n int) string {
	if n == 1 {
		return "line before the table that begins with # is"
	}
	return fmt.Sprint(n, " lines before the table that begin with # are")
}

// isRow reports whether a line that begins with # is a row and no comment. Such a row has a first cell such as #1.
// The next row after it, at line n or below, must have as many fields, and numbers in the same columns.
func (l *layout) isRow(f *rawfile.File, n int, line []byte) bool {
	next, _ := unquotedLines(f, n, 1)
	if len(next) == 0 || f.Piped() {
		return false
	}
	delimiter := l.delimiter
	if delimiter == 0 {
		delimiter = sniff(f, n, false)
	}
	line, _ = unquotedLine(line)
	first := fieldsOf(line, delimiter)
	second := fieldsOf(next[0], delimiter)
	if len(first) != len(second) || l.kindOf(second[0]) == isNumber {
		return false
	}
	numbers := 0
	for i := 1; i < len(first); i++ {
		isNumeric := l.kindOf(first[i]) == isNumber
		if isNumeric != (l.kindOf(second[i]) == isNumber) {
			return false
		}
		if isNumeric {
			numbers++
		}
	}
	return numbers > 0
}

// fieldsOf splits a line without quotes.
func fieldsOf(line []byte, delimiter byte) [][]byte {
	if delimiter == blanks {
		return bytes.Fields(line)
	}
	fields := bytes.Split(bytes.TrimRight(line, "\r"), []byte{delimiter})
	for i := range fields {
		fields[i] = bytes.TrimSpace(fields[i])
	}
	return fields
}

// isNamed reports whether the comment before line n has the names of the columns. Such a comment has as many fields
// as the record below, and this record is no header itself. If the record may be a header, isNamed adds a remark.
func (l *layout) isNamed(f *rawfile.File, n int, comment []byte) bool {
	next, ok := unquotedLines(f, n, 1)
	if len(next) == 0 || comment == nil {
		return !ok && len(next) == 0 && comment != nil
	}
	c := *l
	if c.delimiter == 0 {
		c.delimiter = sniff(f, n, false)
	}
	header, _ := unquotedLine(withoutHash(comment))
	header = bytes.Trim(header, " \r")
	row := bytes.TrimRight(next[0], " \r")
	names := countFields(header, c.delimiter)
	fields := countFields(row, c.delimiter)
	end := []byte{c.delimiter}
	if c.delimiter != blanks && bytes.HasSuffix(row, end) { // each row may end with a delimiter
		fields--
		if bytes.HasSuffix(header, end) {
			names--
		}
	}
	if names != fields {
		return false
	}
	if f.Piped() {
		return true
	}
	h := c.searchAt(f, n)
	if h == nil {
		l.delimiter = c.delimiter
		return true
	}
	numbers, words, _ := h.count()
	isHeader, doubt, said := h.isHeader(nil, nil)
	if numbers+words == 0 { // marks such as None
		doubt = said
	}
	switch {
	case isHeader && (said != "" && numbers > 0 || h.guess(true, nil).Evidence == Certain):
		return false
	case doubt != "" &&
		(len(h.first) != 2 || c.delimiter == blanks || bytes.ContainsAny(header, " :")):
		const text = "the line (%s) is read as a row, and the comment above it as the names of the columns; " +
			"if the line has the names, use --skip-rows %d and --header yes"
		l.remark(f.Name, n+1, true, text, doubt, n)
	}
	l.delimiter = c.delimiter
	return true
}

// searchAt counts the cells of the first records after line n, in the first buffer of the file. The result decides
// whether the first of these records is a header. It is nil if there are no records.
func (l *layout) searchAt(f *rawfile.File, n int) *search {
	r := l.headRecords(f, n)
	if r.next() != nil || len(r.fields) > sampleCells/2 {
		return nil
	}
	h := l.newSearch(r)
	var cells []parsed
	for h.rows < sampleRecords &&
		(h.rows+1)*len(h.first) < sampleCells &&
		r.next() == nil {
		cells = parseAll(cells, r.fields)
		l.addTo(h, r, cells)
	}
	return h
}

func (o *Options) skips(line int) bool {
	for _, s := range o.Skip {
		if s.First <= line && line <= s.Last {
			return true
		}
	}
	return false
}

// lineAt returns line n of the file, counted from 0. Of a line that is longer than the first buffer of the file, it
// returns only the beginning.
func lineAt(f *rawfile.File, n int) (line []byte, ok bool) {
	head := f.Head(func(head []byte) bool { return bytes.Count(head, []byte{'\n'}) > n })
	for range n {
		var more bool
		_, head, more = bytes.Cut(head, []byte{'\n'})
		if !more {
			return nil, false
		}
	}
	line, _, _ = bytes.Cut(head, []byte{'\n'})
	return line, len(head) > 0
}

// examine reads further records of the file if the first record is not enough. They may be needed to decide on the
// header, on the notation of numbers, and on fields that belong to no column.
func (h *head) examine(r *records, opts *Options) {
	l := &h.layout
	if l.delimiter == blanks && len(l.Names) > 1 && l.Names[0] == "#" {
		l.Names = l.Names[1:]
		r.fields = r.fields[1:]
	} else if rest, ok := strings.CutPrefix(l.Names[0], "# "); ok && l.skip >= 0 {
		l.Names[0] = strings.TrimSpace(rest)
	}
	h.line = r.line
	piped := l.isPiped(r)
	if len(l.Names) > sampleCells/2 {
		if opts.Header == Auto {
			header, said := l.isWideHeader(r, piped && opts.Pipe.Prompt)
			l.header = header
			l.guess = Guess{Header: header, Evidence: Likely, First: errtext.List(l.Names, 5)}
			if said != "" {
				l.remarkHeader(r.Name(), h.line, said)
			}
		}
		return
	}
	h.search = l.newSearch(r)
	_, words, _ := h.count()
	wants := opts.Header == Auto && h.needsRecords() ||
		l.delimiter != ',' && opts.Text.Decimal == "" && words > 0 ||
		opts.skips(h.line+1)
	// If Pipe.Prompt is set, the sender may wait for the answer to the first row before it writes the second row. So
	// nothing more is read here if the first record may be a row, because it has no words.
	waits := piped && opts.Pipe.Prompt && words == 0
	if piped && !wants || waits {
		return
	}
	limit := min(sampleRecords, max(sampleCells/len(l.Names), 1))
	if piped {
		limit = 1
	}
	s := &sample{notation: l.Notation, first: len(l.Names)}
	h.sample = s
	var cells []parsed
	if opts.Header != Present {
		cells = parseAll(cells, r.fields)
		s.see(cells)
	}
	if f, ok := r.lines.(fileLines); ok {
		f.MaxRow = sampleRow
	}
	for h.search.rows+h.search.again < limit {
		for opts.skips(r.Line() + 1) {
			if _, err := r.ReadLine(); err != nil {
				break
			}
			l.skipAfter++
		}
		if r.next() != nil { // the reader reports this error later
			break
		}
		if h.search.rows == 0 && opts.skips(r.line) {
			continue
		}
		cells = parseAll(cells, r.fields)
		s.see(cells)
		s.add(r, cells)
		l.addTo(h.search, r, cells)
	}
}

func (l *layout) isPiped(r *records) bool {
	f, ok := r.lines.(fileLines)
	return ok && f.Piped()
}

// wanted returns the names that the options select.
func wanted(opts *Options) []string {
	var out []string
	for _, s := range append(append([]string(nil), opts.Targets...), opts.Columns...) {
		if s != "first" && s != "last" {
			out = append(out, s, strings.TrimPrefix(s, "-"))
		}
	}
	return out
}

// A sample holds counts over the first records.
type sample struct {
	notation cell.Notation // that the options set
	first    int           // fields of the first record

	decimals
	rows, longer, equal int // numbers of records: all, those with one field more than the first, those with as many
	others              int // fields of the other records, if all have the same number
	ragged              bool
	emptyLast           int // records whose last field is empty
	second              [][]byte
	secondLine          int
	numeric             []int // for each column, records after the second with a number
	firstFields
}

// decimals counts the cells with decimal marks.
type decimals struct {
	points, commas int
	comma          string // first cell with a decimal comma
	both           bool   // a cell has points between groups and a decimal comma
	eitherDot      string // first cell with a point that may separate groups
}

// firstFields describes the first fields of the records.
type firstFields struct {
	index sequence        // of the numbers
	words int             // fields that are not numbers
	keys  map[string]bool // different fields
}

// A parsed is a cell without surrounding blanks.
type parsed struct {
	text     []byte
	value    float64 // of a simple number
	mark     int     // as of [cell.Evidence]
	isSimple bool    // [cell.Simple] accepts the cell
}

// parseAll parses the cells of a record. It stores the results in the memory of the argument cells.
func parseAll(cells []parsed, fields [][]byte) []parsed {
	cells = cells[:0]
	for _, f := range fields {
		c := parsed{text: cell.Trimmed(f)}
		c.value, c.mark, c.isSimple = cell.Simple(c.text)
		if !c.isSimple {
			c.mark = cell.Evidence(c.text)
		}
		cells = append(cells, c)
	}
	return cells
}

// number returns the number that the cell stands for in the notation n. If it stands for none, ok is false.
func (c *parsed) number(n cell.Notation) (v float64, ok bool) {
	if c.isSimple && (!n.Comma || c.mark == cell.Plain) {
		return c.value, true
	}
	return n.Number(c.text)
}

// see collects what the cells of a record show about the notation of numbers.
func (s *sample) see(cells []parsed) {
	for i := range cells {
		c := &cells[i]
		switch c.mark {
		case cell.Point:
			s.points++
		case cell.Comma:
			s.commas++
			if s.comma == "" {
				s.comma = string(c.text)
			}
			s.both = s.both ||
				bytes.IndexByte(c.text, '.') >= 0 && bytes.IndexByte(c.text, ',') >= 0
		case cell.EitherDot:
			if s.eitherDot == "" {
				s.eitherDot = string(c.text)
			}
		}
	}
}

// add counts the fields of the record r, which is not the first record of the file.
func (s *sample) add(r *records, cells []parsed) {
	n := len(r.fields)
	s.rows++
	switch {
	case n == s.first:
		s.equal++
	case n == s.first+1:
		s.longer++
	}
	s.ragged = s.ragged || s.rows > 1 && n != s.others
	s.others = n
	if len(cells[n-1].text) == 0 {
		s.emptyLast++
	}
	if v, ok := cells[0].number(cell.Notation{}); ok {
		s.index.add(v)
	} else {
		s.words++
	}
	if s.keys == nil {
		s.keys = map[string]bool{}
	}
	s.keys[string(r.fields[0])] = true
	if s.rows == 1 {
		s.secondLine = r.line
		for i := range cells {
			s.second = append(s.second, bytes.Clone(cells[i].text))
		}
		s.numeric = make([]int, n)
		return
	}
	for i := range min(n, len(s.numeric)) {
		if _, ok := cells[i].number(s.notation); ok {
			s.numeric[i]++
		}
	}
}

// conclude decides by the first records.
func (l *layout) conclude(name string, line int, h *search, s *sample, opts *Options) error {
	l.decideNotation(name, s, opts.Text)
	if opts.Header == Auto {
		for i := range h.first { // a decimal comma is a number now
			if f := &h.first[i]; f.kind == isNumber && f.value != f.value {
				f.value, _ = l.Notation.Number([]byte(l.Names[i]))
			}
		}
		header, doubt, said := h.isHeader(wanted(opts), opts.Known)
		l.header = header
		l.guess = h.guess(header, wanted(opts))
		if doubt != "" {
			l.remark(name, line, true, "%s", doubtful(doubt))
		}
		if said != "" {
			l.remarkHeader(name, line, said)
		}
	}
	if err := l.decideMargin(name, line, s); err != nil {
		return err
	}
	l.remarkNames(name, line, s)
	l.findUnits(name, s)
	return nil
}

// decideNotation sets l.Notation, unless the options, asked, set it.
func (l *layout) decideNotation(name string, s *sample, asked prepare.Text) {
	if asked.Decimal != "" && !asked.IsDefault {
		return
	}
	switch {
	case s.commas > 0 && s.points == 0 && (s.eitherDot == "" || l.delimiter != ','):
		l.Notation = cell.Notation{Comma: true, Grouped: true}
		text := "numbers are read with a decimal comma, as in " + errtext.Excerpt(s.comma)
		if s.eitherDot != "" {
			text += ", and the point in numbers such as " + errtext.Excerpt(s.eitherDot) + " as a separator of thousands"
		}
		isDoubt := s.eitherDot != "" && !s.both
		l.remark(name, 0, isDoubt, "%s (--decimal , or --decimal . overrides this)", text)
	case s.commas > 0 && s.points == 0 && asked.Decimal == ",":
	case s.points > 0 && s.commas == 0:
		l.Notation = cell.Notation{Grouped: true}
	case s.eitherDot != "" &&
		s.commas == 0 &&
		asked.Decimal == "" &&
		(l.delimiter == ';' || l.delimiter == '\t'):
		const text = "the point in numbers such as %s is read as a decimal point; if it separates thousands, use " +
			"--decimal , and otherwise --decimal ."
		l.remark(name, 0, true, text, errtext.Excerpt(s.eitherDot))
		l.Notation = cell.Notation{}
	case asked.Decimal == "":
		l.Notation = cell.Notation{}
	}
}

// remarkHeader remarks that numbers are names.
func (l *layout) remarkHeader(name string, line int, names string) {
	const text = "the first line (%s) is read as the names of the columns; if it is a row, use --header no"
	l.remark(name, line, false, text, names)
}

// hasKeys reports whether the first field of each record names the row. Such fields are different texts, or numbers
// that count the rows.
func (s *sample) hasKeys() bool {
	return len(s.keys) == s.rows &&
		(s.words == s.rows || s.words == 0 && (s.rows == 1 || s.index.isRegular() && s.index.step == 1))
}

// decideMargin sets l.margin if each row has a field that belongs to no column. It returns an error if the first
// line is probably a title, because the lines below have more fields.
func (l *layout) decideMargin(name string, line int, s *sample) error {
	n := len(l.Names)
	switch {
	case s.rows == 0 || s.ragged:
	case l.header &&
		s.longer == s.rows &&
		s.emptyLast == s.rows &&
		l.Names[n-1] != "":
		l.margin = emptyField
		l.remark(name, line, false, "the rows end with a delimiter; the empty last field is left out")
	case l.header && s.longer == s.rows && s.hasKeys() && s.emptyLast == 0:
		l.margin = rowNames
		l.remark(
			name,
			line,
			false,
			"the header is one field shorter than the rows; the first field of each row is read as its name and left out",
		)
	case s.equal == s.rows &&
		s.emptyLast == s.rows &&
		n > 1 &&
		(l.Names[n-1] == ""):
		l.margin = emptyField
		l.remark(name, line, false, "the last column has neither a name nor values and is left out")
		if l.header {
			l.Names = l.Names[:n-1]
		}
	case s.others > n && s.rows > 1 && (l.header || n == 1):
		of := "1 field"
		if n != 1 {
			of = fmt.Sprint(n, " fields")
		}
		return &dataset.InputError{
			File: name,
			Line: line,
			Msg: fmt.Sprintf(
				"the line has %s, the lines below have %d: %q",
				of,
				s.others,
				errtext.Excerpt(strings.Join(l.Names, " ")),
			),
			Hint: fmt.Sprintf(
				"if it is a title, leave it out (--skip-rows %d); if it is a comment, name its first character (--comment)",
				line,
			),
		}
	}
	return nil
}

// remarkNames adds a remark if several columns have the same name, and if a first column without a name counts the
// rows.
func (l *layout) remarkNames(name string, line int, s *sample) {
	if !l.header {
		return
	}
	seen := map[string]bool{}
	twice := []string(nil)
	for _, n := range l.Names {
		if seen[n] && len(twice) < 5 {
			twice = append(twice, errtext.Excerpt(n))
		}
		seen[n] = true
	}
	if len(twice) > 0 {
		l.remark(
			name,
			line,
			true,
			"several columns have the same name: %s; select them by number",
			strings.Join(twice, ", "),
		)
	}
	first := l.Names[0]
	counts := s.index.isRegular() &&
		s.index.step == 1 &&
		s.index.start == float64(int(s.index.start)) &&
		s.index.n == s.rows
	if s.rows > 2 &&
		counts &&
		l.margin != rowNames &&
		(first == "" || strings.HasPrefix(first, "Unnamed: ")) {
		l.remark(
			name,
			line,
			false,
			"column 1 has no name and counts the rows from %g; unless it is a feature, leave it out (--columns=-1)",
			s.index.start,
		)
	}
}

// findUnits sets l.units if the record under the header is a line of units: texts above columns of numbers.
func (l *layout) findUnits(name string, s *sample) {
	if !l.header || s.rows < 3 || s.ragged || l.margin == rowNames {
		return
	}
	example := ""
	for i, text := range s.second[:min(len(s.second), len(l.Names))] {
		if s.numeric[i] < s.rows-1 {
			continue
		}
		switch l.kindOf(text) {
		case isNumber:
			l.unitColumns = nil
			return
		case isWord, isForm:
			l.unitColumns = append(l.unitColumns, i)
			if example == "" {
				example = string(text)
			}
		}
	}
	if l.unitColumns != nil {
		l.units = &dataset.InputError{
			File: name,
			Line: s.secondLine,
			Msg: fmt.Sprintf(
				"the line has texts such as %q above columns of numbers, like units",
				errtext.Excerpt(example),
			),
			Hint: fmt.Sprintf("leave it out (--skip-rows %d:%d)", s.secondLine, s.secondLine),
		}
	}
}

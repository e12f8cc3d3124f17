package csv

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/cell"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A kind classifies a cell for the search for a header.
type kind uint8

const (
	isEmpty  kind = iota
	isMark        // a mark of a missing value, such as NA or -
	isNumber      // a number in any notation
	isForm        // a number with a unit, or a date
	isWord        // any other text
)

// A field is a classified cell of the first record.
type field struct {
	kind   kind
	quoted bool
	text   string
	value  float64 // of a number
	whole  bool    // the number is written without point and exponent
}

// A below holds counts of one column in the records after the first.
type below struct {
	numbers, forms, words int
	quoted                int  // numbers in quotes
	fractions             int  // numbers with a point or an exponent
	pointZero             bool // a whole number is written with a point, like 2.0
	same                  int  // cells equal to the text of the first record
	repeats               bool // two words are equal
	seen                  map[string]bool
}

// otherMarks are marks that count as missing only in the search for a header. Name them by [prepare.Text].Marks.
var otherMarks = []string{
	"-",
	"--",
	"---",
	"#n/a",
	"#na",
	"#null!",
	"#value!",
	"#div/0!",
	"#ref!",
	"#num!",
	"-nan",
	"n.a.",
	"\\n",
}

func (l *layout) kindOf(s []byte) kind {
	if _, _, isSimple := cell.Simple(s); isSimple && !l.Marks.Missing(s) {
		return isNumber
	}
	switch {
	case len(s) == 0:
		return isEmpty
	case l.Marks.Missing(s) || len(s) <= 7 && slices.Contains(otherMarks, strings.ToLower(string(s))):
		return isMark
	case !isText(s) || cell.Evidence(s) >= cell.Point:
		if u, _, ok := l.Notation.UnitOf(s); ok && u != (cell.Unit{}) {
			return isForm
		}
		return isNumber
	case prepare.IsDate(s):
		return isForm
	}
	if _, _, ok := l.Notation.UnitOf(s); ok {
		return isForm
	}
	return isWord
}

// A search decides whether the first record is a header.
type search struct {
	first   []field
	columns []below
	rows    int // records after the first
	// inRow is the number of records after the first whose numbers are whole and in order, like the names 0, 1, 2.
	inRow int
}

func (l *layout) newSearch(r *records) *search {
	h := &search{first: make([]field, len(r.fields)), columns: make([]below, len(r.fields))}
	quoted := r.quotedFields()
	for i, s := range r.fields {
		s = bytes.TrimSpace(s)
		if rest, ok := bytes.CutPrefix(s, []byte("# ")); ok && i == 0 {
			s = rest
		}
		f := &h.first[i]
		f.kind, f.quoted = l.kindOf(s), quoted != nil && quoted[i]
		if f.kind == isNumber {
			f.value, f.whole = l.value(s)
		}
		if f.kind != isNumber {
			f.text = string(s)
		}
	}
	return h
}

// value returns the number s, and whether it is written without point and exponent.
func (l *layout) value(s []byte) (v float64, whole bool) {
	v, ok := l.Notation.Number(s)
	if !ok {
		v = math.NaN()
	}
	return v, isWhole(s)
}

// isWhole reports whether a number is written without point and exponent.
func isWhole(s []byte) bool {
	for _, c := range s {
		if c == '.' || c == ',' || c|0x20 == 'e' || c|0x20 == 'd' {
			return false
		}
	}
	return true
}

// addTo counts the cells of a further record.
func (l *layout) addTo(h *search, r *records, cells []parsed) {
	h.rows++
	quoted := r.quotedFields()
	from := max(0, len(r.fields)-len(h.first)) // names of rows stand before the first column
	var order sequence
	inOrder := true
	for i := range h.columns {
		if from+i >= len(r.fields) {
			break
		}
		s := bytes.TrimSpace(r.fields[from+i])
		c, f := &h.columns[i], &h.first[i]
		now := &cells[from+i]
		of := isNumber
		if !now.isSimple || l.Marks.Missing(s) {
			of = l.kindOf(s)
		}
		if of != isNumber && f.kind != isNumber && string(s) == f.text {
			c.same++
		}
		switch of {
		case isNumber:
			c.numbers++
			v, isParsed := now.number(l.Notation)
			if !isParsed {
				v, _ = l.value(s)
			}
			if !isWhole(s) {
				inOrder = false
				c.fractions++
				c.pointZero = c.pointZero || v == math.Trunc(v)
			}
			if quoted != nil && quoted[from+i] {
				c.quoted++
			}
			order.add(v)
		case isForm:
			c.forms++
		case isWord:
			c.words++
			if c.seen == nil {
				c.seen = map[string]bool{}
			}
			c.repeats = c.repeats || c.seen[string(s)]
			c.seen[string(s)] = true
		}
	}
	if inOrder && order.isRegular() {
		h.inRow++
	}
}

// A sequence finds out whether numbers are in order.
type sequence struct {
	n         int
	start     float64
	step      float64
	last      float64
	irregular bool // the steps differ
	unordered bool // the numbers do not increase, or do not decrease
}

func (s *sequence) add(v float64) {
	switch step := v - s.last; {
	case s.n == 0:
		s.start = v
	case s.n == 1:
		s.step = step
		s.irregular = step == 0 || step != step
		s.unordered = s.irregular
	default:
		s.irregular = s.irregular || step != s.step
		s.unordered = s.unordered || step*s.step <= 0 || step != step
	}
	s.last = v
	s.n++
}

// isRegular reports whether two or more numbers have the same distance from each other.
func (s *sequence) isRegular() bool { return s.n >= 2 && !s.irregular }

// needsRecords reports whether the first record alone does not decide.
func (h *search) needsRecords() bool {
	numbers, words, order := h.count()
	quoted := slices.ContainsFunc(h.first, func(f field) bool { return f.quoted })
	switch {
	case words == 0 && numbers > 0:
		return quoted || order.isRegular() || order.n > 2 && !order.unordered || h.first[0].kind == isEmpty
	case numbers == 0:
		return words == 0 || slices.ContainsFunc(h.first, func(f field) bool { return f.kind == isForm })
	}
	return true
}

// count returns the number of numbers and of other texts in the first record, and the order of its numbers.
func (h *search) count() (numbers, words int, order sequence) {
	for _, f := range h.first {
		switch f.kind {
		case isNumber:
			numbers++
			order.add(f.value)
		case isForm, isWord:
			words++
		}
	}
	return numbers, words, order
}

// isHeader decides whether the first record is a header. wanted holds the names that the options select. If the
// decision is open, doubt describes the first record. If names are numbers, said describes them.
func (h *search) isHeader(wanted []string) (header bool, doubt, said string) {
	numbers, words, order := h.count()
	for _, f := range h.first {
		if f.kind == isWord && slices.Contains(wanted, f.text) {
			return true, "", ""
		}
	}
	switch {
	case numbers > 0 && words == 0:
		return h.numericHeader(order)
	case h.rows == 0:
		return words > 0 || h.hasNameLikeMark(), "", ""
	case words == 0:
		return h.hasNameLikeMark() && !h.marksRecur(), "", ""
	}
	// The first record has words. It has data if a word recurs below, or if forms stand above forms.
	recurs, above, numeric := false, false, false
	for i, f := range h.first {
		c := &h.columns[i]
		recurs = recurs || f.kind == isWord && c.same > 0
		above = above || f.kind == isForm && c.forms == h.rows
		numeric = numeric || (f.kind == isForm || f.kind == isWord) && c.numbers > 0 && c.words+c.forms <= c.same
	}
	switch {
	case numeric:
		return true, "", ""
	case recurs || above:
		return false, "", ""
	case numbers == 0:
		return true, "", ""
	}
	return h.mixedHeader(numbers, order)
}

// numericHeader decides for a first record of numbers.
func (h *search) numericHeader(order sequence) (header bool, doubt, said string) {
	if h.rows == 0 {
		return false, "", ""
	}
	distinct, quoted, whole, unlike, pointZero := map[float64]bool{}, true, true, true, false
	for i, f := range h.first {
		c := &h.columns[i]
		if f.kind == isEmpty && i == 0 {
			continue
		}
		if f.kind != isNumber { // a name is not missing
			return false, "", ""
		}
		distinct[f.value] = true
		quoted = quoted && f.quoted && c.quoted == 0
		whole = whole && f.whole
		unlike = unlike && c.numbers == c.fractions && c.numbers+c.words > 0
		pointZero = pointZero || c.pointZero || c.words > 0
	}
	names := excerptOf(h.first)
	if len(distinct) < order.n {
		return false, "", ""
	}
	ordered := order.isRegular() && 2*h.inRow <= h.rows
	count := ordered && (order.start == 0 || order.start == 1) && order.step == 1
	emptyCorner := h.first[0].kind == isEmpty && h.columns[0].numbers+h.columns[0].words+h.columns[0].forms > 0
	increasing := order.n > 1 && !order.unordered
	switch {
	case quoted && order.n > 0:
		return true, "", names
	case whole && emptyCorner && (ordered || order.n == 1 && order.start == 0 || increasing && unlike):
		return true, "", names
	case whole && ordered && unlike && (pointZero || order.n > 2) && h.rows > 1:
		return true, "", names
	case whole && increasing && unlike && pointZero && order.n > 2 && h.rows > 2:
		return true, "", names
	case whole && count && order.n >= 8:
		return true, "", names
	case whole && ordered && (unlike || order.n > 2 && math.Abs(order.step) == 1):
		return false, names, ""
	case whole && increasing && unlike && order.n > 2, ordered && order.n > 4:
		return false, names, ""
	}
	return false, "", ""
}

// mixedHeader decides for a first record of numbers and words, where all records have words in the same columns.
func (h *search) mixedHeader(numbers int, order sequence) (header bool, doubt, said string) {
	whole, quoted, unlike, repeats, words := true, true, true, false, 0
	for i, f := range h.first {
		c := &h.columns[i]
		words += c.words
		switch f.kind {
		case isNumber:
			whole = whole && f.whole
			quoted = quoted && f.quoted && c.quoted == 0 && c.numbers > 0
			unlike = unlike && c.fractions == c.numbers
		case isWord:
			repeats = repeats || c.repeats
		}
	}
	names := excerptOf(h.first)
	ordered := order.isRegular() && 2*h.inRow <= h.rows
	count := ordered && (order.start == 0 || order.start == 1) && order.step == 1
	switch {
	case quoted:
		return true, "", names
	case words == 0: // no word below, only forms or missing values
		return true, "", ""
	case whole && ordered && (unlike || repeats && (count || numbers > 2)) && h.rows > 1:
		return true, "", names
	case whole && ordered && (count || unlike || numbers > 2):
		return false, names, ""
	}
	return false, "", ""
}

// isWideHeader decides for a first record of many fields, by its fields and at most one other record. The record is a
// header if it has words, unless the next record has words in the same columns.
func (l *layout) isWideHeader(r *records) bool {
	words, numbers := false, false
	for _, s := range l.Names {
		switch {
		case s == "" || l.Marks.Missing([]byte(s)):
		case isText([]byte(s)):
			words = true
		default:
			numbers = true
		}
	}
	if !words || !numbers {
		return words
	}
	if r.next() != nil || len(r.fields) != len(l.Names) { // the reader reports this error later
		return true
	}
	for i, s := range r.fields {
		s = bytes.TrimSpace(s)
		if l.Marks.Missing([]byte(l.Names[i])) || l.Marks.Missing(s) {
			continue
		}
		if isText([]byte(l.Names[i])) != isText(s) {
			return true
		}
	}
	return false
}

// hasNameLikeMark reports whether a mark of the first record may be a name, such as Na or None.
func (h *search) hasNameLikeMark() bool {
	return slices.ContainsFunc(h.first, func(f field) bool {
		return f.kind == isMark && strings.ContainsAny(f.text, "aAlLoO")
	})
}

// marksRecur reports whether a mark of the first record recurs in its column.
func (h *search) marksRecur() bool {
	for i, f := range h.first {
		if f.kind == isMark && h.columns[i].same > 0 {
			return true
		}
	}
	return false
}

// excerptOf returns the first cells of a record.
func excerptOf(first []field) string {
	const most = 5
	var out []string
	for i, f := range first {
		text := f.text
		if f.kind == isNumber {
			text = strconv.FormatFloat(f.value, 'g', -1, 64)
		}
		if i == most {
			return strings.Join(append(out, "…"), ", ")
		}
		out = append(out, excerpt.Of(text))
	}
	return strings.Join(out, ", ")
}

// A Guess states whether the first record of a file is a header, and what supports this.
type Guess struct {
	Header   bool
	Evidence Evidence
	First    string // the first cells of the record
}

// Evidence states what supports a [Guess].
type Evidence int

const (
	Undecided Evidence = iota // a header and a row are about equally likely, as with texts above texts
	Likely                    // the other reading is possible, as with a number above numbers
	Certain                   // the first record has texts above numbers
)

// GuessHeader guesses whether the first record of a file is a header, regardless of opts.Header. Errors are as in
// [Open].
func GuessHeader(name string, opts Options) (Guess, error) {
	opts.Header = Auto
	l, err := inspect(name, opts)
	if err != nil {
		return Guess{}, err
	}
	return l.guess, nil
}

// guess returns the decision of isHeader with its evidence.
func (h *search) guess(header bool, wanted []string) Guess {
	g := Guess{Header: header, Evidence: Likely, First: excerptOf(h.first)}
	isMarked, isWanted, isAboveNumbers := false, false, false
	for i, f := range h.first {
		c := &h.columns[i]
		isMarked = isMarked || f.kind == isMark
		isWanted = isWanted || f.kind == isWord && slices.Contains(wanted, f.text)
		isAboveNumbers = isAboveNumbers || f.kind == isWord && c.numbers > 0 && c.words+c.forms == 0
	}
	numbers, words, _ := h.count()
	switch {
	case header && (isWanted || isAboveNumbers):
		g.Evidence = Certain
	case h.rows == 0, words == 0 && isMarked, header && words > 0 && numbers == 0:
		g.Evidence = Undecided
	}
	return g
}

// doubtful returns the warning about a first line that may be a header.
func doubtful(names string) string {
	return fmt.Sprintf(
		"the first line (%s) is read as a row; if it has the names of the columns, use --header yes, otherwise --header no",
		names,
	)
}

// isText reports whether s is neither empty nor a number.
// Notations like 1_000 count as numbers, so that no line of data becomes a header.
func isText(s []byte) bool {
	// Test the first byte, because strconv allocates an error for each name.
	if len(s) > 0 && bytes.IndexByte([]byte("+-.0123456789iInNtTfF"), s[0]) < 0 {
		return true
	}
	if _, ok := cell.Number(s); ok || len(s) == 0 {
		return false
	}
	if cell.Why(s) != cell.NoNumber {
		return false
	}
	_, err := strconv.ParseFloat(string(s), 64)
	return err != nil
}

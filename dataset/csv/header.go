package csv

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A kind is the class of a cell, for the search for a header.
type kind uint8

const (
	isEmpty  kind = iota
	isMark        // a mark of a missing value, such as NA or -
	isNumber      // a number in any notation
	isForm        // a number with a unit, or a date
	isWord        // any other text
)

// A field is a cell of the first record, with its kind.
type field struct {
	kind   kind
	quoted bool
	text   string
	value  float64 // of a number
	whole  bool    // the number is written without point and exponent
}

// A sum holds the facts from which numericHeader and mixedHeader decide whether the first record is a header. They
// come from the first record and the records below.
type sum struct {
	names   string // the first cells
	numbers sequence
	repeats bool // two numbers are equal
	gap     bool // a cell is neither a number nor the corner above the names of rows
	quoted  bool // all numbers are quoted, and no number below them is
	writing
	apart  bool // each number is far from all numbers below
	recurs bool // a number recurs in its column
	// continues is true if the records below continue the numbers of the first record, so that the first record is
	// a row. A column continues if its numbers, the first record included, are in equal steps. Either all columns
	// of numbers must continue, or one column with three or more numbers below the first record.
	//
	// There are two exceptions, because the numbers of the first record may be names. For 0, 1, 2, …, continues is
	// always false. For 1, 2, 3, …, it is false if fewer than half of the columns continue.
	continues bool
	unitless  bool // a number without unit is above numbers that all have one
	years     bool // the numbers are consecutive years, and no column below holds only years
	words     int  // words below
}

// A writing describes how the numbers in the first record and the numbers below it are written.
type writing struct {
	whole     bool // all numbers are whole
	fractions bool // all numbers have a fraction, and no number below them has one
	unlike    bool // all numbers below have a fraction or an exponent
	padded    bool // a fraction below ends with 0: the program then writes whole numbers with a fraction, too
	allPadded bool // each column has a fraction that ends with 0
}

// A below holds counts of the cells in one column below the first record.
type below struct {
	numbers, forms, words int
	quoted                int  // numbers in quotes
	fractions             int  // numbers with a point or an exponent
	padded                bool // a fraction ends with 0, like 2.0 or 2.50
	least, most           float64
	order                 sequence // of the numbers
	same                  int      // cells equal to the text of the first record
	sameNumbers           int      // numbers equal to the number of the first record
	repeats               bool     // two words are equal
	seen                  map[string]bool
}

// otherMarks are texts that often stand for a missing value. Only the search for a header treats them as missing.
// To read them as missing values, a user has to list them in [prepare.Text].Marks.
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
	"#name?",
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
	case l.Marks.Missing(s) ||
		len(s) <= 7 && slices.Contains(otherMarks, strings.ToLower(string(s))):
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

// A search collects counts from the first records of a file, and decides whether the first record is a header.
type search struct {
	first   []field
	columns []below
	rows    int // records after the first that are counted
	again   int // records that are not counted
	// namesLike is true if the numbers of the first record are in equal steps. Then a later record with the same
	// cells is not counted, because it is probably the header of a file that was appended.
	namesLike bool
	numbers   int // in the first record
	// inRow is the number of records after the first whose numbers are whole and in equal steps, like 0, 1, 2.
	inRow int
}

func (l *layout) newSearch(r *records) *search {
	h := &search{
		first:   make([]field, len(r.fields)),
		columns: make([]below, len(r.fields)),
	}
	quoted := r.quotedFields()
	for i, s := range r.fields {
		s = bytes.TrimSpace(s)
		if rest, ok := bytes.CutPrefix(s, []byte("# ")); ok && i == 0 {
			s = rest
		}
		f := &h.first[i]
		f.kind = l.kindOf(s)
		f.quoted = quoted != nil && quoted[i]
		if f.kind == isNumber {
			f.value, f.whole = l.value(s)
		}
		f.text = string(s)
	}
	numbers, _, order := h.count()
	h.numbers = numbers
	h.namesLike = order.isRegular()
	return h
}

// isAgain reports whether the record r has the same cells as the first record.
func (h *search) isAgain(r *records) bool {
	if len(r.fields) != len(h.first) {
		return false
	}
	for i, s := range r.fields {
		if string(bytes.TrimSpace(s)) != h.first[i].text {
			return false
		}
	}
	return true
}

// value returns the number that the text s stands for. It also reports whether s has neither a point nor an
// exponent.
func (l *layout) value(s []byte) (v float64, whole bool) {
	v, ok := l.Notation.Number(s)
	if !ok {
		v = math.NaN()
	}
	return v, isWhole(s)
}

// isWhole reports whether the number s is written without a decimal mark and without an exponent.
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
	if h.namesLike && h.isAgain(r) {
		h.again++
		return
	}
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
				c.padded = c.padded || isPadded(s)
			}
			if quoted != nil && quoted[from+i] {
				c.quoted++
			}
			order.add(v)
			c.add(v, f)
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
	if inOrder && order.n >= h.numbers && order.isRegular() {
		h.inRow++
	}
}

// add counts the number v in the column below the cell f of the first record.
func (c *below) add(v float64, f *field) {
	if c.order.n == 0 {
		c.least, c.most = v, v
	}
	c.least = min(c.least, v)
	c.most = max(c.most, v)
	c.order.add(v)
	if f.kind == isNumber && v == f.value {
		c.sameNumbers++
	}
}

// isEmpty reports whether the column has neither numbers nor texts below the first record.
func (c *below) isEmpty() bool {
	return c.numbers+c.forms+c.words == 0
}

// isPadded reports whether the number s has a decimal mark, and its last digit before an exponent is 0, as in 2.50.
func isPadded(s []byte) bool {
	if i := bytes.IndexAny(s, "eEdD"); i >= 0 {
		s = s[:i]
	}
	return bytes.HasSuffix(s, []byte{'0'}) && bytes.ContainsAny(s, ".,")
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

// isRegular reports whether there are at least two numbers and all steps from one to the next are equal and not 0.
func (s *sequence) isRegular() bool { return s.n >= 2 && !s.irregular }

// isCount reports whether the numbers count up from 0 or from 1: 0, 1, 2, … or 1, 2, 3, …
func (s *sequence) isCount() bool {
	return s.isRegular() && s.step == 1 && (s.start == 0 || s.start == 1)
}

// isInOrder reports whether there are at least two numbers, and all increase or all decrease.
func (s *sequence) isInOrder() bool { return s.n >= 2 && !s.unordered }

// areYears reports whether there are at least two numbers, and they are consecutive years, up or down.
func (s *sequence) areYears() bool {
	return s.isRegular() &&
		math.Abs(s.step) == 1 &&
		isYear(s.start) &&
		isYear(s.last)
}

func isYear(v float64) bool { return 1500 <= v && v <= 2200 }

// needsRecords reports whether further records are needed to decide whether the first record is a header.
func (h *search) needsRecords() bool {
	numbers, words, order := h.count()
	quoted := slices.ContainsFunc(h.first, func(f field) bool { return f.quoted })
	switch {
	case words == 0 && numbers > 0:
		return quoted ||
			order.isRegular() ||
			order.n > 2 && !order.unordered ||
			h.first[0].kind == isEmpty
	case numbers == 0:
		return words == 0 ||
			slices.ContainsFunc(h.first, func(f field) bool {
				return f.kind == isForm
			})
	}
	return true
}

// count returns how many cells of the first record are numbers and how many are other texts. It also returns the
// sequence of the numbers.
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

// isHeader decides whether the first record is a header. The argument wanted holds the column names that the
// options select, and known holds the names of the features of an existing model.
//
// If the decision is uncertain, the result doubt lists the first cells of the record, for a warning. If a header
// has numbers or marks of missing values as names, the result said may list its first cells, for a remark.
func (h *search) isHeader(wanted, known []string) (header bool, doubt, said string) {
	numbers, words, _ := h.count()
	for _, f := range h.first {
		if f.kind == isWord && slices.Contains(wanted, f.text) {
			return true, "", ""
		}
	}
	if numbers > 0 && hasNames(h.texts(), known) {
		return true, "", h.excerpt()
	}
	switch {
	case numbers > 0 && words == 0:
		return h.numericHeader()
	case h.rows == 0:
		return words > 0 || h.hasNameLikeMark(), "", ""
	case words == 0 && h.hasNameLikeMark() && !h.marksRecur():
		return true, "", h.excerpt()
	case words == 0:
		return false, "", ""
	}
	// Here the first record has words. It is a header if a text stands above a column of numbers. Otherwise it is a
	// row if one of its words recurs below. It is also a row if a date, or a number with a unit, stands above cells
	// of the same form.
	recurs := false
	above := false
	numeric := false
	marked := false
	for i, f := range h.first {
		c := &h.columns[i]
		recurs = recurs || f.kind == isWord && c.same > 0
		marked = marked || (f.kind == isMark || f.kind == isEmpty && i > 0) && c.numbers > 0
		above = above || f.kind == isForm && c.forms > 0 && c.numbers+c.words == 0
		numeric = numeric ||
			(f.kind == isForm || f.kind == isWord) && c.numbers > 0 && c.words+c.forms <= c.same
	}
	switch {
	case numeric:
		return true, "", ""
	case recurs || above:
		return false, "", ""
	case numbers == 0 && marked: // words above words, and a mark above numbers
		return false, h.excerpt(), ""
	case numbers == 0:
		return true, "", ""
	}
	return h.mixedHeader()
}

// hasNames reports whether all names in known are among the fields. It returns false if known is empty.
func hasNames(fields, known []string) bool {
	if len(known) == 0 || len(known) > len(fields) {
		return false
	}
	has := map[string]bool{}
	for _, s := range fields {
		has[s] = true
	}
	return !slices.ContainsFunc(known, func(s string) bool { return !has[s] })
}

// addUp compares the numbers of the first record with the records below. The result is the evidence for and against
// a header.
func (h *search) addUp() sum {
	u := sum{
		names:  h.excerpt(),
		quoted: true,
		apart:  true,
		writing: writing{
			whole:     true,
			fractions: true,
			unlike:    true,
			allPadded: true,
		},
	}
	distinct := map[float64]bool{}
	hasYears := false
	continuing := 0
	for i, f := range h.first {
		c := &h.columns[i]
		u.words += c.words
		if f.kind != isNumber {
			isMargin := i == 0 || i == len(h.first)-1 && c.isEmpty()
			u.gap = u.gap || f.kind == isMark || f.kind == isEmpty && !isMargin
			continue
		}
		u.numbers.add(f.value)
		distinct[f.value] = true
		u.quoted = u.quoted && f.quoted && c.quoted == 0
		u.whole = u.whole && f.whole
		u.fractions = u.fractions && !f.whole && c.fractions == 0 && c.numbers > 0
		u.unlike = u.unlike && c.numbers == c.fractions && c.numbers+c.words > 0
		u.padded = u.padded || c.padded
		u.allPadded = u.allPadded && c.padded
		width := c.most - c.least
		u.apart = u.apart &&
			c.numbers > 2 &&
			(f.value < c.least-width || f.value > c.most+width)
		u.recurs = u.recurs || c.sameNumbers > 0
		u.unitless = u.unitless || c.forms > 1 && c.numbers+c.words == 0
		hasYears = hasYears || c.numbers > 0 && isYear(c.least) && isYear(c.most)
		if f.whole &&
			c.fractions == 0 &&
			c.order.isRegular() &&
			c.order.start-f.value == c.order.step {
			u.continues = u.continues || c.order.n > 2
			continuing++
		}
	}
	u.continues = u.continues || continuing == u.numbers.n
	isNames := u.numbers.isCount() && (u.numbers.start == 0 || 2*continuing < u.numbers.n)
	u.continues = u.continues && !isNames
	u.repeats = len(distinct) < u.numbers.n
	u.years = u.numbers.areYears() && !hasYears
	return u
}

// isOrdered reports whether the numbers of the first record are in equal steps, but the numbers of most records
// below are not.
func (h *search) isOrdered(u *sum) bool {
	return u.numbers.isRegular() &&
		2*h.inRow <= h.rows
}

// numericHeader decides whether a first record that has numbers and no words is a header.
//
// Three whole numbers in equal steps are weak evidence for names, because a row of data may begin so. A count from
// 0 or 1, years, and five or more numbers in equal steps are strong evidence. Fractions below that end with zeros,
// as in 2.50, are strong evidence, too. A program that writes such zeros would write the whole numbers of a row
// with a fraction.
func (h *search) numericHeader() (header bool, doubt, said string) {
	u := h.addUp()
	n := u.numbers.n
	if h.rows == 0 || u.gap || u.repeats { // a name is neither missing nor repeated
		return false, "", ""
	}
	ordered := h.isOrdered(&u)
	increasing := u.numbers.isInOrder()
	corner := &h.columns[0]
	hasCorner := h.first[0].kind == isEmpty && corner.numbers+corner.words+corner.forms > 0
	hasMixed := u.padded || u.words > 0
	isStrong := n >= 5 || n > 2 && (u.years || u.numbers.isCount())
	switch {
	case u.quoted, u.unitless:
		return true, "", u.names
	case u.whole &&
		hasCorner &&
		(ordered || n == 1 && u.numbers.start == 0 || increasing && u.unlike):
		return true, "", u.names
	case u.whole && u.unlike && ordered && (hasMixed || isStrong) && h.rows > 1,
		u.whole && u.unlike && increasing && hasMixed && n > 2 && h.rows > 2,
		u.whole && u.unlike && u.allPadded && h.rows > 2:
		return true, "", u.names
	case u.whole && ordered && u.numbers.isCount() && n >= 8:
		return true, "", u.names
	case u.continues:
		return false, "", ""
	case u.whole && u.unlike && (ordered || increasing && n > 2):
		return false, u.names, ""
	case u.fractions && increasing && n > 2:
		return false, u.names, ""
	case ordered &&
		n > 2 &&
		(math.Abs(u.numbers.step) == 1 || n > 4 || 4*h.inRow <= h.rows):
		return false, u.names, ""
	case u.whole && u.numbers.isCount() && (ordered || n == 2), // two numbers are always in equal steps
		u.whole && len(h.first) == 1 && u.numbers.start == 0 && !u.recurs:
		return false, u.names, ""
	case u.apart, u.whole && u.numbers.areYears():
		return false, u.names, ""
	}
	return false, "", ""
}

// mixedHeader decides whether a first record of numbers and words is a header. All records below have words in the
// same columns, or no words.
func (h *search) mixedHeader() (header bool, doubt, said string) {
	u := h.addUp()
	n := u.numbers.n
	quoted, repeats := true, false
	for i, f := range h.first {
		c := &h.columns[i]
		quoted = quoted &&
			(f.kind != isNumber || f.quoted && c.quoted == 0 && c.numbers > 0)
		repeats = repeats || f.kind == isWord && c.repeats
	}
	ordered := u.whole && h.isOrdered(&u)
	isStrong := u.padded || n >= 5 || n > 2 && (u.years || u.numbers.isCount())
	switch {
	case quoted:
		return true, "", u.names
	case u.words == 0 && (ordered || n == 1): // no word below, only forms or missing values
		return true, "", u.names
	case u.words == 0:
		return false, u.names, ""
	case ordered &&
		h.rows > 1 &&
		(u.unlike || repeats) &&
		(isStrong || u.numbers.isCount()):
		return true, "", u.names
	case u.continues:
		return false, "", ""
	case ordered &&
		(u.numbers.isCount() || u.unlike || n > 2), u.apart && !u.repeats && n > 1,
		u.whole && (u.numbers.areYears() || n == 2 && u.numbers.isCount()):
		return false, u.names, ""
	}
	return false, "", ""
}

// isWideHeader decides whether a first record of many fields is a header. It reads at most one further record.
//
//   - A record with words and no numbers is a header.
//   - A record with words and numbers is a header, unless the next record has words in the same columns.
//   - A record of numbers in equal steps is a header, unless the next record also consists of numbers in equal
//     steps. If waits is true, the next record is not read for this, because it may come later.
//
// If the names in a header are numbers, said lists the first of them.
func (l *layout) isWideHeader(r *records, waits bool) (header bool, said string) {
	words, order := false, sequence{}
	for i, s := range l.Names {
		switch {
		case s == "" || l.Marks.Missing([]byte(s)):
			order.irregular = order.irregular || i > 0
		case isText([]byte(s)):
			words = true
		default:
			v, _ := l.value([]byte(s))
			order.add(v)
		}
	}
	switch {
	case !words &&
		order.isRegular() &&
		(waits || r.next() != nil || !l.areRegular(r.fields)):
		return true, errtext.List(l.Names, 5)
	case !words || order.n == 0:
		return words, ""
	}
	if r.next() != nil || len(r.fields) != len(l.Names) { // the reader reports this error later
		return true, ""
	}
	for i, s := range r.fields {
		s = bytes.TrimSpace(s)
		if l.Marks.Missing([]byte(l.Names[i])) || l.Marks.Missing(s) {
			continue
		}
		if isText([]byte(l.Names[i])) != isText(s) {
			return true, ""
		}
	}
	return false, ""
}

// areRegular reports whether fields are numbers in equal steps.
func (l *layout) areRegular(fields [][]byte) bool {
	var order sequence
	for _, s := range fields {
		v, _ := l.value(bytes.TrimSpace(s))
		order.add(v)
	}
	return order.isRegular()
}

// hasNameLikeMark reports whether the first record has a mark of a missing value that may be a name, such as Na or
// None.
func (h *search) hasNameLikeMark() bool {
	return slices.ContainsFunc(h.first, func(f field) bool {
		return f.kind == isMark &&
			strings.ContainsAny(f.text, "aAlLoO") &&
			!strings.ContainsAny(f.text, "#<./\\-")
	})
}

// marksRecur reports whether a mark of a missing value in the first record occurs again below, in the same column.
func (h *search) marksRecur() bool {
	for i, f := range h.first {
		if f.kind == isMark && h.columns[i].same > 0 {
			return true
		}
	}
	return false
}

// texts returns the cells of the first record.
func (h *search) texts() []string {
	out := make([]string, len(h.first))
	for i := range h.first {
		out[i] = h.first[i].text
	}
	return out
}

// excerpt returns the first cells of the first record.
func (h *search) excerpt() string {
	return errtext.List(h.texts(), 5)
}

// A Guess states whether the first record of a file is a header, and how strong the evidence is.
type Guess struct {
	Header   bool
	Evidence Evidence
	First    string // the first cells of the record
}

// Evidence states what supports a [Guess].
type Evidence int

const (
	Undecided Evidence = iota // a header and a row are about equally likely, as with texts above texts
	Likely                    // the field Header may be wrong, as with a number above numbers
	Certain                   // the first record has texts above numbers
)

// GuessHeader guesses whether the first record of a file is a header. It ignores opts.Header. Errors are as in
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
	g := Guess{Header: header, Evidence: Likely, First: h.excerpt()}
	isMarked := false
	isWanted := false
	isAboveNumbers := false
	for i, f := range h.first {
		c := &h.columns[i]
		isMarked = isMarked || f.kind == isMark
		isWanted = isWanted || f.kind == isWord && slices.Contains(wanted, f.text)
		isAboveNumbers = isAboveNumbers ||
			f.kind == isWord && c.numbers > 0 && c.words+c.forms == 0
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

// doubtful returns the text of the warning that a first line, read as a row, may be a header. The argument names
// lists the cells of this line.
func doubtful(names string) string {
	return fmt.Sprintf(
		"the first line (%s) is read as a row; if it has the names of the columns, use --header yes, otherwise --header no",
		names,
	)
}

// isText reports whether s is neither empty nor a number. Notations like 1_000 count as numbers, because a line
// that contains them is data and no header.
func isText(s []byte) bool {
	// A text with another first byte cannot be a number. This test is here because strconv allocates an error for
	// each text that is no number.
	if len(s) > 0 && bytes.IndexByte([]byte("+-.0123456789iInNtTfF"), s[0]) < 0 {
		return true
	}
	if _, ok := (cell.Notation{}).Number(s); ok || len(s) == 0 {
		return false
	}
	if cell.Why(s) != cell.NoNumber {
		return false
	}
	_, err := strconv.ParseFloat(string(s), 64)
	return err != nil
}

package cell

import (
	"bytes"
)

// A Notation states how the numbers in a table are written. The zero value means a decimal point and no separators
// between groups of digits, as in 1234.5.
type Notation struct {
	Comma   bool // the decimal mark is a comma
	Grouped bool // groups of three digits are separated, by a point if Comma is true, otherwise by a comma
}

// Number returns the number that s means in notation n. True counts as 1 and False as 0. In every notation, blanks
// and apostrophes may separate groups of three digits.
func (n Notation) Number(s []byte) (v float64, ok bool) {
	if !n.IsOther(s) {
		return Number(s)
	}
	var buf [64]byte
	t, ok := n.Standard(buf[:0], s)
	if !ok {
		return 0, false
	}
	return Number(t)
}

// IsOther reports whether a cell may be a number that must be read in the notation n, because the function [Number]
// does not read it correctly. For example, the function rejects 1.234,5, which has a decimal comma.
func (n Notation) IsOther(s []byte) bool {
	if len(s) == 0 ||
		!isDigit(s[0]) && s[0] != '+' && s[0] != '-' && !(n.Comma && (s[0] == ',' || s[0] == '.')) {
		return false
	}
	for _, c := range s {
		if c == ',' || c == ' ' || c == '\'' || c >= 0x80 || n.Comma && c == '.' {
			return true
		}
	}
	return false
}

// Standard translates the number s from notation n to a form such as 1234.5, and appends the result to dst. If s is
// no number in notation n, ok is false. Groups of digits are accepted only if the first group does not begin with
// zero. So 0,435 is a number with a decimal comma, not the number 435.
//
// Standard does not examine a text of more than 64 bytes, and returns it unchanged. For such a text, ok is false if
// n has decimal commas, and otherwise true.
func (n Notation) Standard(dst, s []byte) (t []byte, ok bool) {
	const longest = 64
	if len(s) > longest {
		return s, !n.Comma
	}
	point, group := byte('.'), byte(',')
	if n.Comma {
		point, group = ',', '.'
	}
	run, groups := 0, 0 // digits since the last separator, number of separators
	var separator []byte
	i := 0
	if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
		dst = append(dst, s[0])
		i = 1
	}
	for i < len(s) {
		c := s[i]
		if isDigit(c) {
			dst = append(dst, c)
			run++
			i++
			continue
		}
		k := separatorAt(s[i:])
		if c == group && n.Grouped {
			k = 1
		}
		if k == 0 {
			break
		}
		isFirst := groups == 0
		if run == 0 ||
			run > 3 ||
			isFirst && s[i-run] == '0' ||
			!isFirst && (run != 3 || !bytes.Equal(separator, s[i:i+k])) {
			return nil, false
		}
		separator = s[i : i+k]
		groups++
		run = 0
		i += k
	}
	if groups > 0 && run != 3 {
		return nil, false
	}
	if i == len(s) {
		return dst, run > 0
	}
	if s[i] == point {
		dst = append(dst, '.')
		i++
		if n.Comma && i == len(s) { // the comma of a sentence
			return nil, false
		}
	} else if s[i] == '.' || s[i] == ',' {
		return nil, false
	}
	rest := s[i:]
	if len(rest) > 0 && bytes.IndexByte(rest, ',') >= 0 || bytes.IndexByte(rest, '.') >= 0 {
		return nil, false
	}
	dst = append(dst, rest...)
	_, ok = Number(dst)
	return dst, ok
}

// separatorAt returns the number of bytes of the separator with which s begins. A separator stands between groups
// of digits: a blank, a no-break blank or an apostrophe. If s begins with none of them, the result is 0.
func separatorAt(s []byte) int {
	switch {
	case s[0] == ' ' || s[0] == '\'':
		return 1
	case bytes.HasPrefix(s, []byte("\u00a0")):
		return 2
	case bytes.HasPrefix(s, []byte("\u202f")) || bytes.HasPrefix(s, []byte("\u2019")):
		return 3
	}
	return 0
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// These constants are the results of [Evidence]. They tell what a cell shows about the decimal mark.
const (
	Plain     = iota // no mark, or no number
	Point            // certainly a decimal point: 0.5, 1,234.5
	Comma            // certainly a decimal comma: 0,5, 1.234,5
	EitherDot        // a point that may be a decimal point or separate groups: 1.234
	Either           // a comma that may be a decimal comma or separate groups: 1,234
)

// Evidence returns whether the points and commas in a cell are decimal marks: Plain, Point, Comma, EitherDot or
// Either. If the number in the cell has a unit, such as %, Evidence ignores the unit.
func Evidence(s []byte) int {
	if _, number, ok := split(s); ok {
		s = number
	}
	commas := bytes.Count(s, []byte{','})
	points := bytes.Count(s, []byte{'.'})
	if commas+points == 0 || len(s) > 64 {
		return Plain
	}
	var buf [64]byte
	_, asPoint := Notation{Grouped: true}.Standard(buf[:0], s)
	_, asComma := Notation{Comma: true, Grouped: true}.Standard(buf[:0], s)
	switch {
	case asPoint && asComma && points > 0:
		return EitherDot
	case asPoint && asComma:
		return Either
	case asPoint:
		return Point
	case asComma:
		return Comma
	}
	return Plain
}

// IsLikeNumber reports whether a text, which is not a number, resembles one: it begins with a digit, or with a
// digit after symbols such as $ and >. Examples are $5, 12%, >999 and 1,274.
func IsLikeNumber(s []byte) bool {
	_, s = before(s)
	return len(s) > 0 && isDigit(s[0])
}

// before splits s before its first digit. The result symbols is the beginning of s: a sign, symbols such as $, and
// a point. If another character precedes the first digit, rest begins with this character instead of the digit.
func before(s []byte) (symbols, rest []byte) {
	all := s
	for len(s) > 0 && !isDigit(s[0]) {
		k := 0
		for _, symbol := range leading {
			if bytes.HasPrefix(s, []byte(symbol)) {
				k = len(symbol)
			}
		}
		if k == 0 {
			break
		}
		s = s[k:]
	}
	return all[:len(all)-len(s)], s
}

// leading lists the texts that may precede the first digit of a number.
var leading = []string{
	"+",
	"-",
	"<",
	">",
	"=",
	"~",
	"≈",
	"≤",
	"≥",
	"±",
	"−",
	"(",
	"'",
	"#",
	"*",
	" ",
	".",
	",",
	"$",
	"€",
	"£",
	"¥",
	"₹",
	"\u00a0",
}

// A Unit holds the texts before and after each number in a column, such as $ before or % after the number.
type Unit struct {
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// NotationOf returns the notation of numbers with the given decimal mark, "." or ",". The other of these two marks
// may then separate groups of digits. If decimal is "", the decimal mark is a point, and digits are not grouped.
func NotationOf(decimal string) Notation {
	return Notation{Comma: decimal == ",", Grouped: decimal != ""}
}

// currencies lists the units that may precede a number.
var currencies = []string{"US$", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "INR", "CAD", "AUD"}

// UnitOf splits a cell into a number and its unit. The unit may be a currency before the number. It may also be at
// most eight characters after the number, beginning with a letter, a percent sign or another sign such as €. If s
// is a number without unit, or has another form, ok is false.
func (n Notation) UnitOf(s []byte) (u Unit, number []byte, ok bool) {
	u, number, ok = split(s)
	if !ok {
		return u, nil, false
	}
	_, ok = n.Number(number)
	if !ok && !n.Comma && Evidence(number) == Point {
		_, ok = Notation{Grouped: true}.Number(number)
	}
	return u, number, ok
}

// split splits a cell into a number and its unit, as UnitOf does, but accepts numbers in every notation.
func split(s []byte) (u Unit, number []byte, ok bool) {
	sign := []byte(nil)
	rest := s
	if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
		sign = rest[:1]
		rest = rest[1:]
	}
	for _, c := range currencies {
		if t, found := bytes.CutPrefix(rest, []byte(c)); found {
			u.Before = c
			rest = bytes.TrimLeft(t, " \u00a0")
			break
		}
	}
	end := len(rest)
	for end > 0 && !isDigit(rest[end-1]) {
		end--
	}
	if end == 0 || !isDigit(rest[0]) && rest[0] != '.' && rest[0] != '-' {
		return u, nil, false
	}
	if isPower(rest[:end]) { // m2, m3
		end = bytes.LastIndexAny(rest[:end-1], "0123456789") + 1
	}
	after := bytes.TrimLeft(rest[end:], " \u00a0")
	const most = 8
	runes := bytes.Runes(after)
	switch {
	case len(runes) > most, len(runes) > 0 &&
		!isUnitStart(runes[0]), len(after) == 0 && u.Before == "":
		return u, nil, false
	}
	u.After = string(after)
	number = rest[:end]
	if len(sign) > 0 {
		number = append(bytes.Clone(sign), number...)
	}
	return u, number, true
}

// isPower reports whether s ends with the power of a unit of measurement: a letter and the digit 2 or 3, as in 5
// m2. For a number with an exponent, such as 1e2, the result is false.
func isPower(s []byte) bool {
	if len(s) < 3 {
		return false
	}
	last := s[len(s)-1]
	c := s[len(s)-2] | 0x20
	before := s[len(s)-3]
	if (c == 'e' || c == 'd') && (isDigit(before) || before == '.') { // 1e2 is a number
		return false
	}
	return (last == '2' || last == '3') &&
		'a' <= c &&
		c <= 'z' &&
		bytes.ContainsAny(s[:len(s)-1], "0123456789")
}

func isUnitStart(r rune) bool {
	switch r {
	case '%', '‰', '€', '$', '£', '¥', '₹', '°', 'µ', 'μ', 'Ω':
		return true
	}
	return 'a' <= r|0x20 && r|0x20 <= 'z' && r < 0x80
}

// NumberWith returns the number of a cell with unit u. ok is false if the cell has another unit or none.
func (n Notation) NumberWith(u Unit, s []byte) (v float64, ok bool) {
	of, number, ok := n.UnitOf(s)
	if !ok || of != u {
		return 0, false
	}
	v, ok = n.Number(number)
	if !ok {
		return Notation{Grouped: true}.Number(number)
	}
	return v, true
}

// Marks holds the texts and numbers by which a user marks missing values. Common marks such as NA always stand for
// a missing value and are not in Marks. A nil *Marks is empty.
type Marks struct {
	texts  map[string]bool
	values []float64
}

// NewMarks returns the given marks of missing values. If a mark is a number, each text for the same number is a
// mark, too. For example, the mark -999 also stands for -999.0. If list is empty, NewMarks returns nil.
func NewMarks(list []string) *Marks {
	if len(list) == 0 {
		return nil
	}
	m := &Marks{texts: map[string]bool{}}
	for _, s := range list {
		m.texts[s] = true
		if v, err := Parse([]byte(s)); err == nil && v-v == 0 {
			m.values = append(m.values, v)
		}
	}
	return m
}

// HasNumbers reports whether one of the marks is a number.
func (m *Marks) HasNumbers() bool {
	return m != nil && len(m.values) > 0
}

// Missing reports whether a cell is empty, a common mark such as NA, or one of the marks m. The cell must not have
// blanks at its ends.
func (m *Marks) Missing(s []byte) bool {
	if m == nil || Missing(s) {
		return Missing(s)
	}
	if m.texts[string(s)] {
		return true
	}
	if len(m.values) == 0 {
		return false
	}
	v, err := Parse(s)
	return err == nil && m.IsMissing(v)
}

// IsMissing reports whether the number v is one of the marks.
func (m *Marks) IsMissing(v float64) bool {
	if m == nil {
		return false
	}
	for _, mark := range m.values {
		if v == mark {
			return true
		}
	}
	return false
}

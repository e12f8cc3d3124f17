package columns

import (
	"fmt"
	"math"
	"unicode"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A Parser converts the cells of a text file to numbers.
type Parser struct {
	Choice
	Names    []string // names of the columns, or their numbers if the file has no names
	Notation cell.Notation
	Marks    *cell.Marks
}

// Value returns the number for the cell s of column i. The cell must not have blanks at its ends. If the cell is
// not accepted, ok is false. A missing value is NaN, and is accepted only if the column allows missing values.
func (p *Parser) Value(i int, s []byte) (v float64, ok bool) {
	if p.Marks.Missing(s) {
		return math.NaN(), p.Allows(i)
	}
	lexicon := p.Lexicon(i)
	if lexicon == nil {
		return p.Notation.Number(s)
	}
	if u := lexicon.Unit(); u != (cell.Unit{}) {
		return p.Notation.NumberWith(u, s)
	}
	if !lexicon.ReadsText() {
		if p.Notation.IsOther(s) {
			var buf [64]byte
			if t, ok := p.Notation.Standard(buf[:0], s); ok {
				return lexicon.Cell(t)
			}
			if _, ok := cell.Number(s); ok { // 1.5 among decimal commas
				return 0, false
			}
		}
	}
	return lexicon.Cell(s)
}

// NoNumber completes the error err for the text s in the numeric column i. If s is a number with a unit and the
// column is no feature, it hints at the unit, because only features can have units. In a target, a text such as 1st
// may be a label.
func (p *Parser) NoNumber(i int, s []byte, err *dataset.InputError) error {
	p.Choice.NoNumber(i, err)
	if u, _, ok := p.Notation.UnitOf(s); ok && !p.isFeature(i) {
		const text = "leave out the unit %q in the file, because only features can have units"
		err.Hint = fmt.Sprintf(text, errtext.Excerpt(u.Before+u.After))
		first, _ := utf8.DecodeRuneInString(u.After)
		err.IsLabel = err.IsLabel && u.Before == "" && unicode.IsLetter(first)
	}
	return err
}

// Explain completes the error err for the text s in column i, a cell that Value does not accept. It describes the
// cell. It returns true if the column is numeric and s is an ordinary text. It returns false for texts with their
// own description, such as an infinity. If the result is true, the caller adds advice, for example by NoNumber.
func (p *Parser) Explain(i int, s []byte, err *dataset.InputError) (isText bool) {
	name := errtext.Excerpt(p.Names[i])
	because := func(format string, args ...any) {
		err.Msg = fmt.Sprintf("column %s", name) + fmt.Sprintf(format, args...)
	}
	if _, ok := cell.Number(s); ok && p.Notation.Comma {
		because(": %q has a decimal point, but numbers of this file have decimal commas", errtext.Excerpt(s))
		return false
	}
	if p.Marks.Missing(s) && !cell.Missing(s) {
		because(": %s is a missing value", errtext.Excerpt(s))
		p.Gap(i, err)
		return false
	}
	switch why := cell.Why(s); {
	case p.Lexicon(i) != nil &&
		!cell.Missing(s) &&
		(p.Lexicon(i).IsLevels() || why == cell.NoNumber):
		because(" %s", p.Lexicon(i).Refusal(string(s)))
		if !utf8.Valid(s) {
			rawfile.NotUTF8(err)
		}
	case why == cell.NotFinite:
		because(": %s is not finite", errtext.Excerpt(s))
		err.NonFinite = true
		err.Missing = cell.Missing(s)
	case why == cell.TooLarge:
		because(": %s exceeds the range of float64", errtext.Excerpt(s))
		err.NonFinite = true
		err.Missing = cell.Missing(s)
	case len(s) == 0:
		because(" is empty")
		p.Gap(i, err)
	case why == cell.Gap:
		because(": %s is a missing value", s)
		p.Gap(i, err)
	default:
		because(": %q is not a number", errtext.Excerpt(s))
		return true
	}
	return false
}

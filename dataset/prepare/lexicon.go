package prepare

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A Lexicon assigns codes to the texts of one categorical column. The codes are 0, 1, 2, … in the order in which
// the texts first occur. Readers replace texts by codes, and an [Encoding] turns codes into features. The features
// do not depend on the order of the codes. The zero value is an empty Lexicon. Several goroutines may use a Lexicon
// at the same time.
//
// A Lexicon made by an [Encoding] or by [Look] may also accept numbers and dates in its column.
type Lexicon struct {
	reads reading
	checks
	limit     int // limit on the number of texts; 0: maxLevels
	byteLimit int // limit on the total bytes of the texts; 0: maxTextBytes

	known   atomic.Pointer[map[string]int32]  // snapshot of codes; never written to
	numbers atomic.Pointer[map[float64]int32] // snapshot of numberCodes

	mu           sync.Mutex
	texts        []string         // by code
	codes        map[string]int32 // code of each text
	size         int              // total bytes of the texts
	full         bool             // a text was not added because of a limit
	misses       int              // lookups of texts that the snapshot known does not have, since it was made
	leftOut      string           // what the column holds, if a reader cannot read it
	numberCodes  map[float64]int32
	numberMisses int
}

// checks states which cells a Lexicon accepts.
type checks struct {
	lenient bool  // a cell of a wrong type is read as a NaN that counts as missing; otherwise it is an error
	ignores bool  // the column is not used: no cell is refused
	refuses bool  // each text is refused
	unit    Unit  // of all numbers
	forms   forms // of the texts read so far, if the lexicon reads anything
}

// A forms describes how the texts of a column look, for example whether they are numbers with a unit.
type forms struct {
	Seen  bool // there is a text
	Unit  cell.Unit
	Mixed bool // the texts have different units, or a text is no number with a unit
	// Numbers is true if each text is a number in some notation with a comma or a point, and none has a unit.
	Numbers bool
}

// add adds a text.
func (f *forms) add(text string) {
	if f.Seen && f.Mixed && !f.Numbers {
		return
	}
	isNumber := cell.Evidence([]byte(text)) != cell.Plain
	u, _, ok := cell.Notation{Grouped: true}.UnitOf([]byte(text))
	if !ok {
		u, _, ok = cell.Notation{Comma: true, Grouped: true}.UnitOf([]byte(text))
	}
	f.merge(forms{
		Seen:    true,
		Unit:    u,
		Mixed:   !ok,
		Numbers: isNumber && !ok,
	})
}

func (f *forms) merge(o forms) {
	switch {
	case !o.Seen:
	case !f.Seen:
		*f = o
	default:
		f.Mixed = f.Mixed || o.Mixed || f.Unit != o.Unit
		f.Numbers = f.Numbers && o.Numbers
	}
}

// Unit returns the text that must stand with all numbers of the column in text files, such as $ or %. If there is
// none, it returns the zero value.
func (l *Lexicon) Unit() cell.Unit { return l.unit }

// Default limits of a Lexicon on the number of its texts and on their total bytes.
const (
	maxLevels    = 1 << 20
	maxTextBytes = 64 << 20
)

// A reading states how a Lexicon converts cells.
type reading uint8

const (
	readLevels  reading = iota // a cell is a text; its value is the code
	readMixed                  // like readLevels, but a number is first converted to its shortest decimal text
	readNumbers                // a cell must be a number
	readDates                  // a cell must be a date; its value is in seconds since 1970
	readAny                    // a cell is a number, a date or a text
	readLabels                 // like readMixed, but True and False are texts
)

// NewLabels returns the Lexicon of a target with class labels. Equal numbers, such as 1 and 1.0, are the same label.
func NewLabels() *Lexicon { return &Lexicon{reads: readLabels} }

// Label returns the text with the code v, or "" if no text has this code. If l is nil or has no texts, it returns
// the number v as a text.
func (l *Lexicon) Label(v float64) string {
	if l == nil {
		return numberText(v)
	}
	texts := l.textsFrom(0)
	switch i := int(v); {
	case len(texts) == 0:
		return numberText(v)
	case float64(i) == v && 0 <= i && i < len(texts):
		return texts[i]
	}
	return ""
}

// Cell returns the number that stands for the text s of a cell in a csv file. The cell must not be missing, and
// must have no surrounding blanks. If the cell is invalid, ok is false, and Refusal returns the reason.
func (l *Lexicon) Cell(s []byte) (v float64, ok bool) {
	isText := l.reads == readLevels
	if l.reads == readLabels {
		_, isText = cell.Boolean(s)
	}
	if !isText {
		if v, ok := cell.Number(s); ok {
			if l.reads == readLabels && math.Abs(v) >= 1<<53 {
				return 0, false
			}
			return l.Number(v)
		}
		if why := cell.Why(s); why == cell.NotFinite || why == cell.TooLarge {
			return 0, false
		}
	}
	if l.refuses || l.reads == readNumbers && !l.ignores && cell.IsLikeNumber(s) {
		return 0, false
	}
	return l.Code(s)
}

// ReadsNumbers reports whether Cell returns a number unchanged.
func (l *Lexicon) ReadsNumbers() bool {
	return (l.reads == readNumbers || l.reads == readAny) && l.unit == cell.Unit{}
}

// ReadsText reports whether Cell takes each cell as a text, even a number.
func (l *Lexicon) ReadsText() bool { return l.reads == readLevels }

// IsLevels reports whether Cell returns a code for every valid cell, because the column is categorical.
func (l *Lexicon) IsLevels() bool {
	return l.reads == readLevels || l.reads == readMixed || l.reads == readLabels
}

// LeaveOut tells [Look] that a reader cannot read the column of l. The argument holds is the reason, such as "holds
// nested values". The values of the column then count as missing. If the column is not read for Look, LeaveOut
// returns false, and the reader must report an error.
func (l *Lexicon) LeaveOut(holds string) bool {
	if l == nil || l.reads != readAny {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leftOut = holds
	return true
}

// Code returns the number that stands for a text in a row. The text must have no surrounding blanks. ok is false if
// the text is not UTF-8. It is also false for a new text if l is full, with 2²⁰ texts or 64 MiB of text.
func (l *Lexicon) Code(text []byte) (code float64, ok bool) {
	if m := l.known.Load(); m != nil {
		if c, ok := (*m)[string(text)]; ok {
			return l.box(c), true
		}
	}
	return l.lookUp(string(text))
}

// CodeOf is [Lexicon.Code] for a string.
func (l *Lexicon) CodeOf(text string) (code float64, ok bool) {
	if m := l.known.Load(); m != nil {
		if c, ok := (*m)[text]; ok {
			return l.box(c), true
		}
	}
	return l.lookUp(text)
}

// box returns the number that stands for a code in a row: the code itself, or for [Look] a NaN that contains the
// code.
func (l *Lexicon) box(code int32) float64 {
	if l.reads == readAny {
		return boxed(boxText, int64(code))
	}
	return float64(code)
}

// Date returns the number that stands for a date in a row. v is the date in units since 1970. If perSecond is
// positive, a unit is 1/perSecond seconds. If perSecond is negative, a unit is −perSecond seconds. In a column that
// must not have dates, the result is +∞, or NaN if l is lenient.
func (l *Lexicon) Date(v, perSecond int64) float64 {
	seconds := v
	if perSecond < 0 && v < maxSeconds && v > -maxSeconds {
		seconds = v * -perSecond
	} else if perSecond > 0 {
		seconds = v / perSecond
		if v%perSecond < 0 {
			seconds--
		}
	}
	switch known := -maxSeconds < seconds && seconds < maxSeconds; {
	case known && l.reads == readDates:
		return float64(seconds)
	case known && l.reads == readAny:
		return boxed(boxDate, seconds)
	case l.lenient:
		return boxed(boxForeign, 0)
	}
	return math.Inf(1)
}

// maxSeconds limits the seconds of a date before or after 1970. It is about a million years.
const maxSeconds = 1 << 45

// Refusal returns the reason why Cell or Code did not accept a text.
func (l *Lexicon) Refusal(text string) string {
	switch {
	case !utf8.ValidString(text):
		return fmt.Sprintf("has a text that is not UTF-8: %q", errtext.Excerpt(text))
	case l.reads == readDates:
		return fmt.Sprintf("has a text that is no date: %q", errtext.Excerpt(text))
	case l.unit != cell.Unit{}:
		return fmt.Sprintf("has numbers with the unit %q, but also %q", l.unit.Before+l.unit.After, errtext.Excerpt(text))
	case !l.IsLevels() && cell.IsLikeNumber([]byte(text)):
		return fmt.Sprintf(
			"has numbers, but also %q, a number that is written differently: change it, name it as missing "+
				"(--missing-marks), or leave the column out (--columns)",
			errtext.Excerpt(text),
		)
	case !l.IsLevels():
		return fmt.Sprintf("has a text that is no number: %q", errtext.Excerpt(text))
	}
	if _, ok := cell.Number([]byte(text)); ok && l.reads == readLabels {
		return fmt.Sprintf(
			"has the label %q: numbers from 2⁵³ on are not exact, so change the labels to text",
			errtext.Excerpt(text),
		)
	}
	if why := cell.Why([]byte(text)); why == cell.NotFinite || why == cell.TooLarge {
		return fmt.Sprintf("has a number that is not finite: %q", errtext.Excerpt(text))
	}
	return TooManyLevels
}

// TooManyLevels is the message about a column with more texts than a lexicon can hold.
const TooManyLevels = "has too many levels to be categorical (2²⁰, or 64 MiB of text): is it a name or a number?"

// lookUp returns the number that stands for a text in a row. If the text is new, lookUp adds it to the texts with a
// code.
func (l *Lexicon) lookUp(text string) (code float64, ok bool) {
	if !utf8.ValidString(text) {
		return 0, false
	}
	if l.reads == readDates {
		if seconds, ok := parseDate([]byte(text)); ok {
			return float64(seconds), true
		}
	}
	if l.reads == readDates || l.reads == readNumbers {
		return boxed(boxForeign, 0), l.lenient
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c, ok := l.codes[text]
	if !ok {
		if l.reads == readAny {
			l.forms.add(text)
		}
		if len(l.texts) >= cmp.Or(l.limit, maxLevels) ||
			l.size+len(text) > cmp.Or(l.byteLimit, maxTextBytes) {
			l.full = true
			if seconds, is := parseDate([]byte(text)); is && l.reads == readAny {
				return boxed(boxDate, seconds), true
			}
			return boxed(boxForeign, 0), l.lenient
		}
		if l.codes == nil {
			l.codes = map[string]int32{}
		}
		c = int32(len(l.texts))
		kept := strings.Clone(text) // text may share memory with a block of a file
		l.texts = append(l.texts, kept)
		l.codes[kept] = c
		l.size += len(text)
	}
	// Copy all codes to the snapshot l.known when more lookups have missed it than there are texts. So the copies
	// cost no more than these lookups.
	l.misses++
	if l.misses > len(l.texts) {
		l.known.Store(copyMap(l.codes))
		l.misses = 0
	}
	return l.box(c), true
}

// Number returns the number that stands for the number v in a row. In a categorical column, this is the code of the
// shortest decimal text of v. ok is false if the column cannot have v.
func (l *Lexicon) Number(v float64) (code float64, ok bool) {
	switch {
	case l.reads == readNumbers || l.reads == readAny:
		return v, true
	case l.reads == readDates:
		return boxed(boxForeign, 0), l.lenient
	}
	if m := l.numbers.Load(); m != nil {
		if c, ok := (*m)[v]; ok {
			return float64(c), true
		}
	}
	code, ok = l.CodeOf(numberText(v))
	if !ok || code != code {
		return code, ok
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.numberCodes == nil {
		l.numberCodes = map[float64]int32{}
	}
	l.numberCodes[v] = int32(code)
	l.numberMisses++
	if l.numberMisses > len(l.numberCodes) {
		l.numbers.Store(copyMap(l.numberCodes))
		l.numberMisses = 0
	}
	return code, true
}

func copyMap[K string | float64](m map[K]int32) *map[K]int32 {
	out := make(map[K]int32, len(m))
	for k, v := range m {
		out[k] = v
	}
	return &out
}

// numberText returns the shortest decimal text; −0 becomes "0".
func numberText(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// textsFrom returns the texts with code n and higher codes, in the order of the codes.
func (l *Lexicon) textsFrom(n int) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.texts[min(n, len(l.texts)):len(l.texts):len(l.texts)]
}

// reasonLeftOut returns the argument of LeaveOut, or "".
func (l *Lexicon) reasonLeftOut() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leftOut
}

package chunk

import (
	"bytes"
	"unicode"
)

// Quotes finds the line ends that are outside of quotes. A quote opens a quoted text only at the start of a field,
// or after blanks there. Any other quote is an ordinary character, as in 5" pipe. In a quoted text, "" stands for a
// quote. If escapes is true, \" stands for a quote, too.
type Quotes struct {
	delimiter byte
	escapes   bool // within quotes, \" is a quote
	odd       bool // the text read so far ends with an odd number of backslashes within quotes
	inside    bool // the text read so far ends within quotes
	closed    bool // the last byte was a quote that ended a text, unless another quote follows
	starts    bool // only blanks were read since the start of the field
}

// NewQuotes returns the Quotes for a text that begins with a field. If the delimiter is ' ', runs of blanks
// separate the fields. The argument escapes is true if \" in a quoted text stands for a quote.
func NewQuotes(delimiter byte, escapes bool) Quotes {
	return Quotes{delimiter: delimiter, escapes: escapes, starts: true}
}

// Inside reports whether the text that was read so far ends within quotes.
func (q *Quotes) Inside() bool { return q.inside }

// Read reads the next part of the text. It returns the position after the last line end in this part that is
// outside of quotes, or 0 if there is none.
func (q *Quotes) Read(text []byte) (end int) {
	for at := 0; at < len(text); {
		i := bytes.IndexByte(text[at:], '"')
		if q.inside {
			if q.escapes && q.isEscaped(text[at:], i) {
				at += i + 1
				continue
			}
			if i < 0 {
				return end
			}
			q.inside = false
			q.closed = true
			q.starts = false
			at += i + 1
			continue
		}
		if q.closed && i == 0 {
			q.inside, q.closed = true, false
			at++
			continue
		}
		q.closed = false
		before := text[at:]
		if i >= 0 {
			before = before[:i]
		}
		if n := len(before); n > 0 && before[n-1] == '\n' { // usual if the first field is quoted
			end = at + n
			q.starts = true
		} else {
			if j := bytes.LastIndexByte(before, '\n'); j >= 0 {
				end = at + j + 1
			}
			q.starts = q.startsAfter(before)
		}
		if i < 0 {
			return end
		}
		q.inside, q.starts = q.starts, false
		at += i + 1
	}
	return end
}

// isEscaped reports whether byte i of the quoted text is escaped: an odd number of backslashes precedes it. If i is
// negative, the quoted text goes on in the next part. Then isEscaped keeps for the next part whether the number of
// backslashes at the end is odd, and returns false.
func (q *Quotes) isEscaped(text []byte, i int) bool {
	before := text
	if i >= 0 {
		before = text[:i]
	}
	n := len(before) - len(bytes.TrimRight(before, `\`))
	isOdd := n%2 == 1
	if n == len(before) {
		isOdd = isOdd != q.odd
	}
	q.odd = i < 0 && isOdd
	return i >= 0 && isOdd
}

// startsAfter reports whether a new field starts directly after text. The text must be outside of quotes.
func (q *Quotes) startsAfter(text []byte) bool {
	if n := len(text); n > 0 && (text[n-1] == q.delimiter || isAlphanumeric(text[n-1])) { // without a call for each rune
		return text[n-1] == q.delimiter
	}
	rest := text
	if q.delimiter != '\t' {
		rest = bytes.TrimRightFunc(
			text,
			func(c rune) bool {
				return c != '\n' && c != rune(q.delimiter) && unicode.IsSpace(c) ||
					c == ' '
			},
		)
	}
	switch n := len(rest); {
	case n < len(text) && q.delimiter == ' ':
		return true
	case n == 0:
		return q.starts
	default:
		return rest[n-1] == q.delimiter || rest[n-1] == '\n'
	}
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' ||
		'a' <= c|0x20 && c|0x20 <= 'z'
}

package csv

import (
	"bytes"
	"slices"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// blanks is the delimiter of files in which runs of blanks and tabs separate the fields.
const blanks = ' '

// sniff detects the delimiter in the lines after the first skip lines. It reads a second line only if necessary,
// because a pipe may be slow. If hasCommas is true, the numbers are written with decimal commas. Then the comma is
// no delimiter if every comma is between two digits.
func sniff(f *rawfile.File, skip int, hasCommas bool) byte {
	candidates := []byte(",;\t|")
	if hasCommas && onlyDecimalCommas(f, skip) {
		candidates = candidates[1:]
	}
	best := candidates[0]
	line, _ := unquotedLines(f, skip, 1)
	if len(line) == 0 {
		return best
	}
	first := withoutHash(line[0])
	var found []byte
	for _, c := range candidates {
		n := bytes.Count(first, []byte{c})
		if n > 0 {
			found = append(found, c)
		}
		if n > bytes.Count(first, []byte{best}) {
			best = c
		}
	}
	fields := countFields(first, blanks)
	if len(found) == 1 && found[0] != '\t' && (found[0] != ',' || fields < 2 || !hasDecimalCommas(first)) ||
		len(found) == 0 && fields < 2 && f.Piped() {
		return best
	}
	lines, _ := unquotedLines(f, skip, sampleLines(f))
	lines[0] = first
	if len(found) == 0 && fields < 2 {
		return ofTable(lines, candidates, best)
	}
	if fields > 1 {
		found = append(found, blanks)
	}
	if len(found) == 1 && found[0] == blanks {
		if isTable(lines[:min(2, len(lines))], blanks) {
			return blanks
		}
		return ofTable(lines, candidates, best)
	}
	// If all commas of the rows are between digits, as in 0,5|x|1,5, they are probably decimal commas. Then another
	// delimiter is preferred.
	rows := lines[min(1, len(lines)-1):]
	hasCommas = slices.ContainsFunc(rows, func(row []byte) bool {
		return bytes.IndexByte(row, ',') >= 0
	})
	isDecimal := hasCommas &&
		!slices.ContainsFunc(rows, func(row []byte) bool {
			return !hasDecimalCommas(row)
		})
	top, whole := -1.0, 0 // score of best, and its fields that blanks do not divide
	for _, c := range found {
		score, n := score(lines, c)
		if c == best && c != blanks && !isDecimal || c != ',' && isDecimal {
			score += 1e-9
		}
		isBetter := score > top
		if c == blanks {
			isBetter = isBetter &&
				(top < asTable && score > asTable || top >= asTable && whole == 0)
		}
		if isBetter {
			top, whole, best = score, n, c
		}
	}
	return best
}

// onlyDecimalCommas reports whether all commas of the first lines are between digits. It examines a few lines after
// the first skip lines; for a pipe, it examines one line.
func onlyDecimalCommas(f *rawfile.File, skip int) bool {
	n := sampleLines(f)
	if f.Piped() {
		n = 1
	}
	lines, _ := unquotedLines(f, skip, n)
	for _, line := range lines {
		if !hasDecimalCommas(line) {
			return false
		}
	}
	return true
}

// sampleLines returns the number of lines that sniff examines.
func sampleLines(f *rawfile.File) int {
	if f.Piped() {
		return 2
	}
	return 20
}

// ofTable handles a file whose first line is a title. It returns the first candidate that divides all lines after
// the first into the same number of fields. If there is none, it returns best.
func ofTable(lines [][]byte, candidates []byte, best byte) byte {
	for _, c := range candidates {
		if len(lines) > 2 &&
			bytes.IndexByte(lines[1], c) >= 0 &&
			isTable(lines[1:], c) {
			return c
		}
	}
	return best
}

// isTable reports whether the delimiter c divides all lines into the same number of fields. The first line may have
// one field less, because R writes no name above the column of row names.
func isTable(lines [][]byte, c byte) bool {
	n := countFields(lines[len(lines)-1], c)
	for i, line := range lines {
		if m := countFields(line, c); m != n && (i > 0 || m != n-1) {
			return false
		}
	}
	return true
}

func countFields(line []byte, c byte) int {
	if c == blanks {
		n := 0
		for i, c := range line {
			if !isBlank(c) && (i == 0 || isBlank(line[i-1])) {
				n++
			}
		}
		return n
	}
	return bytes.Count(line, []byte{c}) + 1
}

func isBlank(c byte) bool {
	return c == ' ' || '\t' <= c && c <= '\r'
}

// hasDecimalCommas reports whether every comma of a line is between two digits.
func hasDecimalCommas(line []byte) bool {
	for i, c := range line {
		if c == ',' &&
			(i == 0 || i == len(line)-1 || !digit(line[i-1]) || !digit(line[i+1])) {
			return false
		}
	}
	return true
}

// asTable is added to the score of a delimiter that divides all lines into the same number of fields.
const asTable = 2

// score rates the delimiter c by the fraction of the fields that are numbers. It adds asTable if c divides all
// lines into the same number of fields. The result whole counts the fields that contain a blank and should not be
// divided there. Such fields are numbers like 8 263.20, and texts like red shoe between tabs.
func score(lines [][]byte, c byte) (score float64, whole int) {
	numbers, all := 0, 0
	for i, line := range lines {
		if i == 0 && len(lines) > 1 {
			continue
		}
		fields := bytes.Fields(line)
		if c != blanks {
			fields = bytes.Split(bytes.TrimRight(line, "\r"), []byte{c})
		}
		for _, s := range fields {
			all++
			s = bytes.TrimSpace(s)
			if cell.Missing(s) ||
				!isText(s) ||
				cell.Evidence(s) != cell.Plain ||
				bytes.Equal(s, []byte("xx")) {
				numbers++
				if bytes.IndexByte(s, ' ') >= 0 {
					whole++
				}
			} else if c == '\t' &&
				bytes.IndexByte(s, ' ') >= 0 &&
				slices.ContainsFunc(bytes.Fields(s), isText) {
				whole++
			}
		}
	}
	score = float64(numbers) / float64(max(all, 1))
	if isTable(lines, c) {
		score += asTable
	}
	return score, whole
}

// unquotedLines returns up to n lines after the first skip lines of a file, without blank lines. Each quote and
// each quoted text is replaced by x. The result more is false if the file has no further line. For a pipe,
// unquotedLines waits until it has n lines.
func unquotedLines(f *rawfile.File, skip, n int) (lines [][]byte, more bool) {
	head := f.Head(func(head []byte) bool {
		lines, more = split(head, skip, n)
		return more
	})
	return split(head, skip, n)
}

// split returns both results of unquotedLines, lines and more, for a file that begins with head. The last line of
// head may be incomplete, because head may be only a part of the file.
func split(head []byte, skip, n int) (lines [][]byte, more bool) {
	for range skip {
		_, head, _ = bytes.Cut(head, []byte{'\n'})
	}
	for len(lines) < n {
		line, rest := unquotedLine(head)
		if rest == nil && len(lines) > 0 && len(line) == 0 {
			return lines, false
		}
		if rest == nil && len(lines) > 0 && len(head) > 1<<12 { // the line may be incomplete
			return lines, false
		}
		if len(line) > 0 {
			lines = append(lines, line)
		}
		if rest == nil {
			return lines, false
		}
		head = rest
	}
	return lines, true
}

// withoutHash returns a header line without the characters "# " at its beginning, which mark a comment.
func withoutHash(line []byte) []byte {
	if rest, ok := bytes.CutPrefix(line, []byte("# ")); ok {
		return rest
	}
	return line
}

// unquotedLine returns the first line of text that is not blank, with quoted texts replaced by x, and the rest of
// text. The rest is nil if the text ends before the line ends.
func unquotedLine(text []byte) (line, rest []byte) {
	text = bytes.TrimLeft(text, " \r\n")
	quoted := false
	for i, c := range text {
		switch {
		case c == '"' && !quoted && i > 0 && isWordByte(text[i-1]): // an ordinary character, as in 5" pipe
			line = append(line, 'x')
		case c == '"' && quoted && text[i-1] == '\\' && i+1 < len(text) && !endsField(text[i+1]): // an escaped quote
		case c == '"':
			quoted = !quoted
			line = append(line, 'x')
		case quoted:
		case c == '\n':
			return line, text[i+1:]
		default:
			line = append(line, c)
		}
	}
	return line, nil
}

// endsField reports whether a character c after a quote shows that the quote ends a field.
func endsField(c byte) bool {
	return bytes.IndexByte([]byte(",;\t|\r\n"), c) >= 0
}

// isWordByte reports whether c is an ASCII letter, a digit, or a byte of a character beyond ASCII.
func isWordByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80
}

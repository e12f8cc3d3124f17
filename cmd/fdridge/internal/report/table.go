package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// textWidth is the maximum width of the text report.
const textWidth = 100

// A table is printed in the text report or on the HTML page. If a table is wider than textWidth, the text report
// prints it in parts, one below the other. Each part repeats the first columns, whose number is keys.
type table struct {
	keys     int
	rows     [][]string // the first row holds the headings
	verbatim bool       // the page shows every cell as it is, without typesetting
}

func (t *table) add(cells ...string) {
	t.rows = append(t.rows, cells)
}

// write writes the table.
func (t *table) write(w io.Writer) {
	const gap = 2
	widths := make([]int, len(t.rows[0]))
	for _, row := range t.rows {
		for j, cell := range row {
			widths[j] = max(widths[j], utf8.RuneCountInString(cell)+gap)
		}
	}
	keys := 0
	for _, n := range widths[:t.keys] {
		keys += n
	}
	for first := t.keys; first < len(widths); {
		end := first + 1
		total := keys + widths[first]
		for end < len(widths) && total+widths[end]-gap <= textWidth {
			total += widths[end]
			end++
		}
		if first > t.keys {
			fmt.Fprintln(w)
		}
		for _, row := range t.rows {
			var line strings.Builder
			for j, cell := range row {
				if j < t.keys || first <= j && j < end {
					fmt.Fprintf(&line, "%-*s", widths[j], cell)
				}
			}
			fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
		}
		first = end
	}
}

// A cell is a cell of a table on the HTML page.
type cell struct {
	Text  string
	Words bool // words are aligned to the left, and numbers are typeset
}

// Cells returns the rows of the table for the HTML page. The first row holds the headings.
func (t *table) Cells() [][]cell {
	var out [][]cell
	for i, row := range t.rows {
		var cells []cell
		for j, text := range row {
			words := slices.Contains(headingsOfWords, t.rows[0][j])
			if !t.verbatim && (!words || i == 0) {
				text = typeset(text)
			}
			cells = append(cells, cell{text, words})
		}
		out = append(out, cells)
	}
	return out
}

// headingsOfWords are the headings of columns that contain words instead of numbers.
var headingsOfWords = []string{
	"target",
	"status",
	"method",
	"coefficient",
	"sign",
	"column",
	"kind",
	"what was done",
	"why",
}

// wrapText breaks a text into lines of at most textWidth characters. It indents every line except the first.
func wrapText(text string) string {
	const indent = "  "
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > textWidth:
			b.WriteString("\n" + indent)
			column = len(indent)
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// shorten returns the name if it has at most n characters. Otherwise it cuts the name to n characters that end with
// "…".
func shorten(name string, n int) string {
	if runes := []rune(name); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return name
}

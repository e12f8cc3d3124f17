package report

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWrapPrepared: the table in the text report has all characters of long cells, in lines of at most 100 characters.
func TestWrapPrepared(t *testing.T) {
	name, why := strings.Repeat("ä", 61), "a reason of many words, which would be cut at the end of a line of the table"
	columns := []columnRecord{
		{Column: "x", Kind: "number", Done: "as it is"},
		{Column: name, Kind: "text", Done: strings.Repeat("level, ", 12), Why: why},
		{Column: "y", Kind: "text", Done: "left out", Why: "short"},
	}
	all, more := wrapPrepared(columns, 2)
	if more != 1 {
		t.Errorf("%d more columns", more)
	}
	var text strings.Builder
	all.write(&text)
	for line := range strings.Lines(text.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > textWidth {
			t.Errorf("a line is too long: %s", line)
		}
	}
	var names, words []string
	for _, row := range all.rows[2:] {
		names = append(names, row[0])
		words = append(words, strings.Fields(row[3])...)
	}
	if strings.Join(names, "") != name || strings.Join(words, " ") != why || strings.Count(text.String(), "level,") != 12 {
		t.Error(text.String())
	}
}

// TestWrapCell: lines end between words, and only a word that is too long is split.
func TestWrapCell(t *testing.T) {
	for text, want := range map[string][]string{
		"":              {""},
		"abc":           {"abc"},
		"abc de":        {"abc", "de"},
		"ab cd":         {"ab cd"},
		"abcdefgh":      {"abcde", "fgh"},
		"a bcdefgh":     {"a", "bcdef", "gh"},
		"abcde fghij k": {"abcde", "fghij", "k"},
	} {
		if got := wrapCell(text, 5); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

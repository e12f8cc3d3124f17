// Package cell converts one cell of a table to a number. The cell is a text, from a CSV file or from a request to a
// service, or it has the binary form of a file format.
package cell

import (
	"bytes"
	"errors"
	"strconv"
)

// Trimmed returns a cell without leading and trailing blanks.
func Trimmed(s []byte) []byte {
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		s = bytes.TrimSpace(s)
	}
	return s
}

// Missing reports whether a cell is empty or is a common mark for a missing value, such as NA. The cell must not
// have blanks at its ends.
func Missing(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	const longest = len("<na>")
	if len(s) > longest ||
		s[0] != '.' && s[0] != '?' && s[0] != '<' && s[0]|0x20 != 'n' {
		return false
	}
	var lower [longest]byte
	for i, c := range s {
		lower[i] = c
		if 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	switch string(lower[:len(s)]) {
	case "nan", "na", "n/a", "<na>", "null", "none", "?", ".":
		return true
	}
	return false
}

// Boolean parses True and False as 1 and 0.
func Boolean(s []byte) (v float64, ok bool) {
	switch string(s) {
	case "True", "TRUE", "true":
		return 1, true
	case "False", "FALSE", "false":
		return 0, true
	}
	return 0, false
}

// Number returns the finite number that a cell contains. True counts as 1 and False as 0. For any other text, ok is
// false.
func Number(s []byte) (v float64, ok bool) {
	if v, ok := Boolean(s); ok {
		return v, true
	}
	v, err := Parse(s)
	return v, err == nil && v-v == 0
}

// A Fault is the reason why a cell does not contain a number.
type Fault int

const (
	NotFinite Fault = iota // infinity, or NaN, which also marks a missing value
	TooLarge               // larger than the largest float64
	Gap                    // a missing value
	NoNumber
)

// Why returns the reason why the function Number rejects a cell.
func Why(s []byte) Fault {
	_, err := Parse(s)
	switch {
	case err == nil:
		return NotFinite
	case errors.Is(err, strconv.ErrRange):
		return TooLarge
	case Missing(s):
		return Gap
	}
	return NoNumber
}

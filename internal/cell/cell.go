// Package cell reads a cell of a table that is written as text: of a csv file, or of a row that a
// service was sent.
package cell

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/fdridge/fdridge/internal/decimal"
)

// Trimmed is a cell without the blanks around it.
func Trimmed(s []byte) []byte {
	if n := len(s); n > 0 && (s[0] <= ' ' || s[n-1] <= ' ') {
		s = bytes.TrimSpace(s)
	}
	return s
}

// Missing recognises an empty cell and the common marks of a missing value, in a text without blanks
// around it.
func Missing(s []byte) bool {
	if len(s) == 0 {
		return true
	}
	const longest = len("<na>")
	if len(s) > longest || s[0] != '.' && s[0] != '?' && s[0] != '<' && s[0]|0x20 != 'n' {
		return false
	}
	var lower [longest]byte
	for i, c := range s {
		if lower[i] = c; 'A' <= c && c <= 'Z' {
			lower[i] = c | 0x20
		}
	}
	switch string(lower[:len(s)]) {
	case "nan", "na", "n/a", "<na>", "null", "none", "?", ".":
		return true
	}
	return false
}

// Boolean reads True and False as 1 and 0.
func Boolean(s []byte) (v float64, ok bool) {
	switch string(s) {
	case "True", "TRUE", "true":
		return 1, true
	case "False", "FALSE", "false":
		return 0, true
	}
	return 0, false
}

// Number reads a finite number, or True or False. ok is false for anything else.
func Number(s []byte) (v float64, ok bool) {
	if v, ok := Boolean(s); ok {
		return v, true
	}
	v, err := decimal.Parse(s)
	return v, err == nil && v-v == 0
}

// A Fault is why a cell is no number.
type Fault int

const (
	NotFinite Fault = iota // it is an infinity or NaN, which is missing, too
	TooLarge               // it exceeds float64
	Gap                    // it is missing
	NoNumber
)

// Why says why Number refuses a cell.
func Why(s []byte) Fault {
	_, err := decimal.Parse(s)
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

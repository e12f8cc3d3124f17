// Package errtext makes the texts of errors and other messages. [BadInput] creates an error about wrong input. The
// other functions make foreign texts ready for messages, such as names, fields of files and errors of other packages.
// They shorten these texts, which can be arbitrarily long. They escape invisible characters, and characters that a
// terminal interprets as commands. [Error] also removes names of Go packages.
package errtext

import (
	"io"
	"strings"
	"unicode"
)

// Text escapes all characters except visible characters and blanks. An escaped character looks like \x1b or \u202e.
func Text(text string) string { return escape(text, unicode.IsGraphic) }

// escape escapes every character of text, except a character c with plain(c) true.
func escape(text string, plain func(rune) bool) string {
	if strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	var out strings.Builder
	for _, r := range text {
		if plain(r) {
			out.WriteRune(r)
			continue
		}
		const hex = "0123456789abcdef"
		out.WriteByte('\\')
		digits := 4
		switch {
		case r < 0x100:
			digits = 2
			out.WriteByte('x')
		case r < 0x10000:
			out.WriteByte('u')
		default:
			digits = 8
			out.WriteByte('U')
		}
		for shift := 4 * (digits - 1); shift >= 0; shift -= 4 {
			out.WriteByte(hex[r>>shift&0xf])
		}
	}
	return out.String()
}

// Writer returns a writer to w that escapes characters as [Text] does, but keeps line ends and tabs. The data of
// each call of Write must not end in the middle of a UTF-8 character.
func Writer(w io.Writer) io.Writer { return writer{w} }

type writer struct{ to io.Writer }

// Write implements [io.Writer].
func (w writer) Write(p []byte) (int, error) {
	_, err := io.WriteString(
		w.to,
		escape(string(p), func(r rune) bool { return r == '\n' || r == '\t' || unicode.IsGraphic(r) }),
	)
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

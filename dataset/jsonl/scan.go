package jsonl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A kind is the kind of a JSON value.
type kind uint8

const (
	aNumber  kind = iota
	aText         // in quotes
	aLiteral      // true, false, null, NaN or Infinity
	nested        // an array or an object
)

// A scanner reads the pairs of the JSON object on one line, which must end with a line end.
type scanner struct {
	text []byte
	at   int // next byte to read

	keyAt int    // position of the key
	key   []byte // decoded key
	// valueAt is the position of the current value. value is its text without quotes and escapes, or empty for
	// null.
	valueAt int
	value   []byte
	kind    kind

	endAt int                 // position of the brace at the end
	begun bool                // a pair was read
	bad   *dataset.InputError // the first error, without file and line
}

// begin reads the opening brace of the object. It returns an error if the line begins with anything else.
func (s *scanner) begin() *dataset.InputError {
	s.begun, s.bad = false, nil
	s.skipBlanks()
	switch c := s.text[s.at]; {
	case c == '[':
		return s.hint(
			s.errorAt(s.at, "the line is a JSON array, not an object with the names of the columns"),
			"write objects, for instance by jq -c '{a: .[0], b: .[1]}'",
		)
	case c != '{':
		return s.errorAt(s.at, "the line is not a JSON object: %s", s.excerpt(s.at))
	}
	s.at++
	return nil
}

// next reads the next key and its value. It returns false at the end of the line, and after an error, which sets
// s.bad.
func (s *scanner) next() bool {
	return s.nextKey() && s.nextValue()
}

// nextKey reads the next key and the colon after it.
func (s *scanner) nextKey() bool {
	return s.toKey() && s.readKey()
}

// keyIs reports whether the key at s.keyAt is name. If so, it moves behind the key. name must contain no character
// that JSON escapes.
func (s *scanner) keyIs(name string) bool {
	rest := s.text[s.keyAt+1:]
	if len(rest) <= len(name) ||
		rest[len(name)] != '"' ||
		string(rest[:len(name)]) != name {
		return false
	}
	s.at = s.keyAt + len(name) + 2
	return true
}

// readKey reads the key at s.keyAt and the colon after it. After an error it sets s.bad and returns false.
func (s *scanner) readKey() bool {
	end, escaped := textEnd(s.text, s.keyAt)
	if end == 0 {
		return s.failText(s.keyAt)
	}
	var ok bool
	s.key, ok = decode(s.text[s.keyAt:end], escaped)
	if !ok {
		return s.fail(s.keyAt, "the key is no valid JSON text: %s", s.excerpt(s.keyAt))
	}
	if !utf8.Valid(s.key) {
		return s.fail(s.keyAt, "the key is not UTF-8: %s", s.excerpt(s.keyAt))
	}
	s.at = end
	return s.colon()
}

// toKey moves to the next key. It returns false at the end of the object, and after an error, which sets s.bad.
func (s *scanner) toKey() bool {
	s.skipBlanks()
	c := s.text[s.at]
	if c == '}' {
		s.endAt = s.at
		s.at++
		return s.end()
	}
	if s.begun {
		if c != ',' {
			return s.expected(`"," or "}"`)
		}
		s.at++
		s.skipBlanks()
		c = s.text[s.at]
	}
	s.begun = true
	s.keyAt = s.at
	if c != '"' {
		return s.expected("a key in double quotes")
	}
	return true
}

// colon reads the colon after a key, and moves to the value.
func (s *scanner) colon() bool {
	s.skipBlanks()
	if s.text[s.at] != ':' {
		return s.expected(`":"`)
	}
	s.at++
	s.skipBlanks()
	return true
}

// end reads the line end after the object. It always returns false, because no pair follows.
func (s *scanner) end() bool {
	s.skipBlanks()
	switch c := s.text[s.at]; {
	case c == '\n':
		s.at++
	case c == '{':
		s.fail(s.at, "another object follows on the line")
		s.hint(s.bad, oneObject)
	default:
		s.fail(s.at, "text follows the object: %s", s.excerpt(s.at))
	}
	return false
}

// nextValue reads a value.
func (s *scanner) nextValue() bool {
	s.valueAt = s.at
	switch c := s.text[s.at]; {
	case c == '"':
		end, escaped := textEnd(s.text, s.at)
		if end == 0 {
			return s.failText(s.at)
		}
		s.kind = aText
		var ok bool
		s.value, ok = decode(s.text[s.at:end], escaped)
		if !ok {
			return s.fail(s.at, "not a valid JSON text: %s", s.excerpt(s.at))
		}
		s.at = end
		return true
	case c == '{' || c == '[':
		end := nestedEnd(s.text, s.at)
		if end == 0 {
			return s.expected("the end of the value")
		}
		s.kind = nested
		s.value = s.text[s.at:end]
		if !json.Valid(s.value) {
			return s.fail(s.at, "not a valid JSON value: %s", s.excerpt(s.at))
		}
		s.at = end
		return true
	case c == '\n':
		return s.expected("a value")
	}
	end := s.at
	for !endsValue(s.text[end]) {
		end++
	}
	s.value = s.text[s.at:end]
	s.kind = aNumber
	switch string(s.value) {
	case "null":
		s.kind = aLiteral
		s.value = s.value[:0]
	case "true", "false", "NaN", "Infinity", "-Infinity":
		s.kind = aLiteral
	default:
		if !isJSONNumber(s.value) {
			return s.fail(s.at, "not a JSON value: %s", s.excerpt(s.at))
		}
	}
	s.at = end
	return true
}

// endsValue reports whether c can follow a number, or a word such as true.
func endsValue(c byte) bool {
	return c == ',' ||
		c == '}' ||
		c == ']' ||
		isBlank(c) ||
		c == '\n'
}

func isBlank(c byte) bool {
	return c == ' ' || c == '\t' || c == '\r'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isJSONNumber reports whether s is a number in the notation of JSON.
func isJSONNumber(s []byte) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if len(s) > 0 && s[0] == '-' {
		s = s[1:]
	}
	if len(s) > 1 && s[0] == '0' && isDigit(s[1]) || !digits() {
		return false
	}
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if len(s) > 0 && s[0]|0x20 == 'e' {
		s = s[1:]
		if len(s) > 0 && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return len(s) == 0
}

// textEnd returns the position after the text in quotes that begins at byte p. escaped tells whether the text has
// escapes. If the text does not end on its line, or has a control character, end is 0.
func textEnd(text []byte, p int) (end int, escaped bool) {
	for p++; ; p++ {
		switch c := text[p]; {
		case c == '"':
			return p + 1, escaped
		case c < ' ':
			return 0, escaped
		case c == '\\':
			escaped = true
			p++
			if text[p] < ' ' {
				return 0, escaped
			}
		}
	}
}

// decode returns the contents of a text in quotes. escaped tells whether it has escapes. ok is false if one is
// invalid.
func decode(quoted []byte, escaped bool) (text []byte, ok bool) {
	inside := quoted[1 : len(quoted)-1]
	if !escaped {
		return inside, true
	}
	if !utf8.Valid(inside) { // encoding/json would replace the invalid bytes
		return inside, json.Valid(quoted)
	}
	var out string
	if json.Unmarshal(quoted, &out) != nil {
		return nil, false
	}
	return []byte(out), true
}

// nestedEnd returns the position after the array or object that begins at byte p. It returns 0 if the array or
// object does not end on its line.
func nestedEnd(text []byte, p int) int {
	depth := 0
	for {
		switch text[p] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return p + 1
			}
		case '"':
			end, _ := textEnd(text, p)
			if end == 0 {
				return 0
			}
			p = end - 1
		case '\n':
			return 0
		}
		p++
	}
}

func (s *scanner) skipBlanks() {
	for isBlank(s.text[s.at]) {
		s.at++
	}
}

func (s *scanner) errorAt(at int, format string, args ...any) *dataset.InputError {
	from := bytes.LastIndexByte(s.text[:at], '\n') + 1
	return &dataset.InputError{Column: at - from + 1, Msg: fmt.Sprintf(format, args...)}
}

func (s *scanner) hint(err *dataset.InputError, hint string) *dataset.InputError {
	err.Hint = hint
	return err
}

// fail sets s.bad and returns false.
func (s *scanner) fail(at int, format string, args ...any) bool {
	s.bad = s.errorAt(at, format, args...)
	return false
}

// failText sets s.bad to the error of the text in quotes that begins at byte p, and returns false. The text does
// not end on its line or has a control character.
func (s *scanner) failText(p int) bool {
	for at := p + 1; ; at++ {
		switch c := s.text[at]; {
		case c == '\n':
			return s.fail(p, "the text does not end on its line")
		case c < ' ':
			return s.fail(at, "a text has the control character %q, which JSON writes as \\u%04x", c, c)
		}
	}
}

// oneObject is the hint in errors about lines that are not one JSON object.
const oneObject = "a line must hold one object, as jq -c . FILE writes it"

// expected sets the error for the byte at s.at.
func (s *scanner) expected(what string) bool {
	if s.text[s.at] == '\n' {
		s.fail(s.at, "the object does not end on its line")
		s.hint(s.bad, oneObject)
		return false
	}
	return s.fail(s.at, "%s is missing before %s", what, s.excerpt(s.at))
}

// twice returns the error for a key that occurs a second time in the line, at s.keyAt.
func (s *scanner) twice() *dataset.InputError {
	return s.errorAt(s.keyAt, "the key %s occurs twice in the line", s.excerpt(s.keyAt))
}

// excerpt returns, in quotes and shortened, the text of the line from byte p to the end of the value there.
func (s *scanner) excerpt(p int) string {
	rest := s.text[p:]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	if len(rest) > 0 && rest[0] == '"' {
		if end, _ := textEnd(s.text, p); end > 0 {
			return errtext.Excerpt(s.text[p:end])
		}
	}
	for i, c := range rest {
		if i > 0 && endsValue(c) {
			rest = rest[:i]
			break
		}
	}
	return strconv.Quote(errtext.Excerpt(rest))
}

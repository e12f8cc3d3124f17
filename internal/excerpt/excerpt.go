// Package excerpt cuts what messages quote of input, where a field or a name can be of
// any length.
package excerpt

import "unicode/utf8"

// most is the most bytes that are quoted, and mostMessage the most of the message of
// another package, which may quote too.
const (
	most        = 80
	mostMessage = 4096
)

// Of is a text of the input as messages quote it: whole, or its beginning and "…".
func Of[T ~string | ~[]byte](text T) string { return cut(text, most) }

// All is Of for each of a list.
func All(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Of(t)
	}
	return out
}

// Message is a message as it is passed on.
func Message(text string) string { return cut(text, mostMessage) }

func cut[T ~string | ~[]byte](text T, n int) string {
	if len(text) <= n {
		return string(text)
	}
	for n > most/2 && !utf8.RuneStart(text[n]) { // not within a character, unless the text is no UTF-8
		n--
	}
	return string(text[:n]) + "…"
}

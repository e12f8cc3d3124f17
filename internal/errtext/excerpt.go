package errtext

import (
	"strings"
	"unicode/utf8"
)

// most is the largest number of bytes that a message quotes from the user's data. mostMessage is the largest length
// of a message from another package. It is larger because such a message may itself quote data.
const (
	most        = 80
	mostMessage = 4096
)

// Excerpt returns text if it has at most 80 bytes. Otherwise it returns the beginning of text and "…".
func Excerpt[T ~string | ~[]byte](text T) string { return cut(text, most) }

// Excerpts applies Excerpt to each text.
func Excerpts(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Excerpt(t)
	}
	return out
}

// List joins the first n names by commas, and shortens each by [Excerpt]. If there are more names, it appends "…".
func List(names []string, n int) string {
	list := strings.Join(Excerpts(names[:min(len(names), n)]), ", ")
	if len(names) > n {
		list += ", …"
	}
	return list
}

// Message shortens a message of another package to at most mostMessage bytes and "…".
func Message(text string) string { return cut(text, mostMessage) }

func cut[T ~string | ~[]byte](text T, n int) string {
	if len(text) <= n {
		return string(text)
	}
	for n > most/2 && !utf8.RuneStart(text[n]) { // do not cut a character in two, if the text is UTF-8
		n--
	}
	return string(text[:n]) + "…"
}

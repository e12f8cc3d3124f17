package printable

import (
	"strings"
	"unicode/utf8"
)

// most is the largest number of bytes that a message quotes. mostMessage is the largest length of a message from
// another package, which may itself quote input.
const (
	most        = 80
	mostMessage = 4096
)

// Excerpt returns text if it is short, otherwise its beginning and "…".
func Excerpt[T ~string | ~[]byte](text T) string { return cut(text, most) }

// Excerpts applies Excerpt to each text.
func Excerpts(texts []string) []string {
	out := make([]string, len(texts))
	for i, t := range texts {
		out[i] = Excerpt(t)
	}
	return out
}

// List joins the first n names with commas, each shortened by Excerpt. It appends "…" if there are more names.
func List(names []string, n int) string {
	list := strings.Join(Excerpts(names[:min(len(names), n)]), ", ")
	if len(names) > n {
		list += ", …"
	}
	return list
}

// Message shortens a message of another package to mostMessage bytes.
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

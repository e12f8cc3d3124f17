package chunk

import "testing"

// TestEscapedQuotes checks the last line end outside of quotes if \" is a quote, for a text in one part and in two.
func TestEscapedQuotes(t *testing.T) {
	for text, want := range map[string]int{
		"1,\"a\\\",\nb":              0,
		"1,\"a\\\",\nb\"\n2":         11,
		"1,\"a\\\\\",2\n\"b\n":       10,
		"1,\"a\\\\\\\",\n":           0,
		"1,a\\\"b\n\"c\n":            7,
		"1,\"a\"\",\nb":              0,
		"\"a\\\",\",1\n\"x\\\"\ny\n": 9,
	} {
		for k := range len(text) + 1 {
			q := NewQuotes(',', true)
			end := q.Read([]byte(text[:k]))
			if n := q.Read([]byte(text[k:])); n > 0 {
				end = k + n
			}
			if end != want {
				t.Errorf("%q, divided at %d: %d, want %d", text, k, end, want)
			}
		}
	}
}

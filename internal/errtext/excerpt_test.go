package errtext

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestExcerpt: what is short is whole; what is long is cut between characters.
func TestExcerpt(t *testing.T) {
	for _, n := range []int{0, 1, most - 1, most} {
		if text := strings.Repeat("x", n); Excerpt(text) != text || Excerpt([]byte(text)) != text {
			t.Errorf("%d bytes: %q", n, Excerpt(text))
		}
	}
	long := strings.Repeat("x", most+1)
	want := long[:most] + "…"
	if Excerpt(long) != want || !slices.Equal(Excerpts([]string{"a", long}), []string{"a", want}) {
		t.Errorf("%q", Excerpt(long))
	}
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("𝛾", most)
		if got := Excerpt(text); !utf8.ValidString(got) || len(got) > most+len("…") || len(got) < most-4 {
			t.Errorf("%d: %q", shift, got)
		}
	}
	if got := Excerpt(strings.Repeat("\x80", 2*most)); len(got) != most/2+len("…") {
		t.Errorf("no UTF-8: %d bytes", len(got))
	}
	if got := Message(strings.Repeat("x", 2*mostMessage)); len(got) != mostMessage+len("…") {
		t.Errorf("%d bytes", len(got))
	}
}

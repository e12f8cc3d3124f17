package errtext

import (
	"fmt"
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "",
		"größe, 𝛾\u00a0²":     "größe, 𝛾\u00a0²",
		"\x1b]0;x\x07":        `\x1b]0;x\x07`,
		"a\u202eb\u009bc":     `a\u202eb\x9bc`,
		"tag \U000e0041":      `tag \U000e0041`,
		"two\nlines\ttab\x00": `two\x0alines\x09tab\x00`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		var out strings.Builder
		if n, err := fmt.Fprint(Writer(&out), text); n != len(text) || err != nil {
			t.Errorf("%q: %d, %v", text, n, err)
		}
		if want := strings.NewReplacer(`\x0a`, "\n", `\x09`, "\t").Replace(want); out.String() != want {
			t.Errorf("%q is written as %q, want %q", text, out.String(), want)
		}
	}
}

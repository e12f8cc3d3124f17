package wire_test

import (
	"os"
	"strings"
	"testing"
)

// TestPage: docs/format.md has the byte tables of the comments, as they stand there.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/format.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"wire.go": 1, "../../fd/codec.go": 4, "../../ridge/codec.go": 2, "../../ridge/window/encode.go": 1, "../../ridge/window/fadingcodec.go": 1} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tables, lines := 0, []string(nil)
		for line := range strings.Lines(string(text)) {
			if row, ok := strings.CutPrefix(line, "//\t"); ok {
				lines = append(lines, row)
				continue
			}
			if len(lines) > 0 {
				tables++
				if !strings.Contains(string(page), "```\n"+strings.Join(lines, "")+"```\n") {
					t.Errorf("%s: the page has no table\n%s", name, strings.Join(lines, ""))
				}
				lines = nil
			}
		}
		if tables != want {
			t.Errorf("%s has %d tables, not %d", name, tables, want)
		}
	}
}

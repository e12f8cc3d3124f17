package csv

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// texts returns the cells of a column of texts.
func textsOf(t *testing.T, text string, opts Options, column string) (out []string, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for s, err := range Texts(path, opts, column) {
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// TestEscapes checks when \" is a quote, and the texts that are read.
func TestEscapes(t *testing.T) {
	const escape, double = '\\', '"'
	for _, c := range []struct {
		text   string
		escape byte
		want   string // the second column, joined by |
	}{
		// only \" as a quote makes the records valid
		{"n,s\n1,\"say \\\"hi\\\"\"\n", 0, `say "hi"`},
		{"n,s\n1,\"5\\\" pipe\"\n2,x\n", 0, `5" pipe|x`},
		{"n,s\n1,\"a\\\", \\\"b\"\n2,x\n", 0, `a", "b|x`},
		{"n,s\n1,\"\\\"\"\n2,\"\\\"\\\"\"\n", 0, `"|""`},
		{"n,s\n1,\"C:\\\\\"\n2,\"\\\"x\\\"\"\n", 0, `C:\\|"x"`},
		{"n,s\n1,\"two\nlines \\\"x\\\"\n\"\n2,y\n", 0, "two\nlines \"x\"|y"},
		{"n,s\n1,\"a\"\"b\"\n2,\"a\\\"b\"\n", 0, `a"b|a"b`},
		{"n,\"s \\\"x\\\"\"\n1,a\n", 0, "a"},
		// the records are valid without
		{"n,s\n1,\"C:\\\"\n2,\"D:\\\"\n", 0, `C:\|D:\`},
		{"n,s\n1,C:\\\"x\\\"\n", 0, `C:\"x\"`},
		{"n,s\n1,\"C:\\\"\n2,\"say \\\"hi\\\"\"\n", 0, ""},
		{"n,s\n1,\"C:\\\"\n2,\"say \"hi\"\"\n", 0, ""},
		// set by the user
		{"n,s\n1,\"C:\\\"\"\n", escape, `C:"`},
		{"n,s\n1,\"say \\\"hi\\\"\"\n", double, ""},
		{"n,s\n1,\"C:\\\"\n", escape, ""},
	} {
		got, err := textsOf(t, c.text, Options{Text: prepare.Text{Escape: c.escape}}, "2")
		if s := strings.Join(got, "|"); s != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%q, %q: %q, %v, want %q", c.text, c.escape, s, err, c.want)
		}
	}
}

// TestEscapedChunks: in a file of many chunks, texts with \" have the values of texts with doubled quotes. So do parts
// of the file.
func TestEscapedChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 45))
	var escaped, doubled strings.Builder
	header := "n,s\n"
	escaped.WriteString(header)
	doubled.WriteString(header)
	pieces := []string{`"`, `"`, `\`, `,`, "\n", ` `, `x`, `, "`, `"y`}
	const rows = 60000
	want := make([]string, rows)
	for i := range want {
		for range r.IntN(6) {
			want[i] += pieces[r.IntN(len(pieces))]
		}
		for strings.Contains(want[i], `\"`) { // a backslash before a quote would be read as an escape
			want[i] = strings.ReplaceAll(want[i], `\"`, `"`)
		}
		want[i] = strings.TrimRight(want[i], `\ `)
		if !strings.HasSuffix(want[i], `",`) { // the end ,"\n looks like the start of a field
			want[i] += "z"
		}
		fmt.Fprintf(&escaped, "%d,\"%s\"\n", i, strings.ReplaceAll(want[i], `"`, `\"`))
		fmt.Fprintf(&doubled, "%d,\"%s\"\n", i, strings.ReplaceAll(want[i], `"`, `""`))
	}
	for name, text := range map[string]string{"escaped": escaped.String(), "doubled": doubled.String()} {
		got, err := textsOf(t, text, Options{}, "s")
		for i := range want {
			want[i] = strings.TrimSpace(want[i])
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %d texts, %v", name, len(got), err)
		}
		path := filepath.Join(t.TempDir(), "f.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cells := &prepare.Cells{OneHot: []string{"s"}}
		s, err := Open(path, Options{Targets: []string{"n"}, Cells: cells})
		if err != nil {
			t.Fatal(err)
		}
		i := 0
		for b, err := range s.Blocks(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for k := range b.N {
				if b.Y[k] != float64(i) || !hasCode(cells.Lexicons[0], want[i], b.X[k]) {
					t.Fatalf("%s: row %d has the number %v", name, i, b.Y[k])
				}
				i++
			}
		}
		if i != rows {
			t.Errorf("%s: %d rows", name, i)
		}
		if n, err := Count(path, Options{Range: dataset.Range{}}); n != rows || err != nil {
			t.Errorf("%s: count %d, %v", name, n, err)
		}
	}
}

func hasCode(l *prepare.Lexicon, text string, code float64) bool {
	of, ok := l.CodeOf(text)
	return ok && of == code
}

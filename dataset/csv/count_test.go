package csv_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
)

// TestCount checks that Count returns the number of rows that a pass over the same range yields, for files with quotes,
// blank lines and comments.
func TestCount(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		lines := []string{"1,2\n", "3,\"4\"\n", "\n", "  \r\n", "\"5\",6\r\n", "% 7,8\n", "\"9\n\",1\n"}
		if rng.IntN(2) == 0 {
			lines = []string{"1\n", "\"4\"\n", "\n", "  \r\n", "6\r\n", "% 7\n", "\"9\n\"\n"}
		}
		text := strings.Repeat(lines[0], 1+rng.IntN(3))
		for range rng.IntN(40) {
			text += lines[rng.IntN(len(lines))]
		}
		if rng.IntN(3) == 0 {
			text = strings.TrimSuffix(text, "\n")
		}
		path := filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := csv.Options{Delimiter: ',', Header: csv.Absent, Skipped: csv.Skipped{Comment: '%'}}
		if rng.IntN(2) == 0 && !strings.Contains(text, "\"9") {
			lo := rng.Int64N(int64(len(text)))
			opts.Range = dataset.Range{Lo: lo, Hi: lo + 1 + rng.Int64N(int64(len(text))-lo)}
		}
		s, err := csv.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		var want int64
		for b, err := range s.Blocks(t.Context()) {
			if err != nil {
				want = -1
				break
			}
			want += int64(b.N)
		}
		if got, err := csv.Count(path, opts); err != nil || want >= 0 && got != want {
			t.Fatalf("%q, %v: %d rows, %v, want %d", text, opts.Range, got, err, want)
		}
	}
}

// TestGuessHeader checks what the first record of a file tells about a header.
func TestGuessHeader(t *testing.T) {
	for text, want := range map[string]csv.Guess{
		"a,b\n1,2\n":         {Header: true, Evidence: csv.Certain, First: "a, b"},
		"a,b\nu,2\nv,3\n":    {Header: true, Evidence: csv.Certain, First: "a, b"},
		"a,b\nu,x\nv,y\n":    {Header: true, Evidence: csv.Undecided, First: "a, b"},
		"z\na\nb\n":          {Header: true, Evidence: csv.Undecided, First: "z"},
		"a\nb\na\n":          {Evidence: csv.Likely, First: "a"},
		"NA\n2\n3\n":         {Header: true, Evidence: csv.Undecided, First: "NA"},
		"?\n2\n3\n":          {Evidence: csv.Undecided, First: "?"},
		"0\n1.5\n2.5\n":      {Evidence: csv.Likely, First: "0"},
		"z\n":                {Header: true, Evidence: csv.Undecided, First: "z"},
		"\"0\",\"1\"\n5,6\n": {Header: true, Evidence: csv.Likely, First: "0, 1"},
	} {
		path := filepath.Join(t.TempDir(), "data.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, header := range []csv.Header{csv.Auto, csv.Present, csv.Absent} {
			if got, err := csv.GuessHeader(path, csv.Options{Header: header}); err != nil || got != want {
				t.Errorf("%q: %s, %v, want %s", text, fmt.Sprint(got), err, fmt.Sprint(want))
			}
		}
	}
}

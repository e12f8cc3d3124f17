package csv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestOrdinaryQuotes: a quote within a field is an ordinary character, as readr, SQLite and write.table(quote = FALSE)
// write it. This holds even if a later field has a line end in quotes. A quote at the start of a field begins a quoted
// text.
func TestOrdinaryQuotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	row := "1,5\" pipe,2\n\"3\",\"a\nb\",4\n5,so \"x\",6\n7,a\"\"b,8\r\n"
	const times = 20000 // of many chunks
	if err := os.WriteFile(path, []byte("a,s,y\n"+strings.Repeat(row, times)), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{Targets: []string{"y"}, Cells: &prepare.Cells{OneHot: []string{"s"}}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for b, err := range s.Blocks(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			k := float64(n % 4)
			if b.X[2*i] != 1+2*k || b.Y[i] != 2+2*k {
				t.Fatalf("row %d: %v, %v", n, b.X[2*i:2*i+2], b.Y[i])
			}
			n++
		}
	}
	if n != 4*times {
		t.Errorf("%d rows, want %d", n, 4*times)
	}
	for text, want := range map[string]string{
		"1,\"a\"x,2\n": ":1:5: extraneous or missing \" in quoted-field",
		`1,"so \"x"y",2`: `:1:8: extraneous or missing " in quoted-field; ` +
			`if \" stands for a quote within a text, as Spark and R write it, use --escape '\'`,
		"1,\"a\",so \"x\"\n":   ":1:10: bare \" in non-quoted-field",
		"1\t \"a\"\n":          "",
		"1;so \"x\";2\n":       "",
		"1,\"a\n5\" x\n\",2\n": ":2:2: extraneous or missing \" in quoted-field",
		"1,\"a\" ,2\n":         ":1:5: extraneous or missing \" in quoted-field; remove blanks after a closing quote",
		"1,2\n3,\" \n-2.5":     ":3:5: extraneous or missing \" in quoted-field",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := pass(t, path, Options{Header: Absent, Columns: []string{"first"}})
		if want == "" && err != nil || want != "" && (err == nil || fmt.Sprint(err) != path+want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestEmptyFieldByBlanks: the position of an empty field is in its line.
func TestEmptyFieldByBlanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("1\n\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + ":2:1: column 1 is empty; fill in what is missing, or leave the column out"
	if err := pass(t, path, Options{Delimiter: ' ', Header: Absent}); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

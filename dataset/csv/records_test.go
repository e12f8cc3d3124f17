package csv

import (
	"bytes"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// all reads the records of a text, fields without the blanks around them, with the
// line and column of each record's last field.
func all(t interface{ Fatal(...any) }, path string, delimiter byte) (out [][]string, places [][2]int, err error) {
	f, err := rawfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := newRecords(f, &layout{delimiter: delimiter})
	for {
		if err := r.next(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return out, places, err
		}
		var record []string
		for _, field := range r.fields {
			record = append(record, strings.TrimSpace(string(field)))
		}
		line, column := r.position(len(r.fields) - 1)
		out, places = append(out, record), append(places, [2]int{line, column})
	}
}

// reference reads the same by other means: a line without a field that begins with a quote is split at the delimiters,
// and encoding/csv reads any other record.
func reference(text string, delimiter byte) (out [][]string, places [][2]int, err error) {
	for done := 0; done < len(text); {
		rest := text[done:]
		before := strings.Count(text[:done], "\n")
		first, _, _ := strings.Cut(rest, "\n")
		fields, quoted := strings.Split(strings.TrimSuffix(first, "\r"), string(delimiter)), false
		for _, s := range fields {
			if delimiter != '\t' {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			quoted = quoted || strings.HasPrefix(s, `"`)
		}
		var line, column int
		if quoted {
			r := csv.NewReader(strings.NewReader(rest))
			r.Comma, r.FieldsPerRecord, r.TrimLeadingSpace = rune(delimiter), -1, delimiter != '\t'
			fields, err = r.Read()
			if err != nil {
				return out, places, err
			}
			line, column = r.FieldPos(len(fields) - 1)
			done += int(r.InputOffset())
		} else {
			last := fields[len(fields)-1]
			line, column = 1, len(strings.TrimSuffix(first, "\r"))-len(last)+1
			done += min(len(first)+1, len(rest))
			if len(fields) == 1 && strings.TrimSpace(last) == "" {
				continue
			}
			if delimiter != '\t' { // encoding/csv places a field after its blanks
				column += len(last) - len(strings.TrimLeftFunc(last, unicode.IsSpace))
			}
		}
		for i, s := range fields {
			fields[i] = strings.TrimSpace(s)
		}
		out, places = append(out, fields), append(places, [2]int{before + line, column})
	}
	return out, places, nil
}

// TestRecords holds records to the reference: fields, places and whether there is an error, on texts of what makes
// trouble.
func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	rapid.Check(t, func(t *rapid.T) {
		delimiter := rapid.SampledFrom([]byte(",;\t")).Draw(t, "delimiter")
		between := string(delimiter)
		of := []string{"1", "-2.5", "x", `"`, `""`, "\n", "\r\n", between, between, `"a"`, "\"3\n4\""}
		pieces := rapid.SliceOf(rapid.SampledFrom(of)).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, at, err := all(t, path, delimiter)
		want, wantAt, wantErr := reference(text, delimiter)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%q: %v, encoding/csv has %v", text, err, wantErr)
		}
		if !slices.EqualFunc(got, want, slices.Equal) || !slices.Equal(at, wantAt) {
			t.Fatalf("%q: %q at %v, encoding/csv has %q at %v", text, got, at, want, wantAt)
		}
	})
}

// TestBlanks: any number of blanks are one delimiter, also beside quotes and at
// the ends of lines.
func TestBlanks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte("  1   2 3  \n\"4\"  5 \"6\"  \n\n   \n7 8 9\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, at, err := all(t, path, ' ')
	if want := [][]string{{"1", "2", "3"}, {"4", "5", "6"}, {"7", "8", "9"}}; err != nil ||
		!slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%q, %v", got, err)
	}
	if want := [][2]int{{1, 9}, {2, 8}, {5, 5}}; !slices.Equal(at, want) {
		t.Errorf("%v, want %v", at, want)
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]byte{
		"1,2;3,4\n":             ';',
		"1;2,5;3\n":             ';',
		"a\tb\n":                '\t',
		"1 2 3\n4 5 6\n":        ' ',
		"x  y z\n1 2   3\n":     ' ',
		"1 2":                   ' ',
		"\n\n 1 2\n\n3 4\n":     ' ',
		"one column\n1\n2\n":    ',',
		"1\n2\n":                ',',
		"\"a b\" c\n1 2\n":      ' ',
		"\"a,b,c\";\"d,e\"\n":   ';',
		"at 12:30, then\n1,2\n": ',',
		"":                      ',',
	} {
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := rawfile.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := sniff(f, 0, false); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		f.Close()
	}
}

// FuzzRecords: no text makes records panic or read on for ever.
func FuzzRecords(f *testing.F) {
	f.Add([]byte("a,\"b\n,\"\"c\"\n1,2"), byte(','))
	f.Add([]byte("1 2  \"3 \n"), byte(' '))
	f.Fuzz(func(t *testing.T, text []byte, delimiter byte) {
		if delimiter == '"' || delimiter == '\n' || delimiter == '\r' || delimiter == 0 || delimiter > '~' {
			t.Skip("no delimiter that Open lets through")
		}
		path := filepath.Join(t.TempDir(), "data")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) || bytes.HasPrefix(text, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
			t.Skip("a compressed file, which is another reader's")
		}
		if got, _, _ := all(t, path, delimiter); len(got) > bytes.Count(text, []byte("\n"))+1 {
			t.Errorf("%d records", len(got))
		}
	})
}

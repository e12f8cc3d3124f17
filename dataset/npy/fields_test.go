package npy_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/npy"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestFields compares the fields of structured arrays that NumPy wrote with a plain array of the same numbers.
func TestFields(t *testing.T) {
	want := dense(t, "fields.npy")
	for _, name := range []string{"records.npy", "records-aligned.npy"} {
		path := filepath.Join("testdata", name)
		names, err := npy.Columns(path, npy.Options{})
		all := []string{"a", "name", "b c", "v[1]", "v[2]", "v[3]", "when", "flag", "big"}
		if err != nil || !slices.Equal(names, all) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
		opts := npy.Options{Columns: []string{"-name", "-when"}}
		src, err := npy.Open(path, opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, blockRows := range []int{0, 3} {
			src.BlockRows = blockRows
			for from := range int64(len(want)) {
				if got, err := table(t, src, from); err != nil || !equal(got, want[from:]) {
					t.Errorf("%s from row %d: %v\n%v\nwant %v", name, from, err, got, want[from:])
				}
			}
		}
		features, targets, err := npy.Names(path, npy.Options{Columns: []string{"v[2]", "a"}, Targets: []string{"big"}})
		if err != nil || !slices.Equal(features, []string{"v[2]", "a"}) || !slices.Equal(targets, []string{"big"}) {
			t.Error(features, targets, err)
		}
	}
}

// TestFieldsRefused: fields of texts and times are named, and can be left out. Look leaves them out.
func TestFieldsRefused(t *testing.T) {
	path := filepath.Join("testdata", "records.npy")
	_, err := npy.Open(path, npy.Options{})
	want := path + ": column name holds text; 2 columns are not numeric: name, when; " +
		"encode it as numbers, or leave it out"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	cells := &prepare.Cells{Look: true}
	src, err := npy.Open(path, npy.Options{Cells: cells})
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := prepare.Look(
		t.Context(),
		src,
		prepare.LookOptions{
			LearnOptions: prepare.LearnOptions{Cells: cells},
			Names:        []string{"a", "name", "b c", "v1", "v2", "v3", "when", "flag", "big"},
			Rules:        prepare.Rules{Auto: true},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range e.Columns {
		want := map[string]string{"name": "holds text", "when": "holds times"}[c.Name]
		if want != "" && (c.Use != prepare.UseOmit || c.Why != want) {
			t.Errorf("%s: %v, %q", c.Name, c.Use, c.Why)
		}
	}
}

// TestFieldLists: lists of fields that NumPy does not write, or that hold no numbers.
func TestFieldLists(t *testing.T) {
	for list, want := range map[string]string{
		`[('a', '<f8')]`:                        "[1]",
		`[("it's", '<f8')]`:                     "[1]",
		`[('a]', '<f8'), ('', '|V3')]`:          "[1]",
		`[(('title', 'a'), '<f8')]`:             "[1]",
		`[('a', '<f8', 2)]`:                     "[1 2]",
		`[('a', '<f8', (2, 1))]`:                "[1 2]",
		`[('a', '<f8', (0,)), ('b', '<f8')]`:    "[1]",
		`[]`:                                    "!is a structured array of 1 rows and 0 fields",
		`[('', '|V8')]`:                         "!is a structured array of 1 rows and 0 fields",
		`[('a', '|O')]`:                         `!has the field "a" of type "|O", which cannot be read`,
		`[('a', [('b', '<f8')])]`:               `!has the nested field "a"; make fields of its parts`,
		`[('a', '<f8', (70000,))]`:              `!has more than 65536 columns in the field "a"`,
		`[('a', '<f8', (-1,))]`:                 `!has more than 65536 columns in the field "a"`,
		`[('a', '|V2000000000'), ('b', '<f8')]`: `!has the field "a" of type "|V2000000000", which cannot be read`,
		`[('a',)]`:                              "!has a malformed header: its list of fields cannot be read",
		`['a']`:                                 "!has a malformed header: its list of fields cannot be read",
		`[('a', '<f8'`:                          "!has a malformed header",
		`[('a', '<f8')] + 1`:                    "!has a malformed header",
		`[[[[[[[[[[[['a']]]]]]]]]]]]`:           "!has a malformed header: its list of fields cannot be read",
	} {
		path := filepath.Join(t.TempDir(), "x.npy")
		dict := fmt.Sprintf("{'descr': %s, 'fortran_order': False, 'shape': (1,), }\n", list)
		body := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict))), dict...)
		for v := 1.0; v <= float64(strings.Count(want, " ")+1); v++ {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
		}
		if strings.Contains(list, "V3") {
			body = append(body, 0, 0, 0)
		}
		if err := os.WriteFile(path, body, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := npy.Open(path, npy.Options{})
		got := ""
		if err == nil {
			var rows [][]float64
			rows, err = table(t, src, 0)
			if err == nil {
				got = fmt.Sprint(rows[0])
			}
		}
		part, bad := strings.CutPrefix(want, "!")
		if bad && (err == nil || !strings.Contains(err.Error(), part)) || !bad && got != want {
			t.Errorf("%s: %s, %v, want %s", list, got, err, want)
		}
	}
}

// TestFieldErrors: errors about an entry name its field.
func TestFieldErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	dict := "{'descr': [('a', '<f8'), ('b', '<i8')], 'fortran_order': False, 'shape': (2,), }\n"
	body := append(binary.LittleEndian.AppendUint16([]byte("\x93NUMPY\x01\x00"), uint16(len(dict))), dict...)
	for name, c := range map[string]struct {
		a    float64
		b    int64
		want string
	}{
		"integer": {1, 1<<53 + 1, ":2:2: row 2, column b is an integer beyond 2⁵³"},
		"NaN":     {math.NaN(), 1, ":2:1: row 2, column a is NaN, which is not finite"},
	} {
		text := bytes.Clone(body)
		for _, row := range []struct {
			a float64
			b int64
		}{{1, 2}, {c.a, c.b}} {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(row.a))
			text = binary.LittleEndian.AppendUint64(text, uint64(row.b))
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := npy.Open(path, npy.Options{})
		if err == nil {
			_, err = table(t, src, 0)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

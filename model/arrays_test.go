package model_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/model"
)

// TestArrays: models of all versions are the same after they were written as arrays, apart from what the arrays do
// not keep.
func TestArrays(t *testing.T) {
	files, err := filepath.Glob("testdata/*-v*.json")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d models: %v", len(files), err)
	}
	written := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatal(name, err)
		}
		var archive bytes.Buffer
		if err := m.WriteArrays(&archive); err != nil {
			var lacks *model.CertificateError
			if !errors.As(err, &lacks) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		written++
		if m.Terms != nil { // a text that compresses well
			for i := range m.Terms {
				m.Terms[i] = strings.Repeat("long ", 1<<16) + m.Terms[i]
			}
			archive.Reset()
			if err := m.WriteArrays(&archive); err != nil {
				t.Fatal(err)
			}
		}
		again, err := model.Read(bytes.NewReader(archive.Bytes()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want, got bytes.Buffer
		if err := errors.Join(m.Write(&want), again.Write(&got)); err != nil {
			t.Fatal(err)
		}
		if a, b := values(t, want.Bytes()), values(t, got.Bytes()); a != b {
			t.Errorf("%s: as arrays\n%s\nwant\n%s", name, b, a)
		}
	}
	if written < 5 {
		t.Errorf("only %d models were written", written)
	}
}

// values returns the JSON of a model without white space and with sorted names.
func values(t *testing.T, text []byte) string {
	var all map[string]any
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, one := range all["models"].([]any) {
		fit := one.(map[string]any)
		delete(fit["certificate"].(map[string]any), "stop") // words of an earlier version
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestDamagedArrays: an archive that was cut, or that lacks an array, or has arrays of other sizes, is a *FormatError.
func TestDamagedArrays(t *testing.T) {
	text, err := os.ReadFile("testdata/targets-v2.json")
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var whole bytes.Buffer
	if err := m.WriteArrays(&whole); err != nil {
		t.Fatal(err)
	}
	refuse := func(what string, file []byte) {
		var damaged *model.FormatError
		if _, err := model.Read(bytes.NewReader(file)); !errors.As(err, &damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for cut := 4; cut < whole.Len(); cut += 97 {
		refuse("cut", whole.Bytes()[:cut])
	}
	z, err := zip.NewReader(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for _, without := range z.File {
		for _, shorten := range []bool{false, true} {
			var out bytes.Buffer
			to := zip.NewWriter(&out)
			for _, f := range z.File {
				if f == without && !shorten {
					continue
				}
				from, err := f.Open()
				if err != nil {
					t.Fatal(err)
				}
				data, err := io.ReadAll(from)
				if err != nil {
					t.Fatal(err)
				}
				if f == without {
					data = data[:len(data)-8]
				}
				w, err := to.Create(f.Name)
				if err == nil {
					_, err = w.Write(data)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
			refuse(without.Name, out.Bytes())
		}
	}
}

package file_test

import (
	"context"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// TestIndices: explicit zeros count for the number of features, and indices may count from 0 in all files.
func TestIndices(t *testing.T) {
	for _, c := range []struct {
		texts []string
		text  prepare.Text
		want  string
	}{
		{[]string{"1 1:5 3:0\n2 2:1\n"}, prepare.Text{}, "[5 0 0] [1] [0 1 0] [2]"},
		{[]string{"1 0:5 2:7\n2 1:1\n"}, prepare.Text{}, "[5 0 7] [1] [0 1 0] [2]"},
		{[]string{"1 1:5\n", "2 0:7\n"}, prepare.Text{}, "[0 5] [1] [7 0] [2]"},
		{[]string{"# Column indices are zero-based\n1 1:5\n"}, prepare.Text{}, "[0 5] [1]"},
		{[]string{"1 1:5\n"}, prepare.Text{FirstIndex: "0"}, "[0 5] [1]"},
		{[]string{"1 0:5\n"}, prepare.Text{FirstIndex: "1"}, "!:1:3: index 0, but the first rows count from 1"},
	} {
		s, err := file.Open(write(t, c.texts...), file.Options{Targets: 1, Text: c.text})
		got := ""
		if err == nil {
			got, err = contents(s)
		}
		part, bad := strings.CutPrefix(c.want, "!")
		if bad && (err == nil || !strings.Contains(err.Error(), part)) || !bad && (err != nil || got != c.want) {
			t.Errorf("%q: %s, %v, want %s", c.texts, got, err, c.want)
		}
	}
}

// TestTimes: times and ratios are not svmlight.
func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"1 10:30\n2 10:40\n": "csv", "3 16:9\n4 16:9\n": "csv", "1 1:2\n": "svmlight", "1 3:1\n": "svmlight",
		"1 10:30\n2 10:40.5\n": "svmlight", "+1 10:30\n": "svmlight", "1 10:30 70:2\n": "svmlight",
	} {
		pipe := dataset.NewPipe(context.Background(), "pipe", strings.NewReader(text))
		piped, err := file.Format("-", file.Options{Origin: file.Origin{Pipe: pipe}})
		got, err2 := file.Format(write(t, text)[0], file.Options{})
		if err != nil || err2 != nil || got != want && !strings.HasSuffix(text, "none") || piped != want {
			t.Errorf("%q: %s and %s, %v, %v, want %s", text, got, piped, err, err2, want)
		}
	}
}

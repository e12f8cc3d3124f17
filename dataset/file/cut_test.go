package file_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
)

// TestCutText checks that a text which may be cut inside its last number has a remark, and that other texts without a
// line end have none.
func TestCutText(t *testing.T) {
	rows := strings.Repeat("1.250000,2.500000\n", 1000)
	svm := strings.Repeat("1 1:0.25 2:0.75\n", 10)
	block := strings.Repeat("1,2\n3,4\n", 512)[:4095] + "7"
	for name, c := range map[string]struct {
		text, want string
	}{
		"cut":                 {rows + "1.250000,2.5", "1001: the last line has no line end, and its last number (2.5) has fewer digits than those of the lines before: the file may be cut"},
		"cut after a digit":   {rows + "1.250000,2", "its last number (2) has fewer digits"},
		"below a header":      {"a,y\n1,10.25\n2,20.50\n3,30.75\n4,5", "5: the last line has no line end, and its last number (5) has fewer digits"},
		"svmlight":            {svm + "1 1:0.25 2:0.", "11: the last line has no line end, and its last number (0.) has fewer digits"},
		"a block":             {block, "1024: the last line has no line end, and its last number (47) is at the end of a block of 4096 bytes"},
		"whole":               {rows, ""},
		"no line end":         {rows + "1.250000,2.500000", ""},
		"as few digits":       {"1,10\n2,200\n3,5\n4,400\n5,6", ""},
		"few lines":           {"1,10\n2,200\n3,5", ""},
		"a text at the end":   {"1,ab\n2,cd\n3,ef\n4,a", ""},
		"a quote at the end":  {"1,\"10\"\n2,\"20\"\n3,\"30\"\n4,\"5\"", ""},
		"one column of texts": {"aa\nbb\naa\nbb\nb", ""},
	} {
		path := named(t, "data", c.text)
		opts := file.Options{Format: "csv"}
		if name == "svmlight" {
			opts.Format = name
		}
		opened, err := file.Open([]string{path}, opts)
		if err != nil {
			t.Fatal(name, err)
		}
		got := ""
		for _, r := range opened.Remarks() {
			if strings.Contains(r.Msg, "line end") {
				got += r.String()
			}
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	path := named(t, "data", rows+"1.250000,2.5")
	notes := ""
	for rank := range 3 {
		opened, err := file.Open([]string{path}, file.Options{Share: dataset.Share{Rank: rank, Size: 3}})
		if err != nil {
			t.Fatal(err)
		}
		notes += fmt.Sprintf("%d %d ", rank, len(opened.Remarks()))
	}
	if notes != "0 0 1 0 2 1 " {
		t.Errorf("remarks of parts: %s", notes)
	}
}

// TestCutPipe checks the remark about a pipe that may be cut, after the pass and not before.
func TestCutPipe(t *testing.T) {
	rows := strings.Repeat("1.250000,2.500000\n", 40000) // more than a buffer
	block := strings.Repeat("1,2\n3,4\n", 512)[:4095] + "7"
	for name, c := range map[string]struct{ text, format, want string }{
		"cut": {
			rows + "1.250000,2.5", "csv", "pipe: the last line has no line end, and its last number (2.5) has fewer " +
				"digits than those of the lines before: the data may be cut",
		},
		"few bytes": {"a,y\n1,10.25\n2,20.50\n3,30.75\n4,5", "csv", "its last number (5) has fewer digits"},
		"svmlight": {
			strings.Repeat("1 1:0.25 2:0.75\n", 10) + "1 1:0.25 2:0.", "svmlight", "its last number (0.) has fewer digits",
		},
		"a block":    {block, "csv", "(47) is at the end of a block of 4096 bytes"},
		"whole":      {rows, "csv", ""},
		"no end":     {rows + "1.250000,2.500000", "csv", ""},
		"UTF-16":     {"\xff\xfe1\x00\n\x002\x00\n\x00", "csv", ""},
		"JSON lines": {"{\"a\":10}\n{\"a\":20}\n{\"a\":30}\n{\"a\":40}\n{\"a\":5}", "jsonl", ""},
	} {
		pipe := dataset.NewPipe(t.Context(), "pipe", iotest.HalfReader(strings.NewReader(c.text)))
		opened, err := file.Open([]string{"-"}, file.Options{Format: c.format, Features: 2, Origin: file.Origin{Pipe: pipe}})
		if err != nil {
			t.Fatal(name, err)
		}
		if early := opened.EndRemarks(); early != nil {
			t.Errorf("%s: %v before the pass", name, early)
		}
		if _, err := dataset.CountRows(t.Context(), opened); err != nil {
			t.Fatal(name, err)
		}
		got := ""
		for _, r := range opened.EndRemarks() {
			got += r.String()
		}
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

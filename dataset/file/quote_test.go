package file_test

import (
	"archive/zip"
	"fmt"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset/file"
)

// TestQuotesAreCut: what a message quotes of the input is cut, however long it is there.
func TestQuotesAreCut(t *testing.T) {
	x, nines := strings.Repeat("x", 5000), strings.Repeat("9", 5000)
	last := file.Options{Target: []string{"last"}, Targets: 1}
	target := func(name string) file.Options { return file.Options{Target: []string{name}, Targets: 1} }
	columns := func(names ...string) file.Options {
		return file.Options{Target: []string{"last"}, Targets: 1, Columns: names}
	}
	numbers := []float64{1, 2}
	for i, c := range []struct {
		text string
		opts file.Options
		want string // but for the first 60 characters of what is cut
	}{
		{"1,2\n" + x + ",3\n", last, "is not a number"},
		{"1,2\n" + nines + ",3\n", last, "exceeds the range"},
		{"1,2\nnan,3\n", last, "column 1: nan is not finite"},
		{x + ",b\n\"\",3\n", last, "is empty"},
		{x + ",b\nNA,3\n", last, "is a missing value"},
		{x + ",b\ninf,3\n", last, "is not finite"},
		{x + ",b\n" + x + "x,3\n", last, "is not a number"},
		{x + ",b\n" + x + ",3\n", last, "the header is repeated"},
		{x + ",b\n1,3\n", target(x + "y"), "there is no column"},
		{x + ",b\n1,3\n", columns(x, x), "is named twice"},
		{x + ",b\n1,3\n", columns(x, "-b"), "or none does, unlike in"},
		{x + "," + x + ",b\n1,3,4\n", target(x), "more than one column"},
		{"1 1:" + nines + "\n", file.Options{Targets: 1}, "value 999"},
		{"1 1:1 2:" + x + "\n", file.Options{Targets: 1}, "is not a number"},
		{"1 1:1 " + x + "\n", file.Options{Targets: 1}, "is not index:value"},
		{"1 1:1 " + x + ":1\n", file.Options{Targets: 1}, "is not an index"},
		{x + " 1:1\n", file.Options{Targets: 1}, "label"},
		{"1," + x + " 1:1\n", file.Options{Targets: 1, Format: "svmlight"}, "has several targets"},
		{"1 1:1\n", file.Options{Targets: 1, Target: []string{x}}, "there is no column"},
		{"1 1:1\n", columns(x), ""},
		{npy("<"+x, "False", "(1, 2)", floats(le, 1, 2)), last, "holds entries of type"},
		{npy("<f8", x, "(1, 2)", floats(le, 1, 2)), last, "has a malformed header"},
		{npz(t, zip.Store, x+".npy", "", "y"+x+".npy", ""), last, "holds the arrays"},
		{parquetFile(t, []string{x, "b"}, 1, numbers), target("nobody"), "there is no column"},
	} {
		path := named(t, "data", c.text)
		_, err := open(path, c.opts)
		if err == nil {
			t.Errorf("%d: no error", i)
			continue
		}
		msg := strings.ReplaceAll(err.Error(), path, "")
		if len(msg) > 500 || strings.Contains(msg, strings.Repeat("x", 81)) || !strings.Contains(msg, c.want) {
			t.Errorf("%d: %d bytes: %.300s", i, len(msg), msg)
		}
	}
	a, b := named(t, "a.csv", "a,"+x+"\n1,2\n"), named(t, "b.csv", "a,"+x+"y\n1,2\n")
	if _, err := file.Open([]string{a, b}, target("a")); err == nil || len(err.Error()) > 700 {
		t.Errorf("%.200v", err)
	}
	if _, err := file.Open([]string{a}, file.Options{Format: x}); err == nil || len(err.Error()) > 300 {
		t.Errorf("%.200v", fmt.Sprint(err))
	}
}

package file_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
)

// TestAlone reads each share of a CSV file without a look at the other shares. The share has the rows that begin in its
// bytes. It is refused only if a row with a quoted line break crosses an end of the share. This holds for all places of
// quotes.
func TestAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	rapid.Check(t, func(t *rapid.T) {
		checkAlone(t, path, rapid.SliceOfN(rapid.SampledFrom([]record{
			{"1,a,2\n", "[1] [2]"},
			{"2,5\" pipe,3\n", "[2] [3]"}, {"3,\"b \"\"c\"\"\",4\n", "[3] [4]"}, {"\"5\n\",c,6\n", "[5] [6]"},
			{"7,\"\n\r\n\",8\r\n", "[7] [8]"},
			{
				"9,\",1\n2,d,3\n4,\",5\n",
				"[9] [5]",
			}, {"6,\",7\n8,\",9\n", "[6] [9]"}, // the quoted texts contain what look like rows
		}), 1, 16).Draw(t, "records"), rapid.IntRange(2, 9).Draw(t, "shares"))
	})
	// Of these no reader of one share finds anything amiss in it.
	inside := record{"0,\"" + strings.Repeat("\n1,2,3", 60) + "\",4\n", "[0] [4]"}
	for n := 2; n < 12; n++ {
		read, refused := checkAlone(t, path, []record{{"1,a,2\n", "[1] [2]"}, inside, {"3,b,4\n", "[3] [4]"}}, n)
		if read == n ||
			n > 3 && refused < n-3 {
			t.Errorf("%d shares: %d read, %d refused", n, read, refused)
		}
	}
	// A file that is longer than what is looked at in one go.
	long := slices.Repeat([]record{{"1,\"b\",2\n", "[1] [2]"}}, 200000)
	if read, refused := checkAlone(t, path, long, 3); read != 3 || refused != 0 {
		t.Errorf("%d read, %d refused", read, refused)
	}
	long[300] = record{"7,\"\n\r\n\",8\r\n", "[7] [8]"}
	if read, refused := checkAlone(t, path, long, 3); read != 3 || refused != 0 {
		t.Errorf("a quoted line break elsewhere: %d read, %d refused", read, refused)
	}
}

// A record is the text of one row, and the row that a reader must return for it.
type record struct{ text, row string }

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkAlone reads each share of a file of such records alone.
func checkAlone(t failer, path string, records []record, shares int) (read, refused int) {
	t.Helper()
	var all strings.Builder
	for _, r := range records {
		all.WriteString(r.text)
	}
	text := all.String()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	for rank := range shares {
		opts := file.Options{
			Format: "csv", Delimiter: ',', Header: csv.Absent, Target: []string{"last"}, Targets: 1, Columns: []string{"1"},
			Share: dataset.Share{Rank: rank, Size: shares}, Origin: file.Origin{Alone: true},
		}
		lo, hi := opts.Share.Of(int64(len(text)))
		var want strings.Builder
		amid, at := false, int64(0)
		for _, r := range records {
			begin, end := at, at+int64(len(r.text))
			at = end
			amid = amid || strings.Count(r.text, "\n") > 1 && (begin < lo && lo < end || begin < hi && hi < end)
			if begin >= lo && begin < hi {
				want.WriteString(r.row + " ")
			}
		}
		got := ""
		src, err := file.Open([]string{path}, opts)
		if err == nil {
			got, err = contents(src)
		}
		switch {
		case err != nil && amid && strings.Contains(err.Error(), "the file is divided at a quoted line break"):
			refused++
		case err != nil:
			t.Fatalf("%.200q, share %d of %d: %v", text, rank, shares, err)
		case got != strings.TrimSpace(want.String()):
			t.Fatalf("%.200q, share %d of %d: %.300s, want %.300s", text, rank, shares, got, want.String())
		default:
			read++
		}
	}
	return read, refused
}

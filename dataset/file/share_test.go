package file_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
)

// shares reads what each of so many ranks reads, one after the other.
func shares(paths []string, opts file.Options, ranks int) (string, error) {
	var all []string
	widest := 0
	for _, told := range []bool{false, true} { // what Widest returns all ranks know
		all = all[:0]
		for rank := range ranks {
			opts.Share = dataset.Share{Rank: rank, Size: ranks}
			opts.Widest = func(d int) (int, error) {
				widest = max(widest, d)
				if !told {
					d = max(d, 1)
				} else {
					d = widest
				}
				return d, nil
			}
			src, err := file.Open(paths, opts)
			if err != nil {
				return "", err
			}
			if !told && widest > 0 {
				continue
			}
			rows, err := contents(src)
			if err != nil {
				return "", err
			}
			if rows != "" {
				all = append(all, rows)
			}
		}
		if widest == 0 {
			break
		}
	}
	return strings.Join(all, " "), nil
}

// TestShares: the shares of any number of ranks make all rows, each once and in their
// order, whatever the format and how it is written.
func TestShares(t *testing.T) {
	const n, d = 23, 4
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, n*d)
	var text, labelled, objects strings.Builder
	for i := range x {
		x[i] = float64(rng.IntN(100000)) / 8
		fmt.Fprintf(&text, "%v%c", x[i], ",\n"[b2i(i%d == d-1)])
	}
	for i := range n {
		fmt.Fprintf(&objects, "{\"a\":%v,\"b\":%v,\"c\":%v,\"y\":%v}\n", x[4*i], x[4*i+1], x[4*i+2], x[4*i+3])
		fmt.Fprintf(&labelled, "%d 1:%d %d:2.5\n", i, i+1, 2+i)
	}
	plain, svm, shape := text.String(), labelled.String(), fmt.Sprintf("(%d, %d)", n, d)
	array := npy("<f8", "False", shape, floats(le, x...))
	turned := npy("<f8", "True", shape, floats(le, x...))
	y := npy("<f8", "False", fmt.Sprintf("(%d, 1)", n), floats(le, x[:n]...))
	long := strings.Repeat(" ", 300000) // a line longer than the buffer, and than many shares
	last := file.Options{Target: []string{"last"}, Targets: 1}
	label := file.Options{Targets: 1}
	at := func(content string) string { return named(t, "data", content) }
	for name, c := range map[string]struct {
		paths []string
		opts  file.Options
	}{
		"csv":           {[]string{at(plain)}, last},
		"header":        {[]string{at("a,b,c,y\n" + plain)}, last},
		"long header":   {[]string{at(strings.Repeat("a", 500) + ",b,c,y\n" + plain)}, last},
		"quoted header": {[]string{at("\"a\n1,2,3,4\n5\",b,\"c\n\",y\n" + plain)}, last},
		"header by choice": {
			[]string{at("1,2,3,4\n" + plain)}, file.Options{Target: []string{"last"}, Targets: 1, Header: csv.Present},
		},
		"CRLF":             {[]string{at(strings.ReplaceAll(plain, "\n", "\r\n"))}, last},
		"no final newline": {[]string{at(strings.TrimSuffix(plain, "\n"))}, last},
		"blank lines":      {[]string{at("\n\n  \n" + strings.ReplaceAll(plain, "\n", "\n\n \n\r\n"))}, last},
		"byte order mark":  {[]string{at("\ufeff" + plain)}, last},
		"mark and header":  {[]string{at("\ufeff\na,b,c,y\n" + plain)}, last},
		"quotes":           {[]string{at("\"1\",2,\"3\",\"4\"\n" + plain + "5,\"6\",7,\"8\"")}, last},
		"long lines": {
			[]string{at(strings.Replace(plain, ",", ","+long, 3) + "1," + long + "2,3,4" + long + "\n" + plain)}, last,
		},
		"columns": {
			[]string{at("a,b,c,y\n" + plain)}, file.Options{Target: []string{"b"}, Targets: 1, Columns: []string{"y", "a"}},
		},
		"csv.gz": {[]string{at(zipped(t, plain))}, last},
		"several texts": {
			[]string{
				at(plain), at(zipped(t, plain)), at(plain[:40][:strings.LastIndexByte(plain[:40], '\n')]), at(plain + plain),
			},
			last,
		},
		"JSON lines": {[]string{at(objects.String())}, last},
		"JSON lines.gz": {
			[]string{at(zipped(t, objects.String())), at("\ufeff\n\r\n" + objects.String() + "\n\n")}, last,
		},
		"svmlight":        {[]string{at(svm)}, label},
		"no labels":       {[]string{at(svm)}, file.Options{}},
		"as wide as told": {[]string{at(svm)}, file.Options{Targets: 1, Features: 90}},
		"comments": {
			[]string{at("# 1 2:3\n\n" + strings.ReplaceAll(svm, "\n", " # 7 8:9\n#\r\n\n") + "# end")}, label,
		},
		"svmlight and a mark": {[]string{at("\ufeff" + svm)}, label},
		"svmlight files":      {[]string{at(svm), at("1 1:1\n"), at(svm + "1 200:1")}, label},
		"svmlight.gz":         {[]string{at(zipped(t, svm)), at(svm)}, label},
		"npy":                 {[]string{at(array)}, last},
		"Fortran order":       {[]string{at(turned)}, last},
		"npy.gz":              {[]string{at(zipped(t, array))}, last},
		"npz":                 {[]string{at(npz(t, zip.Store, "x.npy", array))}, last},
		"deflated npz":        {[]string{at(npz(t, zip.Deflate, "x.npy", array))}, last},
		"npz with its target": {
			[]string{at(npz(t, zip.Store, "x.npy", array, "y.npy", y))}, file.Options{Target: []string{"y"}, Targets: 1},
		},
		"parquet": {[]string{at(parquetFile(t, []string{"a", "b", "c", "y"}, n, x))}, last},
		"arrow": {
			[]string{at(arrowOf(t, false, n)), at(arrowOf(t, false, n))}, file.Options{Target: []string{"a"}, Targets: 1},
		},
		"arrow stream":      {[]string{at(arrowOf(t, true, n))}, file.Options{Target: []string{"a"}, Targets: 1}},
		"several arrays":    {[]string{at(array), at(turned), at(zipped(t, array))}, last},
		"target of its own": {[]string{at(array)}, file.Options{Target: []string{named(t, "y.npy", y)}, Targets: 1}},
		"targets in a text": {
			[]string{at(array), at(array)},
			file.Options{Target: []string{named(t, "y.csv", strings.Repeat("1\n2\n", n))}, Targets: 1},
		},
		"a row and many ranks": {[]string{at("1,2\n")}, last},
	} {
		want, err := contents(opened(t, c.paths, c.opts))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		numbers := []int{1, 2, 3, 4, 7, 29}
		if os.Getenv("FDRIDGE_THOROUGH") != "" {
			numbers = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 40}
		}
		for _, ranks := range numbers {
			if got, err := shares(c.paths, c.opts, ranks); err != nil || got != want {
				t.Errorf("%s, %d ranks: %v\n%.300s\nwant\n%.300s", name, ranks, err, got, want)
			}
		}
	}
}

// TestSharesOfFiles: with as many files as ranks or more each rank has some, whole, and
// the ranks have about as many bytes.
func TestSharesOfFiles(t *testing.T) {
	var paths []string
	for i := range 10 {
		paths = append(paths, named(t, fmt.Sprint(i), zipped(t, strings.Repeat("1,2\n", 1+i))))
	}
	for ranks := 2; ranks <= 10; ranks++ {
		for rank := range ranks {
			o := opened(
				t,
				paths,
				file.Options{Target: []string{"last"}, Targets: 1, Share: dataset.Share{Rank: rank, Size: ranks}},
			)
			rows, err := contents(o)
			if got := strings.Count(rows, "["); err != nil || got == 0 || got/2 > 10+10*11/2/ranks {
				t.Errorf("rank %d of %d has %d rows of 55: %v", rank, ranks, got/2, err)
			}
		}
	}
	heavy := append([]string{named(t, "large", strings.Repeat("1,2\n", 10000))}, paths[:3]...)
	for rank := range 4 {
		o := opened(
			t,
			heavy,
			file.Options{Target: []string{"last"}, Targets: 1, Share: dataset.Share{Rank: rank, Size: 4}},
		)
		if rows, err := contents(o); err != nil || rows == "" {
			t.Errorf("rank %d has no file beside one that is large: %v", rank, err)
		}
	}
	var uneven []string
	for i, lines := range []int{1, 45, 45, 9} {
		uneven = append(uneven, named(t, fmt.Sprint("uneven", i), strings.Repeat("1,2\n", lines)))
	}
	for rank := range 3 {
		o := opened(
			t,
			uneven,
			file.Options{Target: []string{"last"}, Targets: 1, Share: dataset.Share{Rank: rank, Size: 3}},
		)
		if rows, err := contents(o); err != nil || rows == "" {
			t.Errorf("rank %d has no file between two that are large: %v", rank, err)
		}
	}
	// An empty file is said to be empty wherever it stands, by any number of ranks.
	empty := named(t, "empty", "")
	for _, list := range [][]string{{empty, heavy[0]}, {heavy[0], empty}, {heavy[0], empty, heavy[0]}} {
		for ranks := 1; ranks <= 5; ranks++ {
			var all error
			for rank := range ranks {
				_, err := file.Open(
					list,
					file.Options{
						Format:  "csv",
						Target:  []string{"last"},
						Targets: 1,
						Share:   dataset.Share{Rank: rank, Size: ranks},
					},
				)
				all = errors.Join(all, err)
			}
			if all == nil || !strings.Contains(all.Error(), "empty: has no rows") {
				t.Errorf("%d ranks, %d files: %v", ranks, len(list), all)
			}
		}
	}
}

// TestShareErrors: an error in a share is reported at the same place as in a pass over the whole file.
func TestShareErrors(t *testing.T) {
	row := "1.5,2.25,3\n"
	for name, content := range map[string]string{
		"a word":         "a,b,c\n" + strings.Repeat(row, 40) + "\n1,x,3\n" + strings.Repeat(row, 40),
		"in a long file": "a,b,c\n" + strings.Repeat(row, 60000) + "1,x,3\n" + strings.Repeat(row, 10),
		"fields":         strings.Repeat(row, 40) + "1,2\n" + strings.Repeat(row, 40),
		"quoted":         strings.Repeat(row+"\"1\",2,3\n", 40) + "\"1\",2,\"x\"\n" + strings.Repeat(row, 40),
		"a bare quote":   strings.Repeat(row, 40) + "\"1\"5,2,3\n" + strings.Repeat(row, 40),
		"the last line":  strings.Repeat(row, 40) + "nan,2,3",
		"quoted names":   "\"a\",b,c\n" + strings.Repeat(row, 4) + "1,x,3\n" + strings.Repeat(row, 4),
		"an index":       strings.Repeat("1 1:2 3:4\n# 5\n\n", 40) + "1 3:1 2:1\n" + strings.Repeat("1 1:2 3:4\n", 40),
	} {
		path := named(t, "data", content)
		opts := file.Options{Target: []string{"last"}, Targets: 1}
		if name == "an index" {
			opts = file.Options{Targets: 1}
		}
		_, want := shares([]string{path}, opts, 1)
		if want == nil || !strings.HasPrefix(want.Error(), path+":") {
			t.Fatalf("%s: %v", name, want)
		}
		for ranks := 2; ranks < 30; ranks += 1 + ranks/12*5 {
			if _, err := shares([]string{path}, opts, ranks); err == nil || err.Error() != want.Error() {
				t.Errorf("%s, %d ranks: %v\nwant %v", name, ranks, err, want)
			}
		}
	}
	if _, err := csv.Open(named(t, "data", zipped(t, row)), csv.Options{Range: dataset.Range{Lo: 1, Hi: 9}}); err != nil {
		t.Errorf("opening alone reads no range: %v", err)
	}
}

// TestSharesQuoted: a text with line breaks in quotes is read right, or some rank
// refuses it, wherever it is divided.
func TestSharesQuoted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "data")
	refused, read := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		// Of the last two what begins in quotes may be read as rows, too.
		pieces := rapid.SliceOfN(
			rapid.SampledFrom(
				[]string{
					"1,a,2\n",
					"3,\"b\",4\n",
					"\"5\n\",c,6\n",
					"7,\"\n\r\n\",8\r\n",
					"\n",
					"9,\",1\n2,d,3\n4,\",5\n",
					"6,\",7\n8,\",9\n",
				},
			),
			1,
			16,
		).Draw(
			t,
			"pieces",
		)
		ranks := rapid.IntRange(2, 9).Draw(t, "ranks")
		text := strings.Join(pieces, "")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := file.Options{
			Format:    "csv",
			Delimiter: ',',
			Header:    csv.Absent,
			Target:    []string{"last"},
			Targets:   1,
			Columns:   []string{"1"},
		} // not the second
		want, wantErr := shares([]string{path}, opts, 1)
		got, err := shares([]string{path}, opts, ranks)
		switch {
		case err != nil:
			refused++
		case wantErr != nil:
			t.Fatalf("%q, %d ranks: %q, but the whole is %v", text, ranks, got, wantErr)
		case got != want:
			t.Fatalf("%q, %d ranks: %q, want %q", text, ranks, got, want)
		default:
			read++
		}
	})
	if refused == 0 || read == 0 {
		t.Errorf("%d refused, %d read: one of them was not tried", refused, read)
	}
}

// TestSharesSilent: a file without quotes across lines is never refused.
func TestSharesSilent(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"1,2\n", "3,\"4\"\n", "\n", "  \r\n", "\"5\",6\r\n"})
		var paths []string
		for i := range rapid.IntRange(1, 3).Draw(t, "files") {
			text := "7,8\n" + strings.Join(rapid.SliceOfN(line, 0, 9).Draw(t, "lines"), "")
			paths = append(paths, filepath.Join(dir, fmt.Sprint(i)))
			if err := os.WriteFile(paths[i], bytes.TrimSuffix([]byte(text), []byte("\n")), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		opts := file.Options{Format: "csv", Delimiter: ',', Header: csv.Absent, Target: []string{"last"}, Targets: 1}
		want, err := shares(paths, opts, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := shares(paths, opts, rapid.IntRange(2, 12).Draw(t, "ranks")); err != nil || got != want {
			t.Fatalf("%v: %q, want %q", err, got, want)
		}
	})
}

// TestShareOf: the shares of n things follow one another, whatever n.
func TestShareOf(t *testing.T) {
	for _, n := range []int64{0, 1, 5, 1000, 1 << 40, 1<<63 - 1} {
		for size := 1; size < 12; size++ {
			at, most, least := int64(0), int64(0), n
			for rank := range size {
				lo, hi := dataset.Share{Rank: rank, Size: size}.Of(n)
				if lo != at || hi < lo {
					t.Fatalf("%d of %d of %d: %d to %d after %d", rank, size, n, lo, hi, at)
				}
				at, most, least = hi, max(most, hi-lo), min(least, hi-lo)
			}
			if at != n || most-least > 1 {
				t.Errorf("%d shares of %d: %d, from %d to %d each", size, n, at, least, most)
			}
		}
	}
}

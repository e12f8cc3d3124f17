package paper

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/dataset"
)

// all reads every row of a source into memory.
func all(t *testing.T, src dataset.Source) (x, y []float64, d int) {
	t.Helper()
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, b.X...), append(y, b.Y...)
	}
	_, d, _ = src.Dims()
	return x, y, d
}

// TestRealData: the data in the repository have the numbers of rows and values that their README states.
func TestRealData(t *testing.T) {
	read := func(name string) (x, y []float64) {
		t.Helper()
		s := realSets[name]
		found, err := (&run{}).locate(s)
		if err != nil {
			t.Fatal(err)
		}
		xs, ys, err := s.read(context.Background(), found, -1)
		if err != nil {
			t.Fatal(err)
		}
		x, _, d := all(t, xs)
		y, _, _ = all(t, ys)
		if d != s.features || len(x) != d*len(y) {
			t.Fatalf("%s: %d columns, %d numbers for %d rows", name, d, len(x), len(y))
		}
		return x, y
	}
	count := func(y []float64) map[float64]int {
		n := map[float64]int{}
		for first, i := 0, 1; first < len(y); i++ { // equal values at a time, because most are zero
			if i == len(y) || y[i] != y[first] {
				n[y[first]] += i - first
				first = i
			}
		}
		return n
	}

	x, y := read("w8a")
	if n := count(y); len(y) != 49749 || n[1] != 1479 || n[-1] != 49749-1479 {
		t.Errorf("w8a: %d rows, targets %v", len(y), n)
	}
	if n := count(x); n[1] != 579586 || len(n) != 2 {
		t.Errorf("w8a: features %v", n)
	}

	x, y = read("covtype")
	if n := count(y); len(y) != 100000 || fmt.Sprint(n) != "map[1:22026 2:66751 3:2160 4:2160 5:2583 6:2160 7:2160]" {
		t.Errorf("covtype: %d rows, targets %v", len(y), n)
	}
	for i := range y {
		sum := 0.0
		for _, v := range x[i*54+10 : i*54+14] {
			sum += v
		}
		if sum != 1 {
			t.Fatalf("covtype: row %d has %v wilderness areas", i+1, sum)
		}
	}

	_, y = read("YearPredictionMSD")
	if len(y) != 8162 || y[0] != 2001 {
		t.Errorf("YearPredictionMSD: %d rows, the first of the year %v; want 8162, 2001", len(y), y[0])
	}
}

// TestOpenStandardises: without features, every column and the target have mean 0
// and variance 1, also where the file is sparse; a constant column is 0.
func TestOpenStandardises(t *testing.T) {
	r := &run{Config: Config{Quick: true, Features: "none"}}
	for _, name := range datasets {
		src, err := r.open(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		x, y, d := all(t, src)
		if len(y) != 1000 || len(x) != 1000*d {
			t.Fatalf("%s: %d rows, want 1000", name, len(y))
		}
		for j := range d + 1 {
			mean, square := 0.0, 0.0
			for i := range y {
				v := y[i]
				if j < d {
					v = x[i*d+j]
				}
				mean += v / 1000
				square += v * v / 1000
			}
			if !(math.Abs(mean) <= 1e-12 && (math.Abs(square-1) <= 1e-12 || square == 0)) {
				t.Errorf("%s, column %d: mean %v, mean square %v", name, j+1, mean, square)
			}
		}
		if !strings.Contains(src.from, "1000 rows of "+name) {
			t.Errorf("the record says %q", src.from)
		}
	}
}

// TestFeatures: what each spelling gives, and what is none.
func TestFeatures(t *testing.T) {
	for text, want := range map[string]dataset.Features{
		"":                     dataset.Fourier{Components: 1024, Gamma: 1, Seed: 5},
		"rff:7":                dataset.Fourier{Components: 7, Gamma: 1, Seed: 5},
		"rff:7,gamma=0.25":     dataset.Fourier{Components: 7, Gamma: 0.25, Seed: 5},
		"rff:7,seed=3,gamma=2": dataset.Fourier{Components: 7, Gamma: 2, Seed: 3},
		"poly:2":               dataset.Polynomial{Degree: 2},
		"none":                 dataset.Polynomial{Degree: 1},
	} {
		r := &run{Config: Config{Seed: 5, Features: text}}
		if got, _, err := r.features(); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	var e *SettingError
	for _, text := range []string{
		"rff", "rff:", "rff:x", "rff:7,gamma", "rff:7,gamma=1,gamma=2", "rff:7,width=1", "rff:7,seed=-1", "poly", "poly:two",
		"poly:0", "rff:0", "rff:7,gamma=NaN", "spline:3",
	} {
		r := &run{Config: Config{Features: text, Quick: true}}
		if _, err := r.open(context.Background(), "covtype"); !errors.As(err, &e) {
			t.Errorf("%q: %v, want a *SettingError", text, err)
		}
	}
	src, err := (&run{Config: Config{Features: "poly:2", Quick: true}}).open(context.Background(), "covtype")
	if err != nil {
		t.Fatal(err)
	}
	if _, d, _ := src.Dims(); d != 54+54*55/2 {
		t.Errorf("covtype, degree 2: %d features", d)
	}
}

func put(t *testing.T, folder, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func sumOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// TestOthersAreRefused: in the folder given, a file that is not the public data is
// an error with both sums, though the repository has the right one.
func TestOthersAreRefused(t *testing.T) {
	const text = "+1 1:1 \n"
	for name, content := range map[string]string{"w8a": text, "w8a.svm.gz": zipped(t, text)} {
		folder := t.TempDir()
		put(t, folder, name, content)
		_, err := (&run{Config: Config{Data: folder}}).open(context.Background(), "w8a")
		var e *dataset.InputError
		if !errors.As(err, &e) || e.File != filepath.Join(folder, name) {
			t.Fatalf("%s: %v", name, err)
		}
		for sum := range realSets["w8a"].editions[0][0].known {
			if !strings.Contains(err.Error(), sum) || !strings.Contains(err.Error(), sumOf(text)) {
				t.Errorf("%s: %v, want %s and %s", name, err, sumOf(text), sum)
			}
		}
	}
	folder := t.TempDir()
	put(t, folder, "w8a.svm.gz", zipped(t, text)[:20])
	var e *dataset.InputError
	if _, err := (&run{Config: Config{Data: folder}}).open(context.Background(), "w8a"); !errors.As(err, &e) {
		t.Errorf("a truncated file: %v", err)
	}
}

// TestCompleteYears: a complete YearPredictionMSD is used before the excerpts, its
// sum in the record.
func TestCompleteYears(t *testing.T) {
	var text strings.Builder
	for i := range 3 {
		fmt.Fprint(&text, 2000+i)
		for j := range 90 {
			fmt.Fprintf(&text, ",%d.5", i*j)
		}
		text.WriteByte('\n')
	}
	folder := t.TempDir()
	put(t, folder, "YearPredictionMSD.txt", text.String())
	put(t, folder, "YearPredictionMSD.head1176.txt.gz", "not looked at")
	src, err := (&run{Config: Config{Data: folder, Rows: -1, Features: "none"}}).open(
		context.Background(),
		"YearPredictionMSD",
	)
	if err != nil {
		t.Fatal(err)
	}
	n, _, _ := src.Dims()
	if n != 3 || !strings.Contains(src.from, "unknown checksum") || !strings.Contains(src.from, sumOf(text.String())) {
		t.Errorf("%d rows from %s", n, src.from)
	}
	put(t, folder, "YearPredictionMSD.txt", "2000,1,2\n")
	var e *dataset.InputError
	if _, err := (&run{Config: Config{Data: folder}}).open(
		context.Background(), "YearPredictionMSD",
	); !errors.As(err, &e) {
		t.Errorf("two features: %v", err)
	}
}

// TestNotFound says where it looked, where the data are and what to do.
func TestNotFound(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(t.TempDir())
	for name, want := range map[string]string{
		"w8a":               "w8a.svm",
		"covtype":           "covtype.data",
		"YearPredictionMSD": "YearPredictionMSD.txt",
	} {
		_, err := (&run{Config: Config{Data: folder}}).open(context.Background(), name)
		var e *dataset.InputError
		if !errors.As(err, &e) {
			t.Fatalf("%s: %v", name, err)
		}
		for _, want := range []string{folder, realSets[name].home, "--data", want} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v\nsays nothing of %s", name, err, want)
			}
		}
	}
	if _, err := (&run{Config: Config{Data: filepath.Join(folder, "none")}}).open(
		context.Background(), "w8a",
	); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that isn't there: %v", err)
	}
}

// TestGivenFolder: the folder given is looked in before the repository.
func TestGivenFolder(t *testing.T) {
	folder := t.TempDir()
	for _, name := range datasets {
		found, err := new(run).locate(realSets[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			text, err := os.ReadFile(f.path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, folder, filepath.Base(f.path), string(text))
		}
	}
	for _, name := range datasets {
		found, err := (&run{Config: Config{Data: folder}}).locate(realSets[name])
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if filepath.Dir(f.path) != filepath.Clean(folder) {
				t.Errorf("%s: %s is not of %s", name, f.path, folder)
			}
		}
	}
}

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrograms: each file as a program writes it is fitted by one command, and the fits agree with the fit of the table
// that all programs were given. scipy's matrices are sparse, so that their rows are not prepared. Some files of pyarrow
// have other columns; TestPyarrowTypes and TestPyarrowDates of dataset/file read them.
func TestPrograms(t *testing.T) {
	const folder = "../../dataset/file/testdata/programs"
	files, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(name string) (d int, r2 float64) {
		args := []string{"fit", "--data", filepath.Join(folder, name), "--target", "y", "--gamma", "0.001", "--json"}
		for _, nameless := range []string{"bare", "unnamed", "matrix", "numpy.txt", "numpy.np", "numpy-fortran", "numpy-compressed", "scipy"} {
			if strings.Contains(name, nameless) {
				args[4] = "last"
			}
		}
		if !strings.HasPrefix(name, "scipy") {
			args = append(args, "--prepare", "auto")
		}
		var report struct {
			N, D int
			R2   []float64
		}
		if err := json.Unmarshal([]byte(must(t, args...)), &report); err != nil {
			t.Fatal(err)
		}
		if report.N != 24 {
			t.Errorf("%s: %d rows", name, report.N)
		}
		return report.D, report.R2[0]
	}
	wide, wideR2 := fit("table.csv")
	narrow, narrowR2 := fit("numpy.npy")
	n := 0
	for _, f := range files {
		if strings.HasPrefix(f.Name(), "write") || hasOtherColumns(f.Name()) {
			continue
		}
		n++
		d, r2 := fit(f.Name())
		if d == wide && math.Abs(r2-wideR2) > 1e-9 || d == narrow && math.Abs(r2-narrowR2) > 1e-7 ||
			d != wide && d != narrow {
			t.Errorf(
				"%s: %d features, R² %v; want %d and %v, or %d and %v",
				f.Name(),
				d,
				r2,
				wide,
				wideR2,
				narrow,
				narrowR2,
			)
		}
	}
	if n < 40 {
		t.Errorf("%d files", n)
	}
}

// hasOtherColumns reports whether a file of pyarrow has other columns than the table of all programs.
func hasOtherColumns(name string) bool {
	for _, other := range []string{"pyarrow-types", "pyarrow-dates", "pyarrow-int96"} {
		if strings.HasPrefix(name, other) {
			return true
		}
	}
	return false
}

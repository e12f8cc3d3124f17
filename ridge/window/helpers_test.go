package window_test

import (
	"flag"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { refbig.Main(m) }

var update = flag.Bool("update", false, "write the golden files anew")

// must(f())(t) is f's value; an error ends the test.
func must[T any](v T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func marshal(t rapid.TB, s *ridge.Summary) []byte {
	t.Helper()
	return wiretest.Marshal(t, s)
}

// readAs reads a stream of one type.
func readAs[T window.Stream](r io.Reader, be engine.Backend) (none T, err error) {
	s, err := window.Read(r, be)
	if err != nil {
		return none, err
	}
	return s.(T), nil
}

// table is rows in memory.
type table struct {
	x, y   [][]float64
	w      []float64 // nil: unweighted
	sparse bool
}

// rows draws a block of n rows.
func rows(r *rand.Rand, n, d, t int, sparse, weighted bool) dataset.Block {
	x, y := make([][]float64, n), make([]float64, 0, n*t)
	var w []float64
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			if !sparse || r.IntN(3) == 0 {
				x[i][j] = 3 + r.NormFloat64()
			}
		}
		for range t {
			y = append(y, r.NormFloat64()-5)
		}
		if weighted {
			w = append(w, float64(r.IntN(4)))
		}
	}
	b := dataset.Block{N: n, Y: y, W: w}
	if !sparse {
		b.X = testkit.Flat(x)
	} else if n > 0 {
		b.Sparse = testkit.Compress(x)
	} else {
		b.Sparse = &engine.CSR{Cols: d, RowPtr: []int{0}}
	}
	return b
}

// TestZeroValues: a zero value that cannot be written has no bytes. The test of package zerovalues calls all
// methods of zero values.
func TestZeroValues(t *testing.T) {
	for _, of := range []interface{ BinarySize() int64 }{new(window.Window), new(window.Fading)} {
		if size := of.BinarySize(); size != 0 {
			t.Errorf("the zero %T, which cannot be written, is %d bytes", of, size)
		}
	}
}

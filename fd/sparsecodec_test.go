package fd_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// sparseGolden returns the sketches of the golden files of version 3. Sums of their rows have no rounding. One sketch
// is empty and has its own SparseRows, one has only sparse rows, and one has sparse and dense rows.
func sparseGolden(t testing.TB) map[string]*fd.Sketch {
	cfg := fd.Config{Dim: 17, Size: 2, ShrinkRows: 3, SparseRows: 4}
	empty, waiting, mixed := newSketch(t, cfg), newSketch(t, cfg), newSketch(t, cfg)
	x := &engine.CSR{
		Rows:   3,
		Cols:   17,
		RowPtr: []int{0, 2, 2, 3},
		ColIdx: []int32{3, 16, 0},
		Val:    []float64{1, -0.5, 0x1p-20},
	}
	check(t, waiting.AppendSparse(x))
	row := make([]float64, 17)
	row[2], row[16] = 7, -0x1p10
	check(t, mixed.AppendSparse(x))
	check(t, mixed.AppendRow(row))
	check(t, mixed.Decay(0.25))
	return map[string]*fd.Sketch{"empty": empty, "waiting": waiting, "mixed": mixed}
}

func TestSparseGolden(t *testing.T) {
	for name, s := range sparseGolden(t) {
		path := filepath.Join("testdata", "sketch-v3-"+name+".bin")
		if *update {
			check(t, os.WriteFile(path, marshal(t, s), 0o644))
		}
		b := must(os.ReadFile(path))(t)
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			r := must(fd.ReadSketch(bytes.NewReader(b), be))(t)
			if !bytes.Equal(marshal(t, r), b) || !bytes.Equal(marshal(t, s), b) || r.Config().SparseRows != 4 {
				t.Errorf("%s: another message is written, or read", name)
			}
			same(t, name, r, s)
		})
	}
}

// TestSparseCodecGoesOn: however many sparse rows wait, a sketch written and read goes on as if it
// never had been.
func TestSparseCodecGoesOn(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rng := rand.New(rand.NewPCG(5, 6))
		for at, cfg := range []fd.Config{
			{Dim: 40, Size: 4, ShrinkRows: 3, SparseRows: 7}, {Dim: 40, Size: 4, ShrinkRows: 3}, {Dim: 40, Size: 9},
			{Dim: 256, Size: 4, SparseRows: -1}, {Dim: 256, Size: 4, SparseRows: 2},
		} {
			cfg.Backend = be
			x := emptied(rng, stream(rng, 60, cfg.Dim, "decay"), cfg.Dim/8)
			for fill := range 25 {
				if !isTried(fill + at) {
					continue
				}
				s := newSketch(t, cfg)
				check(t, s.AppendSparse(csrOf(mat.DenseCopyOf(x.Slice(0, 10+fill, 0, cfg.Dim)))))
				if fill%3 == 0 {
					check(t, s.Append(x.Slice(0, 2, 0, cfg.Dim)))
				}
				for way := range wiretest.Readers {
					r := reread(t, s, way)
					what := fmt.Sprintf("%+v, fill %d, %s", cfg, fill, way)
					same(t, what, r, s)
					other := reread(t, s, way)
					o := reread(t, s, way)
					for _, s := range []*fd.Sketch{r, other} {
						if s == other {
							s = reread(t, s, way)
							other = s
						}
						check(t, s.AppendSparse(csrOf(x)))
						check(t, s.Merge(o))
						check(t, s.Append(x.Slice(0, 3, 0, cfg.Dim)))
					}
					same(t, what+", went on", other, r)
				}
			}
		}
	})
}

// TestSparseHostile: a message of version 3 that no sketch has written is refused, and nothing is
// changed; so are damaged ones.
func TestSparseHostile(t *testing.T) {
	receiver := sparseGolden(t)["mixed"]
	b := marshal(t, receiver)
	f := math.Float64bits
	const rows = 144 + 8*17 // of the entries: behind the row of numbers
	const columns, values = rows + 4*8, rows + 4*8 + 3*4
	for _, c := range []struct {
		what   string
		offset int // of the field changed
		value  uint64
		at     int // where the error shows
	}{
		{"length too large", 16, uint64(len(b) + 8), 16},
		{"other d", 24, 18, 16},
		{"SVD", 48, 1, 120},
		{"all rows kept", 32, 17, 120},
		{"count below all rows", 72, 3, 128},
		{"no r", 120, 0, 128},
		{"r large", 120, 1 << 40, 120},
		{"r without end", 120, math.MaxUint64, 120},
		{"fewer rows", 128, 2, 16},
		{"rows without end", 128, math.MaxUint64, 128},
		{"other entries", 136, 2, 16},
		{"entries without end", 136, math.MaxUint64, 136},
		{"rows begin late", rows, 1, rows},
		{"a row begins behind all", rows + 8, 4, rows},
		{"a row begins beyond all int", rows + 8, math.MaxUint64, rows},
		{"a row ends before it begins", rows + 16, 1, rows + 8},
		{"a row of too many entries", rows + 8, 3, rows},
		{"rows end early", rows + 24, 2, rows},
		{"columns that fall", columns, 3<<32 | 16, rows},
		{"a negative column", columns, 16<<32 | 1<<31, rows},
		{"a column beyond d", columns, 17<<32 | 3, rows},
		{"an entry NaN", values + 8, f(math.NaN()), values + 8},
		{"an entry too large", values + 16, f(1e160), values + 16},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.offset, c.value)
		e := refuses(t, c.what, wiretest.Seal(bad), receiver)
		if e.Offset != int64(c.at) && math.MaxInt == math.MaxInt64 {
			t.Errorf("%s: %v", c.what, e)
		}
	}
	for n := range b {
		refuses(t, fmt.Sprintf("the first %d bytes", n), b[:n], receiver)
	}
	for bit := range 8 * len(b) {
		bad := slices.Clone(b)
		bad[bit/8] ^= 1 << (bit % 8)
		refuses(t, fmt.Sprintf("bit %d", bit), bad, receiver)
	}
	// Entries that never come.
	bad := slices.Clone(b[:200])
	const d, p, z = 1 << 20, 1 << 10, 1 << 28
	wiretest.Put(bad, 16, 124+24+8*5+12*z)
	for i, v := range []uint64{d, 3, p, 0, 0, 0, 9, 0} {
		wiretest.Put(bad, 24+8*i, v)
	}
	for i, v := range []uint64{7, 4, z} {
		wiretest.Put(bad, 120+8*i, v)
	}
	for way, open := range wiretest.Readers {
		r := open(wiretest.Seal(bad))
		got := allocated(func() {
			if _, err := fd.ReadSketch(r, nil); err == nil {
				t.Error("entries that never come")
			}
		})
		if got > uint64(2*len(bad)+64<<10) {
			t.Errorf("%s: 200 bytes allocated %d", way, got)
		}
	}
	// A message of version 3 that needs only version 1 is refused.
	plain := newSketch(t, fd.Config{Dim: 17, Size: 2, ShrinkRows: 3})
	old := marshal(t, plain)
	newer := slices.Concat(old[:120], make([]byte, 24+8+4))
	newer[8] = 3
	wiretest.Put(newer, 16, uint64(len(newer)))
	wiretest.Put(newer, 120, uint64(plain.Config().SparseRows))
	if e := refuses(t, "a version that is not needed", wiretest.Seal(newer), receiver); e.Offset != 8 {
		t.Error(e)
	}
}

// TestSparseCodecAllocation is TestCodecAllocation for sparse rows.
func TestSparseCodecAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	s := newSketch(t, fd.Config{Dim: 4000, Size: 5, SparseRows: 3000})
	x := engine.CSR{Rows: 2500, Cols: 4000, RowPtr: []int{0}}
	for range x.Rows {
		if rng.IntN(3) > 0 {
			x.ColIdx, x.Val = append(x.ColIdx, int32(rng.IntN(4000))), append(x.Val, rng.NormFloat64())
		}
		x.RowPtr = append(x.RowPtr, len(x.Val))
	}
	check(t, s.AppendSparse(&x))
	b := marshal(t, s)
	for way, open := range wiretest.Readers {
		for n := len(b); n > 64; n = n * 3 / 4 {
			r := open(b[:n])
			got := allocated(func() {
				if _, err := fd.ReadSketch(r, s.Config().Backend); (err == nil) != (n == len(b)) {
					t.Errorf("%d of %d bytes: %v", n, len(b), err)
				}
			})
			if limit := uint64(2*n + 64<<10); got > limit {
				t.Errorf("%s: %d of %d bytes allocated %d, more than %d", way, n, len(b), got, limit)
			}
		}
	}
}

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

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// centredGolden are the sketches of the golden files of version 4, of rows whose sums have no
// rounding: one with rows of one centre, one with others, too, between two centres.
func centredGolden(t testing.TB, be engine.Backend) map[string]*fd.Sketch {
	cfg := fd.Config{Dim: 17, Size: 2, ShrinkRows: 6, SparseRows: 12, Backend: be}
	one, mixed := newSketch(t, cfg), newSketch(t, cfg)
	x := &engine.CSR{
		Rows:   3,
		Cols:   17,
		RowPtr: []int{0, 2, 2, 3},
		ColIdx: []int32{3, 16, 0},
		Val:    []float64{1, -0.5, 0x1p-20},
	}
	centre, row := make([]float64, 17), make([]float64, 17)
	for j := range centre {
		centre[j] = 0.25 * float64(j)
	}
	row[2], row[16] = 7, -0x1p10
	times := []float64{1, 0, -0.5}
	check(t, one.AppendCentred(x, nil, centre))
	check(t, mixed.AppendSparse(x))
	check(t, mixed.AppendCentred(x, times, centre))
	check(t, mixed.AppendRow(row))
	check(t, mixed.AppendCentred(x, times, row))
	check(t, mixed.Decay(0.25))
	return map[string]*fd.Sketch{"one": one, "mixed": mixed}
}

func TestCentredGolden(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for name, s := range centredGolden(t, be) {
			path := filepath.Join("testdata", "sketch-v4-"+name+".bin")
			if *update {
				check(t, os.WriteFile(path, marshal(t, s), 0o644))
			}
			b := must(os.ReadFile(path))(t)
			r := must(fd.ReadSketch(bytes.NewReader(b), be))(t)
			if !bytes.Equal(marshal(t, r), b) || !bytes.Equal(marshal(t, s), b) || r.Config().SparseRows != 12 {
				t.Errorf("%s: another message is written, or read", name)
			}
			same(t, name, r, s)
		}
	})
}

// TestCentredCodecGoesOn: however many rows with centres wait, a sketch written and read goes on as if
// it never had been.
func TestCentredCodecGoesOn(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rng := rand.New(rand.NewPCG(5, 6))
		for at, cfg := range []fd.Config{
			{Dim: 40, Size: 4, ShrinkRows: 3, SparseRows: 7}, {Dim: 40, Size: 4, ShrinkRows: 3}, {Dim: 40, Size: 9}, {Dim: 256, Size: 4, SparseRows: -1}, {Dim: 256, Size: 4, SparseRows: 2},
		} {
			cfg.Backend = be
			for fill := range 25 {
				if !isTried(fill + at) {
					continue
				}
				b := centredRows(rng, stream(rng, 10+fill, cfg.Dim, "decay"), cfg.Dim/8, 1)
				s := newSketch(t, cfg)
				b.append(t, s)
				if fill%3 == 0 {
					check(t, s.Append(b.a.Slice(0, 2, 0, cfg.Dim)))
				}
				for way := range wiretest.Readers {
					r, other, o := reread(t, s, way), reread(t, s, way), reread(t, s, way)
					same(t, fmt.Sprintf("%+v, fill %d, %s", cfg, fill, way), r, s)
					go1 := func(s *fd.Sketch, again bool) *fd.Sketch {
						if again {
							s = reread(t, s, way)
						}
						b.append(t, s)
						check(t, s.Merge(o))
						check(t, s.AppendSparse(b.s))
						return s
					}
					same(t, fmt.Sprintf("%+v, fill %d, %s, went on", cfg, fill, way), go1(other, true), go1(r, false))
				}
			}
		}
	})
}

// TestCentredHostile: a message of version 4 that no sketch has written is refused, and nothing is
// changed; so are damaged ones.
func TestCentredHostile(t *testing.T) {
	receiver := centredGolden(t, nil)["mixed"]
	b := marshal(t, receiver)
	f := math.Float64bits
	const dense, sparse, entries = 3, 9, 9
	const rows = 144 + 8*17*dense // of the entries: behind the rows of numbers
	const times = rows + 8*(sparse+1) + 12*entries
	const centres = times + 8*sparse
	for _, c := range []struct {
		what   string
		offset int // of the field changed
		value  uint64
		at     int // where the error shows
	}{
		{"version 3", 8, 1<<32 | 3, 128},
		{"length too large", 16, uint64(len(b) + 8), 16},
		{"fewer rows appended than are left", 72, sparse, 72},
		{"fewer rows appended than are sparse", 72, sparse - 1, 128},
		{"more rows than are appended", 128, 11, 128},
		{"times NaN", times + 8*3, f(math.NaN()), times + 8*3},
		{"times Inf", times + 8*3, f(math.Inf(1)), times + 8*3},
		{"times too large", times + 8*3, f(1e152), times + 8*3},
		{"times without a centre", times, f(1), times},
		{"no times of a centre", times + 8*3, 0, times + 8*3},
		{"a centre without times", centres, 1, times},
		{"a centre behind all rows", centres + 8*3, 4, centres + 8*3},
		{"a centre before all rows", centres + 8*3, math.MaxUint64, centres + 8*3},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.offset, c.value)
		e := refuses(t, c.what, wiretest.Seal(bad), receiver)
		if e.Offset != int64(c.at) && math.MaxInt == math.MaxInt64 {
			t.Errorf("%s: %v, want offset %d", c.what, e, c.at)
		}
	}
	bad := slices.Clone(b)
	for i := range 17 { // a centre of zeros
		wiretest.Put(bad, 144+8*i, 0)
	}
	refuses(t, "a centre of zeros", wiretest.Seal(bad), receiver)
	bad = slices.Clone(b)
	for i := range sparse {
		wiretest.Put(bad, times+8*i, 0)
		wiretest.Put(bad, centres+8*i, 0)
	}
	if e := refuses(t, "version 4 without centres", wiretest.Seal(bad), receiver); e.Offset != 8 {
		t.Error(e)
	}
	for n := range b {
		refuses(t, fmt.Sprintf("the first %d bytes", n), b[:n], receiver)
	}
	for bit := range 8 * len(b) {
		bad := slices.Clone(b)
		bad[bit/8] ^= 1 << (bit % 8)
		refuses(t, fmt.Sprintf("bit %d", bit), bad, receiver)
	}
}

// TestCentredCodecAllocation is TestCodecAllocation for rows with a centre.
func TestCentredCodecAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	s := newSketch(t, fd.Config{Dim: 4000, Size: 5, SparseRows: 3000})
	x := scatteredRows(2500, 4000, 2)
	centre := make([]float64, 4000)
	for j := range centre {
		centre[j] = rng.NormFloat64()
	}
	check(t, s.AppendCentred(x, nil, centre))
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

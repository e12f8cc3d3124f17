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
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

// TestScatterRule: AᵀA is stored if its d² numbers are at most the numbers in the buffer of a sketch of this size,
// for the default ShrinkRows. It is also stored if the configuration asks for it. The SVD driver stores AᵀA only if
// asked.
func TestScatterRule(t *testing.T) {
	p := must(engine.DefaultTuning())(t).ShrinkRows(8)
	for _, c := range []struct {
		cfg  fd.Config
		want bool
	}{
		{fd.Config{Dim: 8 + p, Size: 8}, true}, {fd.Config{Dim: 9 + p, Size: 8}, false},
		{fd.Config{Dim: 8 + p, Size: 8, ShrinkRows: 1}, true}, {fd.Config{Dim: 9 + p, Size: 8, ShrinkRows: 99}, false},
		{fd.Config{Dim: 5, Size: math.MaxInt}, true}, {fd.Config{Dim: 8, Size: 8, Shrink: fd.SVD}, false},
		{fd.Config{Dim: 8, Size: 8, Store: fd.StoreRows}, false}, {fd.Config{Dim: 80, Size: 2, Store: fd.StoreScatter}, true},
		{fd.Config{Dim: 80, Size: 2, Store: fd.StoreScatter, Shrink: fd.SVD}, true},
	} {
		s := must(fd.New(c.cfg))(t)
		in := s.Config()
		got := must(c.cfg.Scatter())(t)
		if got != c.want || s.Scatter() != c.want || (in.Store == fd.StoreScatter) != c.want ||
			in.Store == fd.StoreSmaller {
			t.Errorf("%+v keeps AᵀA: %v, in force %+v", c.cfg, got, in)
		}
		m, rows, err := c.cfg.Buffer()
		if err != nil || rows != in.ShrinkRows || c.want && (m != c.cfg.Dim || c.cfg.ShrinkRows == 0 && rows != 256) {
			t.Errorf("%+v: m = %d, p = %d, %v", c.cfg, m, rows, err)
		}
	}
}

// scatterOf is a sketch that keeps AᵀA, of rows in any order of appends, decays and merges with
// others of its kind, and the rows as they then count.
func scatterOf(t *rapid.T, be engine.Backend) (*fd.Sketch, *mat.Dense) {
	d, rng := rapid.IntRange(1, 20).Draw(t, "d"), draw(t)
	cfg := func() fd.Config {
		return fd.Config{
			Dim:        d,
			Size:       3,
			ShrinkRows: rapid.IntRange(0, 12).Draw(t, "p"),
			Store:      fd.StoreScatter,
			Backend:    be,
		}
	}
	s, name := newSketch(t, cfg()), rapid.SampledFrom(spectrumNames).Draw(t, "spectrum")
	var all mat.Dense
	add := func(x *mat.Dense) {
		if all.IsEmpty() {
			all.CloneFrom(x)
			return
		}
		old := mat.DenseCopyOf(&all)
		all.Reset()
		all.Stack(old, x)
	}
	for range rapid.IntRange(1, 6).Draw(t, "steps") {
		x := stream(rng, rapid.IntRange(1, 40).Draw(t, "n"), d, name)
		switch rapid.SampledFrom([]string{"append", "decay", "merge"}).Draw(t, "step") {
		case "append":
			check(t, s.Append(x))
			add(x)
		case "decay":
			beta := rapid.SampledFrom([]float64{0.25, 0.0625}).Draw(t, "beta") // whose roots are exact
			check(t, s.Decay(beta))
			if !all.IsEmpty() {
				all.Scale(math.Sqrt(beta), &all)
			}
		case "merge":
			o := newSketch(t, cfg())
			check(t, o.Append(x))
			check(t, s.Merge(o))
			add(x)
		}
	}
	return s, &all
}

// TestScatterLosesNothing: after any sequence of steps, a sketch that stores AᵀA has η = 0. Its tail is round-off,
// and its error is within the recorded round-off.
func TestScatterLosesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		rapid.Check(t, func(t *rapid.T) {
			s, a := scatterOf(t, be)
			if a.IsEmpty() {
				return
			}
			holds(t, s, a)
			p := must(s.Spectrum())(t)
			if b := s.Bound(); b.Shrinkage != 0 || p.Bound.Shrinkage != 0 ||
				!(b.Tail <= b.RoundOff+16*eps*b.Frobenius2) ||
				!(p.Bound.Tail <= p.Bound.RoundOff) {
				t.Errorf("%+v, read %+v", b, p.Bound)
			}
			// of the product that measures the eigenproblem
			if b := s.Bound(); !(p.Bound.RoundOff >= b.RoundOff+2*eps*b.Frobenius2) {
				t.Errorf("reading adds to the round-off of %+v, and makes it %+v", b, p.Bound)
			}
			c.add(gap(a, p.Matrix()), p.Bound, "a stream")
		})
		c.holds(t)
	})
}

// TestScatterOfRepeatedRows: rows whose roundings all go the same way, many of them.
func TestScatterOfRepeatedRows(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		var c largest
		for _, s := range []struct{ d, p, n int }{
			{1, 0, 200000}, {1, 1, 4000}, {3, 2, 8000}, {8, 0, 100000}, {20, 100, 40000}, {64, 5, 3000}, {130, 0, 3000},
			{3, 700, 50000},
		} {
			if testing.Short() && s.n*s.d > 100000 {
				continue // minutes where the processor is emulated
			}
			for name, draw := range repeated {
				for seed := range max(drawn(8), 1) {
					a := draw(rand.New(rand.NewPCG(uint64(s.d), uint64(seed))), s.d)
					sketch := newSketch(
						t,
						fd.Config{Dim: s.d, Size: 1, ShrinkRows: s.p, Store: fd.StoreScatter, Backend: be},
					)
					times := s.n/16 + 1
					for range times {
						check(t, sketch.Append(a))
					}
					p := must(sketch.Spectrum())(t)
					c.add(gapTimes(times, a, p.Matrix()), p.Bound, fmt.Sprintf("%s, d = %d, p = %d", name, s.d, s.p))
				}
			}
		}
		c.holds(t)
	})
}

// TestScatterStaysSmall: what is booked does not grow with the number of rows.
func TestScatterStaysSmall(t *testing.T) {
	for _, c := range []struct{ d, p, n int }{{8, 0, 1000000}, {8, 1, 100000}, {64, 0, 20000}} {
		a := stream(rand.New(rand.NewPCG(1, 1)), 1000, c.d, "decay")
		s := newSketch(t, fd.Config{Dim: c.d, Size: 1, ShrinkRows: c.p, Store: fd.StoreScatter})
		for range c.n / 1000 {
			check(t, s.Append(a))
		}
		b := must(s.Spectrum())(t).Bound
		if got, most := b.RoundOff/eps/b.Frobenius2, 256/2+40+float64(c.d); !(got <= most) || b.Shrinkage != 0 {
			t.Errorf("d = %d, p = %d, n = %d: RoundOff is %.4g·eps·‖A‖², η is %g", c.d, c.p, c.n, got, b.Shrinkage)
		}
	}
}

// TestScatterUnderflow: where every square underflows K is zero and AᵀA is not.
func TestScatterUnderflow(t *testing.T) {
	for _, x := range []float64{1e-170, 1e-162, 3e-158, 1.4e-154, 5e-324} {
		for _, n := range []int{1, 3, 50} {
			a := mat.NewDense(n, 2, nil)
			a.Apply(func(i, j int, _ float64) float64 { return x * []float64{1, -0.5, 0.75}[(i+2*j)%3] }, a)
			s := newSketch(t, fd.Config{Dim: 2, Size: 1, ShrinkRows: 2, Store: fd.StoreScatter})
			check(t, s.Append(a))
			withinBig(t, bigGram(a), must(s.Spectrum())(t))
			k := bigGram(a)
			for i := range k {
				for j := range k[i] {
					k[i][j] = mul(k[i][j], number(0.37))
				}
			}
			check(t, s.Decay(0.37))
			withinBig(t, k, must(s.Spectrum())(t))
		}
	}
}

// TestScatterMergesKeepBooks: a merge adds up what either side has lost and what round-off is
// booked for it, whatever the two keep.
func TestScatterMergesKeepBooks(t *testing.T) {
	a := stream(rand.New(rand.NewPCG(3, 9)), 200, 10, "flat")
	of := func(store fd.Storage, lo, hi int) *fd.Sketch {
		s := newSketch(t, fd.Config{Dim: 10, Size: 4, ShrinkRows: 6, Store: store})
		check(t, s.Append(a.Slice(lo, hi, 0, 10)))
		return s
	}
	for _, into := range stores {
		for _, from := range stores {
			s, o := of(into, 0, 100), of(from, 100, 200)
			before, other := s.Bound(), o.Bound()
			check(t, s.Merge(o))
			read, b := must(s.Spectrum())(t).Bound, s.Bound()
			reading := 10 * eps * b.Frobenius2 // which Bound counts once for each of them, and once for both
			if !(b.Shrinkage >= before.Shrinkage+other.Shrinkage) ||
				!(b.RoundOff >= before.RoundOff+other.RoundOff-reading/2) ||
				!(read.RoundOff >= b.RoundOff-reading) {
				t.Errorf("%v into %v: %+v and %+v make %+v, read %+v", from, into, before, other, b, read)
			}
			both := into == fd.StoreScatter && from == fd.StoreScatter
			if both != (b.Shrinkage == 0) || s.Scatter() != (into == fd.StoreScatter) {
				t.Errorf("%v into %v: η is %g", from, into, b.Shrinkage)
			}
			holds(t, s, a)
		}
	}
}

// scatterGolden are the sketches of the golden files of version 2, of rows whose sums have no
// rounding: one before anything was added to AᵀA, and one with rows that wait.
func scatterGolden(t testing.TB) map[string]*fd.Sketch {
	cfg := fd.Config{Dim: 3, Size: 2, ShrinkRows: 3, Store: fd.StoreScatter}
	empty, waiting, added := newSketch(t, cfg), newSketch(t, cfg), newSketch(t, cfg)
	check(t, waiting.AppendRow([]float64{1, 2, 3}))
	check(t, added.Append(mat.NewDense(5, 3, []float64{1, -2, 0.5, 0, 0, 0, 0x1p-20, 3, -0x1p10, 7, 0, 1, 0, 0.5, 4})))
	check(t, added.Decay(0.25))
	return map[string]*fd.Sketch{"empty": empty, "waiting": waiting, "added": added}
}

func TestScatterGolden(t *testing.T) {
	for name, s := range scatterGolden(t) {
		path := filepath.Join("testdata", "sketch-v2-"+name+".bin")
		if *update {
			check(t, os.WriteFile(path, marshal(t, s), 0o644))
		}
		b := must(os.ReadFile(path))(t)
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			r := must(fd.ReadSketch(bytes.NewReader(b), be))(t)
			if !bytes.Equal(marshal(t, r), b) || !bytes.Equal(marshal(t, s), b) || !r.Scatter() {
				t.Errorf("%s: another message is written", name)
			}
			same(t, name, r, s)
		})
	}
}

// TestScatterHostile: a message of version 2 that no sketch has written is refused, and nothing
// is changed; so are damaged ones.
func TestScatterHostile(t *testing.T) {
	receiver := scatterGolden(t)["added"]
	b := marshal(t, receiver)
	f := math.Float64bits
	for _, c := range []struct {
		what   string
		offset int // of the field changed
		value  uint64
		at     int // where the error shows
	}{
		{"length too large", 16, uint64(len(b) + 8), 16},
		{"d = 0", 24, 0, 24},
		{"other d", 24, 4, 16},
		{"d large", 24, 1 << 50, 24},
		{"p = 0", 40, 0, 40},
		{"driver", 48, 2, 48},
		{"rows beyond p", 56, 4, 56},
		{"other rows", 56, 1, 16},
		{"no scatter matrix", 64, 0, 16},
		{"two scatter matrices", 64, 2, 64},
		{"count below rows", 72, 1, 56},
		{"a scatter matrix of no additions", 80, 0, 64},
		{"η NaN", 88, f(math.NaN()), 88},
		{"round-off < 0", 96, f(-1), 96},
		{"entry NaN", 120, f(math.NaN()), 120},
		{"correction Inf", 144, f(math.Inf(1)), 136},
		{"entry too large", 136, f(1e305), 136},
		{"diagonal < 0", 152, f(-1), 152},
		{"row NaN", 120 + 96, f(math.NaN()), 120 + 96},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.offset, c.value)
		if e := refuses(t, c.what, wiretest.Seal(bad), receiver); e.Offset != int64(c.at) {
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
	rows := slices.Clone(b)
	rows[8] = 1
	refuses(t, "as if it kept rows", wiretest.Seal(rows), receiver)
	// A matrix that any machine can address, and that never comes.
	bad := slices.Clone(b[:200])
	const dim = 1 << 14
	wiretest.Put(bad, 16, 124+8*dim*(dim+1))
	for i, v := range []uint64{dim, 3, 3, 0, 0, 1, 5, 1} {
		wiretest.Put(bad, 24+8*i, v)
	}
	for way, open := range wiretest.Readers {
		r := open(wiretest.Seal(bad))
		got := allocated(func() {
			if _, err := fd.ReadSketch(r, nil); err == nil {
				t.Error("a matrix that never comes")
			}
		})
		if got > uint64(2*len(bad)+64<<10) {
			t.Errorf("%s: 200 bytes allocated %d", way, got)
		}
	}
}

// TestScatterMergeIsRead: what merges of few rows make can be written and read again, and goes on
// to the same bits. Of AᵀA of fewer rows than features eigenvalues that are round-off may become
// rows, too.
func TestScatterMergeIsRead(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for range 50 {
		d := 2 + rng.IntN(6)
		a, at := stream(rng, 4, d, "flat"), 0
		of := func(store fd.Storage, n int) *fd.Sketch {
			s := newSketch(t, fd.Config{Dim: d, Size: d, ShrinkRows: 1 + rng.IntN(2), Store: store})
			check(t, s.Append(a.Slice(at, at+n, 0, d)))
			at += n
			return s
		}
		again := func(s *fd.Sketch) *fd.Sketch {
			r := must(fd.ReadSketch(bytes.NewReader(marshal(t, s)), nil))(t)
			same(t, "merged", r, s)
			return r
		}
		s := of(fd.StoreRows, 1)
		check(t, s.Merge(of(fd.StoreScatter, 2)))
		s = again(s)
		k := of(fd.StoreScatter, 1)
		check(t, k.Merge(s))
		holds(t, again(k), a)
	}
}

package fd_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// losslessConfigs are sketches that keep all d rows, with and without room to spare the
// kept ones in a shrink.
func losslessConfigs(be engine.Backend) []fd.Config {
	var out []fd.Config
	for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
		for _, c := range [][2]int{{5, 1}, {5, 7}, {5, 20}, {5, 90}, {70, 280}, {1, 4}} {
			out = append(out, fd.Config{Dim: c[0], Size: c[0] + 1, ShrinkRows: c[1], Shrink: driver, Backend: be})
		}
	}
	return out
}

// TestLosslessGuarantees: with many shrinks, of some of the rows and of all.
func TestLosslessGuarantees(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, cfg := range losslessConfigs(be) {
			for _, name := range []string{"flat", "graded", "low rank"} {
				a := stream(rand.New(rand.NewPCG(6, 2)), 12*(cfg.Dim+cfg.ShrinkRows), cfg.Dim, name)
				s := newSketch(t, cfg)
				check(t, s.Append(a))
				p := must(s.Spectrum())(t)
				if s.Shrinks() == 0 || p.Bound.Shrinkage != 0 {
					t.Errorf("%+v: η is %g after %d shrinks", cfg, p.Bound.Shrinkage, s.Shrinks())
				}
				e := gap(a, p.Matrix())
				within(t, e, p.Bound)
				orthonormal(t, p)
				// The live rows are as good.
				b := s.Bound()
				if !(b.FD() <= p.Bound.FD()) || !(b.Tail <= 1e-13*b.Frobenius2) {
					t.Errorf("%+v: the live rows have the bound %+v, those read %+v", cfg, b, p.Bound)
				}
			}
		}
	})
}

// TestLosslessGoesOn: written, read and gone on at any row, or in batches, it is the same
// sketch to the last bit, for every GOMAXPROCS.
func TestLosslessGoesOn(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		for _, cfg := range losslessConfigs(be) {
			a := stream(rand.New(rand.NewPCG(6, 3)), 6*(cfg.Dim+cfg.ShrinkRows), cfg.Dim, "decay")
			n, d := a.Dims()
			whole := newSketch(t, cfg)
			check(t, whole.Append(a))
			parts := newSketch(t, cfg)
			rng := rand.New(rand.NewPCG(4, 4))
			for i := 0; i < n; {
				if be.Name() == "purego" { // promised of purego alone
					runtime.GOMAXPROCS(1 + rng.IntN(7))
				}
				k := min(n-i, 1+rng.IntN(n/5))
				check(t, parts.Append(a.Slice(i, i+k, 0, d)))
				parts = reread(t, parts, "UnmarshalBinary")
				check(t, parts.UnmarshalBinary(marshal(t, parts)))
				i += k
			}
			if !bytes.Equal(marshal(t, whole), marshal(t, parts)) {
				t.Errorf("%+v: in parts it is another sketch", cfg)
			}
		}
	})
}

// TestLosslessMerge: of sketches with unlike drivers and unlike numbers of rows between
// shrinks, at every fill.
func TestLosslessMerge(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		configs := losslessConfigs(be)
		for i, c1 := range configs {
			c2 := configs[(i+3)%len(configs)]
			if c1.Dim != 5 || c2.Dim != 5 {
				continue
			}
			for _, n := range [][2]int{{0, 3}, {3, 0}, {2, 200}, {200, 2}, {150, 170}, {5 + c1.ShrinkRows, 5 + c2.ShrinkRows}} {
				a := stream(rand.New(rand.NewPCG(6, 4)), n[0]+n[1], 5, "graded")
				s, o := newSketch(t, c1), newSketch(t, c2)
				for r := range n[0] + n[1] {
					check(t, map[bool]*fd.Sketch{true: s, false: o}[r < n[0]].AppendRow(a.RawRowView(r)))
				}
				check(t, s.Merge(o))
				within(t, gap(a, must(s.Spectrum())(t).Matrix()), must(s.Spectrum())(t).Bound)
			}
		}
	})
}

// TestLosslessAllocatesNothing in steady state.
func TestLosslessAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			const n, d = 150, 30
			a := stream(rand.New(rand.NewPCG(1, 1)), n, d, "flat")
			s := newSketch(t, fd.Config{Dim: d, Size: d, ShrinkRows: 120, Shrink: driver, Backend: be})
			check(t, s.Append(a))
			shrinks := s.Shrinks()
			if got := testing.AllocsPerRun(20, func() { check(t, s.Append(a)) }); got != 0 {
				t.Errorf("%v: %v allocations", driver, got)
			}
			if s.Shrinks() == shrinks {
				t.Fatal("nothing was shrunk")
			}
		}
	})
}

// TestLosslessRows: the default, and what overrides it.
func TestLosslessRows(t *testing.T) {
	for _, c := range []struct {
		cfg  fd.Config
		want int
	}{
		{fd.Config{Dim: 8, Size: 8}, 4096}, {fd.Config{Dim: 8, Size: 100}, 4096}, {fd.Config{Dim: 16, Size: 16}, 2048},
		{fd.Config{Dim: 256, Size: 256}, 1024}, {fd.Config{Dim: 8, Size: 8, Shrink: fd.SVD}, 32},
		{fd.Config{Dim: 8, Size: 7}, 9}, {fd.Config{Dim: 8, Size: 8, ShrinkRows: 3}, 3},
	} {
		if got := newSketch(t, c.cfg).Config().ShrinkRows; got != c.want {
			t.Errorf("%+v: %d rows between shrinks, want %d", c.cfg, got, c.want)
		}
	}
}

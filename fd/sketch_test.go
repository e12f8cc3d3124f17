package fd_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
)

// newSketch keeps rows where cfg doesn't say what to keep: most tests are small, and about these.
func newSketch(t rapid.TB, cfg fd.Config) *fd.Sketch {
	t.Helper()
	if cfg.Store == fd.StoreSmaller {
		cfg.Store = fd.StoreRows
	}
	return must(fd.New(cfg))(t)
}

func TestGuarantees(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			n, d := rapid.IntRange(0, 120).Draw(t, "n"), rapid.IntRange(1, 25).Draw(t, "d")
			s := newSketch(t, fd.Config{
				Dim: d, Size: rapid.IntRange(1, 30).Draw(t, "m"), ShrinkRows: rapid.IntRange(0, 20).Draw(t, "p"),
				Shrink: rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "driver"), Store: drawStore(t), Backend: be,
			})
			if n == 0 {
				p := must(s.Spectrum())(t)
				if len(p.Sigma2) != 0 || p.Bound.FD() != 0 {
					t.Fatalf("empty sketch: %+v", p)
				}
				return
			}
			a := stream(draw(t), n, d, rapid.SampledFrom(spectrumNames).Draw(t, "spectrum"))
			a.Scale(math.Ldexp(1, rapid.IntRange(-60, 60).Draw(t, "scale")), a)
			check(t, s.Append(a))
			holds(t, s, a)
		})
	})
}

// stores are the ways in which a sketch can store rows.
var stores = []fd.Storage{fd.StoreRows, fd.StoreScatter}

func drawStore(t *rapid.T) fd.Storage { return rapid.SampledFrom(stores).Draw(t, "store") }

func draw(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
}

// TestTextbook: a sketch with p = ShrinkRows = 1 has the same BᵀB and the same η as the row-by-row algorithm of the
// textbook.
func TestTextbook(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			for _, name := range []string{"flat", "decay", "two levels"} {
				rng := rand.New(rand.NewPCG(7, 7))
				a := stream(rng, 60, 12, name)
				want, eta := textbook(a, 5)
				s := newSketch(t, fd.Config{Dim: 12, Size: 5, ShrinkRows: 1, Shrink: driver, Backend: be})
				check(t, s.Append(a))
				p := must(s.Spectrum())(t)
				lo, hi := extremes(gap(p.Matrix(), want))
				scale := 1e-12 * p.Bound.Frobenius2
				if worst := math.Max(-lo, hi); !(worst <= scale) {
					t.Errorf("%v, %s: BᵀB differs from the text book's by %g", driver, name, worst)
				}
				if !(math.Abs(p.Bound.Shrinkage-eta) <= scale) {
					t.Errorf("%v, %s: η = %g, the text book's is %g", driver, name, p.Bound.Shrinkage, eta)
				}
			}
		}
	})
}

// TestLossless: a matrix of rank at most m is sketched without loss.
func TestLossless(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			for _, c := range []struct{ n, d, m int }{{200, 30, 4}, {200, 10, 10}, {200, 10, 64}, {3, 30, 8}, {1, 1, 1}} {
				a := stream(rand.New(rand.NewPCG(3, 9)), c.n, c.d, "low rank")
				s := newSketch(t, fd.Config{Dim: c.d, Size: c.m, Shrink: driver, Backend: be})
				check(t, s.Append(a))
				b := must(s.Spectrum())(t).Bound
				if !(b.FD() <= 1e-12*b.Frobenius2) {
					t.Errorf("%v, %+v: bound %g for ‖A‖²_F = %g", driver, c, b.FD(), b.Frobenius2)
				}
				holds(t, s, a)
			}
		}
	})
}

func TestMergeEveryFill(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d, m, p = 9, 4, 3
		fills := []int{0, 1, m - 1, m, m + 1, m + p - 1, m + p}
		for _, n1 := range fills {
			for _, n2 := range fills {
				for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
					for _, into := range stores {
						for _, of := range stores {
							cfg := fd.Config{Dim: d, Size: m, ShrinkRows: p, Shrink: driver, Store: into, Backend: be}
							mergeTwo(t, cfg, of, n1, n2)
							mergeTwo(t, cfg, of, n1+40, n2+33)
						}
					}
				}
			}
		}
	})
}

func mergeTwo(t *testing.T, cfg fd.Config, of fd.Storage, n1, n2 int) {
	t.Helper()
	if n1+n2 == 0 {
		return
	}
	a := stream(rand.New(rand.NewPCG(uint64(n1), uint64(n2))), n1+n2, cfg.Dim, "decay")
	s1 := newSketch(t, cfg)
	cfg.Store = of
	s2 := newSketch(t, cfg)
	for i := range n1 + n2 {
		s := s1
		if i >= n1 {
			s = s2
		}
		check(t, s.AppendRow(a.RawRowView(i)))
	}
	before := must(s2.Spectrum())(t)
	check(t, s1.Merge(s2))
	holds(t, s1, a)
	after := must(s2.Spectrum())(t)
	for i, v := range before.V {
		if math.Float64bits(v) != math.Float64bits(after.V[i]) {
			t.Fatal("Merge changed its argument")
		}
	}
}

func TestMergeTrees(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := rapid.IntRange(1, 15).Draw(t, "d")
			m := rapid.IntRange(1, 12).Draw(t, "m")
			parts := rapid.SliceOfN(rapid.IntRange(0, 40), 1, 8).Draw(t, "parts")
			n := 1
			for _, k := range parts {
				n += k
			}
			a := stream(draw(t), n, d, rapid.SampledFrom(spectrumNames).Draw(t, "spectrum"))
			var forest []*fd.Sketch
			row := 0
			for i, k := range parts {
				s := newSketch(
					t,
					fd.Config{
						Dim:        d,
						Size:       m,
						ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"),
						Store:      drawStore(t),
						Backend:    be,
					},
				)
				if i == 0 {
					k++
				}
				if k > 0 {
					check(t, s.Append(a.Slice(row, row+k, 0, d)))
				}
				row += k
				forest = append(forest, s)
			}
			for len(forest) > 1 {
				i := rapid.IntRange(1, len(forest)-1).Draw(t, "from")
				j := rapid.IntRange(0, i-1).Draw(t, "into")
				check(t, forest[j].Merge(forest[i]))
				forest = append(forest[:i], forest[i+1:]...)
			}
			holds(t, forest[0], a)
		})
	})
}

// TestDecay: the guarantees hold for the covariance in which each row counts
// βᵏ, k the decays since it came.
func TestDecay(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, cfg := range []fd.Config{{}, {Store: fd.StoreScatter}, {Store: fd.StoreScatter, ShrinkRows: 7}} {
			cfg.Dim, cfg.Size, cfg.Backend = 12, 5, be
			decays(t, cfg)
		}
	})
}

func decays(t *testing.T, cfg fd.Config) {
	a := stream(rand.New(rand.NewPCG(1, 4)), 90, 12, "decay")
	s := newSketch(t, cfg)
	const beta = 0.81
	for i := range 90 {
		check(t, s.AppendRow(a.RawRowView(i)))
		if i%10 == 9 {
			check(t, s.Decay(beta))
		}
	}
	for i := range 90 {
		f := math.Pow(beta, float64(9-i/10)/2)
		row := a.RawRowView(i)
		for j := range row {
			row[j] *= f
		}
	}
	holds(t, s, a)
	for _, beta := range []float64{0, -1, 1.5, math.NaN(), math.Inf(1)} {
		if s.Decay(beta) == nil {
			t.Errorf("Decay(%v) accepted", beta)
		}
	}
}

// TestAppendForms: a dense matrix, its rows, a strided view, a transpose and
// sparse rows are the same stream, bitwise.
func TestAppendForms(t *testing.T) {
	const n, d = 50, 8
	a := stream(rand.New(rand.NewPCG(2, 2)), n, d, "decay")
	a.Apply(func(i, j int, v float64) float64 {
		if (i+j)%3 != 0 {
			return 0
		}
		return v
	}, a)
	wide := mat.NewDense(n, d+3, nil)
	wide.Slice(0, n, 0, d).(*mat.Dense).Copy(a)
	csr := engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i := range n {
		for j, v := range a.RawRowView(i) {
			if v != 0 {
				csr.ColIdx, csr.Val = append(csr.ColIdx, int32(j)), append(csr.Val, v)
			}
		}
		csr.RowPtr = append(csr.RowPtr, len(csr.Val))
	}
	forms := map[string]func(s *fd.Sketch) error{
		"strided":   func(s *fd.Sketch) error { return s.Append(wide.Slice(0, n, 0, d)) },
		"transpose": func(s *fd.Sketch) error { return s.Append(mat.DenseCopyOf(a.T()).T()) },
		"sparse":    func(s *fd.Sketch) error { return s.AppendSparse(&csr) },
		"rows": func(s *fd.Sketch) error {
			for i := range n {
				if err := s.AppendRow(a.RawRowView(i)); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cfg := fd.Config{Dim: d, Size: 3}
	s := newSketch(t, cfg)
	check(t, s.Append(a))
	want := must(s.Spectrum())(t)
	for name, form := range forms {
		s := newSketch(t, cfg)
		check(t, form(s))
		got := must(s.Spectrum())(t)
		for i, v := range want.V {
			if math.Float64bits(v) != math.Float64bits(got.V[i]) {
				t.Errorf("%s: V differs", name)
				break
			}
		}
		// The squares of a sparse row are summed in another order.
		g, w := got.Bound, want.Bound
		if !(math.Abs(g.Frobenius2-w.Frobenius2) <= 4*eps*w.Frobenius2) || g.Shrinkage != w.Shrinkage ||
			g.Rows != w.Rows {
			t.Errorf("%s: bound %+v, want %+v", name, g, w)
		}
	}
}

// TestBatches: a sketch is the same to the last bit for any division of its rows into batches. A batch may fit, fill
// the buffer or go on after a shrink, with refused batches in between. The same holds for widths at which the buffer
// pads its rows.
func TestBatches(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := rapid.SampledFrom([]int{1, 5, 256, 320}).Draw(t, "d")
			cfg := fd.Config{
				Dim: d, Size: rapid.IntRange(1, 9).Draw(t, "m"), ShrinkRows: rapid.IntRange(1, 9).Draw(t, "p"),
				Shrink: rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "driver"), Store: drawStore(t), Backend: be,
			}
			n := rapid.IntRange(1, 60).Draw(t, "n")
			a := stream(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), n, d, "decay").RawMatrix()
			whole, parts := newSketch(t, cfg), newSketch(t, cfg)
			check(t, whole.AppendRows(n, a.Data, a.Stride))
			for i := 0; i < n; {
				k := rapid.IntRange(0, min(25, n-i)).Draw(t, "batch")
				x := a.Data[i*a.Stride : (i+k)*a.Stride]
				if k > 0 {
					bad := slices.Clone(x)
					bad[rapid.IntRange(0, len(bad)-1).Draw(t, "bad")] = rapid.SampledFrom([]float64{
						math.NaN(), math.Inf(-1), 1e200,
					}).Draw(t, "value")
					if parts.AppendRows(k, bad, a.Stride) == nil {
						t.Fatal("a bad batch is accepted")
					}
				}
				check(t, parts.AppendRows(k, x, a.Stride))
				i += k
			}
			got, want := must(parts.Spectrum())(t), must(whole.Spectrum())(t)
			if !slices.Equal(got.Sigma2, want.Sigma2) || !slices.Equal(got.V, want.V) || got.Bound != want.Bound ||
				parts.Bound() != whole.Bound() {
				t.Errorf("in batches %+v, at once %+v", got.Bound, want.Bound)
			}
		})
	})
}

// TestReadingDoesNotDisturb: a stream that is read in between ends in the same
// sketch, bitwise.
func TestReadingDoesNotDisturb(t *testing.T) {
	a := stream(rand.New(rand.NewPCG(5, 2)), 80, 10, "decay")
	for _, store := range stores {
		cfg := fd.Config{Dim: 10, Size: 4, ShrinkRows: 7, Store: store}
		s, quiet := newSketch(t, cfg), newSketch(t, cfg)
		for i := range 80 {
			check(t, s.AppendRow(a.RawRowView(i)))
			check(t, quiet.AppendRow(a.RawRowView(i)))
			must(s.Spectrum())(t)
			s.Bound()
		}
		p, q := must(s.Spectrum())(t), must(quiet.Spectrum())(t)
		for i, v := range p.V {
			if math.Float64bits(v) != math.Float64bits(q.V[i]) {
				t.Fatal("reading changed the stream")
			}
		}
	}
}

// TestBoundOfLiveRows: Bound speaks of the live rows, before the last shrink.
func TestBoundOfLiveRows(t *testing.T) {
	a := stream(rand.New(rand.NewPCG(8, 2)), 47, 10, "decay")
	s := newSketch(t, fd.Config{Dim: 10, Size: 4, ShrinkRows: 5})
	check(t, s.Append(a))
	live, final := s.Bound(), must(s.Spectrum())(t).Bound
	if !(live.Shrinkage < final.Shrinkage) || !(live.Tail < final.Tail) || live.Frobenius2 != final.Frobenius2 {
		t.Errorf("live %+v, after the last shrink %+v", live, final)
	}
}

func TestExtremeInput(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const n, d = 40, 6
		fill := map[string]func(i, j int) float64{
			"zero":          func(i, j int) float64 { return 0 },
			"zero rows":     func(i, j int) float64 { return float64(i%3) * float64(j) },
			"constant":      func(i, j int) float64 { return 3 },
			"repeated":      func(i, j int) float64 { return []float64{0, 1}[(i%d+j)/d%2] },
			"identity":      func(i, j int) float64 { return map[bool]float64{true: 1}[i%d == j] },
			"denormal":      func(i, j int) float64 { return 5e-324 * float64(i*j) },
			"1e-200":        func(i, j int) float64 { return 1e-200 * float64(i-j) },
			"1e140":         func(i, j int) float64 { return 1e140 * math.Sin(float64(i*d+j)) },
			"1e140, 1e-140": func(i, j int) float64 { return []float64{1e140, 1e-140}[i%2] * math.Cos(float64(i*d+j)) },
		}
		for name, f := range fill {
			for _, cfg := range []fd.Config{
				{}, {Shrink: fd.SVD}, {Store: fd.StoreScatter}, {Store: fd.StoreScatter, ShrinkRows: 4},
			} {
				driver := cfg.Shrink
				a := mat.NewDense(n, d, nil)
				a.Apply(func(i, j int, _ float64) float64 { return f(i, j) }, a)
				cfg.Dim, cfg.Size, cfg.Backend = d, 3, be
				s := newSketch(t, cfg)
				check(t, s.Append(a))
				p := must(s.Spectrum())(t)
				for _, v := range append(p.V, append(p.Sigma2, p.Bound.FD(), p.Bound.Tail)...) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("%s, %v: %v in the result", name, driver, v)
					}
				}
				orthonormal(t, p)
				e := mat.NewSymDense(d, nil)
				if len(p.Sigma2) > 0 {
					e = gap(a, p.Matrix())
				}
				if _, hi := extremes(e); !(hi <= p.Bound.FD()) {
					t.Errorf("%s, %v: λmax(E) = %g, bound %g", name, driver, hi, p.Bound.FD())
				}
			}
		}
	})
}

func TestRefused(t *testing.T) {
	for _, store := range stores {
		refused(t, store)
	}
}

func refused(t *testing.T, store fd.Storage) {
	const d = 4
	s := newSketch(t, fd.Config{Dim: d, Size: 2, ShrinkRows: 3, Store: store})
	check(t, s.Append(stream(rand.New(rand.NewPCG(1, 1)), 13, d, "flat")))
	before := *must(s.Spectrum())(t)
	bad := func(v float64) *mat.Dense {
		x := mat.NewDense(9, d, nil)
		x.Set(7, 2, v)
		return x
	}
	var nonFinite *fd.NonFiniteError
	var tooLarge *fd.RangeError
	for name, c := range map[string]struct {
		err error
		ok  func(err error) bool
	}{
		"NaN": {
			s.Append(bad(math.NaN())),
			func(err error) bool { return errors.As(err, &nonFinite) && nonFinite.Row == 7 && nonFinite.Col == 2 },
		},
		"Inf": {
			s.Append(bad(math.Inf(-1))),
			func(err error) bool { return errors.As(err, &nonFinite) && nonFinite.Row == 7 && nonFinite.Col == 2 },
		},
		"NaN transpose": {
			s.Append(mat.DenseCopyOf(bad(math.NaN()).T()).T()),
			func(err error) bool { return errors.As(err, &nonFinite) && nonFinite.Row == 7 },
		},
		"overflow": {
			s.Append(bad(1e200)), func(err error) bool { return errors.As(err, &tooLarge) && tooLarge.Row == 7 },
		},
		"short row":   {s.AppendRow(make([]float64, d-1)), isShape},
		"wide":        {s.Append(mat.NewDense(3, d+1, nil)), isShape},
		"short slice": {s.AppendRows(3, make([]float64, 3*d-1), d), isShape},
		"small ld":    {s.AppendRows(3, make([]float64, 3*d), d-1), isShape},
		"negative n":  {s.AppendRows(-1, make([]float64, 3*d), d), isShape},
		"sparse NaN": {
			s.AppendSparse(sparse(d, []int32{1}, math.NaN())),
			func(err error) bool { return errors.As(err, &nonFinite) && nonFinite.Col == 1 },
		},
		"sparse order": {s.AppendSparse(sparse(d, []int32{2, 1}, 1, 1)), isShape},
		"sparse twice": {s.AppendSparse(sparse(d, []int32{1, 1}, 1, 1)), isShape},
		"NaN first": {
			s.AppendSparse(sparse(d, []int32{2, 1}, math.NaN(), 1)),
			func(err error) bool { return errors.As(err, &nonFinite) && nonFinite.Row == 0 && nonFinite.Col == 2 },
		},
		"column first":  {s.AppendSparse(sparse(d, []int32{2, 1, 3}, 1, math.NaN(), math.NaN())), isShape},
		"column, large": {s.AppendSparse(sparse(d, []int32{2, 1}, 1e200, 1)), isShape},
		"sparse large": {
			s.AppendSparse(sparse(d, []int32{2}, 1e200)),
			func(err error) bool { return errors.As(err, &tooLarge) && tooLarge.Row == 0 },
		},
		"sparse span": {
			s.AppendSparse(&engine.CSR{Rows: 1, Cols: d, RowPtr: []int{0, 2}, ColIdx: []int32{0}, Val: []float64{1, 1}}),
			isShape,
		},
		"sparse start": {
			s.AppendSparse(&engine.CSR{Rows: 1, Cols: d, RowPtr: []int{-1, 1}, ColIdx: []int32{0}, Val: []float64{1}}), isShape,
		},
		"sparse column": {s.AppendSparse(sparse(d, []int32{d}, 1)), isShape},
		"sparse dim":    {s.AppendSparse(sparse(d+1, []int32{0}, 1)), isShape},
		"self":          {s.Merge(s), isShape},
		"other d":       {s.Merge(newSketch(t, fd.Config{Dim: d + 1, Size: 2})), isShape},
		"other m":       {s.Merge(newSketch(t, fd.Config{Dim: d, Size: 3})), isShape},
	} {
		if c.err == nil || !c.ok(c.err) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	after := *must(s.Spectrum())(t)
	if before.Bound != after.Bound {
		t.Errorf("a refused call changed the sketch: %+v, %+v", before.Bound, after.Bound)
	}
	for i, v := range before.V {
		if math.Float64bits(v) != math.Float64bits(after.V[i]) {
			t.Fatal("a refused call changed the rows")
		}
	}
}

func isShape(err error) bool { return errors.Is(err, fd.ErrShape) }

func sparse(d int, idx []int32, val ...float64) *engine.CSR {
	return &engine.CSR{Rows: 1, Cols: d, RowPtr: []int{0, len(idx)}, ColIdx: idx, Val: val}
}

func TestConfigRefused(t *testing.T) {
	for _, cfg := range []fd.Config{
		{}, {Dim: 3}, {Size: 3}, {Dim: -1, Size: 2}, {Dim: 2, Size: -1},
		{Dim: 3, Size: 2, ShrinkRows: -1}, {Dim: 3, Size: 2, Shrink: 7}, {Dim: 3, Size: 2, Store: 3},
		{Dim: 3, Size: 2, Store: -1},
	} {
		if s, err := fd.New(cfg); err == nil || s != nil {
			t.Errorf("%+v accepted", cfg)
		}
	}
	for _, cfg := range []fd.Config{
		{Dim: math.MaxInt / 4, Size: math.MaxInt / 4}, {Dim: math.MaxInt, Size: math.MaxInt},
		{Dim: 4, Size: 2, ShrinkRows: math.MaxInt}, {Dim: 1 << 30, Size: 2, Store: fd.StoreScatter},
	} {
		if _, err := fd.New(cfg); !errors.Is(err, fd.ErrSize) {
			t.Errorf("%+v: %v", cfg, err)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, cfg := range []fd.Config{{}, {Shrink: fd.SVD}, {Store: fd.StoreScatter, ShrinkRows: 40}} {
			const n, d = 64, 48
			driver := cfg.Shrink
			a := stream(rand.New(rand.NewPCG(1, 1)), n, d, "flat")
			cfg.Dim, cfg.Size, cfg.Backend = d, 16, be
			s := newSketch(t, cfg)
			check(t, s.Append(a))
			shrinks := s.Shrinks()
			if got := testing.AllocsPerRun(20, func() {
				if err := s.Append(a); err != nil {
					t.Fatal(err)
				}
			}); !(got == 0) {
				t.Errorf("%v: %v allocations an append", driver, got)
			}
			if s.Shrinks() < shrinks+20 {
				t.Fatal("no shrinks were made")
			}
		}
	})
}

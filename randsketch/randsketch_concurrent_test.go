package randsketch_test

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/randsketch"
)

// numbers are all of a sketch and of what is read from it.
func numbers(t testing.TB, s *randsketch.Sketch) []float64 {
	p := must(s.Spectrum())(t)
	x := must(s.Classical(0.5))(t)
	return slices.Concat(both(s).RawMatrix().Data, p.Lambda, p.V, x.RawMatrix().Data, s.Column(3))
}

// life makes every kind of sketch of the same rows, some dense and some sparse.
func life(t testing.TB, be engine.Backend, r *rows) (out []float64) {
	x := r.csr.Slice(0, 70)
	for _, kind := range kinds {
		s := must(
			randsketch.New(randsketch.Config{Kind: kind, Rows: 20, Dim: r.d, Targets: r.t, Seed: 5, Backend: be}),
		)(
			t,
		)
		check(t, s.AppendRows(r.n, r.x, r.ldx, r.y))
		check(t, s.AppendSparse(&x, r.y[:70*r.t]))
		out = append(out, numbers(t, s)...)
	}
	a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 12, Dim: r.d, Seed: 6, Backend: be}))(t)
	check(t, a.AppendRows(r.n, r.x, r.ldx))
	check(t, a.AppendSparse(&x))
	p := must(a.Spectrum())(t)
	return slices.Concat(out, p.Lambda, p.V)
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// TestCrowd: distinct sketches in many goroutines have the bits of one alone.
func TestCrowd(t *testing.T) {
	r := draw(400, 40, 2, 0.5)
	enginetest.EachInCrowd(t, func(t *testing.T, be engine.Backend) {
		leaktest.Check(t)
		want := life(t, be, r)
		var wg sync.WaitGroup
		for g := range enginetest.Crowd {
			wg.Go(func() {
				// A failure ends its own goroutine only in a sub-test.
				t.Run("", func(t *testing.T) {
					if !sameBits(life(t, be, r), want) {
						t.Errorf("goroutine %d: other bits than alone", g)
					}
				})
			})
		}
		wg.Wait()
	})
}

// TestProcessors: in pure Go, GOMAXPROCS changes no bit, of Gaussian sketches and
// Nyström approximations either.
func TestProcessors(t *testing.T) {
	r := draw(700, 40, 2, 0.5)
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		if be.Name() != "purego" {
			return // promised of purego alone
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		want := life(t, be, r)
		for _, procs := range []int{2, 3, 7, 96} {
			runtime.GOMAXPROCS(procs)
			if !sameBits(life(t, be, r), want) {
				t.Errorf("GOMAXPROCS %d changes the bits", procs)
			}
		}
	})
}

// TestOperators: S is the same on all backends, to the last bit.
func TestOperators(t *testing.T) {
	want := map[randsketch.Kind][]float64{}
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		for _, kind := range kinds {
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: 33, Dim: 2, Seed: 77, Backend: be}))(t)
			var got []float64
			for _, i := range []int64{0, 1, 255, 256, 1 << 40} {
				got = append(got, s.Column(i)...)
			}
			if want[kind] == nil {
				want[kind] = got
			}
			if !sameBits(got, want[kind]) {
				t.Errorf("%v: another S", kind)
			}
		}
	})
}

// TestReaders reads one sketch from many goroutines.
func TestReaders(t *testing.T) {
	r := draw(300, 30, 1, 0.5)
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		for _, kind := range kinds {
			s := must(
				randsketch.New(randsketch.Config{Kind: kind, Rows: 20, Dim: r.d, Targets: r.t, Seed: 5, Backend: be}),
			)(
				t,
			)
			r.feed(t, s, 100, false)
			a := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 12, Dim: r.d, Seed: 6, Backend: be}))(t)
			check(t, a.AppendRows(r.n, r.x, r.ldx))
			read := func(t *testing.T) []float64 {
				p := must(a.Spectrum())(t)
				return slices.Concat(
					numbers(t, s),
					p.Lambda,
					p.V,
					[]float64{float64(s.Rows()), float64(a.Rows()), float64(s.Config().Rows), float64(a.Config().Rank)},
				)
			}
			want := read(t)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					t.Run("", func(t *testing.T) {
						if !sameBits(read(t), want) {
							t.Error("a reader among others reads something else")
						}
					})
				})
			}
			wg.Wait()
		}
	})
}

// A reader yields rows of a table, and cancels its context before the block that
// begins at row stop.
type reader struct {
	*rows
	at, stop int
	cancel   func()
}

func (r *reader) Read(b *dataset.Buffer, rows int) error {
	if r.at >= r.stop {
		r.cancel()
	}
	if r.at == r.n {
		return io.EOF
	}
	for ; rows > 0 && r.at < r.n; rows-- {
		b.X = append(b.X, r.x[r.at*r.ldx:r.at*r.ldx+r.d]...)
		b.Y = append(b.Y, r.y[r.at*r.t:(r.at+1)*r.t]...)
		b.EndRow()
		r.at++
	}
	return nil
}

func (r *reader) Close() error { return nil }

// TestCancel: a pass that is cancelled returns the context's error and leaves a sketch
// of the rows it says it has, and no goroutine.
func TestCancel(t *testing.T) {
	r := draw(1000, 12, 1, 0.5)
	const block = 30
	source := func(stop int, cancel func()) *dataset.Stream {
		s := dataset.NewStream(
			int64(r.n),
			r.d,
			r.t,
			false,
			func() (dataset.Reader, error) { return &reader{r, 0, stop, cancel}, nil },
		)
		s.BlockRows = block
		return s
	}
	leaktest.Check(t)
	for stop := 0; stop < r.n-5*block; stop += 61 {
		for _, kind := range kinds {
			ctx, cancel := context.WithCancel(context.Background())
			cfg := randsketch.Config{Kind: kind, Rows: 20, Dim: r.d, Targets: r.t, Seed: 5}
			s, want := must(randsketch.New(cfg))(t), must(randsketch.New(cfg))(t)
			if err := s.AppendSource(ctx, source(stop, cancel)); err != context.Canceled {
				t.Fatalf("%v", err)
			}
			n := int(s.Rows())
			if n >= r.n || n%block != 0 {
				t.Fatalf("%d rows", n)
			}
			check(t, want.AppendRows(n, r.x, r.ldx, r.y[:n*r.t]))
			if !sameBits(both(s).RawMatrix().Data, both(want).RawMatrix().Data) {
				t.Errorf("cancelled at row %d: the sketch is not that of its %d rows", stop, n)
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cfg := randsketch.NystromConfig{Rank: 8, Dim: r.d, Seed: 5}
		a, want := must(randsketch.NewNystrom(cfg))(t), must(randsketch.NewNystrom(cfg))(t)
		if err := a.AppendSource(ctx, source(stop, cancel)); err != context.Canceled {
			t.Fatalf("%v", err)
		}
		if a.Rows() == 0 {
			continue
		}
		check(t, want.AppendRows(int(a.Rows()), r.x, r.ldx))
		if !mat.Equal(approximation(must(a.Spectrum())(t)), approximation(must(want.Spectrum())(t))) {
			t.Errorf("cancelled at row %d: the approximation is not that of its %d rows", stop, a.Rows())
		}
	}
}

// TestCancelRefresh: a Fresh whose pass is cancelled keeps the Hessian it had, and can
// be refreshed again.
func TestCancelRefresh(t *testing.T) {
	leaktest.Check(t)
	r := draw(500, 6, 1, 1)
	stop, cancel := math.MaxInt, func() {}
	src := dataset.NewStream(
		int64(r.n),
		r.d,
		r.t,
		false,
		func() (dataset.Reader, error) { return &reader{r, 0, stop, cancel}, nil },
	)
	src.BlockRows = 30
	f := must(randsketch.NewFresh(src, randsketch.Config{Rows: 20, Dim: r.d, Seed: 5}))(t)
	check(t, f.Refresh(context.Background()))
	before, v := f.Spectrum, slices.Clone(f.Spectrum.V)
	var ctx context.Context
	ctx, cancel = context.WithCancel(context.Background())
	stop = 200
	if err := f.Refresh(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if f.Spectrum != before || !sameBits(before.V, v) {
		t.Error("the last Hessian is gone")
	}
	stop, cancel = math.MaxInt, func() {}
	check(t, f.Refresh(context.Background()))
	if f.Spectrum == before {
		t.Error("no new Hessian")
	}
}

package fd_test

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// A life is all that can happen to a sketch of rows of one kind, number seed.
func life(t testing.TB, be engine.Backend, seed int) []byte {
	const n, d = 150, 70
	a := stream(rand.New(rand.NewPCG(uint64(seed), 3)), n, d, []string{"decay", "flat"}[seed%2])
	cfg := fd.Config{Dim: d, Size: 20, ShrinkRows: 25, Shrink: []fd.Driver{fd.Gram, fd.SVD}[seed/2%2], Backend: be}
	s, o := newSketch(t, cfg), newSketch(t, cfg)
	check(t, s.Append(a.Slice(0, 60, 0, d)))
	check(t, o.Append(a.Slice(60, 110, 0, d)))
	check(t, s.Decay(0.9))
	check(t, s.Merge(o))
	s = reread(t, s, "UnmarshalBinary")
	check(t, s.Append(a.Slice(110, n, 0, d)))
	p := must(s.Spectrum())(t)
	check(t, o.Append(mat.NewDense(len(p.Sigma2), d, slices.Clone(p.V))))
	return slices.Concat(marshal(t, s), marshal(t, o))
}

// TestCrowd: distinct sketches in many goroutines have the bits of one alone.
func TestCrowd(t *testing.T) {
	enginetest.EachInCrowd(t, func(t *testing.T, be engine.Backend) {
		leaktest.Check(t)
		var alone [4][]byte
		for seed := range alone {
			alone[seed] = life(t, be, seed)
		}
		var wg sync.WaitGroup
		for g := range enginetest.Crowd {
			wg.Go(func() {
				// A failure ends its own goroutine only in a sub-test.
				t.Run("", func(t *testing.T) {
					if seed := g % len(alone); !bytes.Equal(life(t, be, seed), alone[seed]) {
						t.Errorf("goroutine %d: other bits than alone", g)
					}
				})
			})
		}
		wg.Wait()
	})
}

// TestProcessors: in pure Go, GOMAXPROCS changes no bit of a sketch.
func TestProcessors(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		if be.Name() != "purego" {
			return // promised of purego alone
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		var want [4][]byte
		for _, procs := range []int{1, 2, 3, 7, 96} {
			runtime.GOMAXPROCS(procs)
			for seed := range want {
				got := life(t, be, seed)
				if procs == 1 {
					want[seed] = got
				}
				if !bytes.Equal(got, want[seed]) {
					t.Errorf("GOMAXPROCS %d changes sketch %d", procs, seed)
				}
			}
		}
	})
}

// TestReaders reads one sketch from many goroutines, in every way there is; to be
// merged into another is one of them.
func TestReaders(t *testing.T) {
	enginetest.EachKernel(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			cfg := fd.Config{Dim: 60, Size: 12, ShrinkRows: 10, Shrink: driver, Backend: be}
			s := newSketch(t, cfg)
			check(t, s.Append(stream(rand.New(rand.NewPCG(4, 4)), 53, 60, "decay")))
			read := func(t *testing.T) []byte {
				b := s.Bound()
				p := must(s.Spectrum())(t)
				var w bytes.Buffer
				must(s.WriteTo(&w))(t)
				other := newSketch(t, cfg)
				check(t, other.Merge(s))
				if b.Rows != s.Rows() || p.Bound.Rows != 53 || w.Len() != int(s.BinarySize()) ||
					s.Config().Size != s.Size() ||
					s.Shrinks() == 0 ||
					s.Dim() != 60 {
					t.Errorf("%+v of %d rows", b, s.Rows())
				}
				p.V[0], p.Sigma2[0] = 0, 0 // the reader's own
				return slices.Concat(w.Bytes(), marshal(t, s), marshal(t, other))
			}
			want := read(t)
			var wg sync.WaitGroup
			for range 16 {
				wg.Go(func() {
					t.Run("", func(t *testing.T) {
						if !bytes.Equal(read(t), want) {
							t.Error("a reader among others reads something else")
						}
					})
				})
			}
			wg.Wait()
		}
	})
}

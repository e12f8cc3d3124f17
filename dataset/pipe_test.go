package dataset_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
)

// dribbled reads r in pieces of any size, and now and then none.
func dribbled(r io.Reader, seed uint64) io.Reader {
	rng := rand.New(rand.NewPCG(seed, 1))
	return readerFunc(func(p []byte) (int, error) {
		n := min(rng.IntN(1<<uint(rng.IntN(20))+1), len(p))
		return r.Read(p[:n])
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// TestPipe: what is looked at, as often as one likes, is there again for the one pass.
func TestPipe(t *testing.T) {
	leaktest.Check(t)
	text := make([]byte, 3<<20)
	for i := range text {
		text[i] = byte(i * i >> 7)
	}
	for seed := range uint64(20) {
		p := dataset.NewPipe(t.Context(), "data", dribbled(bytes.NewReader(text), seed))
		for _, n := range []int{0, 1, 1000, 400000, 5} {
			if got, err := io.ReadAll(io.LimitReader(p.Look(), int64(n))); err != nil || !bytes.Equal(got, text[:n]) {
				t.Fatalf("looked at %d bytes: %d, %v", n, len(got), err)
			}
		}
		r, err := p.Take()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(dribbled(r, seed+100)); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("seed %d: %d bytes, %v", seed, len(got), err)
		}
		if _, err := p.Take(); !errors.Is(err, dataset.ErrInput) || !isOnce(err) {
			t.Errorf("a second pass: %v", err)
		}
		if got, err := io.ReadAll(io.LimitReader(p.Look(), 400000)); err != nil || !bytes.Equal(got, text[:400000]) {
			t.Errorf("looked at once more: %d bytes, %v", len(got), err)
		}
		if _, err := io.Copy(io.Discard, p.Look()); !isOnce(err) {
			t.Errorf("looked further after the pass: %v", err)
		}
		p.Stop()
	}
}

func isOnce(err error) bool {
	_, ok := errors.AsType[*dataset.OnceError](err)
	return ok
}

// TestPipeFails: the error of whoever writes comes behind what was written.
func TestPipeFails(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		r    io.Reader
		want error
	}{
		"broken":    {io.MultiReader(bytes.NewReader([]byte("abc")), iotest.ErrReader(broken)), broken},
		"nothing":   {io.MultiReader(bytes.NewReader([]byte("abc")), readerFunc(func([]byte) (int, error) { return 0, nil })), io.ErrNoProgress},
		"at an end": {bytes.NewReader([]byte("abc")), io.EOF},
	} {
		r, err := dataset.NewPipe(t.Context(), "data", c.r).Take()
		if err != nil {
			t.Fatal(err)
		}
		got, all := make([]byte, 3), 0
		for all < 3 && err == nil {
			var n int
			n, err = r.Read(got[all:])
			all += n
		}
		for range 2 {
			if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, c.want) || string(got) != "abc" {
				t.Errorf("%s: %q, then %d, %v", name, got, n, err)
			}
		}
	}
}

// TestPipeHangs: a context, or Stop, ends whatever waits, and nothing is left once the other end
// lets go.
func TestPipeHangs(t *testing.T) {
	leaktest.Check(t)
	for _, looks := range []bool{true, false} {
		for _, stops := range []bool{true, false} {
			from, to := io.Pipe()
			ctx, cancel := context.WithCancel(t.Context())
			p := dataset.NewPipe(ctx, "data", from)
			r := p.Look()
			if !looks {
				taken, err := p.Take()
				if err != nil {
					t.Fatal(err)
				}
				if n := taken.Available(); n != 0 {
					t.Errorf("%d bytes before any were written", n)
				}
				r = taken
			}
			time.AfterFunc(5*time.Millisecond, func() {
				if stops {
					p.Stop()
				} else {
					cancel()
				}
			})
			if n, err := r.Read(make([]byte, 10)); n != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("looks %v, stops %v: %d, %v", looks, stops, n, err)
			}
			cancel()
			if err := to.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// single is a source that can be read once.
type single struct{ dataset.Source }

func (s *single) Once() bool { return true }

// TestOnce: sources made of others pass it on; a cache can be read again, or says why not.
func TestOnce(t *testing.T) {
	ctx := t.Context()
	plain := must(
		dataset.FromDense(6, 2, 1, []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, []float64{1, 2, 3, 4, 5, 6}),
	)(
		t,
	)
	y := must(dataset.FromDense(6, 1, 0, []float64{1, 2, 3, 4, 5, 6}, nil))(t)
	scaling := &dataset.Scaling{Mean: []float64{1, 2}, Scale: []float64{2, 4}}
	for _, src := range []dataset.Source{plain, &single{plain}} {
		want := src != plain
		for name, made := range map[string]dataset.Source{
			"itself": src,
			"rows":   must(dataset.Rows(src, 1, 3))(t), "every": must(dataset.Every(src, 2))(t),
			"zip": must(dataset.Zip(dataset.WithoutTargets(src), y))(t), "weighed": must(dataset.Weigh(src, y))(t),
			"last target": must(dataset.TargetAsWeight(src))(t), "scaled": must(scaling.Apply(src))(t),
			"untargeted": dataset.WithoutTargets(src), "concat": must(dataset.Concat(plain, src))(t),
		} {
			if got := dataset.Once(made); got != want {
				t.Errorf("%s: %v, want %v", name, got, want)
			}
		}
		c := must(dataset.Cached(src, dataset.CacheOptions{Dir: t.TempDir()}))(t)
		if dataset.Once(c) {
			t.Error("a cache can be read once only")
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	full := must(dataset.Cached(&single{plain}, dataset.CacheOptions{Dir: t.TempDir(), MaxBytes: 1}))(t)
	for range 2 { // which cannot be kept, and is not to be read for nothing
		var failed error
		for _, err := range full.Blocks(ctx) {
			failed = err
		}
		if e, ok := errors.AsType[*dataset.OnceError](failed); !ok || e.Err == nil {
			t.Errorf("a full disk: %v", failed)
		}
	}
}

package window_test

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// float is v with the precision of the reference.
func float(v int64) *big.Float { return new(big.Float).SetPrec(refbig.Prec).SetInt64(v) }

// ln2 is log 2, to 300 bits.
var ln2 = sync.OnceValue(func() *big.Float {
	sum, term := float(0), float(0)
	for k := int64(1); k < 300; k++ { // Σ 1/(k·2ᵏ)
		sum.Add(sum, term.SetMantExp(term.Quo(float(1), float(k)), -int(k)))
	}
	return sum
})

// powerOfTwo is 2^(−a/b), to 100 bits or more.
func powerOfTwo(a, b int64) *big.Float {
	x := new(big.Float).Quo(new(big.Float).Mul(ln2(), float(-(a%b))), float(b))
	sum, power := float(1), float(1)
	for k := int64(1); k < 40; k++ {
		power.Quo(power.Mul(power, x), float(k))
		sum.Add(sum, power)
	}
	return sum.SetMantExp(sum, -int(a/b))
}

// faded returns the weights of rows lo to hi of a stream at time now, rounded as in the formula of docs/math.md §2. It
// checks that each weight is as near to w·2^(−age/h) as promised.
func (s stream) faded(t rapid.TB, lo, hi int, now time.Time, h time.Duration) []*big.Float {
	t.Helper()
	at := func(v time.Time) (halvings int, rest float64) {
		age := v.Sub(s.times[lo])
		return int(age / h), float64(age%h) / float64(h)
	}
	last, _ := at(s.times[hi-1])
	unit := s.times[lo].Add(time.Duration(last) * h)
	since := now.Sub(unit)
	beta := math.Ldexp(math.Exp2(-float64(since%h)/float64(h)), -int(since/h))
	var out []*big.Float
	for i := lo; i < hi; i++ {
		w := 1.0
		if s.w != nil {
			w = s.w[i]
		}
		halvings, rest := at(s.times[i])
		v := refbig.Float(w * math.Exp2(rest))
		v.SetMantExp(v, halvings-last)
		v.Mul(v, refbig.Float(beta))
		out = append(out, v)
		exact := powerOfTwo(int64(now.Sub(s.times[i])), int64(h))
		exact.Mul(exact, refbig.Float(w))
		off := new(big.Float).Sub(v, exact)
		if limit := exact.SetMantExp(exact, -49); off.Abs(off).Cmp(limit) > 0 {
			t.Fatalf("row %d weighs %g, off by %g", i, v, off)
		}
	}
	return out
}

// TestFading: rows that fade with a half-life, at whatever times they come and are read, are certified as
// 512-bit arithmetic finds them.
func TestFading(t *testing.T) {
	cases := 200
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		cases = 1500
	}
	held, faint := 0, 0 // reads; reads with rows too faint to certify anything
	for seed := range cases {
		r := rand.New(rand.NewPCG(21, uint64(seed)))
		d, k := dimOf(r), 1+r.IntN(2)
		n := 1 + r.IntN(70)
		s, cfg := streamOf(r, n, d, k), windowConfig(r, d, k).Summary
		if r.IntN(3) == 0 {
			cfg.Lanes, cfg.LaneRows = 2, 1+r.IntN(5)
		}
		h := time.Duration(1 + r.Int64N(int64(math.Pow(10, 7+5*r.Float64()))))
		f := must(window.NewFading(window.FadingConfig{Summary: cfg, HalfLife: h}))(t)
		gamma := math.Pow(10, 6*r.Float64()-4)
		next := r.IntN(n) + 1
		for lo := 0; lo < n; {
			hi := min(lo+1+r.IntN(9), n)
			if lo < next {
				hi = min(hi, next)
			}
			check(t, f.AppendTimes(s.times[lo:hi], s.cut(lo, hi)))
			if r.IntN(6) == 0 {
				f = rereadFading(t, f)
			}
			lo = hi
			if lo != next && lo != n {
				continue
			}
			if r.IntN(2) == 0 && lo == n {
				check(t, f.Advance(f.Now().Add(time.Duration(r.Int64N(5*int64(h))))))
			}
			sum, span, err := f.Summary()
			if errors.Is(err, ridge.ErrEmpty) && span.Rows == 0 {
				continue // faded away
			}
			check(t, err)
			first := int(span.First)
			if _, err := sum.Fit(gamma); err != nil {
				if _, small := errors.AsType[*ridge.ScaleError](err); small {
					faint++
					continue
				}
			}
			held++
			if first+int(span.Rows) != lo || sum.Rows() != span.Rows || !span.From.Equal(s.times[first]) ||
				!span.To.Equal(s.times[lo-1]) {
				t.Fatalf("after %d rows %+v", lo, span)
			}
			p := refbig.NewWeighted(s.x[first:lo], s.y[first:lo], s.faded(t, first, lo, f.Now(), h), cfg.Intercept)
			faded := s
			faded.w = make([]float64, n) // weighted, so that the sketch isn't held to the rows as they are
			faded.certify(t, sum, p, gamma)
			if t.Failed() {
				t.Fatalf("case %d: %+v, half-life %v", seed, cfg, h)
			}
		}
	}
	if held < cases || faint > held/4 {
		t.Errorf("%d reads are certified, %d are not: too few to show anything", held, faint)
	}
	t.Logf("%d cases, %d reads, and %d of rows too faint", cases, held, faint)
}

// rereadFading is f written and read again.
func rereadFading(t rapid.TB, f *window.Fading) *window.Fading {
	t.Helper()
	b := wiretest.Marshal(t, f)
	for _, open := range wiretest.Readers {
		read := must(readAs[*window.Fading](open(b), nil))(t)
		if !bytes.Equal(wiretest.Marshal(t, read), b) || read.Span() != f.Span() || read.Now() != f.Now() ||
			read.Rows() != f.Rows() {
			t.Fatalf("read %+v, written %+v", read.Span(), f.Span())
		}
		f = read
	}
	return f
}

// TestFadingAway: rows of almost no weight are not counted, and are dropped when other rows arrive. Half-lives and ages
// of all sizes are harmless.
func TestFadingAway(t *testing.T) {
	one := dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}}
	cfg := window.FadingConfig{Summary: ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true}, HalfLife: time.Second}
	f := must(window.NewFading(cfg))(t)
	if err := f.Append(one); !errors.Is(err, ridge.ErrInput) || !strings.Contains(err.Error(), "without a time") {
		t.Errorf("rows of no time: %v", err)
	}
	check(t, f.AppendAt(start, one))
	check(t, f.AppendAt(start.Add(800*time.Second), one))
	if span := f.Span(); span.Rows != 2 || span.First != 0 {
		t.Errorf("after 800 half-lives: %+v", span)
	}
	check(t, f.Advance(start.Add(1701*time.Second)))
	if span := f.Span(); span != (window.Span{First: 2}) {
		t.Errorf("after 901 half-lives: %+v", span)
	}
	if _, _, err := f.Summary(); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("after 901 half-lives: %v", err)
	}
	f = rereadFading(t, f)
	check(t, f.AppendAt(f.Now(), one))
	if sum, span, err := f.Summary(); err != nil || span.First != 2 || span.Rows != 1 || sum.Rows() != 1 ||
		sum.Weight() != 1 {
		t.Errorf("a row after these: %+v, %v", span, err)
	}
	for _, h := range []time.Duration{1, math.MaxInt64} {
		cfg.HalfLife = h
		f := must(window.NewFading(cfg))(t)
		for _, at := range []time.Time{
			time.Unix(0, math.MinInt64+1), time.Unix(0, math.MinInt64+2), time.Unix(0, 0), time.Unix(0, math.MaxInt64),
		} {
			check(t, f.AppendAt(at, one))
			sum, _, err := f.Summary()
			check(t, err)
			if w := sum.Weight(); !(w >= 1 && w <= 4) {
				t.Errorf("half-life %d, %v: %g", h, at, w)
			}
		}
	}
	// Times that move by far less than the resolution of a weight add up.
	cfg.HalfLife = time.Duration(1) << 62
	cfg.Summary.Intercept = false
	f = must(window.NewFading(cfg))(t)
	check(t, f.AppendAt(start, one))
	for i := range 1000 {
		check(t, f.Advance(start.Add(time.Duration(i))))
	}
	check(t, f.Advance(start.Add(1<<61)))
	sum, _, err := f.Summary()
	check(t, err)
	if w := sum.Weight(); !(math.Abs(w-math.Sqrt(0.5)) < 1e-15) {
		t.Errorf("after half a half-life the weight is %g", w)
	}
}

// TestFadingBits: what was written and read on the way goes on to the same bits, and neither reading nor
// moving the time changes anything.
func TestFadingBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(22, rapid.Uint64().Draw(t, "seed")))
		s, cfg := streamOf(r, 60, 3, 1), windowConfig(r, 3, 1).Summary
		f := must(
			window.NewFading(
				window.FadingConfig{Summary: cfg, HalfLife: time.Duration(1 + r.Int64N(int64(time.Minute)))},
			),
		)(
			t,
		)
		g := must(window.NewFading(f.Config()))(t)
		for lo := 0; lo < 60; {
			hi := min(lo+rapid.IntRange(1, 20).Draw(t, "rows"), 60)
			check(t, f.AppendTimes(s.times[lo:hi], s.cut(lo, hi)))
			check(t, g.Advance(s.times[lo]))
			check(t, g.AppendTimes(s.times[lo:hi], s.cut(lo, hi)))
			if rapid.Bool().Draw(t, "reread") {
				g = rereadFading(t, g)
			}
			if _, _, err := g.Summary(); err != nil && !errors.Is(err, ridge.ErrEmpty) {
				t.Fatal(err)
			}
			lo = hi
		}
		if !bytes.Equal(wiretest.Marshal(t, f), wiretest.Marshal(t, g)) {
			t.Fatal("another summary")
		}
	})
}

// TestFadingRefuses: what cannot be appended leaves all as it was.
func TestFadingRefuses(t *testing.T) {
	cfg := window.FadingConfig{Summary: ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: true}}
	for _, h := range []time.Duration{0, -1} {
		cfg.HalfLife = h
		if _, err := window.NewFading(cfg); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("half-life %d: %v", h, err)
		}
	}
	cfg.HalfLife = time.Second
	f := must(window.NewFading(cfg))(t)
	check(t, f.AppendAt(start, dataset.Block{N: 1, X: []float64{1}, Y: []float64{1}}))
	before := wiretest.Marshal(t, f)
	times := []time.Time{start, start.Add(5000 * time.Second)}
	two := func(x, w float64) dataset.Block {
		return dataset.Block{N: 2, X: []float64{1, x}, Y: []float64{0, 0}, W: []float64{1, w}}
	}
	for what, err := range map[string]error{
		"NaN":         f.AppendTimes(times, two(math.NaN(), 1)),
		"too large":   f.AppendTimes(times, two(math.Sqrt(fd.MaxSquares/4), 1)),
		"too heavy":   f.AppendTimes(times, two(1, 0x1p500)),
		"decreasing":  f.AppendTimes([]time.Time{times[1], start}, two(1, 1)),
		"before":      f.AppendAt(start.Add(-1), two(1, 1)),
		"back":        f.Advance(start.Add(-1)),
		"few times":   f.AppendTimes(times[:1], two(1, 1)),
		"other shape": f.AppendAt(start, dataset.Block{N: 1, Y: []float64{1}}),
	} {
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !bytes.Equal(wiretest.Marshal(t, f), before) {
		t.Error("a refusal left it changed")
	}
	var zero window.Fading
	_, _, err := zero.Summary()
	_, other := zero.MarshalBinary()
	for _, err := range []error{err, other, zero.Advance(start), zero.AppendAt(start, dataset.Block{})} {
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("the zero value: %v", err)
		}
	}
}

// goldenFading returns the fading summary of the golden file. Its computation has no rounding.
func goldenFading(t testing.TB) *window.Fading {
	f := must(
		window.NewFading(
			window.FadingConfig{
				Summary:  ridge.SummaryConfig{Dim: 2, Size: 1, ShrinkRows: 9, Store: fd.StoreRows},
				HalfLife: time.Second,
			},
		),
	)(
		t,
	)
	f.SetMeta([]byte("meta"))
	for i := range 4 {
		check(
			t,
			f.AppendAt(
				start.Add(time.Duration(2*i)*time.Second),
				dataset.Block{N: 1, X: []float64{float64(i), 0.5}, Y: []float64{float64(i)}},
			),
		)
	}
	check(t, f.Advance(start.Add(7*time.Second)))
	return f
}

// TestFadingGolden: the message of a fading summary equals the golden file.
func TestFadingGolden(t *testing.T) {
	_, read := golden(t, "fading-v1.bin", goldenFading(t), readAs[*window.Fading])
	want := window.Span{Rows: 4, From: start, To: start.Add(6 * time.Second)}
	sum, span, err := read.Summary()
	if err != nil || span != want || string(sum.Meta) != "meta" || sum.Weight() != 0.5+0.125+0x1p-5+0x1p-7 {
		t.Errorf("%+v, want %+v: %v", span, want, err)
	}
}

// TestFadingDamaged: every truncated message and every message with a changed bit is refused. With a matching checksum,
// numbers that no stream can have are refused, too.
func TestFadingDamaged(t *testing.T) {
	b, receiver := wiretest.Marshal(t, goldenFading(t)), goldenFading(t)
	for n := range b {
		wiretest.Refuses[*fd.FormatError](t, "truncated", b[:n], receiver)
	}
	for i := 0; i < 8*len(b); i += bitStep() {
		bad := slices.Clone(b)
		bad[i/8] ^= 1 << (i % 8)
		if err := receiver.UnmarshalBinary(bad); err == nil {
			t.Fatalf("bit %d changed: taken", i)
		}
	}
	if err := receiver.UnmarshalBinary(append(slices.Clone(b), 0)); err == nil {
		t.Error("a byte more: taken")
	}
	nanos := func(d time.Duration) uint64 { return uint64(start.Add(d).UnixNano()) }
	for _, c := range []struct {
		what string
		at   int
		v    uint64
		want string
	}{
		{"no half-life", 24, 0, "the half-life is 0"},
		{"shorter half-life", 24, 1, ""}, // taken: the weights are as of the last row
		{"fewer rows", 32, 3, "3 rows were appended"},
		{"hostile rows", 32, 1 << 63, "rows were appended"},
		{"earlier", 40, nanos(5 * time.Second), "decrease"},
		{"unit before", 48, nanos(5 * time.Second), "within a half-life"},
		{"unit after", 48, nanos(7 * time.Second), "within a half-life"},
		{"first after last", 56, nanos(7 * time.Second), "decrease"},
		{"no first", 56, 1 << 63, "decrease"},
		{"meta", 72, 1 << 40, "the length of Meta"},
		{"summary", 80, 9, "the length of the summary"},
		{"flags", 88, 2, "the word of flags is 2"},
		{"by rows", 88, 1, "the numbers of the rows"},
		{"summary within", 100 + 8, 77, "in the summary"},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.at, c.v)
		wiretest.Seal(bad)
		if c.want == "" {
			check(t, new(window.Fading).UnmarshalBinary(bad))
			continue
		}
		if err := wiretest.Refuses[*fd.FormatError](t, c.what, bad, receiver); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	empty := must(window.NewFading(receiver.Config()))(t)
	bad := wiretest.Marshal(t, rereadFading(t, empty))
	wiretest.Put(bad, 56, 0)
	wiretest.Refuses[*fd.FormatError](t, "times of no rows", wiretest.Seal(bad), receiver)
}

// FuzzFading: whatever is read is refused with a *fd.FormatError or writes the same message again and can be used.
func FuzzFading(f *testing.F) {
	f.Add(wiretest.Marshal(f, goldenFading(f)))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, wiretest.Seal(slices.Clone(b))} {
			s := new(window.Fading)
			if err := s.UnmarshalBinary(b); err != nil {
				if _, ok := errors.AsType[*fd.FormatError](err); !ok {
					t.Fatalf("%T: %v", err, err)
				}
				continue
			}
			if !bytes.Equal(wiretest.Marshal(t, s), b) {
				t.Fatal("written again it differs")
			}
			c := s.Config().Summary
			if c.Dim > 100 || c.Targets > 100 || (min(c.Size, c.Dim)+c.ShrinkRows)*c.Lanes > 200 {
				continue // its memory is more than a fuzzer should take
			}
			if err := s.AppendAt(
				start.AddDate(200, 0, 0), rows(rand.New(rand.NewPCG(1, 1)), 3, c.Dim, c.Targets, false, false),
			); err != nil &&
				!errors.Is(err, ridge.ErrInput) {
				t.Fatal(err)
			}
			if sum, span, err := s.Summary(); err != nil {
				t.Log(err)
			} else if sum.Rows() != span.Rows {
				t.Fatalf("%d rows, %+v", sum.Rows(), span)
			}
		}
	})
}

package window_test

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// TestWindowConfig: invalid configurations are refused, and fields that are not set get the documented defaults.
func TestWindowConfig(t *testing.T) {
	sum := ridge.SummaryConfig{Dim: 40, Size: 4, ShrinkRows: 5}
	for what, cfg := range map[string]window.Config{
		"nothing":        {},
		"no rows":        {Summary: sum},
		"both":           {Summary: sum, Rows: 1, Duration: 1},
		"negative rows":  {Summary: sum, Rows: -1},
		"negative time":  {Summary: sum, Duration: -1},
		"share":          {Summary: sum, Rows: 1, Share: 2},
		"small share":    {Summary: sum, Rows: 1, Share: 1e-3},
		"share NaN":      {Summary: sum, Rows: 1, Share: math.NaN()},
		"block":          {Summary: sum, Rows: 1, BlockRows: -1},
		"lanes":          {Summary: ridge.SummaryConfig{Dim: 4, Size: 4, Lanes: 2}, Rows: 1},
		"no dimension":   {Summary: ridge.SummaryConfig{Size: 4}, Rows: 1},
		"blocks too big": {Summary: ridge.SummaryConfig{Dim: 1 << 14, Size: 1}, Rows: 1, BlockRows: math.MaxInt32},
	} {
		if _, err := window.New(cfg); !errors.Is(err, ridge.ErrInput) && !errors.Is(err, fd.ErrSize) {
			t.Errorf("%s: %v", what, err)
		}
	}
	got := must(window.New(window.Config{Summary: sum, Rows: 100}))(t).Config()
	if got.Share != 0.25 || got.BlockRows != 9 || got.Summary.Targets != 1 || got.Summary.Backend == nil {
		t.Errorf("%+v", got)
	}
}

// TestWindowRefuses: what cannot be appended leaves a window as it was, and the error tells the place.
func TestWindowRefuses(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 2))
	s := streamOf(r, 40, 3, 1)
	s.w, s.sparse = nil, false
	at := s.times[39]
	for _, intercept := range []bool{false, true} {
		w := must(
			window.New(
				window.Config{
					Summary:  ridge.SummaryConfig{Dim: 3, Size: 2, Intercept: intercept, ShrinkRows: 1},
					Duration: 1000 * time.Hour,
					Share:    1,
				},
			),
		)(
			t,
		)
		if err := w.Append(s.cut(0, 1)); !errors.Is(err, ridge.ErrInput) ||
			!strings.Contains(err.Error(), "without a time") {
			t.Errorf("rows of no time: %v", err)
		}
		s.feed(t, w, 0, 40)
		before := wiretest.Marshal(t, w)
		put := func(i int, v float64) dataset.Block {
			b := s.cut(0, 5)
			b.X[i] = v
			return b
		}
		times := []time.Time{at, at.Add(2), at.Add(2), at.Add(1), at.Add(3)}
		for what, c := range map[string]struct {
			err  error
			want func(error) bool
		}{
			"a number that isn't one": {w.AppendAt(at, put(10, math.NaN())), func(err error) bool {
				e, ok := errors.AsType[*fd.NonFiniteError](err)
				return ok && e.Row == 3 && e.Col == 1
			}},
			"too large": {w.AppendAt(at, put(10, 0x1p510)), func(err error) bool {
				e, ok := errors.AsType[*fd.RangeError](err)
				return ok && e.Row == 3
			}},
			"a time before": {w.AppendAt(at.Add(-1), s.cut(0, 5)), func(err error) bool {
				e, ok := errors.AsType[*window.TimeError](err)
				return ok && e.Row == 0 && e.Before.Equal(at) && e.Time.Equal(at.Add(-1))
			}},
			"a time before, within": {w.AppendTimes(times, s.cut(0, 5)), func(err error) bool {
				e, ok := errors.AsType[*window.TimeError](err)
				return ok && e.Row == 3 && strings.Contains(e.Error(), "row 4 has time 2024-")
			}},
			"back": {w.Advance(at.Add(-time.Hour)), func(err error) bool {
				e, ok := errors.AsType[*window.TimeError](err)
				return ok && e.Row == -1
			}},
			"no time": {
				w.AppendAt(time.Time{}, s.cut(0, 5)), func(err error) bool { return strings.Contains(err.Error(), "1678") },
			},
			"few times": {
				w.AppendTimes(times[:4], s.cut(0, 5)), func(err error) bool { return errors.Is(err, ridge.ErrShape) },
			},
			"other shape": {
				w.AppendAt(at, dataset.Block{N: 1, X: []float64{1}, Y: []float64{1}}),
				func(err error) bool { return errors.Is(err, ridge.ErrShape) },
			},
		} {
			if c.err == nil || !errors.Is(c.err, ridge.ErrInput) || !c.want(c.err) {
				t.Errorf("%s: %v", what, c.err)
			}
		}
		if !bytes.Equal(wiretest.Marshal(t, w), before) {
			t.Error("a refusal left the window changed")
		}
		check(t, w.Append(dataset.Block{N: 1, X: []float64{1, 2, 3}, Y: []float64{4}, W: []float64{2}}))
		if span := w.Span(); span.Rows != 41 || !span.To.Equal(at) {
			t.Errorf("%+v", span)
		}
	}
	var zero window.Window
	_, _, err := zero.Summary()
	for _, err := range []error{err, zero.Append(dataset.Block{}), zero.Advance(at), zero.AppendAt(at, dataset.Block{})} {
		if !errors.Is(err, ridge.ErrInput) {
			t.Errorf("the zero value: %v", err)
		}
	}
}

// TestWindowRange: rows that are in range one by one, and could not be merged, are refused when they come,
// and taken when the others have left the window.
func TestWindowRange(t *testing.T) {
	for _, intercept := range []bool{false, true} {
		w := must(
			window.New(
				window.Config{
					Summary:   ridge.SummaryConfig{Dim: 1, Size: 1, Intercept: intercept, Store: fd.StoreRows},
					Rows:      8,
					Share:     1,
					BlockRows: 2,
				},
			),
		)(
			t,
		)
		large := math.Sqrt(fd.MaxSquares / 4 / 3)
		one := func(x, weight float64) error {
			return w.Append(dataset.Block{N: 1, X: []float64{x}, Y: []float64{0}, W: []float64{weight}})
		}
		check(t, one(large, 1))
		check(t, one(large, 1))
		var outOfRange *fd.RangeError
		if err := one(large*1.5, 1); !errors.As(err, &outOfRange) {
			t.Fatalf("squares: %v", err)
		}
		for range 20 {
			check(t, one(1, 1))
			if _, _, err := w.Summary(); err != nil {
				t.Fatal(err)
			}
		}
		check(t, one(large*1.5, 1))
		if !intercept {
			continue
		}
		if err := one(1, 0x1p499); err != nil && !errors.As(err, &outOfRange) {
			t.Fatal(err)
		}
		for range 20 { // distances between weighted means
			if err := one(-large, 0x1p10); err != nil && !errors.As(err, &outOfRange) {
				t.Fatal(err)
			}
			check(t, one(0, 1))
			if _, _, err := w.Summary(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// goldenWindow returns the window of the golden file, with three sketches and two blocks. Its numbers are powers of
// two. Products of these are not rounded, so that every kernel gives the same bits.
func goldenWindow(t testing.TB) *window.Window {
	w := must(
		window.New(
			window.Config{
				Summary:   ridge.SummaryConfig{Dim: 2, Size: 1, ShrinkRows: 9, Store: fd.StoreRows},
				Duration:  time.Minute,
				Share:     1,
				BlockRows: 2,
			},
		),
	)(
		t,
	)
	w.SetMeta([]byte("meta"))
	for i := range 11 {
		b := dataset.Block{N: 1, Y: []float64{float64(i)}}
		if i < 10 {
			b.X = []float64{math.Exp2(float64(i % 4)), 0.5}
		} else {
			b.Sparse, b.W = &engine.CSR{Rows: 1, Cols: 2, RowPtr: []int{0, 1}, ColIdx: []int32{1}, Val: []float64{-1}},
				[]float64{4}
		}
		check(t, w.AppendAt(start.Add(time.Duration(i/2)*time.Second), b))
	}
	if w.Sketches() != 3 || w.Span().Rows != 11 {
		t.Fatalf("%d sketches, %+v", w.Sketches(), w.Span())
	}
	return w
}

// golden compares the messages of made, and of the value read from a golden file, with the golden file.
func golden[M wiretest.Message](
	t *testing.T,
	name string,
	made M,
	readFrom func(io.Reader, engine.Backend) (M, error),
) (message []byte, read M) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		check(t, os.WriteFile(path, wiretest.Marshal(t, made), 0o644))
	}
	message = must(os.ReadFile(path))(t)
	read = must(readFrom(bytes.NewReader(message), nil))(t)
	for _, m := range []M{made, read} {
		if !bytes.Equal(wiretest.Marshal(t, m), message) {
			t.Error("written again it differs")
		}
	}
	return message, read
}

// TestWindowGolden: the message of a window equals the golden file.
func TestWindowGolden(t *testing.T) {
	_, read := golden(t, "window-v1.bin", goldenWindow(t), readAs[*window.Window])
	want := window.Span{First: 0, Rows: 11, From: start, To: start.Add(5 * time.Second)}
	if read.Span() != want || string(read.Meta()) != "meta" {
		t.Errorf("%+v, want %+v", read.Span(), want)
	}
}

// bitStep is the distance of the bits that tests of damage change: a bit of each byte, or every bit if
// FDRIDGE_THOROUGH is set.
func bitStep() int {
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		return 1
	}
	return 7
}

// TestWindowDamaged: every truncated message and every message with a changed bit is refused. With a matching checksum,
// numbers that no window can have are refused, too.
func TestWindowDamaged(t *testing.T) {
	w := goldenWindow(t)
	b := wiretest.Marshal(t, w)
	receiver := goldenWindow(t)
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

	template := 120 + 4
	cell := template + int(le(b, template+16)) // header of the first
	second := cell + 24 + int(le(b, cell+24+16))
	third := second + 24 + int(le(b, second+24+16))
	block := third + 24 + int(le(b, third+24+16))
	next := block + 24 + 2*8*4 // two dense rows of two features, their targets and times
	for _, c := range []struct {
		what string
		at   int
		v    uint64
		want string
	}{
		{"rows and duration", 24, 5, "one must be 0"},
		{"no duration", 32, 0, "one must be 0"},
		{"share", 40, math.Float64bits(1.5), "the share is 1.5"},
		{"share NaN", 40, math.Float64bits(math.NaN()), "the share is NaN"},
		{"smaller share", 40, math.Float64bits(0.5), "of a window with sketches there are 2"},
		{"block", 48, 3, "needs 3"},
		{"flags", 56, 2, "word of flags"},
		{"fewer rows", 64, 10, "more rows than the 10"},
		{"rows", 64, 1 << 63, "the number of rows appended"},
		{"earlier", 72, uint64(start.UnixNano()), "the times of block 2 decrease"},
		{"much later", 72, uint64(start.Add(time.Hour).UnixNano()), "have left the window"},
		{"more sketches", 80, 4, "in sketch 4"},
		{"hostile sketches", 80, 1 << 40, "the number of sketches"},
		{"more blocks", 88, 2 + 64, "the number of blocks"},
		{"left", 96, 2, "still takes"},
		{"nothing left", 96, 0, "needs 2"},
		{"meta", 104, 1 << 40, "the length of Meta"},
		{"template", 112, 7, "the length of a summary of no rows"},
		{"level", cell, 1 << 40, "is of level"},
		{"levels", cell, 2, "is of level 2"},
		{"higher level", second, 5, "sketch 2 has 2 rows"},
		{"time", cell + 8, uint64(start.Add(time.Hour).UnixNano()), "the times of sketch 1 decrease"},
		{"no time", cell + 8, 1 << 63, "have no time"},
		{"rows of a block", block, 1, "block 2 has"},
		{"many rows of a block", block, 3, "not between 1 and 2"},
		{"flags of a block", block + 8, 4, "the word of flags of block 1"},
		{"entries of dense rows", block + 16, 1, "entries of sparse rows"},
		{"hostile entries", next + 16, 1 << 60, "entries of sparse rows"},
		{"NaN", block + 24 + 16, math.Float64bits(math.NaN()), "in block 1"},
		{"pointers", next + 24 + 8 + 8 + 8, 1, "do not end where"},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.at, c.v)
		err := wiretest.Refuses[*fd.FormatError](t, c.what, wiretest.Seal(bad), receiver)
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
	if _, err := new(window.Window).MarshalBinary(); !errors.Is(err, ridge.ErrInput) {
		t.Errorf("the zero value: %v", err)
	}
	w.SetMeta(make([]byte, ridge.MaxMeta+1))
	if n, err := w.WriteTo(io.Discard); err == nil || n != 0 {
		t.Errorf("Meta beyond its bound: %d, %v", n, err)
	}
}

func le(b []byte, at int) (v uint64) {
	for i := range 8 {
		v |= uint64(b[at+i]) << (8 * i)
	}
	return v
}

// TestWindowAllocation: no more is allocated than twice what came of a message and 64 KiB for each of
// its sketches.
func TestWindowAllocation(t *testing.T) {
	be := must(engine.Default())(t)
	s := streamOf(rand.New(rand.NewPCG(20, 3)), 700, 200, 1)
	for _, sparse := range []bool{false, true} {
		s.sparse = sparse
		w := must(
			window.New(
				window.Config{
					Summary: ridge.SummaryConfig{Dim: 200, Size: 20, Store: fd.StoreRows},
					Rows:    600,
					Share:   1,
				},
			),
		)(
			t,
		)
		s.feed(t, w, 0, 700)
		b := wiretest.Marshal(t, w)
		for way, open := range wiretest.Readers {
			for n := len(b); n > 64; n = n * 3 / 4 {
				r := open(b[:n])
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := readAs[*window.Window](r, be)
				runtime.ReadMemStats(&after)
				if (err == nil) != (n == len(b)) {
					t.Errorf("%d of %d bytes: %v", n, len(b), err)
				}
				if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(2*n+(1+w.Sketches())*64<<10); got > limit {
					t.Errorf("%s: %d of %d bytes allocated %d, more than %d", way, n, len(b), got, limit)
				}
			}
		}
	}
}

// FuzzWindow: whatever is read, as it is and with checksums that fit, is refused with a
// *fd.FormatError or writes the same message again and can be used.
func FuzzWindow(f *testing.F) {
	f.Add(wiretest.Marshal(f, goldenWindow(f)))
	empty := must(window.New(window.Config{Summary: ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true}, Rows: 9}))(f)
	f.Add(wiretest.Marshal(f, empty))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, wiretest.Seal(slices.Clone(b))} {
			w := new(window.Window)
			if err := w.UnmarshalBinary(b); err != nil {
				if _, ok := errors.AsType[*fd.FormatError](err); !ok {
					t.Fatalf("%T: %v", err, err)
				}
				continue
			}
			if !bytes.Equal(wiretest.Marshal(t, w), b) {
				t.Fatal("written again it differs")
			}
			c := w.Config()
			if c.Summary.Dim > 100 || c.Summary.Targets > 100 || c.Summary.Size+c.Summary.ShrinkRows > 200 ||
				c.BlockRows > 100 {
				continue // its memory is more than a fuzzer should take
			}
			block := rows(rand.New(rand.NewPCG(1, 1)), 3*c.BlockRows, c.Summary.Dim, c.Summary.Targets, false, false)
			err := w.AppendAt(start.AddDate(200, 0, 0), block)
			if err != nil && !errors.Is(err, ridge.ErrInput) {
				t.Fatal(err)
			}
			sum, span, err := w.Summary()
			if err != nil {
				t.Log(err)
				continue
			}
			if sum.Rows() != span.Rows {
				t.Fatalf("%d rows, %+v", sum.Rows(), span)
			}
			if _, err := sum.Fit(1); err != nil {
				t.Log(err)
			}
		}
	})
}

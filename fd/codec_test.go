package fd_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
)

var update = flag.Bool("update", false, "write the golden files anew")

func marshal(t rapid.TB, s *fd.Sketch) []byte {
	t.Helper()
	return wiretest.Marshal(t, s)
}

// reread is the sketch written and read again, in one way of several.
func reread(t rapid.TB, s *fd.Sketch, way string) *fd.Sketch {
	t.Helper()
	b := marshal(t, s)
	copy := new(fd.Sketch)
	if open, ok := wiretest.Readers[way]; ok {
		copy = must(fd.ReadSketch(open(b), s.Config().Backend))(t)
	} else {
		check(t, copy.UnmarshalBinary(b))
		copy = must(fd.ReadSketch(bytes.NewReader(marshal(t, copy)), s.Config().Backend))(t)
	}
	if !bytes.Equal(marshal(t, copy), b) {
		t.Fatalf("%s: a sketch that was read writes another message", way)
	}
	return copy
}

// same fails unless two sketches agree in every bit, and in what they say.
func same(t rapid.TB, what string, got, want *fd.Sketch) {
	t.Helper()
	if !bytes.Equal(marshal(t, got), marshal(t, want)) {
		t.Fatalf("%s: the messages differ", what)
	}
	p, q := must(got.Spectrum())(t), must(want.Spectrum())(t)
	if !slices.Equal(p.Sigma2, q.Sigma2) || !slices.Equal(p.V, q.V) || p.Bound != q.Bound ||
		got.Bound() != want.Bound() {
		t.Fatalf("%s: the spectra or bounds differ", what)
	}
}

func TestCodecEveryFill(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, c := range []fd.Config{
			{Dim: 9, Size: 4, ShrinkRows: 3},
			{Dim: 256, Size: 4, ShrinkRows: 3}, // rows are padded
			{Dim: 5, Size: 1 << 30, ShrinkRows: 2},
			{Dim: 1, Size: 1, ShrinkRows: 1},
			{Dim: 9, Size: 4, ShrinkRows: 3, Store: fd.StoreScatter},
			{Dim: 1, Size: 1, ShrinkRows: 1, Store: fd.StoreScatter},
		} {
			m := min(c.Size, c.Dim)
			for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
				for _, fill := range []int{0, 1, m - 1, m, m + 1, m + c.ShrinkRows - 1, m + c.ShrinkRows} {
					for _, before := range []int{0, 40} {
						c.Shrink, c.Backend = driver, be
						a := noise(70, c.Dim)
						s := newSketch(t, c)
						for i := range before + fill {
							check(t, s.AppendRow(a.RawRowView(i)))
						}
						for way := range wiretest.Readers {
							r := reread(t, s, way)
							same(t, fmt.Sprintf("%+v, fill %d+%d, %s", c, before, fill, way), r, s)
							other := reread(t, s, way)
							check(t, r.Append(a.Slice(before+fill, 70, 0, c.Dim)))
							check(t, other.Append(mat.DenseCopyOf(a.Slice(before+fill, 70, 0, c.Dim).T()).T()))
							same(t, "appended otherwise", other, r)
							if way == "bytes" && c.Dim < 100 {
								holds(t, r, a)
							}
						}
					}
				}
			}
		}
	})
}

// TestCodecGoesOn: a sketch written and read at any moment goes on as if it never
// had been.
func TestCodecGoesOn(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			c := fd.Config{
				Dim: rapid.IntRange(1, 15).Draw(t, "d"), Size: rapid.IntRange(1, 8).Draw(t, "m"),
				ShrinkRows: rapid.IntRange(0, 9).Draw(t, "p"),
				Shrink:     rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "driver"), Store: drawStore(t), Backend: be,
			}
			way := rapid.SampledFrom([]string{"bytes", "hidden", "halves", "eof", "unmarshal"})
			rng, spectrum := draw(t), rapid.SampledFrom(spectrumNames).Draw(t, "spectrum")
			want, got := newSketch(t, c), newSketch(t, c)
			for range rapid.IntRange(1, 12).Draw(t, "steps") {
				got = reread(t, got, way.Draw(t, "way"))
				n := rapid.IntRange(0, 20).Draw(t, "n")
				var x mat.Matrix
				if n > 0 {
					x = stream(rng, n, c.Dim, spectrum)
				}
				switch step := rapid.SampledFrom([]string{
					"append", "columns", "sparse", "decay", "merge", "merge read",
				}).Draw(t, "step"); {
				case step == "decay":
					beta := rapid.Float64Range(0.1, 1).Draw(t, "beta")
					check(t, want.Decay(beta))
					check(t, got.Decay(beta))
				case n == 0:
				case step == "append":
					check(t, want.Append(x))
					check(t, got.Append(x))
				case step == "columns":
					x = mat.DenseCopyOf(x.T()).T()
					check(t, want.Append(x))
					check(t, got.Append(x))
				case step == "sparse":
					idx := []int32{int32(c.Dim - 1)}
					check(t, want.AppendSparse(sparse(c.Dim, idx, 3)))
					check(t, got.AppendSparse(sparse(c.Dim, idx, 3)))
				default:
					o := newSketch(t, c)
					check(t, o.Append(x))
					check(t, want.Merge(o))
					if step == "merge read" {
						o = reread(t, o, way.Draw(t, "way of the other"))
					}
					check(t, got.Merge(o))
				}
				same(t, "after a step", got, want)
			}
		})
	})
}

// small is a sketch that has shrunk and holds rows beside, and its message.
func small(t rapid.TB) (*fd.Sketch, []byte) {
	t.Helper()
	s := newSketch(t, fd.Config{Dim: 3, Size: 2, ShrinkRows: 2})
	check(t, s.Append(stream(rand.New(rand.NewPCG(1, 2)), 7, 3, "flat")))
	return s, marshal(t, s)
}

func refuses(t *testing.T, what string, b []byte, receiver *fd.Sketch) *fd.FormatError {
	t.Helper()
	return wiretest.Refuses[*fd.FormatError](t, what, b, receiver)
}

func TestCodecDamaged(t *testing.T) {
	s, b := small(t)
	receiver := newSketch(t, fd.Config{Dim: 4, Size: 2})
	check(t, receiver.AppendRow([]float64{1, 2, 3, 4}))
	for n := range b {
		e := refuses(t, fmt.Sprintf("the first %d bytes", n), b[:n], receiver)
		if !errors.Is(e, io.ErrUnexpectedEOF) {
			t.Fatalf("the first %d bytes: %v", n, e)
		}
	}
	for bit := range 8 * len(b) {
		bad := slices.Clone(b)
		bad[bit/8] ^= 1 << (bit % 8)
		refuses(t, fmt.Sprintf("bit %d", bit), bad, receiver)
	}
	if err := receiver.UnmarshalBinary(append(slices.Clone(b), 0)); err == nil {
		t.Error("a byte too many")
	}
	check(t, receiver.UnmarshalBinary(b))
	same(t, "undamaged", receiver, s)
}

func TestCodecHostile(t *testing.T) {
	receiver, b := small(t)
	f := math.Float64bits
	nan, inf := f(math.NaN()), f(math.Inf(1))
	for _, c := range []struct {
		what   string
		offset int // of the field changed
		value  uint64
		err    error
	}{
		{"no length", 16, 0, nil},
		{"length of the frame", 16, 27, nil},
		{"length without end", 16, math.MaxUint64, nil},
		{"length too large", 16, uint64(len(b) + 8), nil},
		{"d = 0", 24, 0, nil},
		{"d of 2⁶³", 24, 1 << 63, nil},
		{"d without end", 24, math.MaxUint64, nil},
		{"d large", 24, 1 << 50, fd.ErrSize},
		{"m = 0", 32, 0, nil},
		{"m without end", 32, math.MaxUint64, nil},
		{"p = 0", 40, 0, nil},
		{"p large", 40, 1 << 40, fd.ErrSize},
		{"p whose sum overflows", 40, math.MaxInt64, fd.ErrSize},
		{"p without end", 40, math.MaxUint64, nil},
		{"driver", 48, 2, nil},
		{"rows beyond m+p", 56, 5, nil},
		{"rows without end", 56, math.MaxUint64, nil},
		{"other rows", 56, 2, nil},
		{"kept beyond m", 64, 3, nil},
		{"other kept", 64, 1, nil},
		{"count below rows", 72, 2, nil},
		{"count negative", 72, 1 << 63, nil},
		{"a count that cannot be added to", 72, 1<<62 + 1, nil},
		{"kept without shrinks", 80, 0, nil},
		{"shrinks negative", 80, 1 << 63, nil},
		{"shrinks that cannot be added to", 80, 1<<62 + 1, nil},
		{"η < 0", 88, f(-1), nil},
		{"η NaN", 88, nan, nil},
		{"η Inf", 88, inf, nil},
		{"η too large", 88, f(1e308), nil},
		{"round-off < 0", 96, f(-1), nil},
		{"round-off NaN", 96, nan, nil},
		{"‖A‖ < 0", 104, f(-1), nil},
		{"‖A‖ NaN", 104, nan, nil},
		{"‖A‖ too large", 104, f(1e305), nil},
		{"correction NaN", 112, nan, nil},
		{"correction too large", 112, f(-1e305), nil},
		{"norm < 0", 120, f(-1), nil},
		{"norm NaN", 128, nan, nil},
		{"norm too large", 128, f(1e308), nil},
		{"row NaN", 136, nan, new(fd.NonFiniteError)},
		{"row −Inf", 160, f(math.Inf(-1)), new(fd.NonFiniteError)},
		{"row too large", 184, f(1e151), new(fd.RangeError)},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.offset, c.value)
		e := refuses(t, c.what, wiretest.Seal(bad), receiver)
		// 32-bit machines find sizes beyond them earlier.
		if math.MaxInt == math.MaxInt64 && c.err != nil && !chained(e, c.err) {
			t.Errorf("%s: %v, not known as %T", c.what, e, c.err)
		}
		if c.offset >= 72 && e.Offset != int64(c.offset) && e.Offset != 56 && e.Offset != 64 {
			t.Errorf("%s: offset %d is blamed, not %d", c.what, e.Offset, c.offset)
		}
	}
	newer := slices.Clone(b)
	newer[8] = 5
	if e := refuses(t, "newer", wiretest.Seal(newer), receiver); !errors.Is(e, fd.ErrVersion) || e.Offset != 8 {
		t.Errorf("a newer version: %v", e)
	}
	newer[8] = 2
	refuses(t, "as if it kept AᵀA", wiretest.Seal(newer), receiver)
}

// TestMergeCounts: a merge is refused, and changes nothing, if the total number of rows exceeds 2⁶². A sketch that
// claims 2⁶² rows can be read.
func TestMergeCounts(t *testing.T) {
	s := newSketch(t, fd.Config{Dim: 3, Size: 1})
	check(t, s.AppendRow([]float64{1, 2, 3}))
	b := marshal(t, s)
	wiretest.Put(b, 72, 1<<62)
	many := must(fd.ReadSketch(bytes.NewReader(wiretest.Seal(b)), nil))(t)
	before := marshal(t, s)
	err := s.Merge(many)
	if !errors.Is(err, engine.ErrInput) || !strings.Contains(err.Error(), "more than 4611686018427387904 in total") {
		t.Errorf("merged: %v", err)
	}
	if !bytes.Equal(marshal(t, s), before) {
		t.Error("a merge that was refused has changed the sketch")
	}
}

// chained reports whether e is known as like: the same value or one of its type.
func chained(e error, like error) bool {
	switch like.(type) {
	case *fd.NonFiniteError:
		_, ok := errors.AsType[*fd.NonFiniteError](e)
		return ok
	case *fd.RangeError:
		_, ok := errors.AsType[*fd.RangeError](e)
		return ok
	}
	return errors.Is(e, like)
}

// noise is n×d normal numbers.
func noise(n, d int) *mat.Dense {
	rng, x := rand.New(rand.NewPCG(5, 5)), make([]float64, n*d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return mat.NewDense(n, d, x)
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestCodecWide: a message of a few bytes, of no rows of a great many features, is read in no time.
func TestCodecWide(t *testing.T) {
	b := marshal(t, newSketch(t, fd.Config{Dim: 5, Size: 2}))
	wiretest.Put(b, 24, min(1<<40, math.MaxInt>>6))
	read := make(chan error, 1)
	go func() {
		_, err := fd.ReadSketch(bytes.NewReader(wiretest.Seal(b)), nil)
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("124 bytes are read for more than a minute")
	}
}

// TestCodecAllocation: whatever a header says, and however much of the message
// comes, no more is allocated than twice what came and 64 KiB.
func TestCodecAllocation(t *testing.T) {
	const d, m, p = 300, 120, 130
	s := newSketch(t, fd.Config{Dim: d, Size: m, ShrinkRows: p})
	check(t, s.Append(noise(400, d)))
	b := marshal(t, s)
	var sizes []int
	for n := len(b); n > 64; n = n * 3 / 4 {
		sizes = append(sizes, n, n-1)
	}
	be := must(engine.Default())(t)
	for way, open := range wiretest.Readers {
		for _, n := range sizes {
			r := open(b[:n])
			got := allocated(func() {
				if _, err := fd.ReadSketch(r, be); (err == nil) != (n == len(b)) {
					t.Errorf("%d of %d bytes: %v", n, len(b), err)
				}
			})
			if limit := uint64(2*n + 64<<10); got > limit {
				t.Errorf("%s: %d of %d bytes allocated %d, more than %d", way, n, len(b), got, limit)
			}
		}
		// Sizes that any machine can address, of rows that never come.
		bad := slices.Clone(b[:200])
		const dim, live = 1 << 14, 1 << 13
		wiretest.Put(bad, 16, 124+8*dim*live)
		for i, v := range []uint64{dim, live, 1, 0, live, 0, live, 0} {
			wiretest.Put(bad, 24+8*i, v)
		}
		r := open(wiretest.Seal(bad))
		got := allocated(func() {
			if _, err := fd.ReadSketch(r, be); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("rows that never come: %v", err)
			}
		})
		if got > uint64(2*len(bad)+64<<10) {
			t.Errorf("%s: 200 bytes allocated %d", way, got)
		}
	}
}

// TestCodecSequence: messages stand one after another, among other things, in
// files too.
func TestCodecSequence(t *testing.T) {
	s, b := small(t)
	empty := newSketch(t, fd.Config{Dim: 7, Size: 3})
	var all bytes.Buffer
	all.WriteString("before")
	for _, s := range []*fd.Sketch{s, empty, s} {
		if n := must(s.WriteTo(&all))(t); n != s.BinarySize() {
			t.Errorf("WriteTo returned %d", n)
		}
	}
	path := filepath.Join(t.TempDir(), "sketches")
	check(t, os.WriteFile(path, all.Bytes(), 0o600))
	file := must(os.Open(path))(t)
	defer file.Close()
	for _, r := range []io.Reader{struct{ io.Reader }{bytes.NewReader(all.Bytes())}, bytes.NewBuffer(all.Bytes()), file} {
		must(io.ReadFull(r, make([]byte, 6)))(t)
		for i, want := range []*fd.Sketch{s, empty, s} {
			got := new(fd.Sketch)
			if n := must(got.ReadFrom(r))(t); n != want.BinarySize() {
				t.Errorf("%T: message %d: ReadFrom returned %d", r, i, n)
			}
			same(t, "in a sequence", got, want)
		}
		if n, err := new(fd.Sketch).ReadFrom(r); n != 0 || err != io.EOF {
			t.Errorf("%T: at the end: %d, %v", r, n, err)
		}
	}
	broken := errors.New("broken")
	if _, err := fd.ReadSketch(io.MultiReader(bytes.NewReader(b[:50]), iotest.ErrReader(broken)), nil); err != broken {
		t.Errorf("an error of the reader: %v", err)
	}
	for n := range b {
		w := &limited{n, broken}
		if got, err := s.WriteTo(w); err != broken || got != int64(n) {
			t.Errorf("writer that takes %d: %d, %v", n, got, err)
		}
		w = &limited{n, nil}
		if _, err := s.WriteTo(w); err != io.ErrShortWrite {
			t.Errorf("writer that takes %d in silence: %v", n, err)
		}
	}
	if _, err := new(fd.Sketch).MarshalBinary(); !errors.Is(err, fd.ErrShape) {
		t.Errorf("the zero value: %v", err)
	}
}

// limited takes left bytes.
type limited struct {
	left int
	err  error
}

func (w *limited) Write(b []byte) (int, error) {
	if len(b) <= w.left {
		w.left -= len(b)
		return len(b), nil
	}
	n := w.left
	w.left = 0
	return n, w.err
}

// TestCodecBackends: what one backend has written the others read, and guarantee
// the same.
func TestCodecBackends(t *testing.T) {
	a := stream(rand.New(rand.NewPCG(2, 8)), 90, 20, "decay")
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, driver := range []fd.Driver{fd.Gram, fd.SVD} {
			s := newSketch(t, fd.Config{Dim: 20, Size: 6, Shrink: driver, Backend: be})
			check(t, s.Append(a.Slice(0, 60, 0, 20)))
			b := marshal(t, s)
			check(t, s.Append(a.Slice(60, 90, 0, 20)))
			want := must(s.Spectrum())(t).Bound
			enginetest.Each(t, func(t *testing.T, be engine.Backend) {
				r := must(fd.ReadSketch(bytes.NewReader(b), be))(t)
				check(t, r.Append(a.Slice(60, 90, 0, 20)))
				holds(t, r, a)
				got := must(r.Spectrum())(t).Bound
				scale := 1e-12 * want.Frobenius2
				if !(math.Abs(got.FD()-want.FD()) <= scale) || !(math.Abs(got.Tail-want.Tail) <= scale) {
					t.Errorf("%v: %+v, on the backend that wrote it %+v", driver, got, want)
				}
			})
		}
	})
}

// goldenSketches are the sketches of the golden files. Sums of the first have no
// rounding, so that every machine writes the same file.
func goldenSketches(t testing.TB) map[string]*fd.Sketch {
	exact := newSketch(t, fd.Config{Dim: 3, Size: 2, ShrinkRows: 3})
	check(t, exact.Append(mat.NewDense(4, 3, []float64{1, -2, 0.5, 0, 0, 0, 0x1p-40, 3, -0x1p30, 7, 0, 1})))
	shrunk := newSketch(t, fd.Config{Dim: 4, Size: 2, ShrinkRows: 3, Shrink: fd.SVD})
	check(t, shrunk.Append(goldenRows()))
	return map[string]*fd.Sketch{
		"empty":  newSketch(t, fd.Config{Dim: 5, Size: 1 << 20, ShrinkRows: 4}),
		"exact":  exact,
		"shrunk": shrunk,
	}
}

func goldenRows() *mat.Dense {
	return stream(rand.New(rand.NewPCG(6, 6)), 9, 4, "decay")
}

func TestCodecGolden(t *testing.T) {
	for name, s := range goldenSketches(t) {
		path := filepath.Join("testdata", "sketch-v1-"+name+".bin")
		if *update {
			check(t, os.WriteFile(path, marshal(t, s), 0o644))
		}
		b := must(os.ReadFile(path))(t)
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			r := must(fd.ReadSketch(bytes.NewReader(b), be))(t)
			if !bytes.Equal(marshal(t, r), b) {
				t.Errorf("%s: written again it differs", name)
			}
			if name != "shrunk" {
				if !bytes.Equal(marshal(t, s), b) {
					t.Errorf("%s: the sketch writes another message", name)
				}
				return
			}
			holds(t, r, goldenRows())
			if r.Shrinks() != 2 || r.Rows() != 9 || r.Config().Shrink != fd.SVD {
				t.Errorf("%s: %d shrinks, %d rows, %+v", name, r.Shrinks(), r.Rows(), r.Config())
			}
		})
	}
}

// FuzzSketch: whatever is read, as it is and with a checksum that fits, is refused
// with a *FormatError or writes the same message again and can be used.
func FuzzSketch(f *testing.F) {
	for _, s := range goldenSketches(f) {
		f.Add(marshal(f, s))
	}
	for _, s := range scatterGolden(f) {
		f.Add(marshal(f, s))
	}
	for _, s := range sparseGolden(f) {
		f.Add(marshal(f, s))
	}
	for _, s := range centredGolden(f, nil) {
		f.Add(marshal(f, s))
	}
	_, b := small(f)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzed(t, b)
		if len(b) >= 4 {
			fuzzed(t, wiretest.Seal(slices.Clone(b)))
		}
	})
}

func fuzzed(t *testing.T, b []byte) {
	s := new(fd.Sketch)
	if err := s.UnmarshalBinary(b); err != nil {
		if _, ok := errors.AsType[*fd.FormatError](err); !ok {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	if !bytes.Equal(marshal(t, s), b) {
		t.Fatal("written again it differs")
	}
	c := s.Config()
	if c.Dim > 200 || min(c.Size, c.Dim)+max(c.ShrinkRows, c.SparseRows) > 200 {
		return // its memory is more than a fuzzer should take
	}
	for range c.ShrinkRows + 1 {
		err := s.AppendRow(make([]float64, c.Dim))
		if _, ok := errors.AsType[*fd.RangeError](err); err != nil && !ok {
			t.Fatal(err)
		}
	}
	for range c.SparseRows {
		check(t, s.AppendSparse(&engine.CSR{Rows: 1, Cols: c.Dim, RowPtr: []int{0, 0}}))
		err := s.AppendCentred(
			&engine.CSR{Rows: 1, Cols: c.Dim, RowPtr: []int{0, 0}},
			nil,
			append(make([]float64, c.Dim-1), 0x1p-600),
		)
		if _, ok := errors.AsType[*fd.RangeError](err); err != nil && !ok {
			t.Fatal(err)
		}
	}
	p := must(s.Spectrum())(t)
	for _, v := range append(slices.Clone(p.V), append(p.Sigma2, p.Bound.FD(), p.Bound.RFD(), p.Bound.Tail)...) {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Fatalf("%+v holds a number that is not finite", p)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	s := newSketch(b, fd.Config{Dim: 1024, Size: 256})
	check(b, s.Append(noise(300, 1024)))
	data := marshal(b, s)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			must(s.WriteTo(io.Discard))(b)
		}
	})
	b.Run("marshal", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			must(s.MarshalBinary())(b)
		}
	})
	for way, open := range wiretest.Readers {
		b.Run("read/"+way, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				must(fd.ReadSketch(open(data), nil))(b)
			}
		})
	}
}

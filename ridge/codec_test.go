package ridge_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"testing/iotest"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/internal/wire/wiretest"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/ridgetest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// reread is the summary written and read again, in one way of several.
func reread(t rapid.TB, s *ridge.Summary, way string) *ridge.Summary {
	t.Helper()
	b := testkit.Marshal(t, s)
	read := new(ridge.Summary)
	if open, ok := wiretest.Readers[way]; ok {
		read = testkit.Must(ridge.ReadSummary(open(b), s.Config().Backend))(t)
	} else {
		testkit.Check(t, read.UnmarshalBinary(b))
		read = testkit.Must(ridge.ReadSummary(bytes.NewReader(testkit.Marshal(t, read)), s.Config().Backend))(t)
	}
	if !bytes.Equal(testkit.Marshal(t, read), b) {
		t.Fatalf("%s: a summary that was read writes another message", way)
	}
	return read
}

// same fails unless two summaries agree in every bit, and in their fits.
func same(t rapid.TB, what string, got, want *ridge.Summary) {
	t.Helper()
	if !bytes.Equal(testkit.Marshal(t, got), testkit.Marshal(t, want)) {
		t.Fatalf("%s: the messages differ", what)
	}
	g, err := want.Fit(0.5)
	if errors.Is(err, ridge.ErrEmpty) { // no rows, or none with weight
		if _, other := got.Fit(0.5); other == nil || other.Error() != err.Error() {
			t.Fatalf("%s: %v, want %v", what, other, err)
		}
		return
	}
	testkit.Check(t, err)
	f := testkit.Must(got.Fit(0.5))(t)
	ridgetest.Bitwise(t, what, g, f, 1, 1)
	if a, b := fmt.Sprintf("%+v", *f), fmt.Sprintf("%+v", *g); a != b {
		t.Fatalf("%s: certificates\n%s\n%s", what, a, b)
	}
}

// rows draws a block of n rows.
func rows(r *rand.Rand, n, d, t int, sparse, weighted bool) dataset.Block {
	x, y := make([][]float64, n), make([]float64, 0, n*t)
	var w []float64
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			if !sparse || r.IntN(3) == 0 {
				x[i][j] = 3 + r.NormFloat64()
			}
		}
		for range t {
			y = append(y, r.NormFloat64()-5)
		}
		if weighted {
			w = append(w, float64(r.IntN(4)))
		}
	}
	b := dataset.Block{N: n, Y: y, W: w}
	if !sparse {
		b.X = testkit.Flat(x)
	} else if n > 0 {
		b.Sparse = testkit.Compress(x)
	} else {
		b.Sparse = &engine.CSR{Cols: d, RowPtr: []int{0}}
	}
	return b
}

func TestCodecEveryFill(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d, m, p = 6, 3, 2
		for _, cfg := range []ridge.SummaryConfig{{Store: fd.StoreRows}, {Shrink: fd.SVD}, {}} { // the last keeps AᵀA
			driver := cfg.Shrink
			for kind := range 8 {
				intercept, weighted, targets := kind&1 != 0, kind&2 != 0, 1+kind>>2
				for _, fill := range []int{0, 1, m - 1, m, m + 1, m + p - 1, m + p} {
					for _, before := range []int{0, 40} {
						for way := range wiretest.Readers {
							r := rand.New(rand.NewPCG(uint64(fill), uint64(kind)))
							s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{
								Dim: d, Targets: targets, Size: m, ShrinkRows: p, Intercept: intercept, Shrink: driver, Store: cfg.Store,
								Backend: be,
							}))(t)
							s.Meta = []byte(way)
							testkit.Check(t, s.AppendBlock(rows(r, before, d, targets, false, weighted)))
							for range fill {
								testkit.Check(t, s.AppendBlock(rows(r, 1, d, targets, false, weighted)))
							}
							got := reread(t, s, way)
							what := fmt.Sprintf("%v, kind %d, fill %d+%d, %s", driver, kind, before, fill, way)
							same(t, what, got, s)
							if string(got.Meta) != way || got.Config() != s.Config() {
								t.Errorf("%s: %q, %+v", what, got.Meta, got.Config())
							}
							more := rows(r, 10, d, targets, fill%2 == 0, !weighted)
							testkit.Check(t, s.AppendBlock(more))
							testkit.Check(t, got.AppendBlock(more))
							same(t, what, got, s)
						}
					}
				}
			}
		}
	})
}

// TestCodecGoesOn: a summary written and read at any moment goes on as if it never
// had been.
func TestCodecGoesOn(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			c := ridge.SummaryConfig{
				Dim: rapid.IntRange(1, 12).Draw(t, "d"), Targets: rapid.IntRange(1, 3).Draw(t, "t"),
				Size: rapid.IntRange(1, 8).Draw(t, "m"), ShrinkRows: rapid.IntRange(0, 9).Draw(t, "p"),
				Intercept: rapid.Bool().Draw(t, "intercept"),
				Shrink:    rapid.SampledFrom([]fd.Driver{fd.Gram, fd.SVD}).Draw(t, "driver"), Backend: be,
			}
			way := rapid.SampledFrom([]string{"bytes", "hidden", "halves", "unmarshal"})
			r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
			draw := func() dataset.Block {
				return rows(
					r,
					rapid.IntRange(0, 20).Draw(t, "n"),
					c.Dim,
					c.Targets,
					rapid.Bool().Draw(t, "sparse"),
					rapid.Bool().Draw(t, "weighted"),
				)
			}
			want, got := testkit.Must(ridge.NewSummary(c))(t), testkit.Must(ridge.NewSummary(c))(t)
			for range rapid.IntRange(1, 10).Draw(t, "steps") {
				got = reread(t, got, way.Draw(t, "way"))
				b := draw()
				switch rapid.SampledFrom([]string{"append", "merge", "merge read"}).Draw(t, "step") {
				case "append":
					testkit.Check(t, want.AppendBlock(b))
					testkit.Check(t, got.AppendBlock(b))
				case "merge":
					o := testkit.Must(ridge.NewSummary(c))(t)
					testkit.Check(t, o.AppendBlock(b))
					testkit.Check(t, want.Merge(o))
					testkit.Check(t, got.Merge(o))
				default:
					o := testkit.Must(ridge.NewSummary(c))(t)
					testkit.Check(t, o.AppendBlock(b))
					testkit.Check(t, want.Merge(o))
					testkit.Check(t, got.Merge(reread(t, o, way.Draw(t, "way of the other"))))
				}
				same(t, "after a step", got, want)
			}
		})
	})
}

// small is a summary with all there is to one, and its message.
func small(t rapid.TB) (*ridge.Summary, []byte) {
	t.Helper()
	s := testkit.Must(
		ridge.NewSummary(
			ridge.SummaryConfig{Dim: 3, Targets: 2, Size: 2, ShrinkRows: 2, Intercept: true, Store: fd.StoreRows},
		),
	)(
		t,
	)
	s.Meta = []byte("meta")
	r := rand.New(rand.NewPCG(1, 2))
	testkit.Check(t, s.AppendBlock(rows(r, 7, 3, 2, false, true)))
	testkit.Check(t, s.AppendBlock(rows(r, 2, 3, 2, true, false)))
	return s, testkit.Marshal(t, s)
}

func refuses(t *testing.T, what string, b []byte, receiver *ridge.Summary) *fd.FormatError {
	t.Helper()
	return wiretest.Refuses[*fd.FormatError](t, what, b, receiver)
}

func TestCodecDamaged(t *testing.T) {
	s, b := small(t)
	receiver := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2}))(t)
	testkit.Check(t, receiver.Append(mat.NewDense(1, 2, []float64{1, 2}), mat.NewDense(1, 1, []float64{3}), nil))
	for n := range b {
		e := refuses(t, fmt.Sprintf("the first %d bytes", n), b[:n], receiver)
		if !errors.Is(e, io.ErrUnexpectedEOF) || n > 24 && e.Offset != int64(n) {
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
	testkit.Must(receiver.Fit(1))(t)
	testkit.Check(t, receiver.UnmarshalBinary(b))
	same(t, "undamaged", receiver, s)
}

// seal corrects the checksums of a message and of the sketch in it.
func seal(b []byte) []byte {
	if len(b) > 100 {
		if n := binary.LittleEndian.Uint64(b[88:]); n <= uint64(len(b)-100) {
			wiretest.Seal(b[len(b)-4-int(n) : len(b)-4])
		}
	}
	return wiretest.Seal(b)
}

func TestCodecHostile(t *testing.T) {
	receiver, b := small(t)
	f := math.Float64bits
	nan, inf := f(math.NaN()), f(math.Inf(1))
	sketch := len(b) - 4 - int(receiver.Sketch().BinarySize())
	const sums = 112 + 4       // origin 40, sum 80, its error 40, moved 40, some 3 bytes
	const squares = sums + 203 // yy 32, cross and witness 144 bytes
	for _, c := range []struct {
		what   string
		offset int // of the field changed
		value  uint64
		at     int // where the error shows
	}{
		{"no length", 16, 0, 16},
		{"length without end", 16, math.MaxUint64, 16},
		{"other length", 16, uint64(len(b) + 8), 16},
		{"d = 0", 24, 0, 24},
		{"other d", 24, 4, 16},
		{"d without end", 24, math.MaxUint64, 24},
		{"t = 0", 32, 0, 32},
		{"t large", 32, 1 << 24, 16},
		{"t·d that overflows", 32, math.MaxUint64, 32},
		{"flags", 40, 16, 40},
		{"rows negative", 48, 1 << 63, 48},
		{"rows beyond the sketch", 48, 90, sketch},
		{"no rows", 48, 0, 56},
		{"weight < 0", 56, f(-1), 56},
		{"weight NaN", 56, nan, 56},
		{"weight Inf", 56, inf, 56},
		{"raw < 0", 64, f(-1), 64},
		{"raw NaN", 64, nan, 64},
		{"raw too large", 64, f(1e307), 64},
		{"Meta too long", 80, 1<<30 + 1, 80},
		{"correction of the weight", 96, f(1e9), 96},
		{"weight off by less than nothing", 104, f(-1e-9), 96},
		{"weight off by NaN", 104, nan, 96},
		{"Meta without end", 80, math.MaxUint64, 80},
		{"decays without end", 72, math.MaxUint64, 72},
		{"sketch without end", 88, math.MaxUint64, 88},
		{"other sketch", 88, 124, 16},
		{"origin NaN", sums, nan, sums},
		{"origin Inf", sums + 32, inf, sums + 32},
		{"sum Inf", sums + 40, inf, sums + 40},
		{"correction NaN", sums + 48, nan, sums + 40},
		{"a sum off by NaN", sums + 128, nan, sums + 128},
		{"moved by less than nothing", sums + 192, f(-1), sums + 192},
		{"neither zero nor not", sums + 195, 0x0101020101010101, sums + 200},
		{"‖Y‖² < 0", squares, f(-1), squares},
		{"‖Y‖² NaN", squares + 16, nan, squares + 16},
		{"c Inf", squares + 32, inf, squares + 32},
		{"c NaN", squares + 120, nan, squares + 112},
		{"witness NaN", squares + 160, nan, squares + 160},
		{"d of the sketch", sketch + 24, 1, sketch + 56},
		{"η of the sketch", sketch + 88, nan, sketch + 88},
		{"rows of the sketch", sketch + 72, 6, sketch},
	} {
		bad := slices.Clone(b)
		wiretest.Put(bad, c.offset, c.value)
		if e := refuses(t, c.what, seal(bad), receiver); e.Offset != int64(c.at) {
			t.Errorf("%s: %v", c.what, e)
		}
	}
	newer := slices.Clone(b)
	newer[sketch+8] = 5
	if e := refuses(t, "newer sketch", seal(newer), receiver); !errors.Is(e, fd.ErrVersion) ||
		e.Offset != int64(sketch+8) {
		t.Errorf("a sketch of a newer version: %v", e)
	}
	for i := range 2 { // t·d is 2⁸⁶, which 64 bits would take for 0
		wiretest.Put(newer, 24+8*i, 1<<43)
	}
	newer[sketch+8] = 1
	if e := refuses(t, "overflow", seal(newer), receiver); e.Offset < 24 {
		t.Errorf("a product that overflows: %v", e)
	}
	// The lengths agree with each other but not with the sketch.
	short := slices.Clone(b)
	wiretest.Put(short, 16, uint64(len(b)-8))
	wiretest.Put(short, 88, uint64(len(b)-4-sketch-8))
	if e := refuses(t, "short sketch", wiretest.Seal(short), receiver); e.Offset != 88 {
		t.Errorf("a sketch longer than said: %v", e)
	}
	// The mean is out of range though the sum isn't.
	bad := slices.Clone(b)
	wiretest.Put(bad, 56, f(1e-200))
	refuses(t, "mean", seal(bad), receiver)
	// Rows without weights weigh what they number, and a plain sketch has no others.
	bad = slices.Clone(b)
	wiretest.Put(bad, 40, 1)
	refuses(t, "unweighted", seal(bad), receiver)
	bad = slices.Clone(b)
	wiretest.Put(bad, 40, 2)
	refuses(t, "rows that join means, without intercept", seal(bad), receiver)
}

// TestCodecAllocation: whatever a header says, and however much of the message
// comes, no more is allocated than twice what came and 64 KiB.
func TestCodecAllocation(t *testing.T) {
	be := testkit.Must(engine.Default())(t)
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for _, c := range []struct{ d, t, m, n, meta int }{
		{300, 1, 100, 300, 0}, {1 << 15, 1, 1, 1, 0}, {1 << 15, 3, 1, 0, 0}, {1, 1 << 15, 1, 3, 0}, {200, 200, 2, 10, 0},
		{2, 2, 2, 2, 3 << 20},
	} {
		s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: c.d, Targets: c.t, Size: c.m, Intercept: true}))(t)
		s.Meta = make([]byte, c.meta)
		testkit.Check(t, s.AppendBlock(rows(rand.New(rand.NewPCG(5, 5)), c.n, c.d, c.t, false, false)))
		b := testkit.Marshal(t, s)
		for way, open := range wiretest.Readers {
			for n := len(b); n > 64; n = n * 3 / 4 {
				r := open(b[:n])
				got := allocated(func() {
					if _, err := ridge.ReadSummary(r, be); (err == nil) != (n == len(b)) {
						t.Errorf("%d of %d bytes: %v", n, len(b), err)
					}
				})
				if limit := uint64(2*n + 64<<10); got > limit {
					t.Errorf("%+v, %s: %d of %d bytes allocated %d, more than %d", c, way, n, len(b), got, limit)
				}
			}
		}
	}
	// Products that any machine can address, of targets that never come.
	const d, k = 1 << 13, 1 << 13
	_, b := small(t)
	b = b[:90]
	wiretest.Put(b, 16, 100+24*(d+k)+16*k+16*d*k+124)
	for i, v := range []uint64{d, k, 0, 0, 0, 0, 0, 124} {
		wiretest.Put(b, 24+8*i, v)
	}
	for way, open := range wiretest.Readers {
		r := open(b)
		got := allocated(func() {
			if _, err := ridge.ReadSummary(r, be); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("targets that never come: %v", err)
			}
		})
		if got > uint64(2*len(b)+64<<10) {
			t.Errorf("%s: %d bytes allocated %d", way, len(b), got)
		}
	}
}

// TestCodecSequence: messages stand one after another, in files too.
func TestCodecSequence(t *testing.T) {
	s, b := small(t)
	empty := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 7, Size: 3}))(t)
	var all bytes.Buffer
	for _, s := range []*ridge.Summary{s, empty, s} {
		if n := testkit.Must(s.WriteTo(&all))(t); n != s.BinarySize() {
			t.Errorf("WriteTo returned %d", n)
		}
	}
	path := filepath.Join(t.TempDir(), "summaries")
	testkit.Check(t, os.WriteFile(path, all.Bytes(), 0o600))
	file := testkit.Must(os.Open(path))(t)
	defer file.Close()
	for _, r := range []io.Reader{struct{ io.Reader }{bytes.NewReader(all.Bytes())}, file} {
		for _, want := range []*ridge.Summary{s, empty, s} {
			got := new(ridge.Summary)
			if n := testkit.Must(got.ReadFrom(r))(t); n != want.BinarySize() {
				t.Errorf("%T: ReadFrom returned %d", r, n)
			}
			same(t, "in a sequence", got, want)
		}
		if n, err := new(ridge.Summary).ReadFrom(r); n != 0 || err != io.EOF {
			t.Errorf("%T: at the end: %d, %v", r, n, err)
		}
	}
	broken := errors.New("broken")
	for n := 1; n < len(b); n++ {
		r := io.MultiReader(bytes.NewReader(b[:n]), iotest.ErrReader(broken))
		if _, err := ridge.ReadSummary(r, nil); err != broken {
			t.Errorf("a reader that breaks after %d bytes: %v", n, err)
		}
		if got, err := s.WriteTo(&breaking{n, broken}); err != broken || got != int64(n) {
			t.Errorf("a writer that breaks after %d bytes: %d, %v", n, got, err)
		}
	}
	s.Meta = make([]byte, ridge.MaxMeta+1)
	if n, err := s.WriteTo(io.Discard); err == nil || n != 0 {
		t.Errorf("Meta beyond its bound: %d, %v", n, err)
	}
	if _, err := new(ridge.Summary).MarshalBinary(); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("the zero value: %v", err)
	}
	if _, err := new(ridge.Summary).WriteTo(io.Discard); !errors.Is(err, ridge.ErrShape) {
		t.Errorf("the zero value: %v", err)
	}
}

// breaking is a writer that breaks after so many bytes.
type breaking struct {
	left int
	err  error
}

func (w *breaking) Write(b []byte) (int, error) {
	n := min(len(b), w.left)
	w.left -= n
	if n < len(b) {
		return n, w.err
	}
	return n, nil
}

// goldenTable returns the rows of the golden file with a sketch that has shrunk. From version 2 on the numbers have few
// bits, so that every machine computes the same sketch. In version 1 the last bits depend on whether products and sums
// are fused.
func goldenTable(version int) testkit.Table {
	p := testkit.Problem(rand.New(rand.NewPCG(6, 6)), "offset", 12, 4, 2, 0.1)
	if version > 1 {
		for i := range p.X {
			for _, row := range [][]float64{p.X[i], p.Y[i]} {
				for j, v := range row {
					row[j] = math.Round(v*0x1p20) / 0x1p20
				}
			}
		}
	}
	return p
}

// goldenSummaries are the summaries of the golden files. Sums of the first two have
// no rounding, so that every machine writes the same file.
func goldenSummaries(t testing.TB, version int) map[string]*ridge.Summary {
	plain := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2, ShrinkRows: 3, Store: fd.StoreRows}))(t)
	plain.Meta = []byte(`{"columns":["a","b","c"]}`)
	testkit.Check(t, plain.Append(
		mat.NewDense(
			2,
			3,
			[]float64{1, -2, 0.5, 0, 0x1p-20, 3},
		),
		mat.NewDense(2, 1, []float64{-0x1p30, 7}),
		[]float64{4, 0.25},
	))
	empty := testkit.Must(
		ridge.NewSummary(
			ridge.SummaryConfig{Dim: 2, Targets: 3, Size: 1 << 20, ShrinkRows: 4, Shrink: fd.SVD, Intercept: true},
		),
	)(
		t,
	)
	shrunk := testkit.Must(
		ridge.NewSummary(
			ridge.SummaryConfig{Dim: 4, Targets: 2, Size: 3, ShrinkRows: 2, Intercept: true, Store: fd.StoreRows},
		),
	)(
		t,
	)
	src := goldenTable(version)
	src.Block = 5
	for b, err := range src.Blocks(t.Context()) {
		testkit.Check(t, err)
		testkit.Check(t, shrunk.AppendBlock(b))
	}
	all := map[string]*ridge.Summary{"empty": empty, "plain": plain, "shrunk": shrunk}
	if version > 1 {
		kept := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: 3, Size: 2, ShrinkRows: 2}))(t) // AᵀA
		testkit.Check(
			t,
			kept.Append(
				mat.NewDense(3, 3, []float64{1, -2, 0.5, 0, 0x1p-10, 3, 4, 0, 8}),
				mat.NewDense(3, 1, []float64{-0x1p10, 7, 1}),
				[]float64{4, 0.25, 1},
			),
		)
		all["scatter"] = kept
		lanes := testkit.Must(
			ridge.NewSummary(
				ridge.SummaryConfig{Dim: 3, Size: 2, ShrinkRows: 3, Lanes: 2, LaneRows: 1, Store: fd.StoreRows},
			),
		)(
			t,
		)
		lanes.Meta = []byte(`{"columns":["a","b","c"]}`)
		testkit.Check(
			t,
			lanes.Append(
				mat.NewDense(3, 3, []float64{1, -2, 0.5, 0, 0x1p-20, 3, 4, 0, 8}),
				mat.NewDense(3, 1, []float64{-0x1p30, 7, 1}),
				[]float64{4, 0.25, 1},
			),
		)
		all["lanes"] = lanes
	}
	return all
}

func TestCodecGolden(t *testing.T) {
	for name, s := range goldenSummaries(t, 2) {
		path := filepath.Join("testdata", "summary-v2-"+name+".bin")
		if *update {
			testkit.Check(t, os.WriteFile(path, testkit.Marshal(t, s), 0o644))
		}
		b := testkit.Must(os.ReadFile(path))(t)
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			r := testkit.Must(ridge.ReadSummary(bytes.NewReader(b), be))(t)
			if !bytes.Equal(testkit.Marshal(t, r), b) {
				t.Errorf("%s: written again it differs", name)
			}
			if name != "shrunk" {
				if !bytes.Equal(testkit.Marshal(t, s), b) {
					t.Errorf("%s: the summary writes another message", name)
				}
				return
			}
			goldenFit(t, goldenTable(2), r, s, 1e-9)
		})
	}
}

// TestCodecOld: messages of format version 1 are read, for what they prove, and written
// as ones of version 2. With an intercept that is less than the rows themselves do.
func TestCodecOld(t *testing.T) {
	for name, s := range goldenSummaries(t, 1) {
		b := testkit.Must(os.ReadFile(filepath.Join("testdata", "summary-v1-"+name+".bin")))(t)
		r := testkit.Must(ridge.ReadSummary(bytes.NewReader(b), nil))(t)
		if r.Rows() != s.Rows() || !bytes.Equal(r.Meta, s.Meta) {
			t.Errorf("%s: %d rows and %q, written %d and %q", name, r.Rows(), r.Meta, s.Rows(), s.Meta)
		}
		again := new(ridge.Summary)
		testkit.Check(t, again.UnmarshalBinary(testkit.Marshal(t, r)))
		if name == "empty" {
			continue
		}
		if name == "shrunk" {
			goldenFit(t, goldenTable(1), r, s, 1e-3)
			for j, o := range testkit.Must(s.Fit(0.5))(t).Targets {
				if v, w := o.ErrorBound, testkit.Must(r.Fit(0.5))(t).Targets[j].ErrorBound; !(w > v) {
					t.Errorf("target %d: the bound is %g, of the rows %g", j, w, v)
				}
			}
		}
		want, got := testkit.Must(r.Fit(0.5))(t), testkit.Must(again.Fit(0.5))(t)
		for j, o := range want.Targets {
			if got.Targets[j].ErrorBound != o.ErrorBound {
				t.Errorf("%s: error bound %g, written and read again %g", name, o.ErrorBound, got.Targets[j].ErrorBound)
			}
		}
	}
}

// TestCodecOldWeighted: of weighted rows with an intercept version 1 proves nothing, and
// what is merged with it neither.
func TestCodecOldWeighted(t *testing.T) {
	old := testkit.Must(
		ridge.ReadSummary(
			bytes.NewReader(testkit.Must(os.ReadFile(filepath.Join("testdata", "summary-v1-weighted.bin")))(t)),
			nil,
		),
	)(
		t,
	)
	if _, err := old.Fit(1); !errors.Is(err, ridge.ErrUnproven) {
		t.Errorf("Fit: %v", err)
	}
	again := new(ridge.Summary)
	testkit.Check(t, again.UnmarshalBinary(testkit.Marshal(t, old)))
	fresh := testkit.Must(ridge.NewSummary(old.Config()))(t)
	testkit.Check(t, fresh.Append(mat.NewDense(2, 2, []float64{1, 2, 3, 5}), mat.NewDense(2, 1, []float64{1, 2}), nil))
	testkit.Check(t, fresh.Merge(again))
	if _, err := fresh.Predictor(1); !errors.Is(err, ridge.ErrUnproven) {
		t.Errorf("Predictor: %v", err)
	}
	if _, err := ridge.Solve(
		t.Context(), testkit.Table{X: [][]float64{{1, 2}}, Y: [][]float64{{1}}}, again, 1, ridge.SolveOptions{},
	); err == nil {
		t.Error("Solve from an unproven summary")
	}
}

// goldenFit holds what r, a summary read, certifies of the golden table, and to what s,
// of its rows, does.
func goldenFit(t *testing.T, src testkit.Table, r, s *ridge.Summary, tol float64) {
	f := testkit.Must(r.Fit(0.5))(t)
	testkit.Certificate(t, refbig.New(src.X, src.Y, nil, true), f)
	g := testkit.Must(s.Fit(0.5))(t)
	for j, o := range f.Targets {
		if v, w := o.ErrorBound, g.Targets[j].ErrorBound; !(math.Abs(v-w) <= tol*w) {
			t.Errorf("target %d: error bound %g from the file, %g from the rows", j, v, w)
		}
	}
}

// TestCodecBackends: what one backend has written the others read, and certify the
// same.
func TestCodecBackends(t *testing.T) {
	src := testkit.Problem(rand.New(rand.NewPCG(2, 8)), "gaussian", 90, 20, 2, 0.1)
	p := refbig.New(src.X, src.Y, nil, true)
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s := testkit.Must(
			ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 6, Intercept: true, Backend: be}, nil),
		)(t)
		b := testkit.Marshal(t, s)
		want := testkit.Must(s.Fit(0.5))(t)
		enginetest.Each(t, func(t *testing.T, be engine.Backend) {
			f := testkit.Must(testkit.Must(ridge.ReadSummary(bytes.NewReader(b), be))(t).Fit(0.5))(t)
			testkit.Certificate(t, p, f)
			for j, o := range f.Targets {
				if v, w := o.ErrorBound, want.Targets[j].ErrorBound; !(math.Abs(v-w) <= 1e-9*w) {
					t.Errorf("target %d: error bound %g, on the backend that wrote it %g", j, v, w)
				}
			}
		})
	})
}

// FuzzSummary: whatever is read, as it is and with checksums that fit, is refused
// with a *fd.FormatError or writes the same message again and can be used.
func FuzzSummary(f *testing.F) {
	for _, s := range goldenSummaries(f, 2) {
		f.Add(testkit.Marshal(f, s))
	}
	_, b := small(f)
	f.Add(b)
	waiting := testkit.Must(
		ridge.NewSummary(ridge.SummaryConfig{Dim: 128, Size: 2, Intercept: true, Store: fd.StoreRows}),
	)(f)
	testkit.Check(
		f, waiting.AppendBlock(testkit.Levelled(rand.New(rand.NewPCG(1, 1)), 5, 128, 3).Cut(0, 3, 128, 1, new(engine.CSR))),
	)
	if b := testkit.Must(waiting.Sketch().MarshalBinary())(f); b[8] != 4 {
		f.Fatalf("a sketch of version %d, want one in which rows with a centre wait", b[8])
	}
	f.Add(testkit.Marshal(f, waiting))
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzed(t, b)
		fuzzed(t, seal(slices.Clone(b)))
	})
}

func fuzzed(t *testing.T, b []byte) {
	s := new(ridge.Summary)
	if err := s.UnmarshalBinary(b); err != nil {
		if _, ok := errors.AsType[*fd.FormatError](err); !ok {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	if !bytes.Equal(testkit.Marshal(t, s), b) {
		t.Fatal("written again it differs")
	}
	c := s.Config()
	if c.Dim > 100 || c.Targets > 100 || (min(c.Size, c.Dim)+c.ShrinkRows)*c.Lanes > 200 {
		return // its memory is more than a fuzzer should take
	}
	err := s.AppendBlock(rows(rand.New(rand.NewPCG(1, 1)), c.ShrinkRows+1, c.Dim, c.Targets, false, false))
	if _, ok := errors.AsType[*fd.RangeError](err); err != nil && !ok {
		t.Fatal(err)
	}
	if s.Rows() == 0 {
		return
	}
	// A forged summary may promise nothing, but it must not panic.
	if _, err := s.Fit(1); err != nil {
		t.Log(err)
	}
}

func BenchmarkCodec(b *testing.B) {
	const d, n = 1024, 300
	s := testkit.Must(ridge.NewSummary(ridge.SummaryConfig{Dim: d, Size: 256, Intercept: true}))(b)
	testkit.Check(b, s.AppendBlock(rows(rand.New(rand.NewPCG(1, 1)), n, d, 1, false, false)))
	data := testkit.Marshal(b, s)
	b.Run("write", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			testkit.Must(s.WriteTo(io.Discard))(b)
		}
	})
	for way, open := range wiretest.Readers {
		b.Run("read/"+way, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				testkit.Must(ridge.ReadSummary(open(data), nil))(b)
			}
		})
	}
}

// A summary is written where the data are and solved elsewhere.
func ExampleReadSummary() {
	sum, err := ridge.NewSummary(ridge.SummaryConfig{Dim: 2, Size: 2, Intercept: true})
	if err != nil {
		log.Fatal(err)
	}
	x, y := line(1000)
	if err := sum.Append(x, y, nil); err != nil {
		log.Fatal(err)
	}
	sum.Meta = []byte(`["height","age"]`)
	var file bytes.Buffer
	if _, err := sum.WriteTo(&file); err != nil {
		log.Fatal(err)
	}

	read, err := ridge.ReadSummary(&file, nil)
	if err != nil {
		log.Fatal(err)
	}
	f, err := read.Fit(0.1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d rows of %s: %.2f\n", read.Rows(), read.Meta, f.Targets[0].Coef)
	// Output:
	// 1000 rows of ["height","age"]: [2.00 -1.00]
}

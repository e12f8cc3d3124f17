package live_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/safefile"
	"github.com/fdridge/fdridge/internal/verify/leaktest"
	"github.com/fdridge/fdridge/live"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

func must[T any](v T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const dim, size = 12, 3

// A feed is a source that yields the blocks it is sent.
type feed chan dataset.Block

func (f feed) Dims() (n int64, d, t int) { return -1, dim, 1 }

func (f feed) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for {
			select {
			case b, ok := <-f:
				switch {
				case !ok:
					return
				case b.N == 0:
					yield(b, errBroken)
					return
				}
				if !yield(b, nil) {
					return
				}
			case <-ctx.Done():
				yield(dataset.Block{}, ctx.Err())
				return
			}
		}
	}
}

// errBroken is the error with which a feed ends when it receives an empty block.
var errBroken = errors.New("broken")

// blocks are so many, some sparse, some weighted.
func blocks(r *rand.Rand, count int) []dataset.Block {
	out := make([]dataset.Block, count)
	for k := range out {
		b := dataset.Block{N: 1 + r.IntN(40)}
		for range b.N {
			y := r.NormFloat64() / 10
			for j := range dim {
				x := r.NormFloat64() * math.Pow(2, -float64(j)/3)
				y += x
				b.X = append(b.X, x)
			}
			b.Y = append(b.Y, y)
		}
		if r.IntN(3) == 0 {
			for range b.N {
				b.W = append(b.W, 2*r.Float64())
			}
		}
		if r.IntN(3) == 0 {
			s := &engine.CSR{Rows: b.N, Cols: dim, RowPtr: []int{0}}
			for i := range b.N {
				for j := range dim {
					if j%2 == i%2 {
						s.ColIdx, s.Val = append(s.ColIdx, int32(j)), append(s.Val, b.X[i*dim+j])
					}
				}
				s.RowPtr = append(s.RowPtr, len(s.Val))
			}
			b.X, b.Sparse = nil, s
		}
		out[k] = b
	}
	return out
}

// kinds are all that can be forgotten.
var kinds = []window.Policy{
	{},
	{Rows: 150},
	{Duration: 3 * time.Second},
	{HalfLife: 2 * time.Second},
	{HalfLifeRows: 90},
}

func configOf(f window.Policy) window.Settings {
	return window.Settings{Summary: ridge.SummaryConfig{Dim: dim, Size: size, Intercept: true}, Policy: f}
}

// A tester runs a live sketch whose clock shows the time at. told has the intervals that the sketch reported.
type tester struct {
	name string
	run  live.Run
	at   time.Time
	told []live.Interval
}

func newTester(t *testing.T, f window.Policy) *tester {
	t.Helper()
	s := &tester{name: filepath.Join(t.TempDir(), "live.fds"), at: start}
	s.run = live.Run{Every: time.Millisecond, Gamma: 2, Sketch: must(window.NewStream(configOf(f)))(t)}
	s.run.Clock = func() time.Time { return s.at }
	s.run.Tell = func(i live.Interval) error {
		s.told = append(s.told, i)
		return nil
	}
	return s
}

// do runs it with the file.
func (s *tester) do(t *testing.T, ctx context.Context, src dataset.Source) error {
	t.Helper()
	s.run.File = must(live.Open(s.name))(t)
	defer func() { check(t, s.run.File.Close()) }()
	return s.run.Do(ctx, src)
}

// read reads the file as another process does.
func (s *tester) read(t testing.TB) window.Stream {
	t.Helper()
	f := must(os.Open(s.name))(t)
	defer f.Close()
	return must(live.ReadOnly(f, nil))(t)
}

func message(t testing.TB, s window.Stream) []byte {
	t.Helper()
	var b bytes.Buffer
	must(s.WriteTo(&b))(t)
	return b.Bytes()
}

// TestRun: at the end of each interval the file equals, to the bit, a sketch to which the rows were appended directly.
// The interval reports the state of this sketch, and how well the fit of the interval before predicted the new rows.
func TestRun(t *testing.T) {
	for _, f := range kinds {
		t.Run(f.String(), func(t *testing.T) {
			leaktest.Check(t)
			s, src := newTester(t, f), make(feed)
			twin := must(window.NewStream(configOf(f)))(t)
			all := blocks(rand.New(rand.NewPCG(20, 4)), 30)
			next, compared, predicted := 0, 0, 0
			var before *ridge.Solution
			s.run.Tell = func(i live.Interval) error { // it is s.at since the interval before
				first := next
				for ; twin.Rows() < i.Rows; next++ {
					check(t, twin.AppendAt(s.at, all[next]))
				}
				advance(t, twin, s.at)
				if i.Rows > 0 && !bytes.Equal(message(t, s.read(t)), message(t, twin)) {
					t.Error("the file is another")
				}
				if i.NewRows > 0 && before != nil {
					predicted++
				}
				compare(t, i, before, all[first:next])
				if i.Rows > 0 {
					sum, span, err := twin.Summary()
					check(t, err)
					before = must(sum.Fit(2))(t)
					if i.Covered != span.Rows || float64(i.Fit.Weight) != sum.Weight() ||
						float64(i.Fit.Eta) != before.Shrinkage ||
						i.Fit.EffectiveDimension != before.EffectiveDimension {
						t.Errorf("told %+v, %+v; the sketch has %+v, weight %v", i, i.Fit, span, sum.Weight())
					}
				}
				compared++
				s.told = append(s.told, i)
				s.at = s.at.Add(100 * time.Millisecond)
				return nil
			}
			go func() {
				defer close(src)
				for _, b := range all {
					src <- b
					time.Sleep(3 * time.Millisecond)
				}
			}()
			check(t, s.do(t, t.Context(), src))
			last := s.told[len(s.told)-1]
			if last.End != live.EndOfRows || next != len(all) || last.Rows != twin.Rows() {
				t.Errorf("%d intervals, the last %+v, of %d rows", compared, last, twin.Rows())
			}
			t.Logf("%d intervals, %d of them predicted", compared, predicted)
			if names := must(filepath.Glob(s.name + "*"))(t); len(names) > 2 {
				t.Errorf("it leaves %v", names)
			}
		})
	}
}

// compare checks the reported accuracy of predictions against predictions of all rows at once.
func compare(t *testing.T, i live.Interval, fit *ridge.Solution, rows []dataset.Block) {
	t.Helper()
	if fit == nil || i.NewRows == 0 {
		if i.Next != nil {
			t.Errorf("nothing predicted them: %+v", i.Next)
		}
		return
	}
	var w, wy, wyy, rss float64
	x, yhat := make([]float64, dim), make([]float64, 1)
	for _, b := range rows {
		for k := range b.N {
			clear(x)
			if b.Sparse == nil {
				copy(x, b.X[k*dim:])
			} else {
				idx, val := b.Sparse.Row(k)
				for j := range idx {
					x[idx[j]] = val[j]
				}
			}
			check(t, fit.PredictRow(yhat, x))
			y, v := b.Y[k], b.Weight(k)
			w, wy, wyy, rss = w+v, wy+v*y, wyy+v*y*y, rss+v*(y-yhat[0])*(y-yhat[0])
		}
	}
	want, rmse := 1-rss/(wyy-wy*wy/w), math.Sqrt(rss/w)
	if i.Next == nil || !(math.Abs(float64(i.Next.R2[0])-want) <= 1e-9*(1+math.Abs(want))) ||
		!(math.Abs(float64(i.Next.RMSE[0])-rmse) <= 1e-9*rmse) {
		t.Errorf("told %+v, R² is %v, RMSE %v", i.Next, want, rmse)
	}
}

// TestGoesOn: a run goes on from the file with the row after, whether the rows go on or begin anew, and
// ends with what one run would have.
func TestGoesOn(t *testing.T) {
	for _, f := range kinds {
		for _, anew := range []bool{false, true} {
			s := newTester(t, f)
			all := blocks(rand.New(rand.NewPCG(20, 5)), 12)
			rest, rows := all, int64(0)
			for _, upTo := range []int{5, 6, 12} {
				src := make(feed, len(all))
				for _, b := range rest[:upTo-(len(all)-len(rest))] {
					src <- b
				}
				close(src)
				check(t, s.do(t, t.Context(), src))
				rows = s.run.Sketch.Rows()
				file := must(live.Open(s.name))(t)
				read, damage, err := file.Load(nil)
				if err != nil || damage != nil || read.Rows() != rows {
					t.Fatalf("%v: %d rows, %v, %v", f, rows, damage, err)
				}
				check(t, file.Close())
				check(t, live.CheckSettings(read, configOf(f)))
				s.run.Sketch = read
				if anew {
					s.run.Skip = rows
				} else {
					rest = all[upTo:]
				}
			}
			want := must(window.NewStream(configOf(f)))(t)
			for _, b := range all {
				check(t, want.AppendAt(start, b))
			}
			if !bytes.Equal(message(t, s.read(t)), message(t, want)) {
				t.Errorf("%v, anew %v: another sketch", f, anew)
			}
			// A part of a block is skipped, too; and there must be so many rows.
			few := make(feed, 1)
			few <- all[0]
			close(few)
			s.run.Skip = want.Rows()
			if err := s.do(t, t.Context(), few); !errors.Is(err, engine.ErrInput) ||
				!strings.Contains(err.Error(), fmt.Sprintf("the source has %d rows", all[0].N)) {
				t.Errorf("%v: other rows: %v", f, err)
			}
			one := make(feed, 1)
			one <- all[2]
			close(one)
			s.run.Skip = int64(all[2].N) - 1
			check(t, s.do(t, t.Context(), one))
			c := all[2]
			check(t, want.AppendAt(start, c.Cut(c.N-1, c.N, dim, 1, new(engine.CSR))))
			if !bytes.Equal(message(t, s.read(t)), message(t, want)) {
				t.Errorf("%v: another sketch of part of a block", f)
			}
		}
	}
}

// TestEnds: however a run ends, the file has the rows that were appended; what has none has no file.
func TestEnds(t *testing.T) {
	all := blocks(rand.New(rand.NewPCG(20, 6)), 3)
	good := all[0]
	bad := all[1]
	bad.X, bad.Sparse = make([]float64, dim*bad.N), nil
	bad.X[3] = math.NaN()
	for _, c := range []struct {
		what string
		send []dataset.Block
		rows int
		why  string
		is   error
	}{
		{"stopped", []dataset.Block{good}, good.N, live.Stopped, nil},
		{"broken", []dataset.Block{good, {}}, good.N, live.Failed, errBroken},
		{"a bad row", []dataset.Block{good, bad}, good.N, live.Failed, engine.ErrInput},
		{"nothing", nil, 0, "", context.Canceled},
		{"broken at once", []dataset.Block{{}}, 0, "", errBroken},
	} {
		t.Run(c.what, func(t *testing.T) {
			leaktest.Check(t)
			s, src := newTester(t, window.Policy{Duration: time.Hour}), make(feed)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for _, b := range c.send {
					src <- b
				}
				if c.is == context.Canceled { // a feed that hangs
					time.Sleep(20 * time.Millisecond)
					cancel()
				}
			}()
			tell := s.run.Tell
			s.run.Tell = func(i live.Interval) error {
				if c.is == nil && i.Rows > 0 {
					cancel()
				}
				return tell(i)
			}
			if err := s.do(t, ctx, src); !errors.Is(err, c.is) || (err == nil) != (c.is == nil) {
				t.Fatal(err)
			}
			if c.rows == 0 {
				if names := must(filepath.Glob(s.name + "*"))(t); len(names) > 0 {
					t.Errorf("of no rows there are %v", names)
				}
				return
			}
			n, last := s.read(t).Rows(), s.told[len(s.told)-1]
			if n != int64(c.rows) || last.End != c.why || last.Rows != n {
				t.Errorf("the file has %d rows, told was %+v", n, s.told)
			}
		})
	}
}

// TestIdle: rows leave a window, and fade, though none come; what does not depend on time is not written again.
func TestIdle(t *testing.T) {
	for _, f := range kinds {
		s, src := newTester(t, f), make(feed)
		b := blocks(rand.New(rand.NewPCG(20, 7)), 1)[0]
		s.run.Clock = func() time.Time { return start.Add(time.Duration(len(s.told)) * time.Second) }
		ctx, cancel := context.WithCancel(t.Context())
		go func() { src <- b }()
		tell := s.run.Tell
		s.run.Tell = func(i live.Interval) error {
			if i.Rows > 0 && tell(i) == nil && len(s.told) == 5 {
				cancel()
			}
			return nil
		}
		check(t, s.do(t, ctx, src))
		cancel()
		timed := f.Duration+f.HalfLife > 0
		for k, i := range s.told[1:] {
			if i.Rows != int64(b.N) || i.NewRows != 0 || (i.Written > 0) != timed || i.Next != nil {
				t.Errorf("%v: interval %d: %+v", f, k+1, i)
			}
		}
		last := s.told[4]
		switch {
		case f.Duration > 0:
			if last.Covered != 0 || last.Fit != nil || !strings.Contains(last.Unfitted, "no rows in the window") {
				t.Errorf("they have not left: %+v", last)
			}
			if _, _, err := s.read(t).Summary(); !errors.Is(err, ridge.ErrEmpty) {
				t.Errorf("the file: %v", err)
			}
		case f.HalfLife > 0:
			if first := s.told[0].Fit.Weight; !(last.Fit.Weight <= first/3) {
				t.Errorf("they weigh %v, and did %v", last.Fit.Weight, first)
			}
		case last.Covered != int64(b.N):
			t.Errorf("%v: %+v", f, last)
		}
	}
}

// TestDamaged: of a file that is damaged the one before is taken, and told; what is no sketch is left alone,
// and nobody else writes the file meanwhile.
func TestDamaged(t *testing.T) {
	s := newTester(t, window.Policy{Rows: 1000})
	all := blocks(rand.New(rand.NewPCG(20, 8)), 2)
	for _, b := range all {
		src := make(feed, 1)
		src <- b
		close(src)
		check(t, s.do(t, t.Context(), src))
	}
	whole := must(os.ReadFile(s.name))(t)
	for _, bad := range [][]byte{
		nil, whole[:10], whole[:len(whole)-1], append(bytes.Clone(whole), 0), []byte("notes of mine, not a sketch"),
	} {
		check(t, os.WriteFile(s.name, bad, 0o600))
		file := must(live.Open(s.name))(t)
		read, damage, err := file.Load(nil)
		if err != nil || damage == nil || read.Rows() != int64(all[0].N) {
			t.Fatalf("%d bytes: %v, %v", len(bad), damage, err)
		}
		if _, err := live.Open(s.name); err == nil {
			t.Error("two processes may write it")
		} else if _, ok := errors.AsType[*safefile.LockedError](err); !ok {
			t.Error(err)
		}
		check(t, file.Close())
	}
	check(t, os.Remove(s.name+".previous"))
	file := must(live.Open(s.name))(t)
	defer file.Close()
	if read, _, err := file.Load(nil); err == nil || read != nil {
		t.Errorf("of what is no sketch: %v, %v", read, err)
	}
}

// TestRefuses: what cannot be is refused before a row is read.
func TestRefuses(t *testing.T) {
	for _, f := range []window.Policy{
		{Rows: 1, HalfLife: 1}, {Rows: 1, Duration: 1}, {HalfLife: 1, HalfLifeRows: 1}, {Rows: -1}, {HalfLifeRows: -1},
	} {
		if _, err := window.NewStream(configOf(f)); !errors.Is(err, engine.ErrInput) {
			t.Errorf("%v: %v", f, err)
		}
	}
	s := newTester(t, window.Policy{HalfLifeRows: 5})
	s.run.Gamma = 0
	if err := s.do(t, t.Context(), make(feed)); !errors.Is(err, engine.ErrInput) ||
		!strings.Contains(err.Error(), "GCV counts rows") {
		t.Error(err)
	}
	s.run.Gamma, s.run.Every = 1, 0
	if err := s.do(t, t.Context(), make(feed)); !errors.Is(err, engine.ErrInput) {
		t.Error(err)
	}
	for i, f := range kinds {
		is := must(window.NewStream(configOf(f)))(t)
		for k, asked := range kinds {
			if err := live.CheckSettings(is, configOf(asked)); (err == nil) != (i == k) {
				t.Errorf("%v goes on as %v: %v", f, asked, err)
			}
		}
		for _, change := range []func(*window.Settings){
			func(c *window.Settings) { c.Summary.Dim++ }, func(c *window.Settings) { c.Summary.Size++ },
			func(c *window.Settings) { c.Summary.Targets = 2 }, func(c *window.Settings) { c.Summary.Intercept = false },
		} {
			c := configOf(f)
			change(&c)
			if err := live.CheckSettings(is, c); !errors.Is(err, engine.ErrInput) {
				t.Errorf("%v goes on with %+v: %v", f, c, err)
			}
		}
	}
}

// TestJSON: an interval is a line of standard JSON. A number that is NaN becomes null.
func TestJSON(t *testing.T) {
	i := live.Interval{
		Time: start,
		Rows: 3,
		Next: &live.Prequential{R2: []live.Number{live.Number(math.NaN())}, RMSE: []live.Number{1}},
		Fit:  &live.Fit{Gamma: 1},
	}
	text := string(must(json.Marshal(i))(t))
	want := `{"time":"2026-01-02T03:04:05Z","rows":3,"new_rows":0,"seconds":0.0,"rows_per_second":0.0,` +
		`"next":{"r2":[null],"rmse":[1.0]},"covered_rows":0,"fit":{"gamma":1.0,"weight":0.0,"eta":0.0,` +
		`"effective_dimension":[0.0,0.0]},"written_bytes":0}`
	if text != want {
		t.Errorf("%s", text)
	}
}

// TestMemory: however many rows have come, a run takes no more memory than at first.
func TestMemory(t *testing.T) {
	for _, f := range kinds {
		s, src := newTester(t, f), make(feed)
		b := blocks(rand.New(rand.NewPCG(20, 9)), 1)[0]
		b.N = 100
		b.X, b.Y, b.W, b.Sparse = make([]float64, 100*dim), make([]float64, 100), nil, nil
		for i := range b.X {
			b.X[i] = float64(i%7) - 3
		}
		s.run.Every = 20 * time.Millisecond
		calls := 0
		s.run.Clock = func() time.Time { // a window has the rows of some thirty blocks
			calls++
			return start.Add(time.Duration(calls) * 100 * time.Millisecond)
		}
		var before, after runtime.MemStats
		measured := make(chan struct{})
		s.run.Tell = func(i live.Interval) error { // while nothing is being written
			switch {
			case i.End != "":
				runtime.GC()
				runtime.ReadMemStats(&after)
			case i.Rows >= 3900 && before.HeapAlloc == 0:
				runtime.GC()
				runtime.ReadMemStats(&before)
				close(measured)
			}
			return nil
		}
		go func() {
			defer close(src)
			for i := range 400 {
				if i == 40 {
					<-measured
				}
				src <- b
			}
		}()
		check(t, s.do(t, t.Context(), src))
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 256<<10 {
			t.Errorf("%v: %d bytes more after ten times the rows", f, grown)
		}
	}
}

// advance tells a stream the time as a run does: if the stream forgets by time.
func advance(t testing.TB, s window.Stream, now time.Time) {
	t.Helper()
	if s.Settings().ByTime() {
		check(t, s.Advance(now))
	}
}

package window_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/window"
)

// TestWindowMemory: a window of N rows holds O(log N/m) sketches, and the memory of these and of the rows
// that are kept.
func TestWindowMemory(t *testing.T) {
	const d, m, share, block = 64, 8, 0.25, 18
	r := rand.New(rand.NewPCG(20, 4))
	b := rows(r, 1000, d, 1, false, false)
	cfg := window.Config{Summary: ridge.SummaryConfig{Dim: d, Size: m, Store: fd.StoreRows}, Rows: 1000, Share: share}
	check(t, must(window.New(cfg))(t).Append(b)) // what the process allocates once is not counted
	var before, after runtime.MemStats
	last := 0
	numbers := []int{block, 1000, 8000}
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		numbers = append(numbers, 64_000)
	}
	for _, n := range numbers {
		runtime.GC()
		runtime.ReadMemStats(&before)
		cfg.Rows = int64(n)
		w := must(window.New(cfg))(t)
		if w.Config().BlockRows != block {
			t.Fatalf("blocks of %d rows, want %d", w.Config().BlockRows, block)
		}
		most := 0
		for done := 0; done < 2*n; done += b.N {
			check(t, w.Append(b))
			most = max(most, w.Sketches())
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		k := math.Ceil(1 / share)
		if limit := int((k + 1) * (1 + max(0, math.Log2(float64(n)*(1+share)/(k*block))))); most > limit ||
			(n == block && most > 0) {
			t.Errorf("N = %d: %d sketches, more than %d", n, most, limit)
		}
		// A sketch has (m+p)·d numbers, (m+p)² a few times, and its share of sums, of O(d); rows that are kept
		// d, with what append leaves room for.
		each := 8 * (block*(d+8) + 4*block*block + 60*d)
		kept := 2 * 8 * int(k+1) * block * (d + 3)
		grown := int(after.HeapAlloc) - int(before.HeapAlloc)
		if limit := w.Sketches()*each + kept + 64<<10; grown > limit {
			t.Errorf("N = %d: %d bytes for %d sketches, more than %d", n, grown, w.Sketches(), limit)
		}
		if last > 0 && n > 1000 && w.Sketches() > last+int(5*(math.Log2(8)+1)) {
			t.Errorf("N = %d: %d sketches, for an eighth of the rows %d", n, w.Sketches(), last)
		}
		t.Logf("N = %d: at most %d sketches, %d bytes", n, most, grown)
		last = w.Sketches()
		runtime.KeepAlive(w)
	}
}

// TestWindowAllocations: between two sketches appending allocates nothing, and a fading summary nothing ever,
// once rows and weights have been seen.
func TestWindowAllocations(t *testing.T) {
	const block = 64
	s := streamOf(rand.New(rand.NewPCG(20, 5)), 1, 8, 1)
	s.sparse = false
	b := s.cut(0, 1)
	w := must(
		window.New(
			window.Config{
				Summary:   ridge.SummaryConfig{Dim: 8, Size: 2, Store: fd.StoreRows},
				Rows:      3 * block,
				Share:     1,
				BlockRows: block,
			},
		),
	)(
		t,
	)
	for range 10*block + 1 {
		check(t, w.AppendAt(start, b))
	}
	if n := testing.AllocsPerRun(block-10, func() { check(t, w.AppendAt(start, b)) }); n > 0 {
		t.Errorf("a window: %g allocations a row", n)
	}
	f := must(
		window.NewFading(
			window.FadingConfig{
				Summary:  ridge.SummaryConfig{Dim: 8, Size: 2, Store: fd.StoreRows},
				HalfLife: time.Second,
			},
		),
	)(
		t,
	)
	at := start
	appendLater := func() {
		at = at.Add(time.Second / 5)
		check(t, f.AppendAt(at, b))
	}
	for range 100 {
		appendLater()
	}
	if n := testing.AllocsPerRun(100, appendLater); n > 0 {
		t.Errorf("a fading summary: %g allocations a row", n)
	}
}

// BenchmarkWindow measures the time to append rows to a window and to a fading summary, as multiples of the time to
// append them to a summary. It appends to all three in turn. It also measures the time to read the window, in rows of
// the summary.
func BenchmarkWindow(b *testing.B) {
	const n = 1000
	for _, c := range []struct{ d, m int }{{500, 50}, {2000, 100}} {
		for _, share := range []float64{0.5, 0.25, 0.125} {
			b.Run(fmt.Sprintf("d=%d/m=%d/share=%g", c.d, c.m, share), func(b *testing.B) {
				cfg := ridge.SummaryConfig{Dim: c.d, Size: c.m}
				block := rows(rand.New(rand.NewPCG(1, 1)), n, c.d, 1, false, false)
				sum := must(ridge.NewSummary(cfg))(b)
				fading := must(window.NewFading(window.FadingConfig{Summary: cfg, HalfLife: time.Minute}))(b)
				w := must(window.New(window.Config{Summary: cfg, Rows: 20 * n, Share: share}))(b)
				for range 25 {
					check(b, w.Append(block))
				}
				var spent [4]time.Duration
				for i := 0; b.Loop(); i++ {
					for k, work := range []func() error{
						func() error { return sum.AppendBlock(block) },
						func() error { return fading.AppendAt(start.Add(time.Duration(i)*time.Second), block) },
						func() error { return w.Append(block) },
						func() error { _, _, err := w.Summary(); return err },
					} {
						begun := time.Now()
						check(b, work())
						spent[k] += time.Since(begun)
					}
				}
				row := float64(spent[0]) / n
				b.ReportMetric(row/float64(b.N), "ns/row")
				b.ReportMetric(float64(spent[1])/n/row, "fading")
				b.ReportMetric(float64(spent[2])/n/row, "window")
				b.ReportMetric(float64(spent[3])/row, "rows/read")
				b.ReportMetric(float64(w.Sketches()), "sketches")
			})
		}
	}
}

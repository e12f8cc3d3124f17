// Command sparse makes one pass over generated rows that are nearly empty, as those of text are, and
// says what it took and what is known then:
//
//	go run ./bench/sparse -rows 847000 -columns 359000 -entries 359 -size 64
//
// Rows are made as they are read, by a goroutine of their own; columns follow Zipf's law. With
// -written-out the sketch writes rows out as they come, as it does with dense ones. With -tol the
// solution is then refined by passes of conjugate gradients.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/rss"
	"github.com/fdridge/fdridge/ridge"
)

// A run is what the flags ask for.
type run struct {
	law                   law
	size, lanes           int
	intercept, writtenOut bool
	tol                   float64
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("sparse: ")
	var r run
	flag.IntVar(&r.law.rows, "rows", 50000, "rows")
	flag.IntVar(&r.law.columns, "columns", 360000, "columns")
	flag.IntVar(&r.law.entries, "entries", 300, "entries of a row")
	flag.Uint64Var(&r.law.seed, "seed", 1, "of the rows")
	flag.IntVar(&r.size, "size", 64, "rows of the sketch")
	flag.IntVar(&r.lanes, "lanes", 1, "sketches that are fed side by side")
	flag.BoolVar(&r.intercept, "intercept", false, "fit an intercept")
	flag.BoolVar(&r.writtenOut, "written-out", false, "write sparse rows out, into a sketch alone")
	flag.Float64Var(&r.tol, "tol", 0, "refine to this relative error, by cg; 0: one pass")
	flag.Parse()
	if l := r.law; flag.NArg() > 0 || l.rows < 1 || l.entries < 1 || l.columns < 2*l.entries || r.writtenOut && (r.intercept || r.tol > 0) {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.do(ctx); err != nil {
		log.Fatal(err)
	}
}

// do makes the pass, and tells.
func (r *run) do(ctx context.Context) error {
	src, begin := r.law.source(), time.Now()
	sketch, sum, err := r.sketch(ctx, src)
	if err != nil {
		return err
	}
	b := sketch.Bound()
	took := time.Since(begin)
	fmt.Printf("%d rows × %d columns, %d entries a row, m = %d: %.1f s, %d shrinks, η/‖A‖² = %.4g, ± %.2g, %d MiB at most\n",
		r.law.rows, r.law.columns, r.law.entries, r.size, took.Seconds(), sketch.Shrinks(), b.Shrinkage/b.Frobenius2, b.RoundOff/b.Frobenius2, rss.Peak()>>20)
	if sum == nil {
		return nil
	}
	const share = 1e-3 // of ‖A‖²
	gamma := share * b.Frobenius2
	fit, err := sum.Fit(gamma)
	if err != nil {
		return err
	}
	r2 := fit.Targets[0].R2()
	fmt.Printf("one-shot at γ = %.3g: relative error ≤ %.3g, R² in [%.4g, %.4g], %.1f s in all\n", gamma, fit.Targets[0].RelativeErrorBound, r2.Lo, r2.Hi, time.Since(begin).Seconds())
	if r.tol > 0 {
		begin = time.Now()
		f, err := ridge.Solve(ctx, src, sum, gamma, ridge.SolveOptions{Tol: r.tol})
		if err != nil {
			return err
		}
		fmt.Printf("cg: relative error ≤ %.3g by %d passes in %.1f s\n", f.Targets[0].RelativeErrorBound, f.Iterations, time.Since(begin).Seconds())
	}
	fmt.Printf("%d MiB at most\n", rss.Peak()>>20)
	return nil
}

// sketch makes a summary, or a sketch alone.
func (r *run) sketch(ctx context.Context, src dataset.Source) (*fd.Sketch, *ridge.Summary, error) {
	if !r.writtenOut {
		sum, err := ridge.Summarize(ctx, src, ridge.SummaryConfig{Size: r.size, Intercept: r.intercept, Lanes: r.lanes}, nil)
		if err != nil {
			return nil, nil, err
		}
		return sum.Sketch(), sum, nil
	}
	s, err := fd.New(fd.Config{Dim: r.law.columns, Size: r.size, SparseRows: -1})
	if err != nil {
		return nil, nil, err
	}
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = s.AppendSparse(b.Sparse)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	return s, nil, nil
}

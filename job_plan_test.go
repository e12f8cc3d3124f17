package fdridge_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/plan"
)

// quarter is every fourth row.
func quarter(t *testing.T, src dataset.Source) dataset.Source {
	t.Helper()
	_, d, targets := src.Dims()
	var x, y []float64
	n := 0
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.N {
			if (b.First+int64(i))%4 == 0 {
				x, y = append(x, b.X[i*d:(i+1)*d]...), append(y, b.Y[i*targets:(i+1)*targets]...)
				n++
			}
		}
	}
	return testkit.Must(dataset.FromDense(n, d, targets, x, y))(t)
}

// TestPlanRealData: from a pilot of every fourth row, and from the sketch of all, η and
// passes for other sizes are about what they turn out to be.
func TestPlanRealData(t *testing.T) {
	const rows, d = 4000, 256
	src := testkit.Fourier(t, rows, d)
	all := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 64, Intercept: true, Store: fd.StoreRows})
	pilot := testkit.Summarize(t, quarter(t, src), ridge.SummaryConfig{Size: 64, Intercept: true, Store: fd.StoreRows})
	cfg := plan.Config{
		Rows:   rows,
		Gammas: []float64{choose.Grid(all, 1)[0]},
		Sizes:  []int{16, 32, 64, 128, 192},
		Tol:    1e-6,
	}
	etas, passes := map[int]float64{}, map[int]int{}
	for _, m := range cfg.Sizes {
		sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: m, Intercept: true, Store: fd.StoreRows})
		etas[m] = testkit.Must(sum.Fit(1))(t).Shrinkage
		passes[m] = testkit.Must(ridge.Solve(
			context.Background(), src, sum, cfg.Gammas[0], ridge.SolveOptions{Tol: cfg.Tol},
		))(t).Passes
	}
	for name, s := range map[string]*ridge.Summary{"sketch of all": all, "pilot": pilot} {
		list := testkit.Must(plan.New(s, cfg))(t)
		for _, o := range list.Options {
			if o.Method != ridge.CG {
				continue
			}
			eta, took := etas[o.Size], passes[o.Size]
			t.Logf(
				"%s, m = %d: η %.3g, expected %.3g, at most %.3g; cg took %d passes, expected at most %d",
				name,
				o.Size,
				eta,
				o.Shrinkage,
				o.WorstShrinkage,
				took,
				o.Passes[0],
			)
			if name == "sketch of all" && !(eta <= o.WorstShrinkage*(1+1e-9)) {
				t.Errorf("η = %g, at worst %g", eta, o.WorstShrinkage)
			}
			if r := o.Shrinkage / eta; !(r > 0.3 && r < 3) {
				t.Errorf("%s, m = %d: η = %g, expected %g", name, o.Size, eta, o.Shrinkage)
			}
			if took > o.Passes[0]+4 {
				t.Errorf("%s, m = %d: %d passes, at most %d were expected", name, o.Size, took, o.Passes[0])
			}
		}
	}
	worst, expected, err := plan.SizeFor(all, 0.05, cfg.Gammas[0])
	if err != nil {
		t.Fatal(err)
	}
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: expected, Intercept: true, Store: fd.StoreRows})
	q := testkit.Must(sum.Fit(cfg.Gammas[0]))(t).Contraction
	t.Logf(
		"contraction 0.05 at γ = %.3g: m = %d at worst, %d expected, which has %.3g",
		cfg.Gammas[0],
		worst,
		expected,
		q,
	)
}

// TestPlanRecommends: exact where d² fits and is cheap; where not, the iteration that Fit then
// runs by itself, or the soonest where that does not fit; nothing where nothing fits.
func TestPlanRecommends(t *testing.T) {
	src := testkit.Fourier(t, 1000, 128)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 64})
	gamma := []float64{10 * choose.Grid(sum, 1)[0]}
	best := func(cfg plan.Config) plan.Option {
		cfg.Gammas = gamma
		p := testkit.Must(plan.New(sum, cfg))(t)
		if p.Best < 0 {
			return plan.Option{}
		}
		runs := itself(p, 128, 1, cfg.MaxBytes)
		if runs >= 0 && p.Best != runs {
			t.Errorf("%+v is marked, %+v is what runs", p.Options[p.Best], p.Options[runs])
		}
		for _, o := range p.Options {
			if (runs <= 0 || o.Method == p.Options[runs].Method) && o.Reaches && o.Seconds < p.Options[p.Best].Seconds {
				t.Errorf("%+v is faster than %+v", o, p.Options[p.Best])
			}
		}
		return p.Options[p.Best]
	}
	if o := best(plan.Config{}); o.Method != ridge.Exact {
		t.Errorf("by default %+v", o)
	}
	exact := testkit.Must(plan.New(sum, plan.Config{}))(t).Options[0]
	if o := best(plan.Config{MaxBytes: exact.Bytes - 1, Sizes: []int{4, 8}}); o.Method != ridge.Galerkin {
		t.Errorf("without room for d² %+v", o)
	}
	if o := best(plan.Config{MaxBytes: 1000}); o.Method != ridge.Auto {
		t.Errorf("without room %+v", o)
	}
	if o := best(plan.Config{
		Tol:      0.9,
		FlopRate: 1e15,
		ReadRate: 1e8,
		Sizes:    []int{32},
		MaxBytes: exact.Bytes - 1,
	}); o.Method != ridge.OneShot {
		t.Errorf("for a rough answer %+v", o)
	}
}

// runs returns the method that Fit chooses with a sketch of this size, within room bytes.
func runs(p *plan.Plan, d, t, size int, room uint64) ridge.Method {
	if room == 0 {
		room = ridge.DefaultMaxBytes
	}
	return plan.Choose(plan.Problem{Rows: p.Rows, Dim: d, Targets: t, Gammas: p.Gammas, Size: size, MaxBytes: room}).Method
}

// itself is the option that a plan is to mark where what Fit runs by itself reaches the
// tolerance, -1 where it doesn't.
func itself(p *plan.Plan, d, t int, room uint64) int {
	if p.Options[0].Reaches && runs(p, d, t, plan.DefaultSize, room) == ridge.Exact {
		return 0
	}
	best := -1
	for i, o := range p.Options[1:] {
		if o.Reaches && o.Method == runs(p, d, t, o.Size, room) && (best < 0 || o.Seconds < p.Options[best].Seconds) {
			best = 1 + i
		}
	}
	return best
}

// TestPlanIsFit: for data of any shape, the best option of a plan is the method that Fit chooses, if this method
// reaches the tolerance.
func TestPlanIsFit(t *testing.T) {
	marked := map[ridge.Method]int{}
	for _, d := range []int{1, 7, 96, 3000, 12000} {
		for _, targets := range []int{1, 3, 40} {
			rows := int64(12)
			if d == 96 {
				rows = 200 // more than features
			}
			src := testkit.Waves(t, int(rows), d, targets)
			sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 3})
			for _, n := range []int64{rows, 1000, 1e5, 1e9} {
				for _, k := range []int{1, 20} {
					for _, room := range []uint64{0, 1 << 16, 200_000, 1 << 20, 1 << 40} {
						cfg := plan.Config{
							Rows:     n,
							Sizes:    []int{2, 16, 300},
							Tol:      1e-2,
							MaxBytes: room,
							Gammas:   choose.Grid(sum, k),
						}
						for i := range cfg.Gammas {
							cfg.Gammas[i] *= float64(n)
						}
						p := testkit.Must(plan.New(sum, cfg))(t)
						want := itself(p, d, targets, room)
						if want >= 0 && p.Best != want {
							t.Errorf(
								"%d×%d, %d targets, %d γ: option %d is marked, %d is what runs",
								n,
								d,
								targets,
								k,
								p.Best,
								want,
							)
						}
						if want < 0 || n != rows || d*targets > 3000 {
							continue
						}
						best := p.Options[want]
						marked[best.Method]++
						f := testkit.Must(
							fdridge.Fit(
								t.Context(),
								src,
								fdridge.Options{
									NoIntercept: true,
									Gammas:      cfg.Gammas,
									Size:        best.Size,
									Tol:         0.1,
									MaxBytes:    room,
								},
							),
						)(
							t,
						)
						if f.Method != best.Method {
							t.Errorf(
								"%d×%d, %d targets, %d γ: %s is marked, Fit runs %s",
								n,
								d,
								targets,
								k,
								best.Method,
								f.Method,
							)
						}
					}
				}
			}
		}
	}
	if marked[ridge.Exact] == 0 || marked[ridge.CG]+marked[ridge.Galerkin] == 0 {
		t.Errorf("of all methods only %v were run", marked)
	}
}

// TestPlanRule: whatever the machine, what Fit runs by itself is best; where that doesn't
// reach the tolerance the soonest of the others is.
func TestPlanRule(t *testing.T) {
	src := testkit.Fourier(t, 1000, 96)
	sum := testkit.Summarize(t, src, ridge.SummaryConfig{Size: 48})
	var chosen []ridge.Method
	for _, read := range []float64{1e7, 1e9, 1e11} {
		for _, tol := range []float64{0.9, 1e-2, 1e-8} {
			for _, share := range []float64{0.01, 1, 100} {
				for _, room := range []uint64{28e3, 53e3, 34e4, 41e4, 1 << 30} {
					cfg := plan.Config{
						Rows:     1e5,
						Sizes:    []int{2, 4, 16, 64},
						Tol:      tol,
						ReadRate: read,
						MaxBytes: room,
						Gammas:   []float64{share * 100 * choose.Grid(sum, 1)[0]},
					}
					p := testkit.Must(plan.New(sum, cfg))(t)
					cg := map[int]plan.Option{}
					least := math.Inf(1)
					for _, o := range p.Options {
						switch o.Method {
						case ridge.CG:
							cg[o.Size] = o
						case ridge.Galerkin:
							c := cg[o.Size]
							if o.Passes[0] > c.Passes[0] || 2*o.Passes[0] < c.Passes[0] || o.Bytes <= c.Bytes {
								t.Errorf("galerkin %+v, cg %+v", o, c)
							}
						}
						if o.Reaches && o.Method != ridge.Newton {
							least = min(least, o.Seconds)
						}
					}
					if p.Best < 0 {
						continue
					}
					best := p.Options[p.Best]
					if best.Method == ridge.Newton {
						t.Errorf("%s is best, which Fit runs when it is asked to", best.Method)
					}
					if !slices.Contains(chosen, best.Method) {
						chosen = append(chosen, best.Method)
					}
					want := itself(p, 96, 1, room)
					if want >= 0 && p.Best != want || want < 0 && best.Seconds > least {
						t.Errorf("%s is best and takes %g s, the soonest %g", best.Method, best.Seconds, least)
					}
					if o := p.Options[p.Soonest]; o.Seconds != least || !o.Reaches {
						t.Errorf("%s is called the soonest, with %g s, which is %g", o.Method, o.Seconds, least)
					}
					if c := cg[best.Size]; best.Method == ridge.Galerkin && want < 0 && c.Reaches &&
						c.Seconds < best.Seconds {
						t.Errorf("galerkin %+v is better than cg %+v", best, c)
					}
					if best.Method != ridge.Exact && best.Seconds > least*(1+1e-12) && want < 0 {
						t.Errorf("%+v is best, another takes %g s", best, least)
					}
				}
			}
		}
	}
	slices.Sort(chosen)
	if !slices.Equal(chosen, []ridge.Method{ridge.OneShot, ridge.CG, ridge.Galerkin, ridge.Exact}) {
		t.Errorf("of all methods %v are best somewhere", chosen)
	}
}

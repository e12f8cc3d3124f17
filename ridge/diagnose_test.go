package ridge_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	changes "github.com/fdridge/fdridge/ridge/columns"
)

// A diagnosed is a random problem for the diagnostics of rows. Columns in free have no penalty.
type diagnosed struct {
	x, y      [][]float64
	w         []float64 // nil: 1
	gamma     float64
	intercept bool
	sparse    bool
	free      []int
}

// drawDiagnosed draws a problem: n may be below d, columns may be standardised, and rows sparse or weighted.
func drawDiagnosed(r *rand.Rand) *diagnosed {
	n, d, t := 4+r.IntN(9), 1+r.IntN(6), 1+r.IntN(2)
	p := &diagnosed{gamma: math.Pow(10, -3+5*r.Float64()), intercept: r.IntN(3) > 0, sparse: r.IntN(3) == 0}
	mean := math.Pow(10, 4*r.Float64()-3)
	for range n {
		row, y := make([]float64, d), make([]float64, t)
		for j := range row {
			if !p.sparse || r.IntN(2) == 0 {
				row[j] = math.Pow(10, float64(j%3)-1) * (mean + r.NormFloat64())
			}
		}
		for j := range y {
			y[j] = row[0] + r.NormFloat64()
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
	}
	if r.IntN(3) == 0 && !p.sparse { // standardised columns
		for j := range d {
			sum, squares := 0.0, 0.0
			for i := range n {
				sum += p.x[i][j] / float64(n)
			}
			for i := range n {
				squares += (p.x[i][j] - sum) * (p.x[i][j] - sum) / float64(n)
			}
			for i := range n {
				p.x[i][j] = (p.x[i][j] - sum) / math.Sqrt(squares)
			}
		}
	}
	if r.IntN(2) == 0 {
		for range n {
			p.w = append(p.w, math.Pow(10, 2*r.Float64()-1))
		}
		p.w[r.IntN(n)] = 0
	}
	if d > 1 && n > 6 && r.IntN(3) == 0 {
		p.free = []int{r.IntN(d)}
	}
	return p
}

// source returns the rows.
func (p *diagnosed) source(t *testing.T) dataset.Source {
	t.Helper()
	n, d, k := len(p.x), len(p.x[0]), len(p.y[0])
	var src dataset.Source
	var err error
	if p.sparse {
		m := &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
		for _, row := range p.x {
			for j, v := range row {
				if v != 0 {
					m.ColIdx, m.Val = append(m.ColIdx, int32(j)), append(m.Val, v)
				}
			}
			m.RowPtr = append(m.RowPtr, len(m.Val))
		}
		src, err = dataset.FromCSR(m, k, slices.Concat(p.y...))
	} else {
		src, err = dataset.FromDense(n, d, k, slices.Concat(p.x...), slices.Concat(p.y...))
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.w == nil {
		return src
	}
	of, err := dataset.FromDense(n, 1, 0, p.w, nil)
	if err != nil {
		t.Fatal(err)
	}
	src, err = dataset.Weigh(src, of)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// solve solves the problem for the rows except the row without, and the targets y, in 512 bits.
func (p *diagnosed) solve(y [][]float64, without int) (*refbig.Solution, error) {
	var xs, ys [][]float64
	var ws []float64
	for i := range p.x {
		if i != without {
			xs, ys = append(xs, p.x[i]), append(ys, y[i])
			if p.w != nil {
				ws = append(ws, p.w[i])
			}
		}
	}
	problem := refbig.New(xs, ys, ws, p.intercept)
	if p.free != nil {
		problem.Penalty = make([]float64, problem.D)
		for j := range problem.Penalty {
			if !slices.Contains(p.free, j) {
				problem.Penalty[j] = 1
			}
		}
	}
	return problem.Solve(p.gamma)
}

// miss returns the residual of row i and target j.
func (p *diagnosed) miss(s *refbig.Solution, y [][]float64, i, j int) *big.Float {
	r := new(big.Float).Sub(refbig.Float(y[i][j]), s.Intercept[j])
	for k, v := range p.x[i] {
		r.Sub(r, new(big.Float).Mul(refbig.Float(v), s.Coef[j][k]))
	}
	return r
}

// contains reports whether v contains x, up to the round-off of x in 512 bits. A leverage may be 1 exactly.
func contains(v ridge.Interval, x *big.Float) bool {
	if math.IsNaN(v.Lo) || math.IsNaN(v.Hi) {
		return false
	}
	slack := new(big.Float).SetMantExp(refbig.Float(1), -350)
	slack.Mul(slack, new(big.Float).Add(refbig.Float(1), new(big.Float).Abs(x)))
	lo, hi := new(big.Float).Sub(x, slack), new(big.Float).Add(x, slack)
	return refbig.Float(v.Lo).Cmp(hi) <= 0 && refbig.Float(v.Hi).Cmp(lo) >= 0
}

// check compares the diagnostics of all rows with n refits. It returns the largest width of a bracket of a leverage.
func (p *diagnosed) check(t *testing.T, what string, found []ridge.RowDiagnostics) float64 {
	t.Helper()
	n, widest := len(p.x), 0.0
	units := make([][]float64, n) // one target for each row, which is 1 for this row
	for i := range units {
		units[i] = make([]float64, n)
		units[i][i] = 1
	}
	whole, err := p.solve(p.y, -1)
	if err != nil {
		t.Fatal(err)
	}
	unit, err := p.solve(units, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range found {
		if o.Row != int64(i) {
			t.Fatalf("%s: row %d is the %d-th", what, o.Row, i)
		}
		if p.w != nil && p.w[i] == 0 {
			if o.Leverage != (ridge.Interval{}) || !math.IsNaN(o.LeftOutEstimate[0]) {
				t.Errorf("%s: a row of weight 0 has %+v", what, o)
			}
			continue
		}
		h := new(big.Float).Sub(refbig.Float(1), p.miss(unit, units, i, i))
		if !contains(o.Leverage, h) || !(o.Leverage.Lo <= o.LeverageEstimate && o.LeverageEstimate <= o.Leverage.Hi) {
			t.Errorf("%s: row %d has the leverage %.17g, in %v with the estimate %v", what, i, h, o.Leverage, o.LeverageEstimate)
		}
		widest = math.Max(widest, o.Leverage.Hi-o.Leverage.Lo)
		rest, err := p.solve(p.y, i)
		if errors.Is(err, refbig.ErrSingular) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for j := range p.y[i] {
			if r := p.miss(whole, p.y, i, j); !contains(o.Residual[j], r) {
				t.Errorf("%s: row %d has the residual %.17g, not in %v", what, i, r, o.Residual[j])
			}
			if r := p.miss(rest, p.y, i, j); !contains(o.LeftOut[j], r) {
				t.Errorf("%s: row %d has the left-out residual %.17g, not in %v", what, i, r, o.LeftOut[j])
			}
			if v := o.LeftOutEstimate[j]; !(o.LeftOut[j].Lo <= v && v <= o.LeftOut[j].Hi) {
				t.Errorf("%s: the estimate %v is not in %v", what, v, o.LeftOut[j])
			}
		}
	}
	return widest
}

// collect returns a function that copies diagnostics to out.
func collect(out *[]ridge.RowDiagnostics) func(*ridge.RowDiagnostics) error {
	return func(o *ridge.RowDiagnostics) error {
		one := *o
		one.Residual, one.LeftOut = slices.Clone(o.Residual), slices.Clone(o.LeftOut)
		one.ResidualEstimate, one.LeftOutEstimate = slices.Clone(o.ResidualEstimate), slices.Clone(o.LeftOutEstimate)
		one.Leverages, one.LeverageEstimates = slices.Clone(o.Leverages), slices.Clone(o.LeverageEstimates)
		*out = append(*out, one)
		return nil
	}
}

// TestDiagnose: the brackets of residuals, leverages and leave-one-out residuals contain the figures of n refits, in
// 512 bits. They come from a loose sketch, from AᵀA and from factorisations, with columns projected out. Brackets by
// AᵀA are narrow. FDRIDGE_DIAGNOSED is the number of problems.
func TestDiagnose(t *testing.T) {
	t.Parallel()
	problems := 100
	if text := os.Getenv("FDRIDGE_DIAGNOSED"); text != "" {
		var err error
		problems, err = strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
	}
	for seed := range uint64(problems) {
		p := drawDiagnosed(rand.New(rand.NewPCG(seed, 492)))
		src := p.source(t)
		read, bounds := src, (*ridge.ProjectionBounds)(nil)
		if p.free != nil {
			of, err := changes.NewProjection(t.Context(), src, p.free, changes.Options{Intercept: p.intercept})
			if err != nil {
				t.Fatal(err)
			}
			src, read, bounds = of.Apply(src), of.ApplyWithLeverages(src), of.Rounding(nil)
		}
		for _, cfg := range []ridge.SummaryConfig{
			{Size: 1, Store: fd.StoreRows}, {Size: 3, Store: fd.StoreRows}, {Size: 1, Store: fd.StoreScatter},
		} {
			cfg.Intercept, cfg.Lanes = p.intercept, 1
			sum, err := ridge.Summarize(t.Context(), src, cfg, nil)
			if err != nil {
				t.Fatal(err)
			}
			sum.WithErrors(ridge.RowErrors{Projected: bounds})
			fit, err := sum.Fit(p.gamma)
			if err != nil {
				t.Fatal(err)
			}
			var found []ridge.RowDiagnostics
			scores, err := ridge.Diagnose(t.Context(), read, sum, fit, ridge.DiagnoseOptions{}, collect(&found))
			if err != nil {
				t.Fatal(err)
			}
			if len(found) != len(p.x) || len(scores.Bounds) != 1 {
				t.Fatalf("%d of %d rows", len(found), len(p.x))
			}
			widest := p.check(t, "seed "+strconv.FormatUint(seed, 10), found)
			if cfg.Store == fd.StoreScatter && !(widest < 1e-5) {
				t.Errorf("seed %d: a bracket of a leverage is %g wide", seed, widest)
			}
		}
		for _, method := range []ridge.Method{ridge.Cholesky, ridge.QR} {
			o := ridge.ExactOptions{Method: method, Intercept: p.intercept, LeaveOneOut: true}
			o.Projected = bounds
			f, err := ridge.Factorize(t.Context(), src, []float64{p.gamma}, o)
			if err != nil {
				t.Fatal(err)
			}
			var found []ridge.RowDiagnostics
			if _, _, err := f.Diagnose(t.Context(), read, p.gamma, ridge.DiagnoseOptions{}, collect(&found)); err != nil {
				t.Fatal(err)
			}
			if widest := p.check(t, method.String(), found); !(widest < 1e-5) {
				t.Errorf("seed %d: a bracket of a leverage by %v is %g wide", seed, method, widest)
			}
		}
	}
}

// TestDiagnoseEach: with a γ for each target, the brackets of each target contain the figures of n refits at its γ.
// The refits have 512 bits. LeaveOneOut has the same scores as Diagnose, and its predictions fit the residuals.
func TestDiagnoseEach(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 493))
		p := drawDiagnosed(r)
		for i := range p.y {
			p.y[i] = []float64{p.y[i][0], math.Sin(float64(i)), r.NormFloat64()}
		}
		gammas := []float64{p.gamma, math.Pow(10, -3+5*r.Float64()), p.gamma}
		src := p.source(t)
		read, bounds := src, (*ridge.ProjectionBounds)(nil)
		if p.free != nil {
			of := testkit.Must(changes.NewProjection(t.Context(), src, p.free, changes.Options{Intercept: p.intercept}))(t)
			src, read, bounds = of.Apply(src), of.ApplyWithLeverages(src), of.Rounding(nil)
		}
		for _, store := range []fd.Storage{fd.StoreRows, fd.StoreScatter} {
			cfg := ridge.SummaryConfig{Size: 2, Store: store, Intercept: p.intercept, Lanes: 1}
			sum := testkit.Must(ridge.Summarize(t.Context(), src, cfg, nil))(t)
			sum.WithErrors(ridge.RowErrors{Projected: bounds})
			fit := testkit.Must(sum.FitEach(gammas))(t)
			var found []ridge.RowDiagnostics
			scores := testkit.Must(ridge.Diagnose(t.Context(), read, sum, fit, ridge.DiagnoseOptions{}, collect(&found)))(t)
			for j, gamma := range gammas {
				own := *p
				own.gamma, own.y = gamma, nil
				var left []ridge.RowDiagnostics
				mean := 0.0
				for i, o := range found {
					own.y = append(own.y, []float64{p.y[i][j]})
					one := o
					one.Leverage, one.LeverageEstimate = o.LeverageOf(j)
					one.Residual, one.LeftOut = o.Residual[j:j+1], o.LeftOut[j:j+1]
					one.ResidualEstimate, one.LeftOutEstimate = o.ResidualEstimate[j:j+1], o.LeftOutEstimate[j:j+1]
					left = append(left, one)
					if v := o.LeftOutEstimate[j]; o.Weight > 0 {
						mean += o.Weight * v * v / float64(len(p.x))
					}
				}
				widest := own.check(t, fmt.Sprintf("seed %d, target %d", seed, j+1), left)
				if store == fd.StoreScatter && !(widest < 1e-5) {
					t.Errorf("seed %d: a bracket of a leverage is %g wide", seed, widest)
				}
				at := scores.Bounds[0][j]
				if !(at.Lo <= mean*(1+1e-12) && mean*(1-1e-12) <= at.Hi) && store == fd.StoreScatter && widest < 1e-9 {
					t.Errorf("seed %d: target %d has the score %v, not in %v", seed, j+1, mean, at)
				}
			}
			fits := []*ridge.Solution{testkit.Must(sum.Fit(p.gamma))(t), fit}
			one, each := ridge.LeftOutScores{}, [][]ridge.Interval{}
			var lock sync.Mutex
			opts := ridge.LeaveOneOutOptions{
				Left: func(at int, b dataset.Block, brackets []ridge.Interval, _ []float64) {
					lock.Lock()
					defer lock.Unlock()
					if at == 1 {
						each = append(each, slices.Clone(brackets))
					}
					for k, v := range brackets {
						i := int(b.First) + k/3
						y := b.Y[k]
						if at == 1 && found[i].Weight > 0 && (y-v.Hi > found[i].LeftOut[k%3].Hi || y-v.Lo < found[i].LeftOut[k%3].Lo) {
							t.Errorf("seed %d: row %d: the prediction %v of %v, the residual %v", seed, i, v, y, found[i].LeftOut[k%3])
						}
					}
				},
			}
			one = *testkit.Must(ridge.LeaveOneOut(t.Context(), read, sum, fits, opts))(t)
			if len(each) == 0 || len(one.Bounds) != 2 || !slices.Equal(one.Bounds[1], scores.Bounds[0]) ||
				one.Bounds[0][0] != scores.Bounds[0][0] {
				t.Errorf("seed %d: scores %v, of the diagnostics %v", seed, one.Bounds, scores.Bounds)
			}
		}
	}
}

// TestDiagnoseEnds: an error of the caller ends the pass, and dual methods are refused.
func TestDiagnoseEnds(t *testing.T) {
	p := drawDiagnosed(rand.New(rand.NewPCG(3, 492)))
	p.free = nil
	src := p.source(t)
	sum := testkit.Must(ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 9, Intercept: p.intercept}, nil))(t)
	fit := testkit.Must(sum.Fit(1))(t)
	enough, rows := errors.New("enough"), 0
	_, err := ridge.Diagnose(t.Context(), src, sum, fit, ridge.DiagnoseOptions{}, func(*ridge.RowDiagnostics) error {
		rows++
		return enough
	})
	if !errors.Is(err, enough) || rows != 1 {
		t.Errorf("after %d rows: %v", rows, err)
	}
	o := ridge.ExactOptions{Method: ridge.Dual, Intercept: p.intercept, LeaveOneOut: true}
	f := testkit.Must(ridge.Factorize(t.Context(), src, []float64{1}, o))(t)
	_, _, err = f.Diagnose(t.Context(), src, 1, ridge.DiagnoseOptions{}, collect(new([]ridge.RowDiagnostics)))
	if !errors.Is(err, ridge.ErrShape) {
		t.Error(err)
	}
	_, err = ridge.Diagnose(t.Context(), src, sum, fit, ridge.DiagnoseOptions{}, nil)
	if !errors.Is(err, ridge.ErrShape) {
		t.Error(err)
	}
}

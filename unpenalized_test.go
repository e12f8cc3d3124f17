package fdridge_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// freeProblem is a random problem with columns without penalty.
type freeProblem struct {
	x, y      [][]float64
	w         []float64
	free      []int
	penalty   []float64
	intercept bool
	sparse    bool
	gamma     float64
}

func newFreeProblem(rng *rand.Rand, large bool) *freeProblem {
	q, others, t := 1+rng.IntN(4), 1+rng.IntN(8), 1+rng.IntN(2)
	if large { // so that rows are not subtracted with twice the digits
		q, others = 30, 35
	}
	d := q + others
	n := q + 3 + rng.IntN(45)
	p := &freeProblem{
		intercept: rng.IntN(3) > 0,
		sparse:    rng.IntN(4) == 0,
		gamma:     math.Pow(10, 8*rng.Float64()-4),
		penalty:   make([]float64, d),
	}
	for j := range p.penalty {
		p.penalty[j] = 1
		if rng.IntN(3) == 0 {
			p.penalty[j] = math.Pow(10, 4*rng.Float64()-2)
		}
	}
	p.free = rng.Perm(d)[:q]
	for _, j := range p.free {
		p.penalty[j] = 0
	}
	scale, offset := make([]float64, d), make([]float64, d)
	for j := range scale {
		scale[j] = 1
		if rng.IntN(3) == 0 {
			scale[j] = math.Pow(10, float64(rng.IntN(17)-8))
		}
		if rng.IntN(3) == 0 {
			offset[j] = scale[j] * math.Pow(10, float64(rng.IntN(5)))
		}
	}
	near := 0.0 // distance of the second free column from the first
	if rng.IntN(2) == 0 {
		near = math.Pow(10, -8*rng.Float64())
	}
	for range n {
		row, y := make([]float64, d), make([]float64, t)
		for j := range row {
			row[j] = rng.NormFloat64()
			if p.sparse && rng.IntN(2) == 0 {
				row[j] = 0
			}
		}
		if q > 2 {
			row[p.free[2]] = float64(rng.IntN(2))
		}
		if q > 1 && near > 0 {
			row[p.free[1]] = row[p.free[0]] + near*rng.NormFloat64()
		}
		for j := range row {
			for k := range y {
				y[k] += row[j] * float64(j-k)
			}
			row[j] *= scale[j]
			if !p.sparse {
				row[j] += offset[j]
			}
		}
		for k := range y {
			y[k] += rng.NormFloat64()
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
		if n%3 == 0 {
			p.w = append(p.w, []float64{0, 0.5, 1, 3}[rng.IntN(4)])
		}
	}
	return p
}

// source returns the rows, sparse if p is.
func (p *freeProblem) source(t *testing.T) dataset.Source {
	t.Helper()
	n, d, k := len(p.x), len(p.x[0]), len(p.y[0])
	if p.w != nil {
		k++
	}
	var x, y []float64
	a := engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i, row := range p.x {
		x, y = append(x, row...), append(y, p.y[i]...)
		if p.w != nil {
			y = append(y, p.w[i])
		}
		for j, v := range row {
			if v != 0 {
				a.ColIdx, a.Val = append(a.ColIdx, int32(j)), append(a.Val, v)
			}
		}
		a.RowPtr = append(a.RowPtr, len(a.Val))
	}
	var src dataset.Source
	var err error
	if p.sparse {
		src, err = dataset.FromCSR(&a, k, y)
	} else {
		src, err = dataset.FromDense(n, d, k, x, y)
	}
	if err == nil && p.w != nil {
		src, err = dataset.TargetAsWeight(src)
	}
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// exact returns the problem and its solution in 512 bits, and the least-squares coefficients of all columns and targets
// on the columns without penalty.
func (p *freeProblem) exact(t *testing.T) (*refbig.Problem, *refbig.Solution, [][]*big.Float) {
	t.Helper()
	whole := refbig.New(p.x, p.y, p.w, p.intercept)
	whole.Penalty = p.penalty
	want, err := whole.Solve(p.gamma)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.free) == 0 {
		return whole, want, nil
	}
	z, all := make([][]float64, len(p.x)), make([][]float64, len(p.x))
	for i, row := range p.x {
		for _, j := range p.free {
			z[i] = append(z[i], row[j])
		}
		all[i] = append(append(all[i], row...), p.y[i]...)
	}
	on, err := refbig.New(z, all, p.w, p.intercept).Solve(0)
	if err != nil {
		t.Fatal(err)
	}
	return whole, want, on.Coef
}

// form returns xᵀKy.
func form(k [][]*big.Float, x, y []*big.Float) *big.Float {
	sum, product := refbig.Float(0), new(big.Float)
	for i := range x {
		for j := range y {
			sum.Add(sum, product.Mul(product.Mul(x[i], y[j]), k[i][j]))
		}
	}
	return sum
}

func bigger(a *big.Float, bound float64) bool {
	return math.IsNaN(bound) || !math.IsInf(bound, 1) && a.Cmp(refbig.Float(bound)) > 0
}

// checkFree holds the bounds of one solution to the exact one. It returns the number of targets with a finite bound.
func (p *freeProblem) checkFree(t *testing.T, what string, f *ridge.Solution) (bounded int) {
	t.Helper()
	whole, want, on := p.exact(t)
	d, q := len(p.x[0]), len(p.free)
	df := new(big.Float).Sub(want.EffectiveDimension, refbig.Float(float64(q)))
	testkit.Inside(t, what+": effective dimension", f.EffectiveDimension, df, refbig.Float(float64(d)))
	for k, o := range f.Targets {
		if !math.IsInf(o.ErrorBound, 1) {
			bounded++
		}
		// x has the coefficients that the certificate is about, with the best ones of the columns without penalty, N − Mx.
		x := make([]*big.Float, d)
		for j, v := range o.Scaled {
			if p.penalty[j] > 0 {
				x[j] = new(big.Float).Quo(refbig.Float(v), new(big.Float).Sqrt(refbig.Float(p.penalty[j])))
			}
		}
		for i, j := range p.free {
			x[j] = new(big.Float).Copy(on[d+k][i])
			for a := range x {
				if p.penalty[a] > 0 {
					x[j].Sub(x[j], new(big.Float).Mul(on[a][i], x[a]))
				}
			}
		}
		off, squares, size, energy := make([]*big.Float, d), refbig.Float(0), refbig.Float(0), refbig.Float(0)
		for j := range off {
			off[j] = new(big.Float).Sub(x[j], want.Coef[k][j])
			root := new(big.Float).Sqrt(refbig.Float(p.penalty[j]))
			z := new(big.Float).Sub(refbig.Float(o.Scaled[j]), new(big.Float).Mul(root, want.Coef[k][j]))
			if p.penalty[j] == 0 {
				continue
			}
			squares.Add(squares, new(big.Float).Mul(z, z))
			v := new(big.Float).Mul(root, want.Coef[k][j])
			size.Add(size, new(big.Float).Mul(v, v))
		}
		energy.Add(form(whole.K, off, off), new(big.Float).Mul(refbig.Float(p.gamma), squares))
		distance := new(big.Float).Sqrt(squares)
		name := fmt.Sprintf("%s: target %d", what, k)
		if bigger(distance, o.ErrorBound) {
			t.Errorf("%s: the error is %g, the bound %g", name, distance, o.ErrorBound)
		}
		if bigger(new(big.Float).Quo(distance, new(big.Float).Sqrt(size)), o.RelativeErrorBound) {
			t.Errorf(
				"%s: the error is %g of %g, the relative bound %g",
				name,
				distance,
				new(big.Float).Sqrt(size),
				o.RelativeErrorBound,
			)
		}
		if energy.Sign() > 0 && bigger(new(big.Float).Sqrt(energy), o.EnergyBound) {
			t.Errorf("%s: the energy is %g, the bound %g", name, new(big.Float).Sqrt(energy), o.EnergyBound)
		}
		rss := new(big.Float).Add(whole.YY[k], form(whole.K, x, x))
		for j := range x {
			rss.Sub(rss, new(big.Float).Mul(refbig.Float(2), new(big.Float).Mul(whole.C[k][j], x[j])))
		}
		testkit.Inside(t, name+": RSS", o.RSS, rss, whole.YY[k])
		testkit.Inside(t, name+": objective", o.Objective, want.Objective[k], whole.YY[k])
		testkit.Inside(t, name+": TSS", o.TSS, whole.YY[k], whole.YY[k])
		if want.GCV[k] != nil {
			testkit.Inside(t, name+": GCV", o.GCV, want.GCV[k], whole.YY[k])
		}
		at := 0
		for j := range d {
			if p.penalty[j] > 0 {
				continue
			}
			if o.UnpenalizedBounds != nil {
				e := new(big.Float).Sub(refbig.Float(o.Coef[j]), want.Coef[k][j])
				if bigger(e.Abs(e), o.UnpenalizedBounds[at]) {
					t.Errorf(
						"%s: unpenalised coefficient %d is off by %g, the bound is %g",
						name,
						j,
						e,
						o.UnpenalizedBounds[at],
					)
				}
			}
			at++
		}
		if e := new(big.Float).Sub(refbig.Float(o.Intercept), want.Intercept[k]); bigger(e.Abs(e), o.InterceptBound) {
			t.Errorf("%s: the intercept is off by %g, the bound is %g", name, e, o.InterceptBound)
		}
	}
	return bounded
}

// mergedParts makes a summary of each third of the rows and merges them.
func mergedParts(
	ctx context.Context,
	src dataset.Source,
	cfg ridge.SummaryConfig,
	_ func(int64),
) (*ridge.Summary, error) {
	n, _, _ := src.Dims()
	var sum *ridge.Summary
	for part := range int64(3) {
		lo, hi := n*part/3, n*(part+1)/3
		if lo == hi {
			continue
		}
		rows, err := dataset.Rows(src, lo, hi)
		if err != nil {
			return nil, err
		}
		one, err := ridge.Summarize(ctx, rows, cfg, nil)
		if err != nil {
			return nil, err
		}
		if sum == nil {
			sum = one
		} else if err := sum.Merge(one); err != nil {
			return nil, err
		}
	}
	return sum, nil
}

// TestUnpenalized compares fits with columns without penalty with the closed form in 512 bits, for more problems
// if FDRIDGE_THOROUGH is set.
func TestUnpenalized(t *testing.T) {
	problems := 250
	switch {
	case testing.Short():
		problems = 60
	case os.Getenv("FDRIDGE_THOROUGH") != "":
		problems = 1000
	}
	var fits, bounded, refused, missed int
	methods := ridge.Methods()
	for seed := range uint64(problems) {
		rng := rand.New(rand.NewPCG(seed, 36))
		p := newFreeProblem(rng, seed%50 == 7)
		opts := fdridge.Options{
			Gammas:      []float64{p.gamma},
			Penalty:     p.penalty,
			NoIntercept: !p.intercept,
			Size:        1 + rng.IntN(10),
			Method:      methods[rng.IntN(len(methods))],
		}
		if rng.IntN(2) == 0 && !opts.Method.IsDirect() {
			opts.Summarize = mergedParts
		}
		found, err := fdridge.Fit(t.Context(), p.source(t), opts)
		short := false
		_, short = errors.AsType[*ridge.NotConvergedError](err)
		if short {
			missed++
		} else if _, ok := errors.AsType[*columns.DependentError](err); ok {
			refused++
			continue
		} else if _, ok := errors.AsType[*ridge.SingularError](err); ok || errors.Is(err, ridge.ErrShape) {
			// too few rows with a weight
			refused++
			continue
		} else if err != nil {
			t.Fatalf("problem %d: %v", seed, err)
		}
		for _, f := range found.Solutions {
			fits += len(f.Targets)
			bounded += p.checkFree(t, fmt.Sprintf("problem %d, %v", seed, found.Method), f)
		}
	}
	t.Logf(
		"%d targets, %d with a bound; %d fits missed the tolerance, %d problems were refused",
		fits,
		bounded,
		missed,
		refused,
	)
	if bounded < fits*9/10 || refused > problems/5 {
		t.Errorf("%d of %d targets have a bound, %d of %d problems were refused", bounded, fits, refused, problems)
	}
}

// TestUnpenalizedChoice: GCV counts the columns without penalty, and the chosen γ is the best one in 512 bits.
func TestUnpenalizedChoice(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 37))
		p := newFreeProblem(rng, false)
		for !p.mild() || p.w != nil || len(p.x) < 25 {
			p = newFreeProblem(rng, false)
		}
		var opts fdridge.Options
		opts.Penalty, opts.NoIntercept, opts.Size, opts.Tol = p.penalty, !p.intercept, 4, 1e-4
		opts.Method = ridge.Exact
		if seed%2 == 0 {
			opts.Method = ridge.CG
		}
		opts.Candidates, opts.Select = []float64{0.01, 0.1, 1, 10, 100, 1000}, choose.GCV
		found, err := fdridge.Fit(t.Context(), p.source(t), opts)
		// If two free columns are nearly dependent, their coefficients may miss the tolerance.
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			t.Fatal(err)
		}
		if len(found.Choice.Possible) > 1 {
			continue
		}
		whole, best, least := refbig.New(p.x, p.y, p.w, p.intercept), -1, math.Inf(1)
		whole.Penalty = p.penalty
		for i, gamma := range opts.Candidates {
			s, err := whole.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, v := range s.GCV {
				f, _ := v.Float64()
				sum += f
			}
			if sum < least {
				best, least = i, sum
			}
		}
		if found.Choice.Index != best {
			t.Errorf(
				"problem %d: %v chose γ = %g (proved), the best is %g",
				seed,
				found.Method,
				found.Choice.Gamma(),
				opts.Candidates[best],
			)
		}
	}
}

// TestUnpenalizedLeaveOneOut compares the brackets of leave-one-out errors with exact solutions of all rows but one.
func TestUnpenalizedLeaveOneOut(t *testing.T) {
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 38))
		p := newFreeProblem(rng, false)
		for !p.mild() || len(p.x) < 15 || len(p.x) > 25 {
			p = newFreeProblem(rng, false)
		}
		opts := fdridge.Options{
			Penalty:     p.penalty,
			NoIntercept: !p.intercept,
			Size:        4,
			Tol:         1e-4,
			Candidates:  []float64{0.1, 1, 30},
		}
		opts.Method = ridge.Exact
		switch {
		case seed%2 == 0:
			opts.Method = ridge.CG
		case seed%3 == 0: // a sketch chooses γ
			opts.Method, opts.Select = ridge.Dual, choose.LOO
		}
		found, err := fdridge.Fit(t.Context(), p.source(t), opts)
		if _, ok := errors.AsType[*columns.DependentError](err); ok {
			continue
		}
		if _, short := errors.AsType[*ridge.NotConvergedError](err); err != nil && !short {
			t.Fatal(err)
		}
		if found.Choice.By != choose.LOO {
			t.Fatalf("problem %d: γ was chosen by %v", seed, found.Choice.By)
		}
		want := make([][]float64, len(opts.Candidates))
		for i := range want {
			want[i] = make([]float64, len(p.y[0]))
		}
		for i, gamma := range opts.Candidates {
			for k := range want[i] {
				want[i][k] = math.Inf(1)
				if exact := p.leftOut(gamma, k); exact != nil { // else a row determines a coefficient alone
					want[i][k], _ = exact.Float64()
				}
			}
		}
		for i := range found.Choice.Scores {
			for k, v := range found.Choice.Scores[i] {
				if x := want[i][k]; !math.IsInf(x, 1) && !(v.Lo <= x*(1+1e-9) && v.Hi >= x*(1-1e-9)) {
					t.Errorf(
						"problem %d, %v, γ = %g, target %d: the leave-one-out error is %g, the bracket %v",
						seed,
						found.Method,
						opts.Candidates[i],
						k,
						x,
						v,
					)
				}
				e := found.Choice.Estimates[i][k]
				if opts.Method == ridge.Exact && !(math.Abs(e/want[i][k]-1) < 1e-6) &&
					!math.IsInf(want[i][k], 1) {
					t.Errorf(
						"problem %d, %v, γ = %g, target %d: the leave-one-out error is %g, the estimate %g",
						seed,
						found.Method,
						opts.Candidates[i],
						k,
						want[i][k],
						e,
					)
				}
			}
		}
	}
}

// mild reports whether the columns have similar sizes.
func (p *freeProblem) mild() bool {
	for _, v := range p.x[0] {
		if math.Abs(v) > 100 || math.Abs(v) < 1e-3 && v != 0 {
			return false
		}
	}
	return true
}

// TestUnpenalizedRefused: what cannot be fitted is an error that names the columns.
func TestUnpenalizedRefused(t *testing.T) {
	x := []float64{1, 2, 3, 5, 1, 4, 5, 9, 2, 2, 4, 1, 0, 7, 7, 6, 5, 1, 6, 2, 8, 3, 11, 4}
	src, err := dataset.FromDense(6, 4, 1, x, []float64{1, 3, 2, 5, 4, 6}) // column 3 is the sum of the first two
	if err != nil {
		t.Fatal(err)
	}
	_, err = fdridge.Fit(t.Context(), src, fdridge.Options{Gammas: []float64{1}, Unpenalized: []int{2, 0, 1}})
	dependent, ok := errors.AsType[*columns.DependentError](err)
	if !ok || dependent.Column != 2 || len(dependent.On) != 2 || !errors.Is(err, ridge.ErrInput) {
		t.Errorf("column 3 is the sum of columns 1 and 2: %v", err)
	}
	for name, opts := range map[string]fdridge.Options{
		"out of range":  {Gammas: []float64{1}, Unpenalized: []int{4}},
		"negative":      {Gammas: []float64{1}, Unpenalized: []int{-1}},
		"all":           {Gammas: []float64{1}, Penalty: make([]float64, 4)},
		"short penalty": {Gammas: []float64{1}, Penalty: []float64{0, 1}},
		"band": {Gammas: []float64{1}, Unpenalized: []int{1}, Bands: []choose.Band{
			{Columns: []int{0, 1}, Penalty: 2},
		}},
		"rows": {Gammas: []float64{1}, Unpenalized: []int{0, 1, 3}, NoIntercept: true},
	} {
		rows := src
		if name == "rows" {
			rows, err = dataset.Rows(src, 0, 2)
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := fdridge.Fit(t.Context(), rows, opts); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	sum, err := ridge.Summarize(t.Context(), src, ridge.SummaryConfig{Size: 2, Intercept: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = fdridge.FitSummary(t.Context(), src, sum, fdridge.Options{Gammas: []float64{1}, Unpenalized: []int{1}})
	if !errors.Is(err, ridge.ErrInput) {
		t.Errorf("of a summary: %v", err)
	}
}

// TestUnpenalizedTolerance: a fit goes on until all coefficients together reach the tolerance, not only the
// coefficients with a penalty.
func TestUnpenalizedTolerance(t *testing.T) {
	const n, d = 400, 40
	rng := rand.New(rand.NewPCG(5, 39))
	x, y := make([]float64, n*d), make([]float64, n)
	for i := range n {
		free := rng.NormFloat64()
		row := x[i*d : (i+1)*d]
		for j := range row {
			row[j] = 1e3*free + rng.NormFloat64()
			y[i] += row[j]
		}
		row[0] = free
		y[i] += rng.NormFloat64() - 1e3*free // the coefficient of the free column is near 0
	}
	src, err := dataset.FromDense(n, d, 1, x, y)
	if err != nil {
		t.Fatal(err)
	}
	lossy := func(
		ctx context.Context, src dataset.Source, cfg ridge.SummaryConfig, progress func(int64),
	) (*ridge.Summary, error) {
		cfg.Store = fd.StoreRows // AᵀA itself would give the solution at once
		return ridge.Summarize(ctx, src, cfg, progress)
	}
	// An iteration ends somewhere below its tolerance, so that only some tolerances need a smaller one.
	for _, m := range []ridge.Method{ridge.CG, ridge.Newton, ridge.Galerkin, ridge.Cholesky} {
		for tol := 1e-2; tol > 1e-7; tol /= 3 {
			found, err := fdridge.Fit(
				t.Context(),
				src,
				fdridge.Options{
					Gammas:      []float64{1},
					Unpenalized: []int{0},
					Method:      m,
					Size:        2,
					Tol:         tol,
					Summarize:   lossy,
				},
			)
			if err != nil {
				t.Errorf("%v, tolerance %g: %v", m, tol, err)
				continue
			}
			if o := found.Solutions[0].Targets[0]; !(o.RelativeErrorBound <= tol) || found.Status.Err() != nil {
				t.Errorf(
					"%v, tolerance %g: the relative error is at most %g, %v",
					m,
					tol,
					o.RelativeErrorBound,
					found.Status,
				)
			}
		}
	}
}

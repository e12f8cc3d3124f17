// Package scales attacks certificates by numbers of extreme size. It compares every bound with a
// reference of its own.
package scales

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestScales solves small problems whose numbers are of any size that is accepted. Entries and rows to predict are
// from 2⁻¹⁰⁷⁴ to 2⁴⁹⁹, γ from 2⁻¹⁰⁰⁰ to 2¹⁰⁰⁰ for direct methods and from
// 2⁻²⁴⁰ to 2²⁴⁰ for sketches, weights from 2⁻¹⁰⁷⁴ to 2⁴⁸⁰. It compares every bound with
// the truth, which is computed in 4,000 bits.
func TestScales(t *testing.T) {
	problems := 60
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		problems = 1000
	}
	done, bounds := 0, 0
	for seed := range problems {
		p := newScaled(uint64(seed))
		p.attack(t)
		if p.bounds > 0 {
			done++
		}
		bounds += p.bounds
		for _, v := range p.faults {
			t.Errorf("seed %d: %s\n%s", seed, v, p)
		}
	}
	t.Logf("%d problems, %d bounds", done, bounds)
	if !(done > problems/2) {
		t.Errorf("only %d of %d problems were accepted", done, problems)
	}
}

// A scaled is a problem with numbers of any size.
type scaled struct {
	*rand.Rand
	x, y      [][]float64
	w         []float64
	weighted  bool
	sparse    bool
	block     int // rows of a block
	gamma     float64
	intercept bool
	cfg       ridge.SummaryConfig
	rows      [][]float64 // to predict
	truth     *reference

	bounds int
	faults []string
}

func (p *scaled) String() string {
	return fmt.Sprintf(
		"x = %v\ny = %v\nw = %v\nγ = %v, intercept %v, sparse %v, blocks of %d, size %d, shrink rows %d, store %v",
		p.x,
		p.y,
		p.w,
		p.gamma,
		p.intercept,
		p.sparse,
		p.block,
		p.cfg.Size,
		p.cfg.ShrinkRows,
		p.cfg.Store,
	)
}

// power is 2ᵏ for a k from lo to hi.
func (p *scaled) power(lo, hi int) float64 { return math.Ldexp(1, lo+p.IntN(hi-lo+1)) }

// entry is a number of about 1, at times one of few digits, so that others cancel.
func (p *scaled) entry(kind int) float64 {
	switch kind {
	case 0:
		return p.NormFloat64()
	case 1:
		return float64(p.IntN(7) - 3)
	}
	return 1
}

// grading is n factors: all 1, or powers of two down to 2^-most.
func (p *scaled) grading(n, most int) []float64 {
	out := slices.Repeat([]float64{1}, n)
	if p.IntN(2) == 0 {
		for i := range out {
			out[i] = p.power(-most, 0)
		}
	}
	return out
}

func newScaled(seed uint64) *scaled {
	p := &scaled{Rand: rand.New(rand.NewPCG(seed, 31))}
	n, d, t := 1+p.IntN(6), 1+p.IntN(4), 1+p.IntN(2)
	kind, most := p.IntN(3), []int{3, 60, 300, 1080}[p.IntN(4)]
	size, target := p.power(-118, 116), p.power(-118, 116)
	switch p.IntN(4) {
	case 0:
		size = p.power(100, 116)
	case 1:
		size = p.power(-118, -100)
	}
	columns, rows := p.grading(d, most), p.grading(n, most)
	scale, weights := 1.0, slices.Repeat([]float64{1}, n)
	if p.IntN(4) == 0 { // rows are longer by the inverse root of their weights
		k := p.IntN(360)
		if p.IntN(2) == 0 {
			k = -p.IntN(240)
		}
		p.weighted, scale, weights = true, math.Ldexp(1, k), p.grading(n, 6)
		for i := range weights {
			weights[i] *= math.Ldexp(1, -2*k) * (1 + p.Float64())
		}
		if k > 340 && p.IntN(2) == 0 {
			scale, weights[0] = scale*0x1p197, math.SmallestNonzeroFloat64
		}
	}
	if p.IntN(5) == 0 { // only direct methods accept most of these
		size, target = p.power(-450, 450), p.power(-450, 450)
	}
	size, target, p.w = size*scale, target*scale, weights
	for i := range n {
		x, y := make([]float64, d), make([]float64, t)
		for j := range x {
			x[j] = p.entry(kind) * size * columns[j] * rows[i]
		}
		for j := range y {
			y[j] = p.entry(kind) * target
		}
		p.x, p.y = append(p.x, x), append(p.y, y)
	}
	p.gamma = p.power(-239, 239)
	if p.IntN(20) == 0 {
		p.gamma = p.power(-1000, 1000)
	}
	if p.IntN(2) == 0 { // about ‖A‖²
		p.gamma = math.Max(0x1p-239, math.Min(0x1p239, size/scale*size/scale*p.power(-70, 20)))
	}
	p.intercept, p.sparse, p.block = p.IntN(3) == 0, p.IntN(3) == 0, 1+p.IntN(4)
	p.cfg = ridge.SummaryConfig{
		Dim:        d,
		Targets:    t,
		Size:       1 + p.IntN(d),
		ShrinkRows: 1 + p.IntN(3),
		Intercept:  p.intercept,
	}
	if p.IntN(4) > 0 {
		p.cfg.Store = fd.StoreRows
	}
	for i := range 12 {
		row, size := make([]float64, d), p.power(-1074, 496)
		if i < 4 { // squares of these are normal numbers, products with eigenvalues may underflow
			size = p.power(-449, -400)
		}
		for j, f := range p.grading(d, most) {
			row[j] = p.entry(kind) * f * size
		}
		p.rows = append(p.rows, row)
	}
	p.rows = append(p.rows, p.x...)
	return p
}

func (p *scaled) fault(format string, args ...any) {
	p.faults = append(p.faults, fmt.Sprintf(format, args...))
}

// noise reports whether what a bound lacks is round-off of the reference.
func noise(v *big.Float) bool { return v.Sign() == 0 || v.MantExp(nil) < negligible }

func (p *scaled) atMost(what string, truth *big.Float, bound float64) {
	p.bounds++
	if math.IsNaN(bound) {
		p.fault("%s: NaN", what)
	} else if v := minus(truth, number(bound)); v.Sign() > 0 && !noise(v) && !math.IsInf(bound, 1) {
		p.fault("%s is %.6g, at most %.6g is proved", what, truth, bound)
	}
}

func (p *scaled) within(what string, truth *big.Float, v ridge.Interval) {
	p.bounds++
	if !(v.Lo <= v.Hi) {
		p.fault("%s: %v", what, v)
		return
	}
	below, above := number(0), number(0)
	if !math.IsInf(v.Lo, 0) {
		below = minus(number(v.Lo), truth)
	}
	if !math.IsInf(v.Hi, 0) {
		above = minus(truth, number(v.Hi))
	}
	if math.IsInf(v.Lo, 1) || below.Sign() > 0 && !noise(below) || above.Sign() > 0 && !noise(above) {
		p.fault("%s is %.17g, between %.17g and %.17g is proved", what, truth, v.Lo, v.Hi)
	}
}

// refused reports an error, which is a fault if it is not one of range or of singular systems.
func (p *scaled) refused(what string, err error) bool {
	if err == nil {
		return false
	}
	var outOfRange *fd.RangeError
	var singular *ridge.SingularError
	var scale *ridge.ScaleError
	if !errors.As(err, &outOfRange) && !errors.As(err, &singular) && !errors.As(err, &scale) {
		p.fault("%s: %v", what, err)
	}
	return true
}

func (p *scaled) attack(t *testing.T) {
	p.truth = newReference(p.x, p.y, p.w, p.gamma, p.intercept)
	var fits []*ridge.Solution
	add := func(name string, f *ridge.Solution, err error) {
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
			f, err = short.Solutions[0], nil
		}
		if !p.refused(name, err) {
			p.certificate(name, f)
			fits = append(fits, f)
		}
	}
	for _, factor := range []ridge.Method{ridge.Cholesky, ridge.QR, ridge.Tridiagonal, ridge.Dual, ridge.DualCG} {
		o := ridge.ExactOptions{Method: factor, Intercept: p.intercept, Tol: []float64{0, 1e-12}[p.IntN(2)]}
		f, err := ridge.SolveExact(t.Context(), p, []float64{p.gamma}, o)
		if factor == ridge.DualCG && !p.sparse {
			continue
		}
		if err != nil {
			add(factor.String(), nil, err)
		} else {
			add(factor.String(), f[0], nil)
		}
	}
	sum, err := ridge.Summarize(t.Context(), p, p.cfg, nil)
	if p.refused("summary", err) {
		return
	}
	pr, err := sum.Predictor(p.gamma)
	if p.refused("predictor", err) {
		return
	}
	p.predictions("sketch", pr)
	one, err := sum.Fit(p.gamma)
	add("RFD", one, err)
	plain, err := sum.FitFD(p.gamma)
	add("FD", plain, err)
	for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin} {
		f, err := ridge.Solve(
			t.Context(),
			p,
			sum,
			p.gamma,
			ridge.SolveOptions{Tol: []float64{1e-3, 1e-9, 1e-15}[p.IntN(3)], Method: method, MaxPasses: 8},
		)
		add(method.String(), f, err)
	}
	for _, f := range fits {
		if err := pr.Narrow(f); !p.refused("narrowing by "+f.Method.String(), err) {
			p.predictions("narrowed by "+f.Method.String(), pr)
		}
		if alone, err := f.Predictor(); err == nil {
			p.predictions("alone "+f.Method.String(), alone)
		}
	}
	p.leaveOneOut(t, sum, one)
	p.crossValidate(t)
}

func (p *scaled) certificate(name string, f *ridge.Solution) {
	r, df := p.truth, p.truth.dimension()
	p.within(name+": effective dimension", df, f.EffectiveDimension)
	free := minus(number(float64(len(p.x))), df)
	if p.intercept {
		free.Sub(free, number(1))
	}
	for j := range f.Targets {
		o := &f.Targets[j]
		x, e := numbers(len(o.Coef)), numbers(len(o.Coef))
		for k, v := range o.Coef {
			if v-v != 0 {
				p.fault("%s: weights %v", name, o.Coef)
				return
			}
			x[k].SetFloat64(v)
			e[k].Sub(x[k], r.coef[j][k])
		}
		off, size := product(e, e), product(r.coef[j], r.coef[j])
		off.Sqrt(off)
		size.Sqrt(size)
		p.atMost(name+": error", off, o.ErrorBound)
		if size.Sign() > 0 {
			p.atMost(name+": relative error", over(off, size), o.RelativeErrorBound)
		}
		p.atMost(name+": energy", r.energy(e), o.EnergyBound)
		if v := minus(number(o.Intercept), r.base[j]); p.intercept {
			p.atMost(name+": intercept", v.Abs(v), o.InterceptBound)
		}
		zero := numbers(len(x))
		rss, norm := r.squares(j, r.coef[j]), product(r.coef[j], r.coef[j])
		p.within(name+": TSS", r.squares(j, zero), o.TSS)
		p.within(name+": RSS", r.squares(j, x), o.RSS)
		objective := number(0).Set(rss)
		addTo(objective, r.gamma, norm)
		p.within(name+": objective", objective.Mul(objective, number(0.5)), o.Objective)
		if free.Sign() > 0 && !noise(free) {
			p.within(name+": GCV", over(times(number(float64(len(p.x))), rss), times(free, free)), o.GCV)
		}
	}
}

func (p *scaled) predictions(name string, pr *ridge.Predictor) {
	t := len(p.y[0])
	for i, row := range p.rows {
		for _, b := range []dataset.Block{{N: 1, X: row}, {N: 1, Sparse: compress([][]float64{row})}} {
			dst := make([]ridge.Interval, t)
			if p.refused(name+": prediction", pr.Predict(dst, b)) {
				continue
			}
			for j, v := range dst {
				p.within(
					fmt.Sprintf("%s: prediction of %v (row %d, sparse %v)", name, row, i, b.Sparse != nil),
					p.truth.predict(j, row),
					v,
				)
			}
		}
	}
}

func (p *scaled) leaveOneOut(t *testing.T, sum *ridge.Summary, f *ridge.Solution) {
	if f == nil {
		return
	}
	scores, err := ridge.LeaveOneOut(t.Context(), p, sum, []*ridge.Solution{f}, ridge.LeaveOneOutOptions{})
	if p.refused("leave-one-out", err) {
		return
	}
	for j, v := range scores.Bounds[0] {
		sum := number(0)
		for i := range p.x {
			free := minus(number(1), p.truth.leverage(i))
			if p.intercept {
				free.Sub(free, over(p.truth.w[i], p.truth.weight))
			}
			if !(free.Sign() > 0) || noise(free) {
				return
			}
			r := over(minus(p.truth.b[i][j], product(p.truth.a[i], p.truth.coef[j])), free)
			addTo(sum, times(p.truth.w[i], r), r)
		}
		p.within("leave-one-out", sum.Quo(sum, number(float64(len(p.x)))), v)
	}
}

func (p *scaled) crossValidate(t *testing.T) {
	const folds = 2
	n := len(p.x)
	if n < 2*folds {
		return
	}
	var held []*reference
	for k := range folds {
		var x, y [][]float64
		var w []float64
		for i := range n {
			if i%folds != k {
				x, y, w = append(x, p.x[i]), append(y, p.y[i]), append(w, p.w[i])
			}
		}
		held = append(held, newReference(x, y, w, p.gamma, p.intercept))
	}
	score := func(j int) *big.Float {
		s := number(0)
		for i, x := range p.x {
			v := minus(held[i%folds].predict(j, x), number(p.y[i][j]))
			addTo(s, times(p.truth.w[i], v), v)
		}
		return s.Quo(s, p.truth.weight)
	}
	for _, exact := range []bool{false, true} {
		cv, err := choose.CrossValidate(
			t.Context(),
			p,
			p.cfg,
			choose.CrossValidation{Folds: folds, Gammas: []float64{p.gamma}, Exact: exact},
		)
		if p.refused("cross-validation", err) {
			return
		}
		for j, v := range cv.Ridge[0] {
			p.within(fmt.Sprintf("cross-validation, exact %v", exact), score(j), v)
		}
	}
}

func (p *scaled) Dims() (int64, int, int) { return int64(len(p.x)), len(p.x[0]), len(p.y[0]) }

func (p *scaled) Blocks(context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < len(p.x); lo += p.block {
			hi := min(lo+p.block, len(p.x))
			b := dataset.Block{First: int64(lo), N: hi - lo, Y: slices.Concat(p.y[lo:hi]...)}
			if p.weighted {
				b.W = p.w[lo:hi]
			}
			if p.sparse {
				b.Sparse = compress(p.x[lo:hi])
			} else {
				b.X = slices.Concat(p.x[lo:hi]...)
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// compress makes rows sparse.
func compress(rows [][]float64) *engine.CSR {
	out := &engine.CSR{Rows: len(rows), Cols: len(rows[0]), RowPtr: []int{0}}
	for _, row := range rows {
		for j, v := range row {
			if v != 0 {
				out.ColIdx, out.Val = append(out.ColIdx, int32(j)), append(out.Val, v)
			}
		}
		out.RowPtr = append(out.RowPtr, len(out.Val))
	}
	return out
}

// TestTinyRows: where eigenvalues are far below 1 or far apart, so are quadratic forms of rows whose
// squares are normal numbers.
func TestTinyRows(t *testing.T) {
	for _, c := range []struct{ size, gamma float64 }{{1e33, 1e67}, {0x1p113, 1}, {0x1p-110, 0x1p-220}, {0x1p115, 0x1p235}} {
		p := &scaled{Rand: rand.New(rand.NewPCG(4, 31)), gamma: c.gamma, block: 2, w: []float64{1, 1, 1, 1}}
		p.cfg = ridge.SummaryConfig{Dim: 2, Targets: 1, Size: 1, ShrinkRows: 1, Store: fd.StoreRows}
		for i, row := range [][]float64{{1, 2}, {3, -1}, {2, 2}, {-1, 1}} {
			p.x, p.y = append(p.x, []float64{row[0] * c.size, row[1] * c.size}), append(p.y, []float64{float64(i*i - 2)})
		}
		for _, size := range []float64{1e-130, 0x1p-440, 0x1p-449, 0x1p-452, 0x1p-600, 0x1p-1040, 0x1p-1074, 0x1p490} {
			p.rows = append(p.rows, []float64{size, 0}, []float64{size, -2 * size}, []float64{-size, size})
		}
		p.attack(t)
		for _, v := range p.faults {
			t.Errorf("entries of %g, γ = %g: %s", c.size, c.gamma, v)
		}
	}
}

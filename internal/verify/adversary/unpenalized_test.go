package adversary

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/columns"
)

// Free is the genome of a problem with columns without penalty.
type Free struct {
	Seed      uint64
	Rows      int
	Penalised int // number of columns with a penalty
	Columns   int // number of columns without penalty
	Targets   int
	Values    Values
	Far       float64 // log10 of an offset of all columns
	Near      float64 // log10 of the distance between two free columns; 0: independent
	Noise     float64 // log10 of the noise of the targets; below −20: none, so targets lie in the span of the columns
	Only      bool    // targets depend on the free columns only
	Size      float64 // log10 of the size of the targets
	Gamma     float64 // log10 of γ
	Penalties bool    // penalties other than 1
	Weights   bool
	Intercept bool
	Sparse    bool
	Method    ridge.Method
	Select    choose.Criterion
	Sketch    int
}

// Values is the kind of the entries of the columns.
type Values int

const (
	Integers Values = iota // from −2 to 2
	Normal
	Hours // the first free column is Unix time in steps of an hour
	Binary
)

func (g Free) String() string { return literal("Free", fmt.Sprintf("%#v", g)) }

// RandomFree draws a genome.
func RandomFree(r *rand.Rand) Free {
	g := Free{
		Seed: r.Uint64(), Rows: 4 + r.IntN(16), Penalised: 1 + r.IntN(5), Columns: 1 + r.IntN(3), Targets: 1 + r.IntN(2),
		Values: Values(r.IntN(4)), Noise: []float64{-30, -30, -12 * r.Float64(), 0}[r.IntN(4)], Only: r.IntN(3) == 0,
		Gamma: 6 - 24*r.Float64(), Penalties: r.IntN(4) == 0, Weights: r.IntN(4) == 0, Intercept: r.IntN(3) > 0,
		Sparse: r.IntN(5) == 0,
		Select: []choose.Criterion{choose.GCV, choose.LOO}[r.IntN(2)], Sketch: 1 + r.IntN(6),
	}
	methods := ridge.Methods()
	g.Method = methods[r.IntN(len(methods))]
	if r.IntN(3) == 0 {
		g.Gamma = 3 - 6*r.Float64()
	}
	if r.IntN(2) == 0 {
		g.Far = 9 * r.Float64()
	}
	if r.IntN(3) == 0 {
		g.Size = 10 * r.Float64()
	}
	if r.IntN(4) == 0 {
		g.Near = -8 * r.Float64()
	}
	return g.clip()
}

func (g Free) clip() Free {
	g.Rows = max(g.Rows, g.Columns+2)
	if g.Select.Needs().Pass && (g.Method == ridge.OneShot || g.Method.IsDual()) {
		g.Select = choose.GCV
	}
	if g.Method == ridge.DualCG {
		g.Method = ridge.Dual
	}
	return g
}

// Mutate changes one or two genes.
func (g Free) Mutate(r *rand.Rand) Free {
	other := RandomFree(r)
	for range 1 + r.IntN(2) {
		switch r.IntN(14) {
		case 0, 1:
			g.Seed = other.Seed
		case 2:
			g.Rows = max(3, g.Rows+r.IntN(7)-3)
		case 3:
			g.Penalised = max(1, g.Penalised+r.IntN(3)-1)
		case 4:
			g.Columns = max(1, g.Columns+r.IntN(3)-1)
		case 5:
			g.Values, g.Near = other.Values, other.Near
		case 6:
			g.Far += 2*r.Float64() - 1
		case 7:
			g.Noise, g.Only = other.Noise, other.Only
		case 8:
			g.Size += 2*r.Float64() - 1
		case 9, 10:
			g.Gamma += 4*r.Float64() - 2
		case 11:
			g.Penalties, g.Weights, g.Sparse = other.Penalties, other.Weights, other.Sparse
		case 12:
			g.Intercept = !g.Intercept
		case 13:
			g.Method, g.Select, g.Sketch = other.Method, other.Select, other.Sketch
		}
	}
	return g.clip()
}

// A freeProblem holds the rows of a genome, and the reference without its solution.
type freeProblem struct {
	g       Free
	x, y    [][]float64
	w       []float64
	penalty []float64
	whole   *refbig.Problem
	on      [][]*big.Float // least-squares coefficients of all columns and targets on the free columns
}

func newFreeProblem(g Free) (*freeProblem, error) {
	r := rand.New(rand.NewPCG(g.Seed, 61))
	d := g.Penalised + g.Columns
	p := &freeProblem{g: g, penalty: ones(d)}
	free := r.Perm(d)[:g.Columns]
	for j := range p.penalty {
		if g.Penalties {
			p.penalty[j] = math.Pow(10, 6*r.Float64()-3)
		}
	}
	for _, j := range free {
		p.penalty[j] = 0
	}
	weights := make([][]float64, g.Targets) // of the columns in the targets
	for k := range weights {
		weights[k] = make([]float64, d)
		for j := range d {
			if !g.Only || p.penalty[j] == 0 {
				weights[k][j] = float64(r.IntN(5) - 2)
			}
		}
	}
	far := make([]float64, d)
	for j := range far {
		if g.Far > 0 && r.IntN(4) > 0 {
			far[j] = math.Round(math.Pow(10, g.Far))
		}
	}
	size := math.Exp2(math.Round(g.Size / math.Log10(2)))
	for i := range g.Rows {
		row := make([]float64, d)
		for j := range row {
			switch g.Values {
			case Integers:
				row[j] = float64(r.IntN(5) - 2)
			case Binary:
				row[j] = float64(r.IntN(2))
			default:
				row[j] = r.NormFloat64()
			}
			if g.Sparse && r.IntN(2) == 0 {
				row[j] = 0
			}
		}
		if g.Values == Hours {
			row[free[0]] = 1.7e9 + 3600*float64(i)
		}
		if g.Near < 0 && len(free) > 1 {
			row[free[1]] = row[free[0]] + math.Pow(10, g.Near)*row[free[1]]
		}
		for j := range row {
			row[j] += far[j]
		}
		y := make([]float64, g.Targets)
		for k := range y {
			for j, v := range row {
				y[k] += weights[k][j] * v
			}
			y[k] *= size
			if g.Noise > -20 {
				y[k] += math.Pow(10, g.Noise) * size * r.NormFloat64()
			}
		}
		p.x, p.y = append(p.x, row), append(p.y, y)
		if g.Weights {
			p.w = append(p.w, []float64{0.5, 1, 3, 1e-3}[r.IntN(4)])
		}
	}
	p.whole = refbig.New(p.x, p.y, p.w, g.Intercept)
	p.whole.Penalty = p.penalty
	z, all := make([][]float64, len(p.x)), make([][]float64, len(p.x))
	for i, row := range p.x {
		for j, v := range row {
			if p.penalty[j] == 0 {
				z[i] = append(z[i], v)
			}
		}
		all[i] = slices.Concat(row, p.y[i])
	}
	on, err := refbig.New(z, all, p.w, g.Intercept).Solve(0)
	if err != nil {
		return nil, err
	}
	p.on = on.Coef
	return p, nil
}

// source returns the rows.
func (p *freeProblem) source() (dataset.Source, error) {
	n, d, t := len(p.x), len(p.x[0]), len(p.y[0])
	if p.w != nil {
		t++
	}
	var x, y []float64
	for i, row := range p.x {
		x, y = append(x, row...), append(y, p.y[i]...)
		if p.w != nil {
			y = append(y, p.w[i])
		}
	}
	src, err := dataset.FromDense(n, d, t, x, y)
	if err != nil || p.w == nil {
		return src, err
	}
	return dataset.TargetAsWeight(src)
}

// EvaluateFree fits the problem of g and compares all that is printed with the truth.
func EvaluateFree(g Free) (r *Report) {
	r = newReport()
	defer func() {
		if e := recover(); e != nil {
			r.worst(fmt.Sprintf("panic: %v", e), math.Inf(1))
		}
	}()
	e := &evaluation{Report: r}
	p, err := newFreeProblem(g)
	if err != nil {
		r.Refused["reference"]++
		return r
	}
	src, err := p.source()
	if e.refused("rows", err) {
		return r
	}
	gamma := math.Pow(10, g.Gamma)
	var gammas []float64
	var truths []*refbig.Solution
	for _, f := range []float64{1, 1e4, 1.01, 1e8} {
		s, err := p.whole.Solve(gamma * f)
		if err != nil {
			r.Refused["reference"]++
			continue
		}
		gammas, truths = append(gammas, gamma*f), append(truths, s)
	}
	if len(gammas) == 0 {
		return r
	}
	opts := fdridge.Options{
		Penalty: p.penalty, Method: g.Method, Size: g.Sketch, NoIntercept: !g.Intercept, MaxPasses: 20,
		Candidates: gammas, Select: g.Select,
	}
	name := g.Method.String()
	if g.Select.Needs().Pass {
		name += " by loo"
	}
	found, err := fdridge.Fit(context.Background(), src, opts)
	_, short := errors.AsType[*ridge.NotConvergedError](err)
	if _, dependent := errors.AsType[*columns.DependentError](err); dependent {
		r.Refused["dependent"]++
		return r
	}
	if _, refused := errors.AsType[*fdridge.OptionError](err); refused {
		r.Refused["options"]++
		return r
	}
	if !short && e.refused(name, err) {
		return r
	}
	gammas, truths = remaining(found.Choice.Path, gammas, truths)
	for i, f := range found.Choice.Path {
		p.certificate(r, name+" candidate", f, truths[i])
	}
	for _, f := range found.Solutions {
		if i := slices.Index(gammas, f.Gamma); i >= 0 {
			p.certificate(r, name, f, truths[i])
		}
	}
	p.scores(e, name, found.Choice, gammas, truths)
	return r
}

// scores checks the scores of all candidates, and the choice.
func (p *freeProblem) scores(
	e *evaluation,
	name string,
	c *choose.GammaChoice,
	gammas []float64,
	truths []*refbig.Solution,
) {
	var totals []*big.Float
	for i, gamma := range gammas {
		score, scale := truths[i].GCV, make([]*big.Float, len(p.y[0]))
		for k := range scale {
			scale[k] = p.whole.YY[k]
			if truths[i].RSS[k].Sign() > 0 && score[k] != nil {
				scale[k] = quo(mul(scale[k], score[k]), truths[i].RSS[k])
			}
		}
		if c.By == choose.LOO {
			score, scale = p.leftOut(gamma)
			if score == nil {
				return
			}
		}
		for k := range score {
			if score[k] == nil {
				if !math.IsInf(c.Scores[i][k].Hi, 1) {
					e.worst(name+": score", math.Inf(1))
				}
				continue
			}
			e.within(name+": score", c.Scores[i][k], score[k], scale[k], 0, math.Inf(1))
		}
		totals = append(totals, total(score))
	}
	// A target in the span of the columns has a score of 0 up to the error of the reference.
	for i, v := range totals {
		if v != nil && v.Sign() < 0 {
			totals[i] = refbig.Float(0)
		}
	}
	e.choice(name+": choice", c.Choice, totals)
}

// leftOut returns the leave-one-out error of each target, and its error times 2⁴⁰⁰. It returns nil if a row
// determines a coefficient alone.
func (p *freeProblem) leftOut(gamma float64) (scores, scale []*big.Float) {
	weight := refbig.Float(0)
	for i := range p.x {
		weight = sum(weight, refbig.Float(p.weight(i)))
	}
	left, err := leaveOut(p.whole, gamma, weight)
	if err != nil {
		return nil, nil
	}
	scores, scale = zeros(len(p.y[0])), zeros(len(p.y[0]))
	for i := range p.x {
		squared, size := left.squared(p.x[i], p.y[i], refbig.Float(p.weight(i)))
		if squared == nil {
			return nil, nil
		}
		for k := range scores {
			scores[k], scale[k] = sum(scores[k], squared[k]), sum(scale[k], size[k])
		}
	}
	n := refbig.Float(float64(len(p.x)))
	for k := range scores {
		scores[k], scale[k] = quo(scores[k], n), quo(scale[k], n)
	}
	return scores, scale
}

func (p *freeProblem) weight(i int) float64 {
	if p.w == nil {
		return 1
	}
	return p.w[i]
}

// certificate checks all that f claims.
func (p *freeProblem) certificate(r *Report, name string, f *ridge.Solution, truth *refbig.Solution) {
	d, q := len(p.penalty), p.g.Columns
	name += ": "
	df := sub(truth.EffectiveDimension, refbig.Float(float64(q)))
	r.within(name+"effective dimension", f.EffectiveDimension, df, refbig.Float(float64(d)), 0, float64(d-q))
	for k := range f.Targets {
		o, yy := &f.Targets[k], p.whole.YY[k]
		// best has the coefficients z/√p of the certificate, with the best coefficients of the free columns.
		best, off, squares, size := zeros(d), zeros(d), refbig.Float(0), refbig.Float(0)
		freeSquares, freeSize := refbig.Float(0), refbig.Float(0) // of the returned free coefficients
		for j, v := range o.Scaled {
			if p.penalty[j] == 0 {
				continue
			}
			root := new(big.Float).Sqrt(refbig.Float(p.penalty[j]))
			best[j] = quo(refbig.Float(v), root)
			off[j] = sub(best[j], truth.Coef[k][j])
			z, want := mul(root, off[j]), mul(root, truth.Coef[k][j])
			squares, size = sum(squares, mul(z, z)), sum(size, mul(want, want))
		}
		at := 0
		for j := range best {
			if p.penalty[j] > 0 {
				continue
			}
			best[j].Copy(p.on[d+k][at])
			for i, v := range best {
				if p.penalty[i] > 0 {
					best[j] = sub(best[j], mul(p.on[i][at], v))
				}
			}
			off[j] = sub(best[j], truth.Coef[k][j])
			away, want := p.away(o.Coef[j], truth.Coef[k][j]), truth.Coef[k][j]
			freeSquares, freeSize = sum(freeSquares, mul(away, away)), sum(freeSize, mul(want, want))
			if o.UnpenalizedBounds != nil {
				r.atMost(name+"free coefficient", p.away(o.Coef[j], truth.Coef[k][j]), o.UnpenalizedBounds[at])
			}
			at++
		}
		if all := sum(size, freeSize); all.Sign() > 0 {
			together := new(big.Float).Sqrt(quo(sum(squares, freeSquares), all))
			r.atMost(name+"relative, of all coefficients", beyond(together, refbig.Float(1)), o.RelativeErrorBound)
		}
		size.Sqrt(size)
		distance := beyond(new(big.Float).Sqrt(squares), size)
		r.atMost(name+"weights", distance, o.ErrorBound)
		if size.Sign() > 0 {
			r.atMost(name+"relative", quo(distance, size), o.RelativeErrorBound)
		}
		energy := sum(p.form(off, off), mul(refbig.Float(f.Gamma), squares))
		if energy.Sign() < 0 {
			energy = refbig.Float(0)
		}
		r.atMost(name+"energy", beyond(energy.Sqrt(energy), new(big.Float).Sqrt(yy)), o.EnergyBound)
		r.atMost(name+"intercept", p.away(o.Intercept, truth.Intercept[k]), o.InterceptBound)
		r.within(name+"TSS", o.TSS, yy, yy, 0, math.Inf(1))
		r.within(name+"objective", o.Objective, truth.Objective[k], yy, 0, math.Inf(1))
		rss := sum(yy, p.form(best, best))
		for j := range best {
			rss = sub(rss, mul(refbig.Float(2), mul(p.whole.C[k][j], best[j])))
		}
		r.within(name+"RSS at the best free coefficients", o.RSS, rss, yy, 0, math.Inf(1))
		returned, scale := p.squares(o, k)
		r.within(name+"RSS", o.RSS, returned, scale, 0, math.Inf(1))
		if yy.Sign() > 0 {
			r2 := sub(refbig.Float(1), quo(returned, yy))
			r.within(name+"R2", o.R2(), r2, quo(scale, yy), math.Inf(-1), 1)
		}
		if truth.GCV[k] == nil {
			continue
		}
		scale = yy
		if truth.RSS[k].Sign() > 0 {
			scale = quo(mul(yy, truth.GCV[k]), truth.RSS[k])
		}
		r.within(name+"GCV", o.GCV, truth.GCV[k], scale, 0, math.Inf(1))
	}
}

// away returns |x − y|, less the error of the reference.
func (p *freeProblem) away(x float64, y *big.Float) *big.Float {
	v := sub(refbig.Float(x), y)
	return beyond(v.Abs(v), refbig.Float(1e30))
}

// form returns xᵀKy.
func (p *freeProblem) form(x, y []*big.Float) *big.Float {
	total := refbig.Float(0)
	for i := range x {
		for j := range y {
			total = sum(total, mul(mul(x[i], y[j]), p.whole.K[i][j]))
		}
	}
	return total
}

// squares returns the sum of the weighted squared residuals of the returned coefficients, and of the magnitudes.
func (p *freeProblem) squares(o *ridge.Target, k int) (rss, scale *big.Float) {
	rss, scale = refbig.Float(0), refbig.Float(0)
	for i, row := range p.x {
		v := sub(refbig.Float(p.y[i][k]), refbig.Float(o.Intercept))
		for j, a := range row {
			v = sub(v, mul(refbig.Float(a), refbig.Float(o.Coef[j])))
		}
		w := refbig.Float(p.weight(i))
		rss, scale = sum(rss, mul(w, mul(v, v))), sum(scale, mul(w, mul(refbig.Float(p.y[i][k]), refbig.Float(p.y[i][k]))))
	}
	return rss, scale
}

// TestUnpenalized searches for false claims about problems with columns without penalty.
func TestUnpenalized(t *testing.T) {
	cases := 400
	switch {
	case os.Getenv(inner) != "":
		cases = 60
	case os.Getenv("FDRIDGE_THOROUGH") != "":
		cases = 3000
	}
	b := readBudget(t, cases)
	b.spend(t, NewSearch(b.seed, RandomFree, EvaluateFree))
}

package fd

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// Scaled is the spectrum in columns that are divided by scale (length Dim): that of B·R⁻¹, R =
// diag(scale), for the rows A·R⁻¹. From 0 ⪯ D ⪯ ηI, D = AᵀA − BᵀB, follows
//
//	0 ⪯ R⁻¹DR⁻¹ ⪯ ηR⁻² ⪯ η/min scale²·I,
//
// and likewise what round-off may have done. How D is spread over the columns is not known, but
// that each has between 0 and η of it, and all together tr D = Tail: the new Tail is the most that
// R⁻¹DR⁻¹ may have of trace, and [Bound.TailSlack] is how much less it may be. Frobenius2 is the most
// that ‖AR⁻¹‖²_F may be, round-off of D included. (docs/math.md §3, §14)
//
// It takes O(r²·Dim) time, for r rows of V, and leaves p as it is; a nil be is engine.Default(). A scale
// that is not positive and finite is an error, another length, or a Dim of 0, [ErrShape]; one that takes
// the sum of squares out of range is a *[RangeError].
func (p *Spectrum) Scaled(scale []float64, be engine.Backend) (*Spectrum, error) {
	d, r := p.Dim, len(p.Sigma2)
	if d <= 0 || len(scale) != d {
		return nil, fmt.Errorf("%w: %d scales for %d columns", errShape, len(scale), d)
	}
	for j, v := range scale {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, badinput.Errorf("fd: scale %d is %v, must be positive", j+1, v)
		}
	}
	out, b, all := &Spectrum{Dim: d, Bound: p.Bound.scaled(scale)}, make([]float64, r*d), 0.0
	for i, s2 := range p.Sigma2 {
		sigma, row := math.Sqrt(s2), b[i*d:(i+1)*d]
		for j, v := range p.V[i*d : (i+1)*d] {
			row[j] = sigma * v / scale[j]
			all += row[j] * row[j]
		}
	}
	if !(all <= MaxSquares && out.Bound.FD() <= MaxSquares && out.Bound.Tail <= MaxSquares) {
		return nil, &RangeError{}
	}
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	pad, err := out.decompose(r, b, be)
	if err != nil {
		return nil, err
	}
	var norm2 neumaier.Sum
	for _, v := range out.Sigma2 {
		norm2.Add(v)
	}
	out.Bound.RoundOff += pad
	out.Bound.Frobenius2 += norm2.Value() + float64(d)*pad
	return out, nil
}

// decompose makes p the spectrum of the rows b (r×Dim), which are overwritten, and returns what
// rounding may have done to BᵀB: three roundings for each entry before, and the eigenproblem.
func (p *Spectrum) decompose(r int, b []float64, be engine.Backend) (pad float64, err error) {
	d := p.Dim
	if r == 0 {
		return 0, nil
	}
	g, u, w := engine.View(r, r, make([]float64, r*r)), engine.View(r, r, make([]float64, r*r)), make([]float64, r)
	be.Syrk(false, 1, engine.View(r, d, b), 0, g)
	x := reduction{gram: engine.View(r, r, make([]float64, r*r)), lengths: make([]float64, r), chain: be.Accuracy().Sum(r) + engine.Roundings}
	copyLower(x.gram, g)
	norm2 := traceOf(g)
	x.gramError = (be.Accuracy().Dot(d) + engine.Roundings + 1) * eps * norm2 * inflate
	for i := range r {
		x.lengths[i] = math.Sqrt(g.Row(i)[i] + x.gramError)
	}
	if !be.SymEig(g, w, u, make([]float64, be.SymEigWork(r, r))) {
		return 0, errNoConvergence
	}
	x.kept, x.scale = x.cut(w, make([]float64, r), make([]float64, r))
	live := len(x.kept)
	x.u = u.Slice(0, live, 0, r)
	if pad, _ = x.measure(be, g, make([]float64, measureWork(live, r))); math.IsInf(pad, 1) {
		return 0, errNoConvergence
	}
	for range live {
		p.Sigma2 = append(p.Sigma2, 1)
	}
	p.V = make([]float64, live*d)
	be.Gemm(false, false, 1, x.u, engine.View(r, d, b), 0, engine.View(live, d, p.V))
	more, err := p.ofRows(be)
	if err != nil {
		return 0, err
	}
	return pad + more + padDecay*eps*norm2 + float64(r)*float64(d)*0x1p-1022, nil
}

// scaled is the bound on A·R⁻¹ without what the arithmetic of making the new rows adds, and in
// Frobenius2 without ‖BR⁻¹‖²_F. Of D, as rounding has left it, each column has η + pad at most and
// −pad at least, and all together Tail, to d·pad: those with some have Tail + 2d·pad at most.
// The quotients may be denormal, for which RoundOff has 2⁻¹⁰²² more.
func (b Bound) scaled(scale []float64) Bound {
	ascending := slices.Sorted(slices.Values(scale))
	least := ascending[0]
	out := Bound{Shrinkage: b.Shrinkage / least / least * (1 + 8*eps), RoundOff: b.RoundOff/least/least*(1+8*eps) + 0x1p-1022, Rows: b.Rows}
	out.Tail = spread(b.Tail, b.Shrinkage, ascending)
	out.Frobenius2 = spread(b.Tail+2*float64(len(scale))*b.RoundOff, b.FD(), ascending) * (1 + 8*eps)
	slices.Reverse(ascending)
	out.TailSlack = math.Max(0, out.Tail-spread(b.Tail-b.TailSlack, b.Shrinkage, ascending))
	return out
}

// spread returns Σ eⱼ/scaleⱼ² for eⱼ with the sum tail. The first ones are eta, as far as tail goes.
// It divides twice, because 1/scale² may underflow.
func spread(tail, eta float64, scale []float64) float64 {
	var sum float64
	for _, v := range scale {
		e := math.Min(eta, tail)
		if !(e > 0) {
			break
		}
		sum, tail = sum+e/v/v, tail-e
	}
	return sum
}

package fd

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/twofold"
)

// Scaled returns the spectrum for the rows A·R⁻¹, with R = diag(scale): each column is divided by its scale. It
// is the spectrum of B·R⁻¹, with B as in [Spectrum.Matrix]. The Bound follows from 0 ⪯ D ⪯ ηI for D = AᵀA
// − BᵀB and the shrinkage η:
//
//	0 ⪯ R⁻¹DR⁻¹ ⪯ ηR⁻² ⪯ η/min scale²·I.
//
// RoundOff is divided by min scale² too. Only the trace of D is known, not its diagonal. The new Tail and
// Frobenius2 are therefore the largest possible values, and [Bound.TailSlack] bounds the excess of Tail over
// the trace of R⁻¹DR⁻¹ (docs/math.md §3, §14).
//
// scale has length Dim, and every element must be positive and finite. A nil be is engine.Default(). p is
// unchanged. Scaled takes O(r²·Dim) time for r rows of V. It returns [ErrShape] for a wrong length or a Dim
// of 0, and a *[RangeError] if the scaled sum of squares is out of range.
func (p *Spectrum) Scaled(scale []float64, be engine.Backend) (*Spectrum, error) {
	d := p.Dim
	r := len(p.Sigma2)
	if d <= 0 || len(scale) != d {
		return nil, fmt.Errorf("%w: %d scales for %d columns", errShape, len(scale), d)
	}
	for j, v := range scale {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, errtext.BadInput("fd: scale %d is %v, must be positive and finite", j+1, v)
		}
	}
	out := &Spectrum{Dim: d, Bound: p.Bound.scaled(scale)}
	b := make([]float64, r*d)
	all := 0.0
	for i, s2 := range p.Sigma2 {
		sigma := math.Sqrt(s2)
		row := b[i*d : (i+1)*d]
		for j, v := range p.V[i*d : (i+1)*d] {
			row[j] = sigma * v / scale[j]
			all += row[j] * row[j]
		}
	}
	if !(all <= MaxSquares &&
		out.Bound.FD() <= MaxSquares &&
		out.Bound.Tail <= MaxSquares) {
		return nil, &RangeError{}
	}
	var err error
	be, err = engine.OrDefault(be)
	if err != nil {
		return nil, err
	}
	pad, err := out.decompose(r, b, be)
	if err != nil {
		return nil, err
	}
	norm2 := twofold.TotalOf(out.Sigma2)
	out.Bound.RoundOff += pad
	out.Bound.Frobenius2 += norm2.Value() + float64(d)*pad
	return out, nil
}

// decompose sets p to the spectrum of bᵀb, for r rows b of Dim columns, which are overwritten. The result pad
// bounds the round-off in bᵀb. It includes the three roundings with which the caller computed each entry of b.
func (p *Spectrum) decompose(
	r int,
	b []float64,
	be engine.Backend,
) (pad float64, err error) {
	d := p.Dim
	if r == 0 {
		return 0, nil
	}
	g := engine.View(r, r, make([]float64, r*r))
	u := engine.View(r, r, make([]float64, r*r))
	w := make([]float64, r)
	be.Syrk(false, 1, engine.View(r, d, b), 0, g)
	x := reduction{
		gram:    engine.View(r, r, make([]float64, r*r)),
		lengths: make([]float64, r),
		chain:   be.Accuracy().Sum(r) + engine.Roundings,
	}
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
	pad, _ = x.measure(be, g, make([]float64, measureWork(live, r)))
	if math.IsInf(pad, 1) {
		return 0, errNoConvergence
	}
	p.Sigma2 = slices.Repeat([]float64{1}, live)
	p.V = make([]float64, live*d)
	rows := engine.View(r, d, b)
	be.Gemm(false, false, 1, x.u, rows, 0, engine.View(live, d, p.V))
	more, err := p.fromRows(be)
	if err != nil {
		return 0, err
	}
	return pad + more + padDecay*eps*norm2 + float64(r)*float64(d)*0x1p-1022, nil
}

// scaled returns the Bound for rows and sketch after each column is divided by its element of scale. It ignores the
// round-off of this division. The Frobenius2 of the result does not include the sum of squares of the divided
// sketch; the caller adds it.
func (b Bound) scaled(scale []float64) Bound {
	ascending := slices.Sorted(slices.Values(scale))
	least := ascending[0]
	// The quotients in RoundOff may underflow. Adding 2⁻¹⁰²² to RoundOff covers the error.
	out := Bound{
		Shrinkage: b.Shrinkage / least / least * (1 + 8*eps),
		RoundOff:  b.RoundOff/least/least*(1+8*eps) + 0x1p-1022,
		Rows:      b.Rows,
	}
	out.Tail = spread(b.Tail, b.Shrinkage, ascending)
	// Each diagonal entry of AᵀA − BᵀB is at most Shrinkage + RoundOff, for the rows A and the sketch B. The sum of
	// the positive diagonal entries is at most Tail + 2d·RoundOff, for d columns.
	most := b.Tail + 2*float64(len(scale))*b.RoundOff
	out.Frobenius2 = spread(most, b.FD(), ascending) * (1 + 8*eps)
	slices.Reverse(ascending)
	certain := spread(b.Tail-b.TailSlack, b.Shrinkage, ascending)
	out.TailSlack = math.Max(0, out.Tail-certain)
	return out
}

// spread returns Σ eⱼ/scaleⱼ² for 0 ≤ eⱼ ≤ eta and Σ eⱼ = tail, where the first eⱼ are as large as
// possible. If tail is too large for this, every eⱼ is eta. If scale is ascending, the result is the largest
// possible sum. If scale is descending, it is the smallest. spread divides twice by scaleⱼ, because scaleⱼ² may
// overflow or underflow.
func spread(tail, eta float64, scale []float64) float64 {
	var sum float64
	for _, v := range scale {
		e := math.Min(eta, tail)
		if !(e > 0) {
			break
		}
		sum += e / v / v
		tail -= e
	}
	return sum
}

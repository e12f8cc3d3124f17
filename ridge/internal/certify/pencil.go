package certify

import (
	"math"

	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/spectral"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// A Pencil is a basis W in which the ridge matrix H = AᵀA + γI is nearly diagonal for every penalty γ from
// Gamma = γ₀ upwards. The units of the columns of A do not affect its accuracy. Let S be a diagonal matrix of
// powers of two, Â = AS⁻¹ and Ĥ(γ) = ÂᵀÂ + γS⁻². The matrix W has the columns wᵢ and satisfies
//
//	WᵀĤ(γ)W = D^{½}(I + E)D^{½},   D = I + (γ − γ₀)Θ,   ‖E‖ ≤ ω(γ).
//
// Here Θ is the diagonal matrix of Theta, and ω is the error bound of the pencil. Hence Ĥ(γ)⁻¹ lies between
// WD⁻¹Wᵀ/(1 + ω) and WD⁻¹Wᵀ/(1 − ω). docs/math.md, Theorem 10.7, has the proof.
type Pencil struct {
	Gamma float64   // γ₀
	Basis []float64 // Wᵀ, d×d
	Theta []float64 // ‖S⁻¹wᵢ‖² as computed
	Size  []float64 // ‖wᵢ‖
	Rest  []float64 // the lower triangle of (S⁻¹W)ᵀS⁻¹W as computed, d×d
	// Round bounds the error of element (i, j) of Rest, divided by √(Theta[i]·Theta[j]).
	Round float64
	Base  float64 // bounds ‖WᵀĤ(γ₀)W − I‖_F
}

// A pencil bounds the inverse for penalties γ from its own γ₀ up to pencilRange·γ₀, because its error grows
// with γ/γ₀. Its error bound must also be at most mostError.
const (
	pencilRange = 3e7
	mostError   = 0.25
)

// Serves reports whether the pencil is accurate enough to bound the inverse of AᵀA + γI at the penalty gamma.
func (p *Pencil) Serves(gamma float64) bool {
	_, serves := p.errorIfServed(gamma)
	return serves
}

// errorIfServed reports whether the pencil is accurate enough at the penalty gamma. If it is, off is the bound ω in
// the formula of [Pencil].
func (p *Pencil) errorIfServed(gamma float64) (off float64, serves bool) {
	if !(gamma >= p.Gamma && gamma <= pencilRange*p.Gamma) {
		return 0, false
	}
	off = p.error(gamma)
	return off, off <= mostError
}

// error returns the bound ω(gamma) in the formula of [Pencil], for gamma ≥ p.Gamma.
func (p *Pencil) error(gamma float64) float64 {
	d := len(p.Theta)
	step := gamma - p.Gamma
	if step == 0 {
		return p.Base + few*eps
	}
	root := make([]float64, d) // √(step/Dᵢ)
	round := 0.0
	for i, v := range p.Theta {
		at := step / (1 + step*v)
		root[i] = math.Sqrt(at)
		round += at * v
	}
	sum := 0.0
	for i := range d {
		for j, v := range p.Rest[i*d : i*d+i] {
			v *= root[i] * root[j] // before squaring: v² alone may overflow or underflow
			sum += v * v
		}
	}
	return (p.Base+math.Sqrt(2*sum)+p.Round*round)*inflate + few*eps
}

// bounds returns the diagonal matrix D and two factors. In the notation of [Pencil], below·WD⁻¹Wᵀ and
// above·WD⁻¹Wᵀ are a lower and an upper bound on Ĥ(γ)⁻¹. If the pencil is not accurate enough at γ, D is
// I, and the bounds follow from Ĥ(γ₀)⁻¹: the matrix Ĥ(γ)⁻¹ lies between Ĥ(γ₀)⁻¹ and
// (γ₀/γ)·Ĥ(γ₀)⁻¹. The first of these is the upper bound if γ ≥ γ₀, otherwise the lower bound.
func (p *Pencil) bounds(gamma float64) (below, above float64, diagonal []float64) {
	at, quotient := gamma, 1.0
	off, serves := p.errorIfServed(gamma)
	if !serves {
		at = p.Gamma
		quotient = p.Gamma / gamma
		off = p.error(at)
	}
	diagonal = make([]float64, len(p.Theta))
	for i, v := range p.Theta {
		diagonal[i] = 1 + (at-p.Gamma)*v
	}
	return math.Min(1, quotient) * downward / (1 + off),
		math.Max(1, quotient) * upward / (1 - off),
		diagonal
}

// Equilibrated returns the Known for leave-one-out errors of the rows AS⁻¹, where scale is the diagonal of S. All
// pencils must have been computed with this S and be accurate at their own Gamma. They must be in ascending order
// of Gamma. size bounds ‖A‖_F. The sketch in e is ignored.
func Equilibrated(e Evidence, size float64, pencils []*Pencil, scale []float64) *Known {
	d, t := len(scale), len(e.TSS)
	n := norms{
		size:      size,
		displaced: vec.Norm(e.Displaced[:d]),
		root:      math.Sqrt(e.Weight),
	}
	n.read = n.size + n.displaced
	if e.Intercept {
		n.read = math.Hypot(n.read, n.root*vec.Norm(e.MeanErrors[:d]))
	}
	e.Columns = e.Columns.over(scale)
	e.Sketch = &fd.Spectrum{Dim: d, Sigma2: make([]float64, d*len(pencils))}
	for _, p := range pencils {
		e.Sketch.V = append(e.Sketch.V, p.Basis...)
	}
	k := &Known{
		Evidence: e,
		eigen: spectral.Eigen{
			Dim:    d,
			Values: e.Sketch.Sigma2,
			V:      e.Sketch.V,
		},
		factor:  newFactors(&e),
		norm:    n,
		targets: make([]target, t),
		pencils: pencils,
	}
	for _, v := range scale {
		k.widest = math.Max(k.widest, v)
	}
	for j := range k.targets {
		k.targets[j].displaced = e.Displaced[d+j]
		if e.Intercept {
			k.targets[j].meanOff = e.MeanErrors[d+j]
		}
	}
	if e.Intercept {
		k.norm.meanOff = vec.Norm(e.MeanErrors[:d])
	}
	return k
}

// over returns the Columns after column j of A has been divided by scale[j], a power of two.
func (c Columns) over(scale []float64) Columns {
	divide := func(x []float64) []float64 {
		if x == nil {
			return nil
		}
		out := append([]float64(nil), x...)
		for j, s := range scale {
			out[j] /= s
		}
		return out
	}
	return Columns{
		Displaced:  divide(c.Displaced),
		Means:      divide(c.Means),
		MeanErrors: divide(c.MeanErrors),
		Units:      c.Units,
		Scaled:     divide(c.Scaled),
		reach:      divide(c.reach),
	}
}

// pencilAt holds the bounds on (AᵀA + γI)⁻¹ that a pencil gives for one penalty γ.
type pencilAt struct {
	first        int // index of the first row of the pencil's basis
	below, above []float64
	root         float64 // bounds ‖H^{-½}‖_F
}

// pencilOf returns the bounds at gamma. They come from the pencil with the largest Gamma ≤ gamma, or from the first
// pencil if every Gamma is larger.
func (k *Known) pencilOf(gamma float64) *pencilAt {
	of := 0
	for i, p := range k.pencils {
		if p.Gamma <= gamma {
			of = i
		}
	}
	p := k.pencils[of]
	d := k.eigen.Dim
	low, high, diagonal := p.bounds(gamma)
	out := &pencilAt{
		first: of * d,
		below: make([]float64, d),
		above: make([]float64, d),
	}
	sum := 0.0
	for i, v := range diagonal {
		out.below[i] = low / v
		out.above[i] = high / v
		sum += p.Size[i] * p.Size[i] * out.above[i]
	}
	out.root = math.Sqrt(sum) * inflate
	return out
}

// leftOut returns the [LeftOut] by pencils.
func (k *Known) leftOut(gammas []float64) *LeftOut {
	r := len(k.eigen.Values)
	l := &LeftOut{
		Known: k,
		skew:  few,
		round: (roundoff.DenseDot(k.Backend.Accuracy().Dot(r)) + few) * eps,
	}
	l.lost = math.Sqrt(float64(r+few)) * 0x1p-537
	l.meanSize = k.meanSize()
	for _, gamma := range gammas {
		at := k.pencilOf(gamma)
		l.at = append(
			l.at,
			leftAt{
				At: At{
					Known: k,
					Gamma: gamma / k.widest / k.widest * downward,
				},
				rootAbove: at.root,
				pencil:    at,
			},
		)
	}
	return l
}

// functions returns the values of LeftOut.Functions for pencils.
func (l *LeftOut) functions() []float64 {
	r := len(l.eigen.Values)
	n := len(l.at)
	out := make([]float64, 2*n*r)
	for i, a := range l.at {
		copy(out[i*r+a.pencil.first:], a.pencil.below)
		copy(out[(n+i)*r+a.pencil.first:], a.pencil.above)
	}
	return out
}

package ridge

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Method is a way to solve.
type Method uint8

const (
	// Auto leaves the choice to the function that is called.
	Auto Method = iota

	// OneShot reads the solution off a sketch, in one pass: see [Summary.Path].
	OneShot

	// CG is the method of conjugate gradients, preconditioned by the sketch. It never diverges. Each pass
	// computes one product for each γ and target and keeps a few vectors of length d for each.
	CG
	// Galerkin solves for all γ and targets in one subspace, which grows by up to 32 vectors a pass. It makes
	// between a tenth and a half of CG's passes if the spectrum falls, and fewer products for many γ. It keeps
	// up to 12 vectors of length d for each row of the sketch and each γ and target, and continues as CG
	// if that is not enough. If the summary holds AᵀA itself, Galerkin runs as CG from the start.
	Galerkin
	// Newton is Algorithm 1 of the paper (iFDRR, iRFDRR): x ← x − Ĥ⁻¹g.
	Newton

	// Exact is one of the direct methods below, chosen by the shape of the problem.
	Exact
	// Cholesky accumulates K = AᵀA and c = AᵀY and factors H = K + γI = LLᵀ. The error grows with the
	// condition number of H.
	Cholesky
	// QR accumulates the triangular factor of [A Y] and, for each γ, factors it once more with √γ·I below.
	// The error grows with the condition number of A, the square root of H's, plus the latter times the
	// residual. QR takes about four times as long as Cholesky. Use it for γ = 0 and for ill-conditioned data.
	QR
	// Tridiagonal accumulates K and c and reduces K to tridiagonal form once, K = QTQᵀ. The reduction takes
	// as long as a few Cholesky factorisations; after it each γ is cheap. The error grows with the condition
	// number of H, relative to ‖K‖. H is factored by Cholesky for a γ too small for T, and if Cholesky
	// certifies more because the columns differ in size. Solution.Method names the method that was used.
	Tridiagonal
	// Dual keeps the rows in memory and factors G + γI with G = AAᵀ, n×n. It suits fewer rows than
	// features: it needs neither d² numbers nor, for sparse rows, n·d. The certificate comes from a gradient
	// measured with twice the digits and does not depend on the factor. γ must be positive.
	Dual
	// DualCG solves the dual problem by conjugate gradients on sparse rows, without G, in n·z flops a step for z entries
	// a row. The certificate is that of Dual, but the effective dimension and GCV are hardly known. DualCG runs as
	// Dual if that is faster, and for dense rows.
	DualCG

	// Chebyshev is the method of solutions that an earlier version wrote. It no longer runs; CG replaces it.
	Chebyshev
)

// A kind groups methods by what they make of the rows.
type kind uint8

const (
	other       kind = iota
	iterates         // sketches the rows, then makes passes
	factorsGram      // factors AᵀA, or may
	factorsDual      // factors AAᵀ
	retired
)

// methods has the properties of each method.
var methods = [...]struct {
	name   string
	kind   kind
	krylov krylov.Kind // of an iteration
	zero   bool        // solves for γ = 0 too
}{
	Auto:        {name: "auto"},
	OneShot:     {name: "one-shot"},
	CG:          {name: "cg", kind: iterates, krylov: krylov.CG},
	Galerkin:    {name: "galerkin", kind: iterates, krylov: krylov.Galerkin},
	Newton:      {name: "newton", kind: iterates, krylov: krylov.Newton},
	Exact:       {name: "exact", kind: factorsGram, zero: true},
	Cholesky:    {name: "cholesky", kind: factorsGram, zero: true},
	QR:          {name: "qr", kind: factorsGram, zero: true},
	Tridiagonal: {name: "tridiagonal", kind: factorsGram, zero: true},
	Dual:        {name: "dual", kind: factorsDual},
	DualCG:      {name: "dual-cg", kind: factorsDual},
	Chebyshev:   {name: "chebyshev", kind: retired},
}

// Methods returns all methods that can be asked for, Auto first.
func Methods() []Method {
	var out []Method
	for m := range methods {
		if methods[m].kind != retired {
			out = append(out, Method(m))
		}
	}
	return out
}

func (m Method) isKnown() bool { return int(m) < len(methods) }

func (m Method) is(k kind) bool { return m.isKnown() && methods[m].kind == k }

// Iterates reports whether the method starts from a sketch and makes further passes.
func (m Method) Iterates() bool { return m.is(iterates) }

// IsDirect reports whether the method factors AᵀA or AAᵀ and keeps no sketch.
func (m Method) IsDirect() bool { return m.is(factorsGram) || m.is(factorsDual) }

// IsDual reports whether the method works with AAᵀ.
func (m Method) IsDual() bool { return m.is(factorsDual) }

// Takes returns an error if the method cannot solve at γ: a *[GammaError].
func (m Method) Takes(gamma float64) error {
	if gamma == 0 && m.isKnown() && methods[m].zero {
		return nil
	}
	return checkGamma(gamma, m.String())
}

// String returns the name: "auto", "one-shot", "cg", "galerkin", "newton", "exact", "cholesky", "qr", "tridiagonal",
// "dual" or "dual-cg".
func (m Method) String() string {
	if !m.isKnown() {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methods[m].name
}

// ParseMethod returns the method of that name. Another name is an error, and so is that of a method that no longer runs.
func ParseMethod(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.String() == name {
			return m, nil
		}
		names = append(names, m.String())
	}
	if name == Chebyshev.String() {
		return Auto, badinput.Errorf("ridge: method %s no longer exists; use %v", name, CG)
	}
	return Auto, badinput.Errorf("ridge: unknown method %q; the methods are %s", name, strings.Join(names, ", "))
}

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) {
	if !m.isKnown() {
		return nil, badinput.Errorf("ridge: %v is not a method", m)
	}
	return []byte(methods[m].name), nil
}

// UnmarshalText reads a name, of a method that no longer runs too. No name is Auto.
func (m *Method) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = Auto
		return nil
	}
	for i := range methods {
		if methods[i].name == string(text) {
			*m = Method(i)
			return nil
		}
	}
	return badinput.Errorf("ridge: %q is not a method", text)
}

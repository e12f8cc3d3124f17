package ridge

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Method is a method of solving ridge regression.
type Method uint8

const (
	// Auto lets the called function choose.
	Auto Method = iota

	// OneShot computes the solution from the sketch of a single pass, see [Summary.Path].
	OneShot

	// CG is the method of conjugate gradients, preconditioned by the sketch. It never diverges. Each pass multiplies
	// one vector by AᵀA for each γ and target. CG stores a few vectors of length d for each γ and target.
	CG
	// Galerkin approximates the solutions for all γ and targets in one subspace, which grows by up to 32 vectors in each
	// pass. If the eigenvalues of AᵀA decay, Galerkin needs between a tenth and a half as many passes as CG. For many
	// γ it also multiplies fewer vectors by AᵀA.
	//
	// For a sketch of m rows, k values of γ and t targets, Galerkin stores at most 12·(m + k·t) vectors of length d. If
	// it needs more, it continues as CG. If the summary holds AᵀA itself, Galerkin runs as CG from the start.
	Galerkin
	// Newton is Algorithm 1 of the paper (iFDRR, iRFDRR): x ← x − Ĥ⁻¹g, with the coefficients x, the gradient g
	// and the [Hessian] Ĥ.
	Newton

	// Exact selects a direct method (Cholesky, QR, Tridiagonal or Dual) by the shape of the problem, see
	// [Method.For].
	Exact
	// Cholesky accumulates AᵀA and AᵀY and factors AᵀA + γI = LLᵀ with a triangular L. The error of the solution
	// is proportional to the condition number of AᵀA + γI.
	Cholesky
	// QR accumulates the triangular factor R of [A Y]. For each γ it factors R stacked on √γ·I. One part of the
	// error is proportional to the condition number of this stacked matrix. The other part is proportional to the norm of
	// the residual and to the condition number of AᵀA + γI. QR takes about four times as long as Cholesky. Use it for
	// γ = 0 and for ill-conditioned data.
	QR
	// Tridiagonal accumulates K = AᵀA and AᵀY and reduces K once to a tridiagonal matrix T, K = QTQᵀ with an
	// orthogonal Q. The reduction takes as long as a few Cholesky factorisations; each γ is then cheap. The error is
	// proportional to the condition number of K + γI, which depends on the units of the columns.
	//
	// Cholesky replaces Tridiagonal if T is too inaccurate for a γ. Solution.Method names the method that was used.
	Tridiagonal
	// Dual factors G + γI with G = AAᵀ (n×n), and keeps the rows in memory, sparse rows in sparse form. Use Dual for
	// fewer rows than features, because it stores no d×d matrix. The certificate comes from a residual that is measured
	// with twice the digits, so the certificate does not depend on the accuracy of the factor. γ must be positive.
	Dual
	// DualCG solves (G + γI)α = b for the target b by conjugate gradients on sparse rows, without computing G = AAᵀ.
	// A step takes about 4·n·z flops for n rows with z entries each. Errors are bounded as for Dual, but the brackets
	// of the effective dimension and GCV are wide. For leave-one-out errors of many rows, trial vectors bracket the
	// leverages. For dense rows, or if Dual is faster, Dual runs instead.
	DualCG

	// Chebyshev occurs only in solutions that an earlier version of this package has written. It can no longer be chosen;
	// use CG.
	Chebyshev
)

// A kind groups methods by the matrix that they factor.
type kind uint8

const (
	auto        kind = iota
	iterates         // approximates AᵀA by a sketch, then iterates
	factorsGram      // factors AᵀA or A
	factorsDual      // factors AAᵀ
	retired
)

// methods holds the properties of each method.
var methods = [...]struct {
	name   string
	kind   kind
	krylov krylov.Kind // for a method that iterates
	zero   bool        // supports γ = 0
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

// Methods returns all methods that a caller may choose. Auto is first.
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

func (m Method) is(k kind) bool {
	return m.isKnown() && methods[m].kind == k
}

// Iterates reports whether the method starts from a sketch and makes further passes.
func (m Method) Iterates() bool { return m.is(iterates) }

// IsDirect reports whether the method factors AᵀA, A or AAᵀ, or solves with AAᵀ by DualCG, so that it keeps no
// sketch.
func (m Method) IsDirect() bool {
	return m.is(factorsGram) || m.is(factorsDual)
}

// IsDual reports whether the method works with AAᵀ.
func (m Method) IsDual() bool { return m.is(factorsDual) }

// Takes returns a *[GammaError] if the method cannot solve at the given γ, and nil otherwise.
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

// ParseMethod returns the method with the given name. It returns an error for an unknown name or a method that can no
// longer be chosen.
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

// UnmarshalText reads the name of a method, including Chebyshev. An empty text is Auto.
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

package ridge

import (
	"fmt"
	"strings"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// A Method is a method of solving ridge regression.
type Method uint8

const (
	// Auto lets the called function choose.
	Auto Method = iota

	// OneShot reads the rows once. It computes the solution from a Frequent Directions sketch of the rows, a small
	// matrix that replaces them; see [Summary.Path].
	OneShot

	// CG is the method of conjugate gradients. It is preconditioned by a sketch, a small matrix that replaces the
	// rows. It never diverges. In each pass over the rows A, it multiplies one vector by AᵀA for each target and
	// each penalty γ. CG stores a few vectors of length d for each γ and target, for d features.
	CG
	// Galerkin approximates the solutions for all penalties γ and all targets in one subspace. Each pass over the
	// rows A adds up to 32 vectors to the subspace. If the eigenvalues of AᵀA decay, Galerkin needs fewer passes
	// than [CG], a tenth to a half as many. For many γ it also multiplies fewer vectors by AᵀA.
	//
	// Galerkin stores at most 12·(m + k·t) vectors, for a sketch of m rows, k values of γ and t targets. Each
	// vector has one element for each feature. If it needs more vectors, it continues as CG. If the summary holds
	// AᵀA itself, Galerkin runs as CG from the start.
	Galerkin
	// Newton is Algorithm 1 of C. Dickens, "Ridge Regression with Frequent Directions" (2020), there called iFDRR
	// and iRFDRR. Each step subtracts Ĥ⁻¹g from the coefficients. g is the gradient, and the [Hessian] Ĥ
	// approximates AᵀA + γI for the rows A and the penalty γ.
	Newton

	// Exact chooses one of the direct methods Cholesky, QR, Tridiagonal and Dual. The choice depends on the shape
	// of the problem, see [Method.For].
	Exact
	// Cholesky computes AᵀA and AᵀY for features A and targets Y. It factors AᵀA + γI into a lower triangular
	// matrix and its transpose. The error of the solution is proportional to the condition number of AᵀA + γI.
	Cholesky
	// QR computes the triangular factor R of a QR factorisation of the features and targets. For each penalty γ it
	// factors the matrix of R stacked on √γ·I. One part of the error is proportional to the condition number of
	// this stacked matrix. The other part is proportional to the norm of the residual and to the condition number
	// of AᵀA + γI.
	//
	// QR takes about four times as long as Cholesky. Use it for γ = 0 and for ill-conditioned data.
	QR
	// Tridiagonal computes AᵀA and AᵀY for features A and targets Y. It reduces AᵀA once to a tridiagonal matrix by
	// orthogonal transformations. The reduction takes as long as a few Cholesky factorisations; each penalty γ is
	// then cheap. The error is proportional to the condition number of AᵀA + γI, which depends on the units of the
	// columns.
	//
	// If the tridiagonal matrix is too inaccurate for a γ, Cholesky is used for this γ. Solution.Method names the
	// method that was used.
	Tridiagonal
	// Dual factors AAᵀ + γI, an n×n matrix for n rows A and the penalty γ. It keeps the rows in memory, sparse rows
	// in sparse form. Use Dual if there are fewer rows than features, because it stores no d×d matrix for d
	// features.
	//
	// The certificate comes from a residual that is computed with twice the digits. So the certificate does not
	// depend on the accuracy of the factor. γ must be positive.
	Dual
	// DualCG solves (AAᵀ + γI)α = b for the target b by conjugate gradients, on sparse rows A. It does not compute
	// AAᵀ. A step takes about 4·n·z flops, for n rows with z entries each. Errors are bounded as for [Dual], but
	// the brackets of the effective dimension and of the generalised cross-validation (GCV) score are wide.
	//
	// For leave-one-out errors of many rows, trial vectors bracket the leverages. For dense rows, or if Dual is
	// faster, Dual runs instead.
	DualCG

	// Chebyshev is only the Method of solutions that an earlier version of this package has written. A caller
	// cannot choose it; use CG instead.
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

// IsDirect reports whether the method factors AᵀA, A or AAᵀ. It is also true for DualCG, which solves with AAᵀ.
// These methods keep no sketch.
func (m Method) IsDirect() bool {
	return m.is(factorsGram) || m.is(factorsDual)
}

// IsDual reports whether the method works with AAᵀ.
func (m Method) IsDual() bool { return m.is(factorsDual) }

// Takes returns nil if the method can solve with the penalty gamma, and otherwise a *[GammaError].
func (m Method) Takes(gamma float64) error {
	if gamma == 0 && m.isKnown() && methods[m].zero {
		return nil
	}
	return checkGamma(gamma, m.String())
}

// String returns the name of the method: "auto", "one-shot", "cg", "galerkin", "newton", "exact", "cholesky", "qr",
// "tridiagonal", "dual", "dual-cg" or "chebyshev".
func (m Method) String() string {
	if !m.isKnown() {
		return fmt.Sprintf("Method(%d)", int(m))
	}
	return methods[m].name
}

// ParseMethod returns the method with the given name. It returns an error if the name is unknown, or if a caller
// cannot choose the method.
func ParseMethod(name string) (Method, error) {
	var names []string
	for _, m := range Methods() {
		if m.String() == name {
			return m, nil
		}
		names = append(names, m.String())
	}
	if name == Chebyshev.String() {
		return Auto, errtext.BadInput("ridge: method %s no longer exists; use %v", name, CG)
	}
	return Auto, errtext.BadInput("ridge: unknown method %q; the methods are %s", name, strings.Join(names, ", "))
}

// MarshalText returns the name.
func (m Method) MarshalText() ([]byte, error) {
	if !m.isKnown() {
		return nil, errtext.BadInput("ridge: %v is not a method", m)
	}
	return []byte(methods[m].name), nil
}

// UnmarshalText reads the name of a method. It accepts Chebyshev, which a caller cannot choose. An empty text means
// Auto.
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
	return errtext.BadInput("ridge: %q is not a method", text)
}

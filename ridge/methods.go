package ridge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/internal/badinput"
	"github.com/fdridge/fdridge/ridge/internal/krylov"
)

// The methods of a [Fit] that are no [Method]: that of [Summary.Path], and what [Exact] is
// called where it may factor either way.
const (
	oneShotName = "one-shot"
	exactName   = "exact"
)

// An iteration is what this package knows of a [Method].
type iteration struct {
	method Method
	name   string
	kind   krylov.Kind
	rate   func(lo, hi float64) rate // its worst, for a spectrum of Ĥ⁻¹H in [lo, hi]
	ends   bool                      // after d steps, but for round-off
	fixed  bool                      // it goes by what is proved of the spectrum, whatever that is
	share  float64                   // of CG's passes it makes, as a rule
	cost   func(o *outlook, rows int64, size, systems, passes int) cost
	byName bool // it runs only if it is asked for by its name
}

// iterations has a row for each Method, in the order in which a [Plan] lists them.
var iterations = []iteration{
	{method: CG, name: "cg", kind: krylov.CG, rate: chebyshevRate, ends: true, share: 1, cost: (*outlook).separateCost},
	{method: Galerkin, name: "galerkin", kind: krylov.Galerkin, rate: chebyshevRate, ends: true, share: galerkinShare, cost: (*outlook).galerkinCost},
	{method: Chebyshev, name: "chebyshev", kind: krylov.Chebyshev, rate: chebyshevRate, fixed: true, share: 1, cost: (*outlook).separateCost, byName: true},
	{method: Newton, name: "newton", kind: krylov.Newton, rate: newtonRate, share: 1, cost: (*outlook).separateCost, byName: true},
}

// iteration is the row of m, nil where there is none.
func (m Method) iteration() *iteration {
	for i := range iterations {
		if iterations[i].method == m {
			return &iterations[i]
		}
	}
	return nil
}

func (m Method) String() string {
	if it := m.iteration(); it != nil {
		return it.name
	}
	return fmt.Sprintf("Method(%d)", int(m))
}

// ParseMethod returns the iteration of that name, as Solution.Method and PlanOption.Method
// have it. Other names are an error.
func ParseMethod(name string) (Method, error) {
	for _, it := range iterations {
		if it.name == name {
			return it.method, nil
		}
	}
	return 0, badinput.Errorf("ridge: %q is no iteration; there are %s", name, strings.Join(Iterations(), ", "))
}

// Iterations returns the names of all iterations, those that [ChooseMethod] may choose first.
// All need the rows that the sketch is of.
func Iterations() []string {
	names := make([]string, len(iterations))
	for i, it := range iterations {
		names[i] = it.name
	}
	return names
}

// directNames are the direct methods.
var directNames = []string{exactName, Cholesky.String(), QR.String(), Tridiagonal.String(), Dual.String(), DualCG.String()}

// factors says that a method is direct: it keeps no sketch.
func factors(method string) bool {
	return slices.Contains(directNames, method)
}

// methodNames are those that [Options].Method may have.
func methodNames() []string {
	return slices.Concat([]string{oneShotName}, directNames, Iterations())
}

// isMethod says that there is a method of that name.
func isMethod(name string) bool { return slices.Contains(methodNames(), name) }

package ridge_test

import (
	"errors"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestDenseThenSparse: the certificates hold if the summary saw dense rows, and the passes read the same rows as sparse
// rows.
func TestDenseThenSparse(t *testing.T) {
	p := tall(600, 3, 1e8)
	sum := testkit.Must(ridge.Summarize(t.Context(), p, ridge.SummaryConfig{Size: 3, Intercept: true}, nil))(t)
	truth := p.Truth(true)
	p.Sparse = true
	for _, method := range []ridge.Method{ridge.CG, ridge.Galerkin, ridge.Newton} {
		f, err := ridge.Solve(t.Context(), p, sum, 1, ridge.SolveOptions{Tol: 1e-14, Method: method, MaxPasses: 40})
		if short, ok := errors.AsType[*ridge.NotConvergedError](err); ok {
			f, err = short.Solutions[0], nil
		}
		testkit.Check(t, err)
		testkit.Certificate(t, truth, f)
	}
}

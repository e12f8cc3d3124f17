package fdridge_test

import (
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestTrialsChoose: the choice of γ for sparse rows that are too costly to factor is proved, and it is the choice of
// dual.
func TestTrialsChoose(t *testing.T) {
	rng := rand.New(rand.NewPCG(44, 5))
	x, y := testkit.Words(rng, 640, 900)
	src := testkit.Must(dataset.FromCSR(x, 1, y))(t)
	candidates := []float64{0.3, 1, 3, 10, 30, 100}
	choice := map[ridge.Method]*fdridge.Result{}
	for _, m := range []ridge.Method{ridge.Dual, ridge.DualCG} {
		choice[m] = testkit.Must(
			fdridge.Fit(t.Context(), src, fdridge.Options{Method: m, Candidates: candidates, Select: choose.LOO}),
		)(
			t,
		)
	}
	a, b := choice[ridge.Dual].Choice, choice[ridge.DualCG].Choice
	if a.Gamma() != b.Gamma() || !b.Certain || !(b.Score.Hi <= 1.01*b.Score.Lo) {
		t.Errorf(
			"γ = %v with %v by dual-cg (certain: %v), %v with %v by dual",
			b.Gamma(),
			b.Score,
			b.Certain,
			a.Gamma(),
			a.Score,
		)
	}
	if e := choice[ridge.DualCG].Best().WorstError(); !(e <= ridge.DefaultTol) {
		t.Errorf("relative error %v", e)
	}
}

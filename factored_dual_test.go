package fdridge_test

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// TestDualChoice: γ is chosen by GCV, and by leave-one-out errors, of rows fewer than features as
// by hand: GCV by its formula, the errors by leaving each row out.
func TestDualChoice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(36, 6))
	for _, intercept := range []bool{false, true} {
		for _, weighted := range []bool{false, true} {
			s := testkit.Problem(r, "gaussian", 8, 11, 2, 2)
			if weighted {
				s.W = []float64{1, 2, 0.5, 1, 3, 1, 1, 4}
			}
			candidates := []float64{1e-6, 0.01, 1, 30, 1e4}
			for _, by := range []choose.Criterion{choose.GCV, choose.LOO} {
				wants := byHand(t, s, candidates, intercept, by)
				for _, method := range []ridge.Method{ridge.Exact, ridge.Dual, ridge.Auto} {
					f, err := fdridge.Fit(
						context.Background(),
						s,
						fdridge.Options{
							Candidates:  candidates,
							Method:      method,
							Select:      by,
							Tol:         1e-12,
							NoIntercept: !intercept,
						},
					)
					if err != nil {
						t.Fatal(err)
					}
					for i, scores := range f.Choice.Scores {
						for j, v := range scores {
							want := wants[i][j]
							if !(v.Lo <= want*(1+1e-13) && want <= v.Hi*(1+1e-13)) || !(v.Hi-v.Lo <= 1e-6*want) {
								t.Errorf(
									"%v, intercept = %v, weights = %v, γ = %g: %v, by hand %g",
									by,
									intercept,
									weighted,
									candidates[i],
									v,
									want,
								)
							}
						}
					}
					got := f.Solutions[0]
					if got.Method != ridge.Dual || got.Gamma != f.Choice.Gamma() || f.Passes != 1 ||
						!(got.Targets[0].RelativeErrorBound <= 1e-12) {
						t.Errorf(
							"%s, %d passes, γ = %g of %g, certified to %.3g",
							got.Method,
							f.Passes,
							got.Gamma,
							f.Choice.Gamma(),
							got.Targets[0].RelativeErrorBound,
						)
					}
				}
			}
		}
	}
}

// byHand returns the score of each target at each γ: GCV by its formula, leave-one-out errors by
// leaving each row out.
func byHand(t *testing.T, s testkit.Table, gammas []float64, intercept bool, by choose.Criterion) [][]float64 {
	t.Helper()
	scores := make([][]float64, len(gammas))
	for i, gamma := range gammas {
		if by == choose.LOO {
			scores[i] = leaveOut(t, s, gamma, intercept)
			continue
		}
		f, err := refbig.New(s.X, s.Y, s.W, intercept).Solve(gamma)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range f.GCV {
			score, _ := v.Float64()
			scores[i] = append(scores[i], score)
		}
	}
	return scores
}

// leaveOut leaves each row out and returns the mean squared error of each target.
func leaveOut(t *testing.T, s testkit.Table, gamma float64, intercept bool) []float64 {
	t.Helper()
	errors := make([]float64, len(s.Y[0]))
	for i := range s.X {
		others := testkit.Table{}
		for k := range s.X {
			if k != i {
				others.X, others.Y = append(others.X, s.X[k]), append(others.Y, s.Y[k])
				if s.W != nil {
					others.W = append(others.W, s.W[k])
				}
			}
		}
		f, err := refbig.New(others.X, others.Y, others.W, intercept).Solve(gamma)
		if err != nil {
			t.Fatal(err)
		}
		w := 1.0
		if s.W != nil {
			w = s.W[i]
		}
		for target := range errors {
			miss, _ := f.Intercept[target].Float64()
			for j, v := range s.X[i] {
				c, _ := f.Coef[target][j].Float64()
				miss += c * v
			}
			miss -= s.Y[i][target]
			errors[target] += w * miss * miss / float64(len(s.X))
		}
	}
	return errors
}

// TestDualFit: if there are fewer rows than features, Method Exact solves the dual problem. It uses conjugate gradients
// if they are faster, and QR if G = AAᵀ + γI is singular up to round-off.
func TestDualFit(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 6))
	s := testkit.Problem(r, "gaussian", 10, 25, 1, 0.1)
	for _, c := range []struct {
		method ridge.Method
		gamma  float64
		want   ridge.Method
	}{
		{ridge.Exact, 1, ridge.Dual}, {ridge.Dual, 1, ridge.Dual}, {ridge.DualCG, 1, ridge.Dual},
		{ridge.Cholesky, 1, ridge.Cholesky}, {ridge.Exact, 1e-17, ridge.QR},
	} {
		if c.want == ridge.QR {
			s.X[3] = s.X[2]
		}
		f, err := fdridge.Fit(
			context.Background(),
			s,
			fdridge.Options{NoIntercept: true, Method: c.method, Gammas: []float64{c.gamma}},
		)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Solutions[0].Method; got != c.want {
			t.Errorf("%s at γ = %g ran %s, want %s", c.method, c.gamma, got, c.want)
		}
	}
	if _, err := fdridge.Fit(
		context.Background(), s, fdridge.Options{NoIntercept: true, Method: ridge.Dual, Gammas: []float64{0}},
	); err == nil {
		t.Error("least squares by dual is no error")
	}
	// Of many sparse rows one γ takes no factor.
	x, y := testkit.SparseRows(r, 1500, 4000, 5)
	src, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fdridge.Fit(
		context.Background(),
		src,
		fdridge.Options{Method: ridge.Exact, Gammas: []float64{1}, Tol: 1e-12},
	)
	if err != nil || f.Solutions[0].Method != ridge.DualCG ||
		!(f.Solutions[0].Targets[0].RelativeErrorBound <= 1e-12) ||
		math.IsNaN(f.Solutions[0].EffectiveDimension.Hi) {
		t.Errorf("many sparse rows: %v, %v", f, err)
	}
}

// TestDualSaysWhatIsUnknown: Exact leaves the effective dimension of many sparse rows open, Dual does not.
func TestDualSaysWhatIsUnknown(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 3))
	const n, d = 300, 2000
	x, y := testkit.SparseRows(rng, n, d, 10)
	src, err := dataset.FromCSR(x, 1, y)
	if err != nil {
		t.Fatal(err)
	}
	fit := func(method ridge.Method) *fdridge.Result {
		r, err := fdridge.Fit(
			t.Context(),
			src,
			fdridge.Options{NoIntercept: true, Method: method, Gammas: []float64{1}},
		)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := fit(ridge.Exact)
	df := r.Solutions[0].EffectiveDimension
	if r.Solutions[0].Method != ridge.DualCG || !(df.Hi-df.Lo > 1) {
		t.Errorf("%s knows %v of the effective dimension", r.Solutions[0].Method, df)
	}
	r = fit(ridge.Dual)
	df = r.Solutions[0].EffectiveDimension
	if !(df.Hi-df.Lo < 1e-6) {
		t.Errorf("%s knows %v of the effective dimension", r.Solutions[0].Method, df)
	}
}

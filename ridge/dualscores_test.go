package ridge_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// TestScoresWithoutCoefficients: brackets of many targets, whose coefficients are not formed, contain the values of the
// same targets in a fit of few targets, which forms them.
func TestScoresWithoutCoefficients(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	gammas := []float64{1e-6, 1, 1e3, 1e9}
	for k, kind := range []string{"gaussian", "offset", "dependent"} {
		r := rand.New(rand.NewPCG(36, uint64(k)))
		s := testkit.Problem(r, kind, 7, 1100, 960, 2)
		s.Sparse = k == 0
		if k%2 == 0 {
			s.W = []float64{1, 2, 0.5, 0, 3, 1e-3, 4}
		}
		for i := range s.Y {
			s.Y[i][1] = 0.1             // constant
			s.Y[i][2] = 1e6 + s.Y[i][2] // far from zero
		}
		if k > 0 {
			gammas = []float64{1, 1e3, 1e9} // at 1e-6, coefficients are formed, which takes a second
		}
		for _, intercept := range []bool{false, true}[k%2:] { // an offset requires an intercept
			opts := ridge.ExactOptions{Method: ridge.Dual, Intercept: intercept, LeaveOneOut: true}
			whole, err := ridge.Factorize(ctx, s, nil, opts)
			if err != nil {
				t.Fatal(err)
			}
			few, err := dataset.Targets(s, 0, 4)
			if err != nil {
				t.Fatal(err)
			}
			part, err := ridge.Factorize(ctx, few, nil, opts)
			if err != nil {
				t.Fatal(err)
			}
			fits, errors, err := whole.LeaveOneOut(ctx, nil, gammas, ridge.LeaveOneOutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			want, left, err := part.LeaveOneOut(ctx, nil, gammas, ridge.LeaveOneOutOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for i, f := range fits {
				formed := f.Targets[0].Coef != nil
				if gammas[i] > 1e-6 && formed || len(f.Targets) != 960 || len(errors.Bounds[i]) != 960 {
					t.Errorf("%s, γ = %g: %d targets, coefficients formed %v", kind, gammas[i], len(f.Targets), formed)
				}
				for j, w := range want[i].Targets {
					o := f.Targets[j]
					for _, c := range []struct {
						what      string
						got, want ridge.Interval
						width     float64
					}{
						{"GCV", o.GCV, w.GCV, 1e-4}, {"RSS", o.RSS, w.RSS, 1e-4}, {"objective", o.Objective, w.Objective, 1e-3},
						{"leave-one-out error", errors.Bounds[i][j], left.Bounds[i][j], 1e-2},
					} {
						if !(c.got.Lo <= c.want.Hi && c.want.Lo <= c.got.Hi) ||
							!(c.got.Hi-c.got.Lo <= 10*(c.want.Hi-c.want.Lo)+c.width*c.want.Hi) {
							t.Errorf(
								"%s, intercept %v, γ = %g, target %d: %s in %v, want %v",
								kind,
								intercept,
								gammas[i],
								j,
								c.what,
								c.got,
								c.want,
							)
						}
					}
					if !formed && j != 1 && !(o.RelativeErrorBound < 1e-2) {
						t.Errorf("%s, γ = %g: relative error %g", kind, gammas[i], o.RelativeErrorBound)
					}
				}
			}
		}
	}
}

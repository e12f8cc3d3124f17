package ridge_test

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/nist"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// nistProblem is a linear problem of NIST's: the certified values B0, B1, …, the residual
// sum of squares and the observations.
type nistProblem struct {
	certified []float64
	rss       float64
	intercept bool
	testkit.Table
}

func readNIST(t *testing.T, name string) nistProblem {
	t.Helper()
	s, err := nist.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return nistProblem{s.Certified, s.RSS, s.Intercept, testkit.Table{X: s.X, Y: s.Y}}
}

// TestNIST: QR at γ = 0 gets a required number of correct digits in each parameter, the intercept included, and in the
// residual sum of squares, for several block sizes. The certificate holds against 512-bit arithmetic for the data as
// rounded to float64.
func TestNIST(t *testing.T) { enginetest.Each(t, nistDigits) }

func nistDigits(t *testing.T, be engine.Backend) {
	for _, c := range []struct {
		name   string
		digits float64
	}{
		{"Norris", 9}, {"Pontius", 9}, {"NoInt1", 9}, {"NoInt2", 9},
		{"Longley", 10}, {"Filip", 6.5},
		{"Wampler1", 9}, {"Wampler2", 9}, {"Wampler3", 9}, {"Wampler4", 7}, {"Wampler5", 5},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := readNIST(t, c.name)
			ref := refbig.New(s.X, s.Y, nil, s.intercept)
			for _, s.Block = range []int{0, 7} {
				fit := testkit.MustExact(
					t, s.Table, ridge.ExactOptions{Method: ridge.QR, Intercept: s.intercept, Backend: be}, 0,
				)[0]
				got := fit.Targets[0].Coef
				if s.intercept {
					got = append([]float64{fit.Targets[0].Intercept}, got...)
				}
				least := 15.0
				for i, b := range got {
					least = min(least, digits(b, s.certified[i]))
				}
				rss, ofRSS := fit.Targets[0].RSS.Mid(), 15.0
				if s.rss > 0 {
					ofRSS = min(ofRSS, digits(rss, s.rss))
				} else if !(rss <= 1e-20*fit.Targets[0].ComputedTSS) {
					t.Errorf("blocks of %d: RSS %g of %g where all is fitted", s.Block, rss, fit.Targets[0].ComputedTSS)
				}
				t.Logf(
					"blocks of %d: %.1f digits, %.1f of the residual, certified relative error %.2g",
					s.Block,
					least,
					ofRSS,
					fit.Targets[0].RelativeErrorBound,
				)
				if !(least >= c.digits) || !(ofRSS >= c.digits) {
					t.Errorf(
						"blocks of %d: %.2f correct digits, %.2f of the residual, want %g",
						s.Block,
						least,
						ofRSS,
						c.digits,
					)
				}
				testkit.Certificate(t, ref, fit)
			}
		})
	}
}

// TestNISTRefined: with Tol each coefficient and each intercept is the float64 nearest to the exact least squares
// solution of the data as rounded to float64. It is certified to within a rounding. This holds even for Filip, whose
// condition number is 10¹⁵.
func TestNISTRefined(t *testing.T) {
	for _, name := range []string{
		"Norris", "Pontius", "NoInt1", "NoInt2", "Longley", "Wampler1", "Wampler2", "Wampler3", "Wampler4", "Wampler5",
		"Filip",
	} {
		s := readNIST(t, name)
		ref := refbig.New(s.X, s.Y, nil, s.intercept)
		want := testkit.Must(ref.Solve(0))(t)
		fit := testkit.MustExact(t, s.Table, ridge.ExactOptions{Method: ridge.QR, Intercept: s.intercept, Tol: 1e-17}, 0)[0]
		testkit.Certificate(t, ref, fit)
		target, least := fit.Targets[0], 17.0
		for i, b := range target.Coef {
			v, _ := want.Coef[0][i].Float64()
			if b != v {
				least = min(least, digits(b, v))
			}
		}
		constant := 0.0
		if s.intercept {
			v, _ := want.Intercept[0].Float64()
			constant = target.InterceptBound / math.Abs(v)
			if target.Intercept != v {
				least = min(least, digits(target.Intercept, v))
			}
		}
		t.Logf(
			"%s: %.1f digits in each coefficient, certified %.2g and %.2g after %d passes",
			name,
			least,
			target.RelativeErrorBound,
			constant,
			fit.Passes,
		)
		digits, bound, ofIntercept := 16.9, 0x1p-53, 1e-15
		switch name {
		case "Wampler5", "Filip":
			ofIntercept = 1e-13
		}
		if !(least >= digits) || !(target.RelativeErrorBound <= bound) || !(constant <= ofIntercept) {
			t.Errorf(
				"%s: %.1f digits in each coefficient, certified %.2g and %.2g",
				name,
				least,
				target.RelativeErrorBound,
				constant,
			)
		}
	}
}

// digits is how many decimal digits of x agree with want.
func digits(x, want float64) float64 {
	return -math.Log10(math.Abs(x-want) / math.Abs(want))
}

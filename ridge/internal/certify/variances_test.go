package certify

import (
	"math"
	"testing"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/ridge/internal/interval"
)

// TestVariancesHold: the brackets of the variances hold for every K = BᵀB + E with 0 ⪯ E ⪯ ηI, for unit
// vectors along, across and between the vectors that the sketch kept. Without loss they are round-off.
func TestVariancesHold(t *testing.T) {
	for _, gamma := range []float64{1e-3, 0.1, 1, 10} {
		for _, eta := range []float64{0, 1e-6, 0.3, 3, 100} {
			for turn := 0.0; turn < math.Pi; turn += math.Pi / 6 {
				k := lossy(t, eta, 0, 0)
				copy(k.eigen.V, []float64{math.Cos(turn), math.Sin(turn)})
				sampling, posterior := k.Variances(gamma)
				for angle := 0.0; angle < math.Pi; angle += math.Pi / 64 {
					for _, sizes := range [][2]float64{{0, 0}, {0, eta}, {eta, 0}, {eta, eta}, {eta / 2, eta}} {
						checkVariances(t, gamma, turn, angle, sizes, sampling, posterior)
					}
				}
				if eta > 0 {
					continue
				}
				for j, v := range sampling {
					if !(v.Hi-v.Lo <= 1e-11*posterior[j].Hi) {
						t.Errorf("γ %g, without loss: %v", gamma, v)
					}
				}
			}
		}
	}
}

// checkVariances compares the brackets with the variances for K = 4vvᵀ + E. v has the angle turn, and the
// eigenvectors of E have the given angle.
func checkVariances(
	t *testing.T,
	gamma, turn, angle float64,
	sizes [2]float64,
	sampling, posterior []interval.Interval,
) {
	t.Helper()
	var k [3]float64 // elements [1 1], [1 2] and [2 2]
	for _, part := range [][2]float64{{4, turn}, {sizes[0], angle}, {sizes[1], angle + math.Pi/2}} {
		c, s := math.Cos(part[1]), math.Sin(part[1])
		k[0], k[1], k[2] = k[0]+part[0]*c*c, k[1]+part[0]*c*s, k[2]+part[0]*s*s
	}
	det := (k[0]+gamma)*(k[2]+gamma) - k[1]*k[1]
	inverse := [3]float64{(k[2] + gamma) / det, -k[1] / det, (k[0] + gamma) / det}
	for j, e := range [][2]float64{{inverse[0], inverse[1]}, {inverse[1], inverse[2]}} {
		variance := e[0]*e[0]*k[0] + 2*e[0]*e[1]*k[1] + e[1]*e[1]*k[2]
		slack := 1e-11 * e[j] // of this computation
		if v := sampling[j]; !(v.Lo <= variance+slack && variance-slack <= v.Hi) {
			t.Errorf("γ %g, turn %.3g, angle %.3g, %v, column %d: %g is not in %v", gamma, turn, angle, sizes, j+1, variance, v)
		}
		if v, want := posterior[j], e[j]; !(v.Lo <= want+slack && want-slack <= v.Hi) {
			t.Errorf("γ %g, turn %.3g, %v, column %d: %g is not in %v", gamma, turn, sizes, j+1, want, v)
		}
	}
}

// TestLogDetReaches: the lower bound on log det(I + K/γ) is reached by the K whose largest eigenvalues got the tail.
// The upper bound holds for a K whose smallest eigenvalues share the tail.
func TestLogDetReaches(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for _, gamma := range []float64{0.01, 1, 50} {
		for _, parts := range []float64{0, 0.4, 1, 1.7, 2.5, 4} {
			const eta = 0.5
			values := []float64{9, 4}
			k := New(Evidence{
				Sketch: &fd.Spectrum{
					Dim: 4, Sigma2: values, V: []float64{1, 0, 0, 0, 0, 1, 0, 0},
					Bound: fd.Bound{Shrinkage: eta, Frobenius2: 13 + parts*eta, Tail: parts * eta, Rows: 10},
				},
				Backend: be, Rows: 10, Weight: 10, Columns: Columns{Displaced: make([]float64, 5)},
				Sums: Sums{Cross: make([]float64, 4), TSS: []float64{3}, NonZero: []bool{true, true, true, true}},
			})
			got := k.At(gamma).logDet()
			want, left := 0.0, parts
			for i := range 4 {
				s2, part := 0.0, math.Min(1, left)
				if i < len(values) {
					s2 = values[i]
				}
				left -= part
				if i >= len(values) {
					want += part * math.Log1p(eta/gamma) // a chord below the concave logarithm
					continue
				}
				want += math.Log1p((s2 + part*eta) / gamma)
			}
			if !(got.Lo <= want && got.Lo >= want-1e-9) {
				t.Errorf("γ %g, tail %g·η: the lower bound is %.12g, must be %.12g", gamma, parts, got.Lo, want)
			}
			most := math.Log1p(9/gamma) + math.Log1p(4/gamma) + 2*math.Log1p(math.Min(parts, 2)*eta/2/gamma)
			if !(got.Hi >= most*(1-1e-12)) {
				t.Errorf("γ %g, tail %g·η: the upper bound is %.12g, below %.12g", gamma, parts, got.Hi, most)
			}
		}
	}
}

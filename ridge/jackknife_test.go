package ridge_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/conformal"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/internal/verify/testkit"
	"github.com/fdridge/fdridge/ridge"
)

// penalties returns the penalties of p, which are 0 for the columns in free, or nil.
func (p *diagnosed) penalties() []float64 {
	if p.free == nil {
		return nil
	}
	out := make([]float64, len(p.x[0]))
	for j := range out {
		if !slices.Contains(p.free, j) {
			out[j] = 1
		}
	}
	return out
}

// refit returns the exact jackknife+ intervals of the new rows for target j, by n refits in 512 bits. ok is false if a
// refit is singular.
func (p *diagnosed) refit(t *testing.T, fresh [][]float64, level float64, j int) (out [][2]*big.Float, ok bool) {
	t.Helper()
	low, high := make([][]*big.Float, len(fresh)), make([][]*big.Float, len(fresh))
	for i := range p.x {
		if p.w != nil && p.w[i] == 0 {
			continue
		}
		rest, err := p.solve(p.y, i)
		if errors.Is(err, refbig.ErrSingular) {
			return nil, false
		}
		if err != nil {
			t.Fatal(err)
		}
		e := p.miss(rest, p.y, i, j)
		e.Abs(e)
		for a, row := range fresh {
			at := new(big.Float).Set(rest.Intercept[j])
			for k, v := range row {
				at.Add(at, new(big.Float).Mul(refbig.Float(v), rest.Coef[j][k]))
			}
			low[a] = append(low[a], new(big.Float).Sub(at, e))
			high[a] = append(high[a], new(big.Float).Add(at, e))
		}
	}
	n := len(low[0])
	k := int(conformal.Rank(level, int64(n)))
	for a := range fresh {
		slices.SortFunc(low[a], (*big.Float).Cmp)
		slices.SortFunc(high[a], (*big.Float).Cmp)
		out = append(out, [2]*big.Float{low[a][n-k], high[a][k-1]})
	}
	return out, true
}

// TestJackknife: each interval contains the exact jackknife+ interval of n refits in 512 bits, with weights, an
// intercept, scaled columns, sparse rows, columns without penalty and fewer rows than columns. Most are hardly wider.
func TestJackknife(t *testing.T) {
	t.Parallel()
	var wider []float64
	counted := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 494))
		p := drawDiagnosed(r)
		var fresh [][]float64
		for range 3 {
			row := slices.Clone(p.x[r.IntN(len(p.x))])
			for j := range row {
				row[j] += r.NormFloat64() * math.Abs(row[j])
			}
			fresh = append(fresh, row)
		}
		positive := len(p.x)
		if p.w != nil {
			positive--
		}
		level := 0.5 + r.Float64()*(float64(positive)/float64(positive+1)-0.5)
		o := ridge.NormalOptions{Intercept: p.intercept, Penalty: p.penalties()}
		jack := testkit.Must(ridge.NewJackknife(t.Context(), p.source(t), p.gamma, level, o))(t)
		if jack.Rows() != int64(positive) {
			t.Fatalf("seed %d: %d rows of positive weight, must be %d", seed, jack.Rows(), positive)
		}
		targets := len(p.y[0])
		found := make([]ridge.Interval, len(fresh)*targets)
		b := dataset.Block{N: len(fresh), X: slices.Concat(fresh...)}
		if err := jack.Predict(t.Context(), found, b); err != nil {
			t.Fatal(err)
		}
		for j := range targets {
			want, ok := p.refit(t, fresh, level, j)
			if !ok {
				continue
			}
			counted++
			for a := range fresh {
				v := found[a*targets+j]
				lo, hi := refbig.Float(v.Lo), refbig.Float(v.Hi)
				if !(lo.Cmp(want[a][0]) <= 0 && hi.Cmp(want[a][1]) >= 0) {
					t.Errorf("seed %d, row %d, target %d: %v does not contain [%.17g, %.17g]",
						seed, a, j, v, want[a][0], want[a][1])
				}
				exact, _ := new(big.Float).Sub(want[a][1], want[a][0]).Float64()
				wider = append(wider, (v.Hi-v.Lo)/exact-1)
			}
		}
	}
	slices.Sort(wider)
	if share := wider[len(wider)*19/20]; counted < 200 || !(share < 1e-6) {
		t.Errorf("%d problems; 5 %% of the intervals are wider by more than %g", counted, share)
	}
	median, most := wider[len(wider)/2], wider[len(wider)-1]
	t.Logf("%d problems; median %g, 95 %% %g, largest %g", counted, median, wider[len(wider)*19/20], most)
}

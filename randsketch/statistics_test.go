package randsketch_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/randsketch"
)

// The seeds of these tests are fixed, so they pass or fail for ever. Each threshold
// is five standard errors, or a probability of about 1e-6, of what is right.

var kinds = []randsketch.Kind{randsketch.Gaussian, randsketch.SJLT}

// columns returns columns first to first+n of S, as the rows of an n×m matrix.
func columns(t testing.TB, cfg randsketch.Config, first int64, n int) *mat.Dense {
	t.Helper()
	cfg.Dim = 1
	s := must(randsketch.New(cfg))(t)
	out := mat.NewDense(n, cfg.Rows, nil)
	for i := range n {
		out.SetRow(i, s.Column(first+int64(i)))
	}
	return out
}

// TestIdentity: E[SᵀS] = I. An entry off the diagonal has variance 1/m for both
// kinds; one on it has 2/m for a Gaussian, and is 1 for an SJLT, whose nonzeros lie
// in distinct rows.
func TestIdentity(t *testing.T) {
	const n, m, trials = 12, 20, 4000
	for _, kind := range kinds {
		sum, squares := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil) // of SᵀS − I
		for seed := range uint64(trials) {
			s := columns(t, randsketch.Config{Kind: kind, Rows: m, Seed: seed}, 1000, n)
			var g mat.Dense
			g.Mul(s, s.T())
			for i := range n {
				g.Set(i, i, g.At(i, i)-1)
			}
			sum.Add(sum, &g)
			g.MulElem(&g, &g)
			squares.Add(squares, &g)
		}
		for i := range n {
			for j := range i + 1 {
				variance := 1.0 / m
				switch {
				case i == j && kind == randsketch.SJLT:
					variance = 0
				case i == j:
					variance = 2.0 / m
				}
				if mean := sum.At(i, j) / trials; !(math.Abs(mean) <= 5*math.Sqrt(variance/trials)+1e-14) {
					t.Errorf("%v: E[SᵀS − I] has %g at (%d, %d)", kind, mean, i, j)
				}
				// The fourth moment of such a number is below 4 times its variance squared.
				got := squares.At(i, j) / trials
				if !(math.Abs(got-variance) <= 5*variance*math.Sqrt(3.0/trials)+1e-28) {
					t.Errorf("%v: SᵀS has variance %g at (%d, %d), want %g", kind, got, i, j, variance)
				}
			}
		}
	}
}

// kolmogorov is √n times the Kolmogorov-Smirnov distance of a sample from a
// distribution.
func kolmogorov(x []float64, cdf func(float64) float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n, worst := float64(len(x)), 0.0
	for i, v := range x {
		p := cdf(v)
		worst = max(worst, math.Abs(p-float64(i)/n), math.Abs(p-float64(i+1)/n))
	}
	return worst * math.Sqrt(n)
}

// unlikely is exceeded by a Kolmogorov-Smirnov statistic with probability
// 2·exp(−2·2.7²) = 1e-6.
const unlikely = 2.7

func normalCDF(variance float64) func(float64) float64 {
	return func(x float64) float64 { return math.Erfc(-x/math.Sqrt(2*variance)) / 2 }
}

// TestNormal: entries of a Gaussian S are N(0, 1/m). For independent columns each entry of Sz with ‖z‖ = 1 is N(0,
// 1/m), too. The squared norm of a column is χ²_m/m.
func TestNormal(t *testing.T) {
	const n, m = 3000, 50
	s := columns(t, randsketch.Config{Rows: m, Seed: 11}, 0, n)
	if k := kolmogorov(s.RawMatrix().Data, normalCDF(1.0/m)); !(k <= unlikely) {
		t.Errorf("entries: Kolmogorov-Smirnov %.2f", k)
	}
	var sums, norms []float64
	for i := 0; i+10 <= n; i += 10 {
		for r := range m {
			v := 0.0
			for j := i; j < i+10; j++ {
				v += s.At(j, r)
			}
			sums = append(sums, v/math.Sqrt(10))
		}
	}
	if k := kolmogorov(sums, normalCDF(1.0/m)); !(k <= unlikely) {
		t.Errorf("sums over columns: Kolmogorov-Smirnov %.2f", k)
	}
	for i := range n {
		// Wilson and Hilferty: the cube root of χ²_m/m is nearly normal.
		q := mat.Dot(s.RowView(i), s.RowView(i))
		norms = append(norms, (math.Cbrt(q)-(1-2.0/(9*m)))/math.Sqrt(2.0/(9*m)))
	}
	if k := kolmogorov(norms, normalCDF(1)); !(k <= unlikely) {
		t.Errorf("norms of columns: Kolmogorov-Smirnov %.2f", k)
	}
}

// TestSparseColumns: a column of an SJLT has s nonzeros ±1/√s in distinct rows. All rows occur equally often, all
// pairs of rows occur equally often, and both signs do.
func TestSparseColumns(t *testing.T) {
	for _, c := range []struct{ m, sparsity, want int }{
		{64, 0, 10}, {12, 0, 10}, {10, 0, 10}, {3, 0, 3}, {1, 0, 1}, {40, 1, 1}, {9, 9, 9},
	} {
		const n = 20000
		s := columns(t, randsketch.Config{Kind: randsketch.SJLT, Rows: c.m, Sparsity: c.sparsity, Seed: 5}, 0, n)
		taken := mat.NewDense(c.m, c.m, nil)
		plus, total := 0, 0
		for i := range n {
			var rows []int
			for r, v := range s.RawRowView(i) {
				if v == 0 {
					continue
				}
				rows = append(rows, r)
				if !(math.Abs(math.Abs(v)*math.Sqrt(float64(c.want))-1) <= 1e-15) {
					t.Fatalf("m = %d: entry %g, want ±1/√%d", c.m, v, c.want)
				}
				total++
				if v > 0 {
					plus++
				}
			}
			if len(rows) != c.want {
				t.Fatalf("m = %d: column %d has %d nonzeros, want %d", c.m, i, len(rows), c.want)
			}
			for _, r := range rows {
				for _, q := range rows {
					taken.Set(r, q, taken.At(r, q)+1)
				}
			}
		}
		if off := math.Abs(float64(plus) - float64(total)/2); !(off <= 5*math.Sqrt(float64(total))/2) {
			t.Errorf("m = %d: %d of %d signs are +", c.m, plus, total)
		}
		share := float64(c.want) / float64(c.m)
		for r := range c.m {
			for q := range r + 1 {
				p := share
				if q < r {
					p *= float64(c.want-1) / float64(c.m-1)
				}
				if off := math.Abs(taken.At(r, q) - n*p); !(off <= 5.5*math.Sqrt(n*p*(1-p))+1e-9) {
					t.Errorf(
						"m = %d: rows %d and %d are taken %g times of %d, want %g",
						c.m,
						r,
						q,
						taken.At(r, q),
						n,
						n*p,
					)
				}
			}
		}
	}
}

// TestUnrelated: neighbouring columns are uncorrelated, entry by entry. The columns of neighbouring seeds and of the
// other kind are uncorrelated with them, too.
func TestUnrelated(t *testing.T) {
	const n, m = 2000, 30
	for _, kind := range kinds {
		cfg := randsketch.Config{Kind: kind, Rows: m, Seed: 7}
		a := columns(t, cfg, 0, n)
		other := cfg
		other.Seed = 8
		kin := cfg
		kin.Kind = 1 - kind
		for name, b := range map[string]*mat.Dense{
			"next column": columns(t, cfg, 1, n),
			"far column":  columns(t, cfg, 1<<32, n),
			"next seed":   columns(t, other, 0, n),
			"other kind":  columns(t, kin, 0, n),
		} {
			var p mat.Dense
			p.MulElem(a, b)
			// n·m products of variance 1/m².
			if sum := mat.Sum(&p); !(math.Abs(sum) <= 5*math.Sqrt(n*m)/m) {
				t.Errorf("%v: %s: correlation %g", kind, name, sum/n)
			}
		}
	}
}

// TestPurpose: a Gaussian sketch and the test matrix of a Nyström approximation have
// nothing in common but their seed.
func TestPurpose(t *testing.T) {
	const d = 200
	column := columns(t, randsketch.Config{Rows: d, Seed: 7}, 0, 1).RowView(0)
	omega := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 1, Dim: d, Seed: 7}))(t).Omega().RowView(0)
	if cos := mat.Dot(column, omega) / mat.Norm(column, 2); !(math.Abs(cos) <= 5/math.Sqrt(d)) {
		t.Errorf("cosine %g", cos)
	}
}

// TestSubspace: for orthonormal columns Q (n×k) the singular values of SQ lie within
// 1 ± (√(k/m) + x/√m), with probability 1 − 2·exp(−x²/2) for a Gaussian (K. Davidson,
// S. Szarek, 2001). An SJLT is held to the same, also where Q is k columns of I. They
// spread over that interval as they must: it is not too wide.
func TestSubspace(t *testing.T) {
	const n, k, m, x = 600, 20, 500, 5.3
	rng := rand.New(rand.NewPCG(3, 4))
	dense := mat.NewDense(n, k, nil)
	for i := range dense.RawMatrix().Data {
		dense.RawMatrix().Data[i] = rng.NormFloat64()
	}
	var qr mat.QR
	qr.Factorize(dense)
	var full mat.Dense
	qr.QTo(&full)
	spread, coherent := full.Slice(0, n, 0, k), mat.NewDense(n, k, nil)
	for j := range k {
		coherent.Set(j*7, j, 1)
	}
	for _, kind := range kinds {
		for name, q := range map[string]mat.Matrix{"spread": spread, "coherent": coherent} {
			for seed := range uint64(20) {
				s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: m, Dim: k, Seed: seed}))(t)
				data := mat.DenseCopyOf(q).RawMatrix().Data
				check(t, s.AppendRows(n, data, k, nil))
				var svd mat.SVD
				if !svd.Factorize(s.Matrix(), mat.SVDNone) {
					t.Fatal("no singular values")
				}
				sigma := svd.Values(nil)
				what := fmt.Sprintf(
					"%v, %s, seed %d: singular values %.3f to %.3f",
					kind,
					name,
					seed,
					sigma[k-1],
					sigma[0],
				)
				edge := math.Sqrt(float64(k) / m)
				if far := edge + x/math.Sqrt(m); !(sigma[0] <= 1+far && sigma[k-1] >= 1-far) {
					t.Errorf("%s, beyond 1 ± %.3f", what, far)
				}
				if !(sigma[0] >= 1+edge/2 && sigma[k-1] <= 1-edge/2) {
					t.Errorf("%s, within 1 ± %.3f", what, edge/2)
				}
			}
		}
	}
}

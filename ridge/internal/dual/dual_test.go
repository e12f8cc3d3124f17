package dual

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// draw makes n rows of d columns: the first few columns full and, if far, far from zero, of the
// others about one entry in ten. All sums of products round the same way in same rows.
func draw(r *rand.Rand, n, d int, far float64, same bool) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		x[i] = make([]float64, d)
		for j := range x[i] {
			switch {
			case same:
				x[i][j] = 1.0 / 3
			case j < d/8:
				x[i][j] = r.NormFloat64() + far
			case r.IntN(10) == 0:
				x[i][j] = r.NormFloat64()
			}
		}
	}
	return x
}

// rowsOf are those rows, dense or sparse, with one target of zeros.
func rowsOf(x [][]float64, w []float64, sparse, intercept bool) *Rows {
	return rowsWith(x, dataset.Block{N: len(x), Y: make([]float64, len(x)), W: w}, sparse, intercept)
}

// TestGram: the error of G is within its bounds, as if each row of A were a little off. The test measures it for each
// pair of rows of A in extended precision, and logs the largest error/bound.
func TestGram(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const n = 24
		worst := map[string]float64{}
		for seed := range uint64(24) {
			d := 130
			if seed%5 == 0 || os.Getenv("FDRIDGE_THOROUGH") != "" {
				d = 400
			}
			r := rand.New(rand.NewPCG(seed, 3))
			sparse, intercept, weighted, same := seed&1 != 0, seed&2 != 0, seed&4 != 0, seed >= 16
			x := draw(r, n, d, 1e3*float64(seed&8), same)
			var w []float64
			if weighted {
				for range n {
					w = append(w, math.Exp2(float64(r.IntN(20)))/3)
				}
			}
			rows := rowsOf(x, w, sparse, intercept)
			g, err := rows.Gram(context.Background(), be, make([]float64, n*n), make([]float64, n*n))
			if err != nil {
				t.Fatal(err)
			}
			exact, norms := reference(x, w, intercept, g.Shift)
			if g.Shift > 0 && !intercept {
				t.Fatalf("seed %d: shifted by %g, intercept = %v", seed, g.Shift, intercept)
			}
			for i := range n {
				for j := range i + 1 {
					off, _ := new(big.Float).Sub(exact[i][j], refbig.Float(g.G[i*n+j])).Float64()
					si, sj := norms[i], norms[j]
					bound := g.Units*roundoff.Unit*(si+g.Off[i])*(sj+g.Off[j]) + g.Lost + g.Off[i]*sj + g.Off[j]*si + g.Off[i]*g.Off[j]
					if !(math.Abs(off) <= bound*(1+1e-9)) {
						t.Fatalf("seed %d: element %d, %d is off by %g, the bound is %g", seed, i, j, off, bound)
					}
					if bound > 0 {
						kind := "products"
						if intercept || weighted {
							kind = "rows"
						}
						worst[kind] = math.Max(worst[kind], math.Abs(off)/bound)
					}
				}
			}
		}
		for kind, v := range worst {
			t.Logf("%s: worst error is %.3g of its bound", kind, v)
		}
	})
}

// reference is G, and the norms of the rows of A.
func reference(x [][]float64, w []float64, intercept bool, shift float64) (g [][]*big.Float, norms []float64) {
	n, d := len(x), len(x[0])
	a := make([][]*big.Float, n)
	weight := func(i int) *big.Float {
		if w == nil {
			return refbig.Float(1)
		}
		return refbig.Float(w[i])
	}
	total := refbig.Float(0)
	for i := range n {
		total.Add(total, weight(i))
		a[i] = make([]*big.Float, d)
	}
	for j := range d {
		mean := refbig.Float(0)
		if intercept {
			for i := range n {
				mean.Add(mean, new(big.Float).Mul(weight(i), refbig.Float(x[i][j])))
			}
			mean.Quo(mean, total)
		}
		for i := range n {
			a[i][j] = new(big.Float).Sub(refbig.Float(x[i][j]), mean)
			a[i][j].Mul(a[i][j], new(big.Float).Sqrt(weight(i)))
		}
	}
	for i := range n {
		g = append(g, make([]*big.Float, n))
		for k := range n {
			g[i][k] = refbig.Float(0)
			if intercept {
				g[i][k].Quo(new(big.Float).Sqrt(new(big.Float).Mul(weight(i), weight(k))), total)
				g[i][k].Mul(g[i][k], refbig.Float(shift))
			}
			for j := range d {
				g[i][k].Add(g[i][k], new(big.Float).Mul(a[i][j], a[k][j]))
			}
		}
		v, _ := g[i][i].Float64()
		norms = append(norms, math.Sqrt(math.Max(0, v)))
	}
	return g, norms
}

// TestDot: products with sums of two numbers are off by no more than they say, and have twice the
// digits.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 3))
	for range 2000 {
		k := r.IntN(60)
		c := coefficients{make([]float64, k), make([]float64, k), make([]float64, k)}
		var idx []int32
		var val []float64
		exact := refbig.Float(0)
		sizes := 0.0
		for j := range k {
			idx, val = append(idx, int32(j)), append(val, r.NormFloat64())
			c.hi[j] = r.NormFloat64() * math.Exp2(float64(r.IntN(30)))
			c.lo[j] = c.hi[j] * 0x1p-54 * (2*r.Float64() - 1)
			sum := new(big.Float).Add(refbig.Float(c.hi[j]), refbig.Float(c.lo[j]))
			if r.IntN(3) == 0 {
				c.err[j] = math.Abs(c.hi[j]) * 0x1p-90
				sum.Add(sum, refbig.Float(c.err[j]))
			}
			exact.Add(exact, sum.Mul(sum, refbig.Float(val[j])))
			sizes += math.Abs(val[j] * c.hi[j])
		}
		got := dot(idx, val, &c)
		off := new(big.Float).Sub(exact, new(big.Float).Add(refbig.Float(got.Hi), refbig.Float(got.Lo)))
		if off.Abs(off).Cmp(refbig.Float(got.Err)) > 0 {
			t.Fatalf("%d entries: off by %.3g, the bound is %.3g", k, off, got.Err)
		}
		if !(got.Err <= 0x1p-85*sizes+0x1p-1060) {
			t.Fatalf("%d entries: the bound is %.3g of the magnitudes", k, got.Err/sizes)
		}
	}
}

// TestColumnSums: the error of Xᵀw, and of the norm of the means, is within its bound. This holds for sparse and
// dense rows, and if all roundings go the same way.
func TestColumnSums(t *testing.T) {
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(6, 2))
	for _, same := range []bool{false, true} {
		for _, sparse := range []bool{false, true} {
			const n, d = 700, 24
			x, w := draw(r, n, d, 1e6, same), make([]float64, n)
			for i := range w {
				w[i] = 1.0 / 3
				if !same {
					w[i] = r.Float64()
				}
			}
			rows := rowsOf(x, w, sparse, true)
			sums, norm, total := rows.columnSums(be), new(big.Float), refbig.Float(0)
			for i := range w {
				total.Add(total, refbig.Float(w[i]))
			}
			off := 0.0
			for j := range d {
				want := refbig.Float(0)
				for i := range x {
					want.Add(want, new(big.Float).Mul(refbig.Float(w[i]), refbig.Float(x[i][j])))
				}
				wrong, _ := new(big.Float).Sub(
					new(big.Float).Sub(want, refbig.Float(sums[j].Hi)), refbig.Float(sums[j].Lo),
				).Float64()
				off = math.Max(off, math.Abs(wrong))
				if !(math.Abs(wrong) <= sums[j].Err) {
					t.Errorf(
						"same=%v, sparse=%v: column %d is off by %g, %g is said",
						same,
						sparse,
						j,
						wrong,
						sums[j].Err,
					)
				}
				want.Quo(want, total)
				norm.Add(norm, want.Mul(want, want))
			}
			if sparse && off == 0 {
				t.Errorf("same=%v: nothing was rounded", same)
			}
			v, _ := norm.Sqrt(norm).Float64()
			if !(rows.normOfMeans(sums) >= v) || !(rows.normOfMeans(sums) <= v*(1+1e-9)) {
				t.Errorf(
					"same=%v, sparse=%v: the norm of the means is %g, %g is said",
					same,
					sparse,
					v,
					rows.normOfMeans(sums),
				)
			}
		}
	}
}

// TestGramEqualWeights: what the sum of many equal weights is rounded to moves the means of columns
// that are constant by no more than rows are said to be off by. Sums of such weights round in one
// direction.
func TestGramEqualWeights(t *testing.T) {
	const n, d = 1000, 3
	var w, columns []float64
	var x [][]float64
	for range n {
		w = append(w, 0.882064328907461)
		x = append(x, []float64{1, 1, 1})
		columns = append(columns, 1, 1, 1)
	}
	source, err := dataset.FromDense(d, n, 0, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]Operator{
		"rows": rowsOf(x, w, false, true), "columns": NewFeatures(source, 1, make([]float64, n), w, true),
	} {
		g, err := data.Gram(context.Background(), be, make([]float64, n*n), make([]float64, n*n))
		if err != nil {
			t.Fatal(err)
		}
		for i, norm := range g.Norms { // the column of the means adds a thousandth to the square
			if !(norm <= g.Off[i]*(1+1e-3)) {
				t.Fatalf("%s: row %d is off by %g, the bound is %g", name, i, norm, g.Off[i])
			}
		}
	}
}

// TestCombineThreads: what is summed over sparse rows has the same bits for every GOMAXPROCS, and so
// has a step of CG.
func TestCombineThreads(t *testing.T) {
	const n, d = 300, 2000
	r := rand.New(rand.NewPCG(5, 3))
	x := draw(r, n, d, 0, false)
	rows := rowsOf(x, nil, true, true)
	if rows.NNZ() < 1<<16 || rows.workers() < 2 {
		t.Fatalf("%g entries, %d workers", rows.NNZ(), rows.workers())
	}
	be, err := engine.Default()
	if err != nil {
		t.Fatal(err)
	}
	theta, right := make([]float64, n), make([]float64, n)
	for i := range theta {
		theta[i], right[i] = r.NormFloat64(), r.NormFloat64()
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	sums := rows.combineSparse([]Point{{Hi: theta, Lo: make([]float64, n)}})
	solved := slices.Clone(right)
	never := func(float64, float64) bool { return false }
	rows.NewCG(be, 1).Solve(solved, 5, never)
	for procs := 2; procs <= 5; procs++ {
		runtime.GOMAXPROCS(procs)
		if got := rows.combineSparse([]Point{{Hi: theta, Lo: make([]float64, n)}}); !slices.Equal(got, sums) {
			t.Errorf("GOMAXPROCS = %d: other sums", procs)
		}
		got := slices.Clone(right)
		rows.NewCG(be, 1).Solve(got, 5, never)
		if !slices.Equal(got, solved) {
			t.Errorf("GOMAXPROCS = %d: another solution", procs)
		}
	}
}

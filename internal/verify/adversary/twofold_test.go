package adversary

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// A Twofold is a [refbig.Problem] in arithmetic with [Pair], for some hundreds of features. Its results have a
// relative error of about (n+d)·2⁻¹⁰⁴·κ(H). Unlike a Problem, it keeps the rows.
type Twofold struct {
	N, D, T   int
	Intercept bool

	YY    []Pair  // ‖y‖² of each target
	Trace float64 // tr K

	meanX, meanY []Pair
	x, y         []pairs // centred columns
	w            []Pair
	products
}

// products has the matrices of the normal equations.
type products struct {
	k []pairs // rows of the lower triangle of K
	c []pairs // AᵀWy of each target
}

// NewTwofold reduces x (n×d), y (n×t) and weights w (n of them).
func NewTwofold(x, y [][]float64, w []Pair, intercept bool) *Twofold {
	p := &Twofold{N: len(x), D: len(x[0]), T: len(y[0]), Intercept: intercept, w: w}
	plain := true
	for _, v := range w {
		plain = plain && v == Pair{Hi: 1}
	}
	p.meanX, p.x = columnsOf(x, w, intercept)
	p.meanY, p.y = columnsOf(y, w, intercept)
	wx, wy := p.x, p.y
	if !plain {
		wx, wy = weighted(p.x, w), weighted(p.y, w)
	}
	for i := range p.D {
		row := makePairs(i + 1)
		p.k = append(p.k, row)
	}
	p.gram(wx)
	for j := range p.T {
		c := makePairs(p.D)
		for i := range p.D {
			c.set(i, dotPairs(full(wx[i], p.y[j]), full(p.y[j], wx[i])))
		}
		p.c = append(p.c, c)
		p.YY = append(p.YY, dotPairs(full(wy[j], p.y[j]), full(p.y[j], wy[j])))
	}
	for i := range p.D {
		p.Trace += p.k[i].hi[i]
	}
	return p
}

// full returns x with low parts if y has low parts.
func full(x, y pairs) pairs {
	if x.lo == nil && y.lo != nil {
		x.lo = make([]float64, len(x.hi))
	}
	return x
}

// gram computes K by blocks of columns that fit in the cache.
func (p *Twofold) gram(wx []pairs) {
	const block, rows = 16, 1024
	n := len(p.x[0].hi)
	for lo := 0; lo < n; lo += rows {
		hi := min(lo+rows, n)
		for ib := 0; ib < p.D; ib += block {
			for jb := 0; jb <= ib; jb += block {
				for i := ib; i < min(ib+block, p.D); i++ {
					u := wx[i].cut(lo, hi)
					for j := jb; j < min(jb+block, i+1); j++ {
						v := p.x[j].cut(lo, hi)
						p.k[i].set(j, p.k[i].at(j).Add(dotPairs(full(u, v), full(v, u))))
					}
				}
			}
		}
	}
}

// columnsOf returns the weighted means of the columns of x, and the columns less their means.
func columnsOf(x [][]float64, w []Pair, centred bool) (mean []Pair, columns []pairs) {
	n, d := len(x), len(x[0])
	mean = make([]Pair, d)
	columns = make([]pairs, d)
	for j := range columns {
		columns[j] = pairs{hi: make([]float64, n)}
		if centred {
			columns[j].lo = make([]float64, n)
		}
	}
	for i, row := range x {
		for j, v := range row {
			columns[j].hi[i] = v
		}
	}
	if !centred {
		return mean, columns
	}
	var total Pair
	heaviest := 0
	for i, v := range w {
		total = total.Add(v)
		if v.Hi > w[heaviest].Hi {
			heaviest = i
		}
	}
	if !(total.Hi > 0) {
		return mean, columns
	}
	for j, c := range columns {
		// Use rows relative to the heaviest row, so that a common offset cancels exactly.
		origin := c.hi[heaviest]
		var s Pair
		for i, v := range c.hi {
			s = s.Add(w[i].Mul(twoSum(v, -origin)))
		}
		delta := s.Quo(total)
		mean[j] = Pair{Hi: origin}.Add(delta)
		for i, v := range c.hi {
			c.set(i, twoSum(v, -origin).Sub(delta))
		}
	}
	return mean, columns
}

// weighted returns each column of x multiplied by w.
func weighted(x []pairs, w []Pair) []pairs {
	out := make([]pairs, len(x))
	for j := range x {
		out[j] = makePairs(len(w))
		for i, v := range w {
			out[j].set(i, v.Mul(x[j].at(i)))
		}
	}
	return out
}

// A TwofoldSolution has the fields of a [refbig.Solution] as Pairs.
type TwofoldSolution struct {
	Gamma              float64
	Coef               [][]Pair // t×d
	Intercept          []Pair
	EffectiveDimension Pair
	RSS, Objective     []Pair
	Free               Pair // n − df, less one with an intercept
}

// Solve computes the solution for γ > 0 by a Cholesky decomposition of K + γI. It returns refbig.ErrSingular if the
// decomposition fails.
func (p *Twofold) Solve(gamma float64) (*TwofoldSolution, error) {
	l, err := p.cholesky(gamma)
	if err != nil {
		return nil, err
	}
	s := &TwofoldSolution{Gamma: gamma}
	g := Pair{Hi: gamma}
	trace := g.Mul(inverseTrace(l))
	s.EffectiveDimension = Pair{Hi: float64(p.D)}.Sub(trace)
	s.Free = Pair{Hi: float64(p.N - p.D)}.Add(trace)
	if p.Intercept {
		s.Free = s.Free.Sub(Pair{Hi: 1})
	}
	for j := range p.T {
		x := p.solve(l, j)
		rss := p.RSS(j, x)
		norm2 := Pair{}
		mean := p.meanY[j]
		for i, v := range x {
			norm2 = norm2.Add(v.Mul(v))
			mean = mean.Sub(v.Mul(p.meanX[i]))
		}
		s.Coef = append(s.Coef, x)
		s.Intercept = append(s.Intercept, mean)
		s.RSS = append(s.RSS, rss)
		s.Objective = append(s.Objective, rss.Add(g.Mul(norm2)).Mul(Pair{Hi: 0.5}))
	}
	return s, nil
}

// RSS returns ‖Ax − b‖² of target j, computed from the rows.
func (p *Twofold) RSS(j int, x []Pair) Pair {
	n := len(p.y[j].hi)
	r := makePairs(n)
	for i := range n {
		r.set(i, p.y[j].at(i).Neg())
	}
	for k, v := range x {
		if v == (Pair{}) {
			continue
		}
		c := p.x[k]
		for i := range n {
			r.set(i, r.at(i).Add(v.Mul(c.at(i))))
		}
	}
	var s Pair
	for i := range n {
		v := r.at(i)
		s = s.Add(v.Mul(v).Mul(p.w[i]))
	}
	return s
}

// cholesky returns the rows of L in LLᵀ = K + γI.
func (p *Twofold) cholesky(gamma float64) ([]pairs, error) {
	l := make([]pairs, p.D)
	for i := range l {
		l[i] = makePairs(i + 1)
		for j := range i {
			v := p.k[i].at(j).Sub(dotPairs(l[i].cut(0, j), l[j].cut(0, j)))
			l[i].set(j, v.Quo(l[j].at(j)))
		}
		v := p.k[i].at(i).Add(Pair{Hi: gamma}).Sub(dotPairs(l[i].cut(0, i), l[i].cut(0, i)))
		if !(v.Hi > 0) || math.IsInf(v.Hi, 0) {
			return nil, refbig.ErrSingular
		}
		l[i].set(i, v.Sqrt())
	}
	return l, nil
}

// inverseTrace returns tr (LLᵀ)⁻¹, which is ‖L⁻¹‖²_F.
func inverseTrace(l []pairs) Pair {
	var s Pair
	column := makePairs(len(l)) // one column of L⁻¹
	for j := range l {
		for i := j; i < len(l); i++ {
			v := Pair{Hi: 1}
			if i > j {
				v = dotPairs(l[i].cut(j, i), column.cut(j, i)).Neg()
			}
			v = v.Quo(l[i].at(i))
			column.set(i, v)
			s = s.Add(v.Mul(v))
		}
	}
	return s
}

// solve returns H⁻¹c for target j.
func (p *Twofold) solve(l []pairs, j int) []Pair {
	z := makePairs(p.D)
	for i := range l {
		v := p.c[j].at(i).Sub(dotPairs(l[i].cut(0, i), z.cut(0, i)))
		z.set(i, v.Quo(l[i].at(i)))
	}
	x := make([]Pair, p.D)
	for i := p.D - 1; i >= 0; i-- {
		x[i] = z.at(i).Quo(l[i].at(i))
		for k := range i {
			z.set(k, z.at(k).Sub(l[i].at(k).Mul(x[i])))
		}
	}
	return x
}

// TestTwofold: pairs say what 512 bits say, to 25 digits where κ(H) is 10⁴, with
// means of 10⁸ and weights.
func TestTwofold(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	for _, shape := range [][2]int{{1, 1}, {5, 9}, {40, 7}, {61, 12}} {
		for _, intercept := range []bool{false, true} {
			n, d := shape[0], shape[1]
			x, y := table(r, n, d), table(r, n, 2)
			weights, w := make([]Pair, n), make([]float64, n)
			for i := range x {
				w[i] = 1
				if d != 7 {
					w[i] = math.Ldexp(1+r.Float64(), r.IntN(20)-10)
				}
				weights[i] = Pair{Hi: w[i]}
				if intercept {
					for j := range x[i] {
						x[i][j] += 1e8
					}
				}
			}
			exact := refbig.New(x, y, w, intercept)
			two := NewTwofold(x, y, weights, intercept)
			gamma := 1e-4 * two.Trace
			if gamma == 0 {
				gamma = 1
			}
			want, err := exact.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			got, err := two.Solve(gamma)
			if err != nil {
				t.Fatal(err)
			}
			near := func(what string, got Pair, want *big.Float, scale float64) {
				t.Helper()
				off, _ := sub(got.Big(), want).Float64()
				if !(math.Abs(off) <= 1e-25*scale) {
					t.Errorf("n = %d, d = %d, intercept %v: %s is off by %g of %g", n, d, intercept, what, off, want)
				}
			}
			near("df", got.EffectiveDimension, want.EffectiveDimension, float64(d)*1e4)
			for j := range 2 {
				yy, _ := exact.YY[j].Float64()
				size := refbig.Norm(want.Coef[j])
				for i := range d {
					near("x", got.Coef[j][i], want.Coef[j][i], size*1e2)
				}
				near("intercept", got.Intercept[j], want.Intercept[j], 1+1e9*size)
				near("RSS", got.RSS[j], want.RSS[j], yy*1e2)
				near("objective", got.Objective[j], want.Objective[j], yy*1e2)
			}
		}
	}
}

// BenchmarkTwofold is a problem of the largest kind.
func BenchmarkTwofold(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 9))
	x, y := table(r, 1200, 400), table(r, 1200, 1)
	w := make([]Pair, len(x))
	for i := range w {
		w[i] = Pair{Hi: 1}
	}
	for b.Loop() {
		if _, err := NewTwofold(x, y, w, true).Solve(1); err != nil {
			b.Fatal(err)
		}
	}
}

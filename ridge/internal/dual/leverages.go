package dual

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/interval"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// Leverages brackets the leverages of sparse rows without a factorisation of G = AAᵀ. With an intercept, let q be
// the unit vector with the elements √(wᵢ/Σw) for the weights w. Otherwise let q be 0. For a row, let e be its unit
// vector minus the component along q, and a = Aᵀe. Let q₀ be the element of q for this row, and K = AᵀA. The
// leverage h of the row satisfies
//
//	1 − h = γ·eᵀ(G + γI)⁻¹e = 1 − q₀² − aᵀ(K + γI)⁻¹a.
//
// Trial vectors bound both quadratic forms from below, see [certify.TrialSpace]. All rows share trial vectors that
// approximate the eigenvectors of the largest eigenvalues. Each row also has trial vectors of its own. They are e,
// Ge, … for the form with G, and a, Ka, … for the form with K.
type Leverages struct {
	be      engine.Backend
	n, d, m int
	x       engine.CSR // W^{½}X with the weights W
	turned  engine.CSR // xᵀ
	alongQ
	works    sync.Pool // of *trialsWork
	w, r     engine.Matrix
	gw, gr   engine.Matrix      // the products of G with the rows of w and r, m×n
	turn     engine.Matrix      // m×m: r = turn·w up to round-off
	features certify.TrialSpace // trial vectors for K: the rows of v, with w = AV
	samples  certify.TrialSpace // trial vectors for G: the rows of r
}

// alongQ holds what [Leverages] needs to centre vectors by subtracting their component along the vector q. Without
// an intercept, all slices except inShare are nil.
type alongQ struct {
	share   []float64 // q
	means   []float64 // s = XᵀW^{½}q, d
	inMeans []float64 // W^{½}Xs, n
	inShare []float64 // the products of q with the rows of r
}

const (
	subspaceSteps = 3  // multiplications of the shared trial vectors by K
	trialBlock    = 64 // number of rows that a task handles at a time
)

// usable reports whether x is in a range in which products of a few trial vectors neither overflow nor underflow.
// The argument x is the penalty, or the square of a bound on ‖A‖_F.
func usable(x float64) bool { return x > 0x1p-100 && x < 0x1p100 }

// SharedTrials is the usual number of shared trial vectors.
const SharedTrials = 256

// NewLeverages computes trial vectors that all sparse rows share, at most shared of them. It returns nil if it
// finds none, because A is zero or its numbers are too large or too small.
func (r *Rows) NewLeverages(be engine.Backend, shared int) *Leverages {
	l := &Leverages{
		be:     be,
		n:      r.n,
		d:      r.d,
		m:      min(shared, r.n, r.d),
		alongQ: alongQ{share: r.share()},
	}
	if size := r.Size(); !usable(size * size) {
		return nil
	}
	l.x = engine.CSR{
		Rows:   r.n,
		Cols:   r.d,
		RowPtr: make([]int, 1, r.n+1),
	}
	for _, p := range r.parts {
		for i := range p.n {
			idx, val := p.sparse.Row(i)
			l.x.ColIdx = append(l.x.ColIdx, idx...)
			for _, v := range val {
				l.x.Val = append(l.x.Val, v*r.Root(p.first+i))
			}
			l.x.RowPtr = append(l.x.RowPtr, len(l.x.Val))
		}
	}
	c := byColumns(&l.x)
	l.turned = engine.CSR{
		Rows:   l.d,
		Cols:   l.n,
		RowPtr: c.ptr,
		ColIdx: c.row,
		Val:    c.val,
	}
	if l.share != nil {
		l.means = make([]float64, l.d)
		l.inMeans = make([]float64, l.n)
		for i, q := range l.share {
			l.addRow(i, q, l.means)
		}
		for i := range l.n {
			idx, val := l.x.Row(i)
			l.inMeans[i] = sparseDot(idx, val, l.means)
		}
	}
	if !l.findSubspace() {
		return nil
	}
	m := float64(l.m)
	chain := 2*float64(l.n+l.d) +
		(float64(l.n)+4*(m+4))*math.Sqrt(m+4) +
		100
	for _, s := range []*certify.TrialSpace{&l.features, &l.samples} {
		s.Round = chain * roundoff.Unit
		s.Size = r.Size()
	}
	return l
}

// addRow adds c times row i of the sparse matrix l.x to u.
func (l *Leverages) addRow(i int, c float64, u []float64) {
	idx, val := l.x.Row(i)
	for k, j := range idx {
		u[j] += c * val[k]
	}
}

// multiplyUnit overwrites u with Aᵀe and g with AAᵀe. Here e is the unit vector of row i, minus its component along
// the vector q of [Leverages].
func (l *Leverages) multiplyUnit(i int, u, g []float64) {
	clear(u)
	clear(g)
	l.addRow(i, 1, u)
	idx, val := l.x.Row(i)
	for k, j := range idx {
		v := val[k]
		rows, vals := l.turned.Row(int(j))
		for e, row := range rows {
			g[row] += v * vals[e]
		}
	}
	if l.share != nil {
		vec.Axpy(-l.share[i], l.means, u)
		vec.Axpy(-l.share[i], l.inMeans, g)
		l.centre(g)
	}
}

// RowNorms returns bounds on the norms of the rows of A.
func (l *Leverages) RowNorms() []float64 {
	out := make([]float64, l.n)
	for i := range out {
		_, val := l.x.Row(i)
		out[i] = vec.Norm(val)
		if l.share != nil {
			out[i] += l.share[i] * l.features.Size // the norm of the means, times √w
		}
		out[i] *= roundoff.Inflate
	}
	return out
}

// LeverageBytes returns the memory in bytes of Leverages for n rows of d features, if each row has depth trial
// vectors of its own. It does not include copies of the sparse rows.
func LeverageBytes(n int64, d, depth int) float64 {
	rows := float64(n)
	features := float64(d)
	own := float64(depth)
	m := math.Min(SharedTrials, math.Min(rows, features))
	each := (own+2)*rows + own*features + 2*(own+1)*m // numbers of a row that a task handles
	return 8 * (6*m*(rows+features) +
		8*m*m +
		float64(runtime.GOMAXPROCS(0))*trialBlock*each)
}

// findSubspace computes the shared trial vectors by subspace iteration from random vectors. It reports whether
// this succeeded.
func (l *Leverages) findSubspace() bool {
	rng := rand.New(rand.NewPCG(1, 2)) // any vectors are valid; fixed ones give the same bits
	x := newMatrix(l.m, l.n)
	for i := range x.Data {
		x.Data[i] = float64(rng.Uint32())*0x1p-31 - 1
	}
	v := l.toFeatures(x)
	for range subspaceSteps {
		v = l.orthonormal(v)
		if v.Rows == 0 {
			return false
		}
		v = l.toFeatures(l.toSamples(v))
	}
	for range 2 {
		v = l.orthonormal(v)
		if v.Rows == 0 {
			return false
		}
	}

	// Let the vectors v be the rows of V. Replace them by linear combinations such that the products w = Av are
	// orthogonal.
	z, values, ok := l.eigen(l.toSamples(v))
	if !ok {
		return false
	}
	z = z.Slice(0, countAbove(values, 1e-10), 0, z.Cols)
	l.m = z.Rows
	if l.m == 0 {
		return false
	}
	v = l.multiply(z, v)
	l.w = l.toSamples(v)
	var gram []float64
	l.features.Values, gram = l.gram(l.w)
	l.features.Defect = math.Max(defect(l.features.Values, gram), l.skew(v))

	// Normalise the vectors w, and replace them by linear combinations whose products with Aᵀ are orthogonal.
	u := newMatrix(l.m, l.n)
	for i := range l.m {
		copy(u.Row(i), l.w.Row(i))
		vec.Scale(1/math.Sqrt(l.features.Values[i]), u.Row(i))
	}
	l.turn, _, ok = l.eigen(l.toFeatures(u))
	if !ok {
		return false
	}
	l.r = l.multiply(l.turn, u)

	for i := range l.m {
		row := l.turn.Row(i)
		for j := range row {
			row[j] /= math.Sqrt(l.features.Values[j])
		}
	}
	ar := l.toFeatures(l.r)
	l.samples.Values, gram = l.gram(ar)
	l.samples.Defect = math.Max(defect(l.samples.Values, gram), l.skew(l.r))

	for i := range l.m {
		l.inShare = append(l.inShare, l.inQ(l.r.Row(i)))
	}
	l.gw = l.toSamples(l.toFeatures(l.w))
	l.gr = l.toSamples(ar)
	return l.features.Defect < 0.5 && l.samples.Defect < 0.5 // false for NaN
}

func newMatrix(rows, cols int) engine.Matrix {
	return engine.View(rows, cols, make([]float64, rows*cols))
}

// multiply returns a·b.
func (l *Leverages) multiply(a, b engine.Matrix) engine.Matrix {
	out := newMatrix(a.Rows, b.Cols)
	l.be.Gemm(false, false, 1, a, b, 0, out)
	return out
}

// gram returns two parts of the matrix aaᵀ. The result diagonal is its diagonal, and rest is the matrix with a zero
// diagonal.
func (l *Leverages) gram(a engine.Matrix) (diagonal, rest []float64) {
	m := a.Rows
	rest = make([]float64, m*m)
	l.be.Syrk(false, 1, a, 0, engine.View(m, m, rest))
	for i := range m {
		diagonal = append(diagonal, rest[i*m+i])
		rest[i*m+i] = 0
		for j := range i {
			rest[j*m+i] = rest[i*m+j]
		}
	}
	return diagonal, rest
}

// defect returns the Frobenius norm of D^{-½}ED^{-½}. The matrix E is given in e, and D is the diagonal matrix with
// the given diagonal.
func defect(diagonal, e []float64) float64 {
	m := len(diagonal)
	sum := 0.0
	for i, a := range diagonal {
		for j, b := range diagonal {
			v := e[i*m+j]
			sum += v * v / (a * b)
		}
	}
	return math.Sqrt(sum) * roundoff.Inflate
}

// skew returns a bound on ‖aaᵀ − I‖_F.
func (l *Leverages) skew(a engine.Matrix) float64 {
	ones, gram := l.gram(a)
	for i := range ones {
		gram[i*a.Rows+i] = ones[i] - 1
		ones[i] = 1
	}
	return defect(ones, gram)
}

// eigen returns the eigenvectors of aaᵀ as the rows of z, and the eigenvalues in descending order.
func (l *Leverages) eigen(a engine.Matrix) (z engine.Matrix, values []float64, ok bool) {
	m := a.Rows
	g := newMatrix(m, m)
	l.be.Syrk(false, 1, a, 0, g)
	z = newMatrix(m, m)
	values = make([]float64, m)
	ok = l.be.SymEig(g, values, z, make([]float64, l.be.SymEigWork(m, m)))
	return z, values, ok
}

// countAbove returns how many of the values, which are in descending order, are above fraction times the first
// value.
func countAbove(values []float64, fraction float64) int {
	for i, v := range values {
		if !(v > fraction*values[0]) {
			return i
		}
	}
	return len(values)
}

// orthonormal returns nearly orthonormal rows. They span the rows of a, except for directions in which a is small.
// The result has no rows if none are left, or if the eigendecomposition fails.
func (l *Leverages) orthonormal(a engine.Matrix) engine.Matrix {
	z, values, ok := l.eigen(a)
	if !ok {
		return engine.Matrix{}
	}
	z = z.Slice(0, countAbove(values, 1e-13), 0, z.Cols)
	for i := range z.Rows {
		vec.Scale(1/math.Sqrt(values[i]), z.Row(i))
	}
	if z.Rows == 0 {
		return engine.Matrix{}
	}
	return l.multiply(z, a)
}

// toFeatures multiplies each row x of the k×n matrix a by Aᵀ. The products Aᵀx are the rows of the result.
func (l *Leverages) toFeatures(a engine.Matrix) engine.Matrix {
	out := newMatrix(a.Rows, l.d)
	l.inBlocks(a.Rows, func(lo, hi int, work *engine.SparseWork) {
		l.multiplyT(
			a.Slice(lo, hi, 0, a.Cols),
			out.Slice(lo, hi, 0, l.d),
			newMatrix(hi-lo, l.n),
			work,
		)
	})
	return out
}

// toSamples multiplies each row u of the k×d matrix a by A. The products Au are the rows of the result.
func (l *Leverages) toSamples(a engine.Matrix) engine.Matrix {
	out := newMatrix(a.Rows, l.n)
	l.inBlocks(a.Rows, func(lo, hi int, work *engine.SparseWork) {
		l.multiplyA(
			a.Slice(lo, hi, 0, a.Cols),
			out.Slice(lo, hi, 0, l.n),
			newMatrix(l.n, hi-lo),
			work,
		)
	})
	return out
}

// inBlocks divides k vectors into blocks, and calls do for vectors lo to hi−1 of each block. The calls run on all
// cores.
func (l *Leverages) inBlocks(k int, do func(lo, hi int, work *engine.SparseWork)) {
	tasks := (k + trialBlock - 1) / trialBlock
	parallel.New(l.be, tasks, func(i int) error {
		do(i*trialBlock, min((i+1)*trialBlock, k), new(engine.SparseWork))
		return nil
	}).Run()
}

// multiplyT multiplies each row of the k×n matrix x by Aᵀ, and writes the products to the rows of u (k×d). centred
// is a workspace of k×n numbers.
func (l *Leverages) multiplyT(x, u, centred engine.Matrix, work *engine.SparseWork) {
	for i := range x.Rows {
		copy(centred.Row(i), x.Row(i))
		l.centre(centred.Row(i))
		clear(u.Row(i))
	}
	l.x.AddLeftMul(centred, u, work)
}

// multiplyA multiplies each row of the k×d matrix u by A, and writes the products to the rows of x (k×n). products
// is a workspace of n×k numbers.
func (l *Leverages) multiplyA(u, x, products engine.Matrix, work *engine.SparseWork) {
	l.x.TimesDense(u, products, work)
	transpose(products, x)
	for i := range x.Rows {
		l.centre(x.Row(i))
	}
}

// transpose overwrites b with aᵀ.
func transpose(a, b engine.Matrix) {
	const tile = 16
	for first := 0; first < a.Rows; first += tile {
		last := min(first+tile, a.Rows)
		for j := range a.Cols {
			to := b.Row(j)
			for i := first; i < last; i++ {
				to[i] = a.Data[i*a.Stride+j]
			}
		}
	}
}

// inQ returns qᵀx for the vector q of [Leverages], or 0 without an intercept.
func (l *Leverages) inQ(x []float64) float64 {
	if l.share == nil {
		return 0
	}
	return vec.Dot(l.share, x)
}

// along returns the product xᵀe. Here e is the unit vector of row i minus its component along the vector q of
// [Leverages]. element is element i of x, and inQ is qᵀx. If x is a product with AAᵀ, it is orthogonal to q, but
// only up to round-off. This round-off may be most of a small vector.
func (l *Leverages) along(element float64, i int, inQ float64) float64 {
	if l.share == nil {
		return element
	}
	return element - l.share[i]*inQ
}

// centre subtracts from x its component along the unit vector q of [Leverages]. Without an intercept it does nothing.
func (l *Leverages) centre(x []float64) {
	if l.share != nil {
		vec.Axpy(-vec.Dot(l.share, x), l.share, x)
	}
}

// Narrow narrows brackets of 1 − h for the leverages h of the rows in list. free[g][i] is the bracket for row i at
// the penalty gammas[g]. Each row gets depth trial vectors of its own. The work is done on all cores, but the
// results do not depend on the number of cores.
func (l *Leverages) Narrow(
	gammas []float64,
	list []int,
	depth int,
	free [][]interval.Interval,
) {
	var features, samples []*certify.TrialWork
	for _, g := range gammas {
		features = append(features, l.features.NewTrialWork(g))
		samples = append(samples, l.samples.NewTrialWork(g))
	}
	l.inBlocks(len(list), func(lo, hi int, _ *engine.SparseWork) {
		work, _ := l.works.Get().(*trialsWork)
		if work == nil {
			work = new(trialsWork)
		}
		defer l.works.Put(work)
		b := l.newTrials(list[lo:hi], depth, work)
		for at, i := range list[lo:hi] {
			forFeatures, forSamples := b.trials(at)
			share := 0.0
			if l.share != nil {
				share = l.share[i] * l.share[i]
			}
			for g, gamma := range gammas {
				if !usable(gamma) || share > 0.5 { // the products of e may be round-off
					continue
				}
				const round = 16 * roundoff.Eps
				withG := l.samples.Below(samples[g], math.Sqrt(gamma), forSamples)
				withK := l.features.Below(features[g], 1, forFeatures)
				v := interval.Interval{
					Lo: withG * (1 - round),
					Hi: 1 - share + round - withK*(1-round),
				}
				free[g][i] = interval.Intersect(free[g][i], v)
			}
		}
	})
}

// trials holds the trial vectors that the rows in list have of their own, see [Leverages]. For the form with AAᵀ,
// column i of x[j] is trial vector j of row list[i]. For the form with AᵀA, it is column i of u[j]. If depth is 1,
// only the products of the vectors are kept.
type trials struct {
	l        *Leverages
	list     []int
	depth    int
	x        []engine.Matrix // e, Ge, …; each n×k
	u        []engine.Matrix // Aᵀe, AᵀGe, …; each d×k
	inW, inR []engine.Matrix // the products of x with the rows of w and r; each k×m
	// own[j] holds, for each row in list, the row's own element of its vector x[j]. inQ[j] holds the products of these
	// vectors with the vector q of [Leverages].
	own, inQ [][]float64
	// inX[a][b] holds, for each row in list, the product of its trial vectors x[a] and x[b]. inU[a][b] is the same for
	// the vectors u[a] and u[b].
	inX, inU [certify.MostTrials + 1][certify.MostTrials + 1][]float64
}

// A trialsWork is memory that later trials use again. Writing to used memory is faster than writing to new memory.
type trialsWork struct {
	x, u, inW, inR [certify.MostTrials + 1][]float64
	shared         []float64
	products       []float64 // with the rows of w, m×k
}

// reuse returns a matrix in the memory of *memory, which it replaces by a larger slice if needed. The numbers in
// the matrix are unspecified.
func reuse(memory *[]float64, rows, cols int) engine.Matrix {
	if cap(*memory) < rows*cols {
		*memory = make([]float64, rows*cols)
	}
	return engine.View(rows, cols, (*memory)[:rows*cols])
}

// newTrials computes depth trial vectors for each row in list, in the memory of w. The first one is the unit vector
// of the row. If depth is more than 1, newTrials subtracts from this vector its components along the shared trial
// vectors. Otherwise round-off from the large eigenvalues of AAᵀ would hide the small eigenvalues.
func (l *Leverages) newTrials(list []int, depth int, w *trialsWork) *trials {
	k := len(list)
	t := &trials{l: l, list: list, depth: depth}
	for j := range depth + 1 {
		t.inW = append(t.inW, reuse(&w.inW[j], k, l.m))
		t.inR = append(t.inR, reuse(&w.inR[j], k, l.m))
	}
	if depth == 1 {
		t.multiplyUnits()
		return t
	}
	for j := range depth + 1 {
		t.x = append(t.x, reuse(&w.x[j], l.n, k))
		t.u = append(t.u, reuse(&w.u[j], l.d, k))
	}

	clear(t.x[0].Data)
	for at, i := range list {
		t.x[0].Row(i)[at] = 1
	}
	l.centreColumns(t.x[0])
	shared := reuse(&w.shared, k, l.m)
	for at, i := range list {
		for j := range l.m {
			shared.Row(at)[j] = l.r.Row(j)[i]
		}
	}
	l.be.Gemm(true, true, -1, l.r, shared, 1, t.x[0])

	for j := range depth + 1 {
		if j > 0 {
			l.x.Times(t.u[j-1], t.x[j])
			l.centreColumns(t.x[j])
		}
		t.inQ = append(t.inQ, l.columnsInQ(t.x[j]))
		t.own = append(t.own, make([]float64, k))
		for at, i := range list {
			t.own[j][at] = t.x[j].Row(i)[at]
		}
		if j < depth {
			l.turned.Times(t.x[j], t.u[j])
			for i, s := range l.means { // Aᵀx = XᵀW^{½}x − s·qᵀx
				vec.Axpy(-s, t.inQ[j], t.u[j].Row(i))
			}
		}
		products := reuse(&w.products, l.m, k)
		l.be.Gemm(false, false, 1, l.w, t.x[j], 0, products) // faster than the transposed product, with the same bits
		transpose(products, t.inW[j])
		l.be.Gemm(false, true, 1, t.inW[j], l.turn, 0, t.inR[j])
	}

	for a := range depth + 1 {
		for b := range a + 1 {
			t.inX[a][b] = columnDots(t.x[a], t.x[b])
			t.inX[b][a] = t.inX[a][b]
			if a < depth {
				t.inU[a][b] = columnDots(t.u[a], t.u[b])
				t.inU[b][a] = t.inU[a][b]
			}
		}
	}
	return t
}

// multiplyUnits computes one trial vector for each row in t.list, and the products of these vectors.
func (t *trials) multiplyUnits() {
	l := t.l
	k := len(t.list)
	e := make([]float64, l.n)
	u := make([]float64, l.d)
	g := make([]float64, l.n)
	for j := range 2 {
		t.own = append(t.own, make([]float64, k))
		t.inQ = append(t.inQ, make([]float64, k))
		t.inX[j][0] = make([]float64, k)
		t.inX[j][1] = make([]float64, k)
	}
	t.inU[0][0] = make([]float64, k)

	for at, i := range t.list {
		clear(e)
		e[i] = 1
		l.centre(e)
		l.multiplyUnit(i, u, g)
		t.own[0][at] = e[i]
		t.own[1][at] = g[i]
		t.inQ[0][at] = l.inQ(e)
		t.inQ[1][at] = l.inQ(g)
		t.inX[0][0][at] = vec.Dot(e, e)
		t.inX[0][1][at] = vec.Dot(e, g)
		t.inX[1][1][at] = vec.Dot(g, g)
		t.inX[1][0][at] = t.inX[0][1][at]
		t.inU[0][0][at] = vec.Dot(u, u)
		for j := range l.m {
			t.inW[0].Row(at)[j] = l.w.Row(j)[i]
			t.inW[1].Row(at)[j] = l.gw.Row(j)[i]
			t.inR[0].Row(at)[j] = l.along(l.r.Row(j)[i], i, l.inShare[j])
			t.inR[1].Row(at)[j] = l.gr.Row(j)[i]
		}
	}
}

// centreColumns subtracts from each column of x its component along the vector q of [Leverages]. Without an
// intercept, it does nothing.
func (l *Leverages) centreColumns(x engine.Matrix) {
	if l.share == nil {
		return
	}
	along := l.columnsInQ(x)
	for i, q := range l.share {
		vec.Axpy(-q, along, x.Row(i))
	}
}

// columnsInQ returns the product of each column of x with the vector q of [Leverages], or zeros without an
// intercept.
func (l *Leverages) columnsInQ(x engine.Matrix) []float64 {
	out := make([]float64, x.Cols)
	for i, q := range l.share {
		vec.Axpy(q, x.Row(i), out)
	}
	return out
}

// columnDots returns the product of column j of a with column j of b, for each j.
func columnDots(a, b engine.Matrix) []float64 {
	out := make([]float64, a.Cols)
	for i := range a.Rows {
		x, y := a.Row(i), b.Row(i)
		y = y[:len(x)]
		for j, v := range x {
			out[j] += v * y[j]
		}
	}
	return out
}

// trials returns the two trial spaces of row list[at]. features is for the quadratic form with AᵀA, and samples is
// for the form with AAᵀ.
func (t *trials) trials(at int) (features, samples *certify.Trial) {
	l := t.l
	i := t.list[at]
	features = &certify.Trial{}
	samples = &certify.Trial{}
	for j := range l.m {
		features.Shared = append(features.Shared, l.w.Row(j)[i])
		along := l.along(l.r.Row(j)[i], i, l.inShare[j])
		samples.Shared = append(samples.Shared, along)
	}
	for a := range t.depth {
		features.Own = append(features.Own, t.own[a+1][at])
		features.CrossP = append(features.CrossP, t.inW[a+1].Row(at)...)
		features.CrossV = append(features.CrossV, t.inW[a].Row(at)...)
		features.Before = append(features.Before, math.Sqrt(t.inX[a][a][at]))

		along := l.along(t.own[a][at], i, t.inQ[a][at])
		samples.Own = append(samples.Own, along)
		samples.CrossP = append(samples.CrossP, t.inR[a+1].Row(at)...)
		samples.CrossV = append(samples.CrossV, t.inR[a].Row(at)...)

		for b := range t.depth {
			features.P = append(features.P, t.inX[a+1][b+1][at])
			features.V = append(features.V, t.inU[a][b][at])
			samples.P = append(samples.P, t.inU[a][b][at])
			samples.V = append(samples.V, t.inX[a][b][at])
		}
	}
	return features, samples
}

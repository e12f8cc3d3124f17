package direct

import (
	"math"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// normalEquations accumulates [A Y]ᵀ[A Y] for d features A and t targets Y. This matrix contains K = AᵀA, c = AᵀY
// and YᵀY. Then normalEquations solves (K + γI)x = c by Cholesky factorization.
//
// It computes the product of each group of rows separately, and adds the products. With at most m rows in each of n
// groups, an entry is the result of at most m + n consecutive additions.
//
// With several threads, a goroutine computes the product of one group while the caller writes the next group to a
// second buffer.
type normalEquations struct {
	be    engine.Backend
	d, t  int
	group int       // number of rows in a group
	rows  []float64 // one or more groups of rows of q numbers
	// other is a second buffer. It holds the rows whose product is computed in the background. It is nil with one
	// thread.
	other []float64
	added sync.WaitGroup
	sum   []float64 // q×q, lower triangle; after the last fold K is complete
	// q×q, the rounding errors of sum; nil if gram is not needed
	low  []float64
	work []float64 // q×q; the product of a group of rows, later H and its factor L
	col  []float64 // norms of the columns, q
	// largest number of consecutive additions in an entry of sum
	chain float64
}

// NewCholesky returns a factorization that accumulates K = AᵀA and c = AᵀY for d features A and t targets Y. It
// then factors K + γI. If gram is true, it also keeps the rounding errors of the sums, which [System.Gram] needs.
func NewCholesky(be engine.Backend, d, t int, gram bool) Factorization {
	return newNormalEquations(be, d, t, roundoff.StageRows, gram)
}

// newNormalEquations does what NewCholesky does. group is the number of rows in a group.
func newNormalEquations(be engine.Backend, d, t, group int, gram bool) *normalEquations {
	q := d + t
	e := &normalEquations{
		be:    be,
		d:     d,
		t:     t,
		group: group,
		col:   make([]float64, q),
		sum:   make([]float64, q*q),
		work:  make([]float64, q*q),
	}
	size := group * q
	if runtime.GOMAXPROCS(0) > 1 {
		// Each buffer has at least 2¹⁷ numbers. With fewer, starting a goroutine takes longer than the multiplication.
		size *= (1<<17 + size - 1) / size
		e.other = make([]float64, size)
	}
	e.rows = make([]float64, size)
	if gram {
		e.low = make([]float64, q*q)
	}
	return e
}

func (e *normalEquations) buffer() []float64 { return e.rows }

func (e *normalEquations) fold(m int) {
	if e.chain == 0 {
		e.chain = float64(min(m, e.group))
	}
	e.chain += float64((m + e.group - 1) / e.group)
	e.wait()
	rows := e.rows
	if e.other == nil {
		e.multiply(rows, m)
		return
	}
	e.rows, e.other = e.other, rows
	e.added.Go(func() { e.multiply(rows, m) })
}

// wait waits for the end of the last fold.
func (e *normalEquations) wait() { e.added.Wait() }

// multiply computes the product RᵀR for each group R of the first m rows, and adds the products to e.sum.
func (e *normalEquations) multiply(rows []float64, m int) {
	q := e.d + e.t
	for lo := 0; lo < m; lo += e.group {
		group := engine.View(min(e.group, m-lo), q, rows[lo*q:])
		if e.low == nil && group.Rows <= e.be.Accuracy().Added {
			e.be.Syrk(true, 1, group, 1, engine.View(q, q, e.sum))
			continue
		}
		e.be.Syrk(true, 1, group, 0, engine.View(q, q, e.work))
		_ = parallel.Do(8, q*q, func(i int) error {
			e.add(q*i/8, q*(i+1)/8)
			return nil
		})
	}
}

// add adds rows lo to hi−1 of e.work to e.sum. If e.low is not nil, it adds the rounding errors of these additions
// to e.low.
func (e *normalEquations) add(lo, hi int) {
	q := e.d + e.t
	for i := lo; i < hi; i++ {
		sum := e.sum[i*q : i*q+i+1]
		part := e.work[i*q : i*q+i+1]
		if e.low == nil {
			floats.Add(sum, part)
			continue
		}
		low := e.low[i*q : i*q+i+1]
		for j, v := range part {
			s, rest := twofold.Sum(sum[j], v)
			sum[j] = s
			low[j] += rest
		}
	}
}

func (e *normalEquations) columns() []float64 {
	e.wait()
	q := e.d + e.t
	mirror(e.d, e.sum, q)
	for j := range e.col {
		e.col[j] = math.Sqrt(e.sum[j*q+j] + roundoff.LostSquares)
	}
	return e.col
}

// gram returns [A Y]ᵀ[A Y], computed as e.sum plus the rounding errors in e.low, and a bound on its round-off.
func (e *normalEquations) gram() (k []float64, rounding float64) {
	e.wait()
	q := e.d + e.t
	k = make([]float64, q*q)
	for i := range q {
		from, to := i*q, i*q+i+1 // row i of the lower triangle
		floats.AddTo(k[from:to], e.sum[from:to], e.low[from:to])
	}

	rows := math.Min(e.chain, float64(e.group))
	// The last term covers the error of the corrections.
	return k, roundoff.GramSum(rows + 1 + e.chain*e.chain*roundoff.Unit)
}

// mirror copies the part below the diagonal of the n×n matrix a to the part above it. It copies blocks that stay in
// the cache.
func mirror(n int, a []float64, lda int) {
	const nb = 32
	for i0 := 0; i0 < n; i0 += nb {
		for j0 := 0; j0 <= i0; j0 += nb {
			for i := i0; i < min(i0+nb, n); i++ {
				for j := j0; j < min(j0+nb, i); j++ {
					a[j*lda+i] = a[i*lda+j]
				}
			}
		}
	}
}

func (e *normalEquations) solve(gamma float64) (*certify.Factored, int) {
	d := e.d
	t := e.t
	q := e.d + e.t
	n := float64(d)
	for i := range d {
		row := e.sum[i*q : i*q+i+1]
		copy(e.work[i*q:], row)
		e.work[i*q+i] += gamma
	}
	factor := engine.Strided(d, d, e.work, q)
	if pivot, ok := e.be.Cholesky(factor); !ok {
		return nil, pivot
	}

	if gamma == 0 {
		// A pivot below the round-off of AᵀA may belong to a column that depends on others.
		pivot := roundoff.Unit * roundoff.CholeskyPivot(e.chain, n)
		for i := range d {
			l := e.work[i*q+i]
			if !(l*l > pivot*e.sum[i*q+i]+roundoff.LostSquares) {
				return nil, i
			}
		}
	}

	x := make([]float64, t*d)
	r := make([]float64, t*d)
	e.crossProducts(x)
	e.be.CholeskySolve(factor, engine.View(t, d, x))
	e.crossProducts(r)
	vec.Axpy(-gamma, x, r)
	e.residuals(x, r)
	mirror(d, e.work, q)

	s := e.found(gamma, x, r)
	s.R = e.work
	s.Ld = q
	s.Gram = roundoff.Unit * roundoff.CholeskyFactor(e.chain, n)
	s.Lost = n * roundoff.LostSquares
	return s, -1
}

// crossProducts overwrites x with YᵀA, a t×d matrix with one target per row.
func (e *normalEquations) crossProducts(x []float64) {
	d := e.d
	q := e.d + e.t
	for j := range e.t {
		row := e.sum[(d+j)*q:]
		copy(x[j*d:(j+1)*d], row[:d])
	}
}

// residuals subtracts AᵀA·v from each row of r, where v is the same row of x.
func (e *normalEquations) residuals(x, r []float64) {
	d := e.d
	q := e.d + e.t
	k := len(x) / e.d
	gram := engine.Strided(d, d, e.sum, q)
	e.be.Gemm(false, false, -1, engine.View(k, d, x), gram, 1, engine.View(k, d, r))
}

// found returns the solution x at γ with its error bounds. The argument x holds one target per row, t×d. The
// argument r holds the computed residuals AᵀY − (AᵀA + γI)x. found does not set the fields that describe a
// factor.
func (e *normalEquations) found(gamma float64, x, r []float64) *certify.Factored {
	d := e.d
	t := e.t
	q := e.d + e.t
	n := float64(d)
	s := &certify.Factored{
		Gamma: gamma,
		X:     x,
		Data:  make([]float64, q),
		Above: true,
	}
	for j := range t {
		xj := x[j*d : (j+1)*d]
		rj := r[j*d : (j+1)*d]
		c := e.sum[(d+j)*q : (d+j)*q+d]
		b := e.col[d+j]
		xn := vec.Norm(xj)
		size := b + vec.AbsDot(e.col[:d], xj)
		left := 0. // Σ|xᵢ||rᵢ|
		for i, v := range rj {
			left += math.Abs(xj[i] * v)
			inProduct := roundoff.CholeskyResidual(e.chain, n) * e.col[i] * size
			inShift := roundoff.GammaResidual(n) * (gamma * math.Abs(xj[i]))
			s.Residual = append(s.Residual, math.Abs(v)+roundoff.Unit*(inProduct+inShift))
		}

		// With K = AᵀA and c = Aᵀb, ‖Ax − b‖² is ‖b‖² − 2cᵀx + xᵀKx, where
		// Kx = c − γx − r for the residual r. docs/math.md §14 bounds the round-off.
		squares := e.sum[(d+j)*q+d+j]
		rss := squares -
			vec.Dot(c, xj) -
			gamma*xn*xn -
			vec.Dot(xj, rj)
		round := roundoff.CholeskyRSS(e.chain, n)*size*size +
			roundoff.GammaRSS(n)*(gamma*xn*xn) +
			2*n*left
		s.RSS = append(s.RSS, rss)
		s.RSSRound = append(s.RSSRound, roundoff.Unit*round)
	}
	return s
}

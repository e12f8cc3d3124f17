package direct

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
)

// tall solves least-squares problems (γ = 0) with d features A and t targets Y, for few features and many targets.
// It keeps the first d rows of the triangular factor R of [A Y] = QR.
//
// Reflections eliminate the columns of A in each group of rows, and are also applied to Y. Below the first d rows,
// the rest of Y is orthogonal to the columns of A, and is discarded. Hence the factor takes only d·(d+t) numbers.
// docs/math.md §14 bounds the backward errors.
type tall struct {
	d, t int
	// stack holds d rows of R above the new rows. It is a (d + roundoff.StageRows)×(d + t) matrix.
	stack []float64
	by    *folder

	// folds is the number of groups of rows that were eliminated, and longest is the largest number of rows in a group.
	folds, longest int
	col            []float64 // bounds the norms of the columns of [A Y]
	share          float64   // bounds the sum of the backward errors of all folds, relative to col
	off            []float64 // bounds the backward error of each column
}

// NewTall returns a factorization for least-squares problems with few features and many targets. d is the number of
// features, and t is the number of targets.
func NewTall(be engine.Backend, d, t int) Factorization {
	q := d + t
	return &tall{
		d:     d,
		t:     t,
		col:   make([]float64, q),
		off:   make([]float64, q),
		stack: make([]float64, (d+roundoff.StageRows)*q),
		by:    newFolder(be, q, roundoff.StageRows),
	}
}

func (e *tall) buffer() []float64 {
	return e.stack[e.d*(e.d+e.t):]
}

func (e *tall) fold(m int) {
	d := e.d
	q := e.d + e.t
	squares := make([]float64, q)
	for i := range m {
		for j, v := range e.stack[(d+i)*q : (d+i+1)*q] {
			squares[j] += v * v
		}
	}

	factor := engine.View(d, q, e.stack)
	rows := engine.View(m, q, e.stack[d*q:])
	motion := e.by.fold(factor, rows)
	share := roundoff.Unit * roundoff.QRFold(float64(d+roundoff.PanelColumns), float64(m), motion)
	e.share += share
	lost := float64(m) * roundoff.LostResidual
	for j, s := range squares {
		// The sum of m squares, its square root and Hypot together have a relative error below (m + 16)·roundoff.Unit.
		norm := math.Sqrt(s) * (1 + float64(m+16)*roundoff.Unit)
		e.col[j] = math.Hypot(e.col[j], norm+lost)
		e.off[j] += share*e.col[j] + roundoff.LostFold(float64(q), float64(m))
	}
	e.folds++
	e.longest = max(e.longest, m)
}

func (e *tall) columns() []float64 { return e.col }

// pivots returns the first column that depends linearly on earlier columns, up to round-off, or −1 if there is
// none.
func (e *tall) pivots() int {
	q := e.d + e.t
	columns := float64(e.d + roundoff.PanelColumns)
	pivot := roundoff.Unit * roundoff.QRPivot(columns, float64(e.longest), float64(e.folds))
	for j := range e.d {
		if !(math.Abs(e.stack[j*q+j]) > pivot*e.col[j]) {
			return j
		}
	}
	return -1
}

// solve returns the least-squares solution. It ignores the penalty in its argument. For each target b it sets the
// RSS to ‖b‖², an upper bound on ‖Ax − b‖².
func (e *tall) solve(float64) (*certify.Factored, int) {
	if j := e.pivots(); j >= 0 {
		return nil, j
	}
	d := e.d
	t := e.t
	q := e.d + e.t
	s := &certify.Factored{
		X:        make([]float64, t*d),
		Triangle: certify.Triangle{R: e.stack, Ld: q},
		Data:     make([]float64, q),
		Above:    true,
		Residual: make([]float64, t*d),
		RSS:      make([]float64, t),
		RSSRound: make([]float64, t),
	}
	solving := roundoff.Unit * roundoff.QRSolve(float64(d))
	for j := range q {
		s.Data[j] = secondOrder(e.share, e.off[j]+solving*e.col[j])
	}
	for j := range t {
		x := s.X[j*d : (j+1)*d]
		for i := range x {
			x[i] = e.stack[i*q+d+j]
		}
		backSubstitute(d, e.stack, q, x)
		s.RSS[j] = e.col[d+j] * e.col[d+j] * roundoff.Inflate
	}
	return s, -1
}

// weakest returns the column with the smallest pivot relative to its norm. The pivots are the diagonal of the
// triangular factor.
func (e *tall) weakest() (column int) {
	q := e.d + e.t
	least := math.Inf(1)
	for j := range e.d {
		share := math.Abs(e.stack[j*q+j]) / e.col[j]
		if share < least {
			column, least = j, share
		}
	}
	return column
}

// dependence returns the coefficients of a linear combination of the columns before c that gives column c, up to
// round-off. Column c must depend on these columns.
func (e *tall) dependence(c int) []float64 {
	q := e.d + e.t
	w := make([]float64, c)
	for i := range w {
		w[i] = e.stack[i*q+c]
	}
	backSubstitute(c, e.stack, q, w)
	return w
}

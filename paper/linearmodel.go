package paper

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge"
)

// A LinearModel is the fixed design
//
//	b = A·x₀ + ε,   E ε = 0,   Var ε = τ²·I,   A n×d (each row is a sample).
//
// A method computes coefficients x̂ from A and b. They have a bias E x̂ − x₀, a variance and a mean squared
// error E‖x̂ − x₀‖² (section 3 of the paper). The model stores the triangular factor of A and the
// eigenvalues of K = AᵀA. It is for experiments with d up to a few thousand. Several goroutines may use it at once.
type LinearModel struct {
	be    engine.Backend
	d     int
	noise float64   // τ²
	x0    []float64 // x₀
	r     []float64 // R of A = QR, d×d, upper triangular with zeros below
	rx0   []float64 // R·x₀
	trace float64   // tr K
	exact *Estimator
}

// NewLinearModel returns the model of the features of src. The argument x0 contains the d true coefficients, and
// noise >= 0 is the noise variance τ². The argument src must have targets, but they are ignored. NewLinearModel
// makes one pass, and takes O(nd² + d³) time and O(d²) memory. If be is nil, it uses engine.Default(). It keeps no
// reference to its arguments.
//
// Errors: errors of src; [ridge.ErrEmpty]; [ridge.ErrShape]; *[ridge.SizeError]; [ridge.ErrNoConvergence].
// *[fd.NonFiniteError] and *[fd.RangeError] name an invalid row of src, or row 0 if x0 is invalid.
func NewLinearModel(
	ctx context.Context,
	src dataset.Source,
	x0 []float64,
	noise float64,
	be engine.Backend,
) (*LinearModel, error) {
	if !(noise >= 0) || math.IsInf(noise, 0) {
		return nil, fmt.Errorf("paper: noise variance %v, must be finite and not negative", noise)
	}
	var err error
	be, err = engine.OrDefault(be)
	if err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	if len(x0) != d {
		return nil, fmt.Errorf("paper: %w: %d true weights for %d features", ridge.ErrShape, len(x0), d)
	}
	if err := checkRows(1, x0); err != nil {
		return nil, err
	}
	r, err := factor(ctx, src, be)
	if err != nil {
		return nil, err
	}
	m := &LinearModel{
		be:    be,
		d:     d,
		noise: noise,
		x0:    slices.Clone(x0),
		r:     r,
		rx0:   make([]float64, d),
		trace: vec.Dot(r, r),
	}
	m.be.Gemv(false, 1, engine.View(d, d, m.r), x0, 0, m.rx0)
	m.exact, err = m.oneShot("exact", d, m.r)
	if err != nil {
		return nil, err
	}
	clear(m.exact.excess)
	m.exact.bound = &fd.Bound{}
	return m, nil
}

// maxSquares is the largest allowed sum of squares of all features, as in package ridge.
const maxSquares = fd.MaxSquares / 4

// factor returns the triangular d×d factor R of A = QR, where A are the features of src. Elements below the diagonal
// are 0. A row of weight w is multiplied by √w. factor makes one pass: it appends rows of features and targets to the
// current factor, and factors again. It returns an error if more than 8 GiB are needed.
//
// J. Demmel et al., "Communication-optimal parallel and sequential QR and LU factorizations" (2012).
func factor(ctx context.Context, src dataset.Source, be engine.Backend) ([]float64, error) {
	const leastRows, most = 256, 8 << 30
	_, d, t := src.Dims()
	if d < 1 || t < 1 {
		return nil, fmt.Errorf("paper: %w: %d features and %d targets", ridge.ErrShape, d, t)
	}
	q := d + t
	if need := 24 * (float64(q) + leastRows) * float64(q); need > most {
		return nil, &ridge.SizeError{Dim: d, Bytes: uint64(need), Limit: most}
	}
	rows := q + max(leastRows, q)
	stack, work := make([]float64, rows*q), make([]float64, be.QRWork(rows, q)) // the factor, then rows
	fill, number, squares := q, 0, 0.0
	fold := func() {
		be.QR(engine.View(fill, q, stack), work)
		for i := range q {
			clear(stack[i*q : i*q+i])
		}
		fill = q
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range b.N {
			row := stack[fill*q : (fill+1)*q]
			copy(row[d:], b.Y[i*t:])
			if b.Sparse == nil {
				copy(row[:d], b.X[i*d:])
			} else {
				clear(row[:d])
				idx, val, err := fd.CheckRow(i, b.Sparse)
				if err != nil {
					return nil, fmt.Errorf("paper: %w: %w", ridge.ErrShape, err)
				}
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			if b.W != nil {
				floats.Scale(math.Sqrt(b.W[i]), row)
			}
			squares, err = addSquares(squares, number, row)
			if err != nil {
				return nil, err
			}
			number++
			fill++
			if fill == rows {
				fold()
			}
		}
	}
	if number == 0 {
		return nil, ridge.ErrEmpty
	}
	fold()
	r := make([]float64, d*d)
	for i := range d {
		copy(r[i*d:(i+1)*d], stack[i*q:])
	}
	return r, nil
}

// addSquares returns sum plus the squares of a row. Its errors name the row by the given number.
func addSquares(sum float64, number int, row []float64) (float64, error) {
	q, err := fd.SquaredNorm(number, 0, nil, row)
	if err != nil {
		return 0, err
	}
	sum += q
	if !(sum <= maxSquares) {
		return 0, &fd.RangeError{Row: number}
	}
	return sum, nil
}

// checkRows returns an error unless n contiguous rows are finite and small enough for a sketch.
func checkRows(n int, x []float64) (err error) {
	c := len(x) / n
	sum := 0.0
	for i := range n {
		sum, err = addSquares(sum, i, x[i*c:(i+1)*c])
		if err != nil {
			return err
		}
	}
	return nil
}

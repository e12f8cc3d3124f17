// Package direct solves ridge regression by a Cholesky factorization of the normal equations, or by a QR factorization
// of the rows. One pass over the rows accumulates the normal equations or the QR factor.
package direct

import (
	"context"
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Factorization accumulates the rows of [A Y], which have d features and t targets. Then it can solve the ridge
// problem at any penalty γ.
type Factorization interface {
	// buffer returns the memory to which the next rows are written.
	buffer() []float64
	// fold accumulates the first m rows of the buffer. It may continue in the background after it has returned. In this
	// case the next call of buffer returns other memory.
	fold(m int)
	// columns ends the accumulation, and returns the norms of the columns of [A Y].
	columns() []float64
	// solve returns the solution at the penalty gamma. If the system is too close to singular, s is nil. In this case,
	// column is the first column that depends linearly on earlier columns, or −1 if this column is unknown.
	solve(gamma float64) (s *certify.Factored, column int)
}

// A gramFactorization can also return the Gram matrix of all columns.
type gramFactorization interface {
	// gram returns the lower triangle of G = [A Y]ᵀ[A Y]. The error of element (i, j) is at most
	// rounding·roundoff.Unit·√(Gᵢᵢ·Gⱼⱼ).
	gram() (k []float64, rounding float64)
}

// Bytes returns the memory in bytes of a factorization that solves for one penalty at a time, with d features and t
// targets. It is about 3(d+t)² numbers. If the size overflows, Bytes returns the largest integer.
func Bytes(d, t int) uint64 {
	return squares(3, 2*roundoff.StageRows, d, t)
}

// ReducedBytes returns the memory in bytes of the reduction to tridiagonal form, for d features and t targets. It
// is about 4(d+t)² numbers.
func ReducedBytes(d, t int) uint64 {
	return squares(4, 2*manyRows, d, t)
}

// LeverageBytes returns the memory in bytes of [System.Gram] and of the eigendecomposition of its result, for d
// features and t targets. It is about 8(d+t)² numbers, without the memory of the factorization itself.
func LeverageBytes(d, t int) uint64 { return squares(8, 0, d, t) }

// squares returns the memory in bytes of count matrices with d+t rows and columns, and of buffers with the given
// number of rows of this length.
func squares(count, rows uint64, d, t int) uint64 {
	q := uint64(d) + uint64(t)
	if q >= 1<<57 {
		return math.MaxUint64
	}
	hi, lo := bits.Mul64(q, 8*(count*q+rows))
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// A Stream passes rows to a factorization.
type Stream struct {
	d, t int
	f    Factorization
	fill int // number of rows in the buffer of the factorization
	tss  []twofold.Total
}

// NewStream returns a stream for rows of d features and t targets.
func NewStream(d, t int, f Factorization) *Stream {
	return &Stream{
		d:   d,
		t:   t,
		f:   f,
		tss: make([]twofold.Total, t),
	}
}

// Append writes the rows st to the buffer of the factorization. It writes sparse rows as dense rows. Whenever the
// buffer is full, the factorization accumulates the rows in the buffer.
func (s *Stream) Append(st rows.Staged) {
	buf := s.f.buffer()
	q := s.d + s.t
	for i := range st.N {
		row := buf[s.fill*q : (s.fill+1)*q]
		st.Write(i, row)
		for j, v := range row[q-s.t:] {
			s.tss[j].Add(v * v)
		}
		s.fill++
		if (s.fill+1)*q > len(buf) {
			s.f.fold(s.fill)
			s.fill = 0
			buf = s.f.buffer()
		}
	}
}

// Read makes one pass over src. stage prepares the rows, and s accumulates them. If progress is not nil, Read calls
// it after each block with the number of rows read so far. sparse reports whether src contained sparse rows.
func (s *Stream) Read(
	ctx context.Context,
	src dataset.Source,
	stage *rows.Stage,
	progress func(rows int64),
) (sparse bool, err error) {
	if f, ok := s.f.(interface{ wait() }); ok {
		defer f.wait()
	}
	n, _, _ := src.Dims()
	var raw float64     // sum of squares of all numbers read, to detect overflow
	var view engine.CSR // sparse rows of a cut
	for b, err := range src.Blocks(ctx) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return sparse, err
		}
		if err := rows.CheckShape(b, s.d, s.t, int(stage.Rows)); err != nil {
			return sparse, err
		}
		sparse = sparse || b.Sparse != nil
		// Check comes first and brings the rows of a cut into the cache. Load and Append then find them there.
		for lo := 0; lo < b.N; lo += roundoff.StageRows {
			cut := b.Cut(lo, min(lo+roundoff.StageRows, b.N), s.d, s.t, &view)
			raw, err = stage.Check(cut, int(stage.Rows), raw)
			if err != nil {
				return sparse, err
			}
			s.Append(stage.Load(cut, false))
		}
		if progress != nil {
			progress(stage.Rows)
		}
	}
	return sparse, rows.CheckCount(n, stage.Rows)
}

// A System holds what a pass has accumulated, and solves the ridge problem at any penalty.
type System struct {
	f Factorization
	// held is the last result of Solve whose factor is still in the memory of f. It may be nil.
	held     *certify.Factored
	columns  []float64 // norms of the columns of [A Y]
	evidence certify.Streamed
}

// Close ends the stream and returns the System. The argument stage is the Stage that prepared the rows. The
// argument projected describes the projection that produced the rows, or is nil if there was none. The argument
// units describes the rounding of scaled features, see [certify.Columns.Rounded], or is nil if the features are
// exact.
func (s *Stream) Close(
	stage *rows.Stage,
	intercept bool,
	projected *certify.Projection,
	units []float64,
	be engine.Backend,
) *System {
	if s.fill > 0 {
		s.f.fold(s.fill)
		s.fill = 0
	}
	out := &System{
		f:       s.f,
		columns: s.f.columns(),
		evidence: certify.Streamed{
			Backend:   be,
			Rows:      stage.Rows,
			Dim:       s.d,
			Intercept: intercept,
			Projected: projected,
		},
	}
	for j := range s.tss {
		out.evidence.TSS = append(out.evidence.TSS, s.tss[j].Value())
	}
	out.evidence.Size = vec.Norm(out.columns[:s.d])
	for j, v := range out.columns {
		out.evidence.Displaced = append(out.evidence.Displaced, stage.Displaced(j, v))
	}
	if intercept {
		out.evidence.Means, out.evidence.MeanErrors = stage.Means(), stage.MeanErrors()
	}
	out.evidence.Columns = out.evidence.Columns.Rounded(
		units,
		out.columns[:s.d],
		math.Sqrt(stage.Weight.Value()),
	)
	return out
}

// Evidence returns the data about the rows that certificates need.
func (s *System) Evidence() *certify.Streamed { return &s.evidence }

// Gram returns k = AᵀA as the lower triangle of a d×d matrix, and c = AᵀY as a t×d matrix with one target per
// row. An element of k or c is the product of two columns u and v of [A Y]. Its error is at most
// rounding·roundoff.Unit·‖u‖‖v‖.
func (s *System) Gram() (k engine.Matrix, c []float64, rounding float64) {
	d := s.evidence.Dim
	q := len(s.columns)
	sums, rounding := s.f.(gramFactorization).gram()
	for j := d; j < q; j++ {
		c = append(c, sums[j*q:j*q+d]...)
	}
	return engine.Strided(d, d, sums, q), c, rounding
}

// MeanEigenvalue returns the mean eigenvalue of AᵀA, ‖A‖²_F/d.
func (s *System) MeanEigenvalue() float64 {
	d := s.evidence.Dim
	norm := vec.Norm(s.columns[:d])
	return norm * norm / float64(d)
}

// ColumnSquares returns the sum of squares of each column of A.
func (s *System) ColumnSquares() []float64 {
	out := make([]float64, s.evidence.Dim)
	for j := range out {
		out[j] = s.columns[j] * s.columns[j]
	}
	return out
}

// Columns returns the norms of the columns of [A Y].
func (s *System) Columns() []float64 { return s.columns }

// Dependent returns a column c that depends linearly on earlier columns, up to round-off, and the indices of these
// columns in the slice on. c is the given column. If column is −1, c is the column with the smallest pivot relative
// to its norm. s must come from [NewTall].
func (s *System) Dependent(column int) (c int, on []int) {
	f := s.f.(*tall)
	if column < 0 {
		column = f.weakest()
	}
	const share = 1e-6 // of the norm of the column
	for k, w := range f.dependence(column) {
		if math.Abs(w)*f.col[k] > share*f.col[column] {
			on = append(on, k)
		}
	}
	return column, on
}

// Solve returns the solution at gamma ≥ 0. If the system is too close to singular, f is nil. In this case, column
// is the first feature that depends linearly on earlier features, or −1 if this feature is unknown.
//
// The next call of Solve or [System.Pencil] overwrites the factor in f.
func (s *System) Solve(gamma float64) (f *certify.Factored, column int) {
	s.held = nil
	f, column = s.f.solve(gamma)
	if f == nil {
		return nil, column
	}
	for _, v := range f.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, -1
		}
	}
	s.held = f
	return f, -1
}

// Factor returns the result of Solve at gamma. It solves again only if the factor for gamma is no longer in memory.
// The result is nil if the system is too close to singular.
func (s *System) Factor(gamma float64) *certify.Factored {
	if s.held == nil || s.held.Gamma != gamma {
		s.Solve(gamma)
	}
	return s.held
}

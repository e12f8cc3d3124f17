// Package direct solves ridge regression by factoring what it has streamed of the rows:
// the normal equations by Cholesky, or the triangular factor of the rows themselves.
package direct

import (
	"math"
	"math/bits"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/roundoff"
	"github.com/fdridge/fdridge/ridge/internal/rows"
)

// A Factorization takes in the rows of [A Y], q = d+t wide, and solves for any γ
// afterwards.
type Factorization interface {
	// buffer is where rows are written before they are folded.
	buffer() []float64
	// fold takes in the first m rows of the buffer.
	fold(m int)
	// columns ends the folding and returns the norms of the columns of [A Y].
	columns() []float64
	// solve returns nil for a system too close to singular, and the column at fault, -1 if
	// unknown.
	solve(gamma float64) (s *certify.Factored, column int)
}

// Bytes is the memory of either factorization of one γ, about 3(d+t)² numbers, or
// the largest integer where that is more.
func Bytes(d, t int) uint64 { return squares(3, d, t) }

// ReducedBytes is that of a reduction, about 4(d+t)² numbers: vectors of several γ count as one.
func ReducedBytes(d, t int) uint64 { return squares(4, d, t) }

// squares is the memory of so many (d+t)×(d+t) matrices and of the rows to be folded.
func squares(count uint64, d, t int) uint64 {
	q := uint64(d) + uint64(t)
	if q >= 1<<57 {
		return math.MaxUint64
	}
	hi, lo := bits.Mul64(q, 8*(count*q+2*roundoff.StageRows))
	if hi != 0 {
		return math.MaxUint64
	}
	return lo
}

// A Stream feeds staged rows to a factorization.
type Stream struct {
	d, t int
	f    Factorization
	fill int // rows waiting in the factorization's buffer
	tss  []neumaier.Sum
}

// NewStream makes the stream of rows of d features and t targets.
func NewStream(d, t int, f Factorization) *Stream {
	return &Stream{d: d, t: t, f: f, tss: make([]neumaier.Sum, t)}
}

// Append puts staged rows into the buffer, folding it whenever it is full.
// Sparse rows are written out: the factorizations are dense.
func (s *Stream) Append(st rows.Staged) {
	buf, q := s.f.buffer(), s.d+s.t
	for i := range st.N {
		row := buf[s.fill*q : (s.fill+1)*q]
		st.Write(i, row)
		for j, v := range row[q-s.t:] {
			s.tss[j].Add(v * v)
		}
		if s.fill++; (s.fill+1)*q > len(buf) {
			s.f.fold(s.fill)
			s.fill = 0
		}
	}
}

// A System is what has been streamed, to be solved for any γ.
type System struct {
	f        Factorization
	columns  []float64 // norms of those of [A Y]
	evidence certify.Streamed
}

// Close ends the stream, of which stage has staged the rows.
func (s *Stream) Close(stage *rows.Stage, intercept bool, be engine.Backend) *System {
	if s.fill > 0 {
		s.f.fold(s.fill)
		s.fill = 0
	}
	out := &System{f: s.f, columns: s.f.columns(), evidence: certify.Streamed{Backend: be, Rows: stage.Rows, Dim: s.d, Intercept: intercept}}
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
	return out
}

// Evidence is what is known of the rows.
func (s *System) Evidence() *certify.Streamed { return &s.evidence }

// MeanEigenvalue is that of K, ‖A‖²_F/d.
func (s *System) MeanEigenvalue() float64 {
	d := s.evidence.Dim
	norm := vec.Norm(s.columns[:d])
	return norm * norm / float64(d)
}

// ColumnSquares are the sums of squares of the columns of A.
func (s *System) ColumnSquares() []float64 {
	out := make([]float64, s.evidence.Dim)
	for j := range out {
		out[j] = s.columns[j] * s.columns[j]
	}
	return out
}

// Solve returns the solution at γ >= 0. It is nil for a system too close to singular:
// column is then the first feature that depends on those before it, -1 if unknown.
func (s *System) Solve(gamma float64) (f *certify.Factored, column int) {
	f, column = s.f.solve(gamma)
	if f == nil {
		return nil, column
	}
	for _, v := range f.X {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, -1
		}
	}
	return f, -1
}

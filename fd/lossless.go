package fd

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// A sketch of size m = d loses nothing: δ = 0, and a shrink replaces the rows R by at most d rows R' with R'ᵀR' =
// RᵀR. The Gram driver computes the eigenvalues λᵢ and eigenvectors vᵢ of RᵀR and sets row i of R' to
// √λᵢ·vᵢ. For k rows this takes k·d² flops and an eigenproblem of order d.
//
// The round-off of a shrink is proportional to the ‖R‖²_F of the rows that it rewrites. If each of N shrinks
// rewrote all rows, the sum of the round-off bounds would be proportional to N/2·‖A‖²_F. Therefore a shrink
// rewrites only the rows appended since the last rewriting. Once the sum of squares of these rows exceeds 1/√(N/2)
// of the sum of squares of the rows before them, it rewrites all rows. The sum of the round-off bounds is then
// proportional to √N·‖A‖²_F.

// losslessBytes is the default size in bytes of the rows that are collected between two shrinks. It applies to
// lossless sketches, which have as many rows as columns. [engine.Tuning.LosslessRows] also limits the number of
// rows. The SVD driver always collects four rows for each column, because the round-off of the QR decomposition
// grows with the number of rows.
const losslessBytes = 256 << 10

// crossRows is the number of rows of each matrix product in sumCross. If there are more than crossRows² rows,
// sumCross computes about crossRows larger products.
const crossRows = 64

// sumCross adds the lower triangle of rᵀr, for d columns, to the compensated sums. The result pad bounds the norm
// of the round-off. The first d rows of r are added last, because they may come from a shrink and be larger than
// the other rows. part is a d×d workspace.
func sumCross(
	be engine.Backend,
	r engine.Matrix,
	sums []twofold.Total,
	part engine.Matrix,
) (pad float64) {
	d := r.Cols
	add := func(lo, hi int) {
		step := max(crossRows, (hi-lo)/crossRows)
		for ; lo < hi; lo += step {
			rows := r.Slice(lo, lo+min(step, hi-lo), 0, d)
			be.Syrk(true, 1, rows, 0, part)
			for i := range d {
				twofold.AddTo(sums[i*(i+1)/2:], part.Row(i)[:i+1])
			}
			pad += padOfProduct(be, rows.Rows, traceOf(part))
		}
	}
	add(min(d, r.Rows), r.Rows)
	add(0, min(d, r.Rows))
	return pad
}

// roundSums rounds the compensated sums to float64, writes them to the lower triangle of c, and returns the trace
// of c. The result pad bounds the norm of the round-off.
func roundSums(sums []twofold.Total, c engine.Matrix) (trace, pad float64) {
	for i := range c.Rows {
		row := c.Row(i)[:i+1]
		for j := range row {
			row[j] = sums[i*(i+1)/2+j].Value()
		}
	}
	trace = traceOf(c)
	return trace, 2 * eps * trace // the last rounding, and terms of second order
}

// traceOf returns the trace of a.
func traceOf(a engine.Matrix) (sum float64) {
	for i := range a.Rows {
		sum += a.Row(i)[i]
	}
	return sum
}

// lossless reports whether the sketch has as many rows as columns. Shrinks of such a sketch discard nothing.
func (s *Sketch) lossless() bool { return s.m == s.cfg.Dim }

// countSpared returns the number of leading rows that the next shrink leaves unchanged. It is 0 or s.kept. The
// first s.kept rows come from the last shrink that rewrote all rows. rest is the sum of squares of the rows after
// them. The result depends only on values that MarshalBinary stores. So a sketch continues identically after it is
// saved and loaded.
func (s *Sketch) countSpared(rest float64) int {
	if s.p < 4*s.m {
		return 0 // too little room for other rows
	}
	var kept float64
	for _, v := range s.norm2[:s.kept] {
		kept += v
	}
	if rest*math.Sqrt(float64(s.shrinks+1)/2) < kept {
		return s.kept
	}
	return 0
}

// shrinkCross shrinks a lossless sketch with the Gram driver.
func (s *Sketch) shrinkCross() error {
	d := s.cfg.Dim
	ld := s.ld
	be := s.cfg.Backend
	ws := &s.ws
	c := engine.View(d, d, ws.gram)
	first := engine.View(d, d, ws.first[:d*d])
	part := engine.View(d, d, ws.first[d*d:])
	clear(ws.sums)
	pad := sumCross(
		be,
		engine.Strided(s.rows-s.kept, d, s.buf[s.kept*ld:], ld),
		ws.sums,
		part,
	)
	rest, more := roundSums(ws.sums, c)
	spared := s.countSpared(rest)
	if spared == 0 && s.kept > 0 {
		pad += sumCross(be, engine.Strided(s.kept, d, s.buf, ld), ws.sums, part)
		_, more = roundSums(ws.sums, c)
	}
	copyLower(first, c)
	before := frobenius(first)
	v := s.buf[spared*ld:]
	vectors := engine.Strided(d, d, v, ld)
	if !be.SymEig(c, ws.w[:d], vectors, ws.work) {
		return errNoConvergence
	}
	live := 0
	for ; live < d && ws.w[live] > 0; live++ {
		s.norm2[spared+live] = ws.w[live]
		row := v[live*ld : live*ld+d]
		floats.Scale(math.Sqrt(ws.w[live]/squares(row)), row)
	}
	pad += more + residual(be, first, engine.Strided(live, d, v, ld), part, before)
	if math.IsNaN(pad) || math.IsInf(pad, 0) {
		return errNoConvergence
	}
	s.finish(spared, live, 0, pad)
	return nil
}

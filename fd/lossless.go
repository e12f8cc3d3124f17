package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// A sketch that keeps d rows loses nothing: δ = 0, and a shrink replaces rows R by at
// most d rows R' with R'ᵀR' = RᵀR. The Gram driver then works on the side of the features:
// the eigenpairs (λᵢ, vᵢ) of RᵀR make R' = {√λᵢ·vᵢ}, without the products with R of the
// other side, in k·d² flops for k rows and an eigenproblem of order d.
//
// The round-off of a shrink is relative to the ‖R‖²_F that it rewrites. Were all rows
// rewritten by each of N shrinks, pads would add up to N/2·‖A‖²_F. So a shrink leaves the
// kept rows as they are and rewrites the others until these have grown to about 1/√(N/2)
// of the kept rows' ‖·‖²_F; the pads then add up to √N·‖A‖²_F.

// losslessBytes is what the rows between two shrinks take at least, by default, where
// that is not more than 4096 of them. The SVD driver, whose QR decomposition has sums as
// long as there are rows, has 4d.
const losslessBytes = 256 << 10

// crossRows is the number of rows whose products are summed at a time in RᵀR, and the number of
// such sums where there are more than 64² rows.
const crossRows = 64

// cross adds RᵀR (lower triangle) to the compensated sums, and returns a bound on the norm of its
// round-off. The first d rows, which may be what a shrink left, come last. part is d×d and
// overwritten.
func cross(be engine.Backend, r engine.Matrix, sums []neumaier.Sum, part engine.Matrix) (pad float64) {
	d := r.Cols
	add := func(lo, hi int) {
		step := max(crossRows, (hi-lo)/crossRows)
		for ; lo < hi; lo += step {
			rows := r.Slice(lo, lo+min(step, hi-lo), 0, d)
			be.Syrk(true, 1, rows, 0, part)
			for i := range d {
				neumaier.AddTo(sums[i*(i+1)/2:], part.Row(i)[:i+1])
			}
			pad += padOfProduct(be, rows.Rows, traceOf(part))
		}
	}
	add(min(d, r.Rows), r.Rows)
	add(0, min(d, r.Rows))
	return pad
}

// crossed writes the sums to the lower triangle of c, and returns their trace and a bound on the
// norm of what rounding them did.
func crossed(sums []neumaier.Sum, c engine.Matrix) (trace, pad float64) {
	for i := range c.Rows {
		row := c.Row(i)[:i+1]
		for j := range row {
			row[j] = sums[i*(i+1)/2+j].Value()
		}
	}
	trace = traceOf(c)
	return trace, 2 * eps * trace // the last rounding, and terms of second order
}

// traceOf returns the sum of the diagonal of a.
func traceOf(a engine.Matrix) (sum float64) {
	for i := range a.Rows {
		sum += a.Row(i)[i]
	}
	return sum
}

// lossless reports whether the sketch keeps as many rows as there are features.
func (s *Sketch) lossless() bool { return s.m == s.cfg.Dim }

// spared is how many leading rows the next shrink of a lossless sketch leaves as they
// are, the others having the sum of squares rest: the kept ones, or none. It follows
// from what the sketch's message holds, so that a sketch read back goes on alike.
func (s *Sketch) spared(rest float64) int {
	if s.p < 4*s.m {
		return 0 // too little room beside them
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

// shrinkCross is the shrink of a lossless sketch by the Gram driver.
func (s *Sketch) shrinkCross() error {
	d, ld, be, ws := s.cfg.Dim, s.ld, s.cfg.Backend, &s.ws
	c, first, part := engine.View(d, d, ws.gram), engine.View(d, d, ws.first[:d*d]), engine.View(d, d, ws.first[d*d:])
	clear(ws.sums)
	pad := cross(be, engine.Strided(s.rows-s.kept, d, s.buf[s.kept*ld:], ld), ws.sums, part)
	rest, more := crossed(ws.sums, c)
	spared := s.spared(rest)
	if spared == 0 && s.kept > 0 {
		pad += cross(be, engine.Strided(s.kept, d, s.buf, ld), ws.sums, part)
		_, more = crossed(ws.sums, c)
	}
	copyLower(first, c)
	before := frobenius(first)
	v := s.buf[spared*ld:]
	if !be.SymEig(c, ws.w[:d], engine.Strided(d, d, v, ld), ws.work) {
		return errNoConvergence
	}
	live := 0
	for ; live < d && ws.w[live] > 0; live++ {
		s.norm2[spared+live] = ws.w[live]
		row := v[live*ld : live*ld+d]
		f := math.Sqrt(ws.w[live] / squares(row))
		for j := range row {
			row[j] *= f
		}
	}
	pad += more + residual(be, first, engine.Strided(live, d, v, ld), part, before)
	if math.IsNaN(pad) || math.IsInf(pad, 0) {
		return errNoConvergence
	}
	s.finish(spared, live, 0, pad)
	return nil
}

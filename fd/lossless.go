package fd

import (
	"math"

	"github.com/fdridge/fdridge/engine"
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

// crossRows is how many rows are summed at a time in RᵀR, and how many sums are added up
// where there are more than 64² rows. Of a long sum of equal terms the roundings all go one
// way, and whatever is added to a large row that a shrink has left is rounded coarsely.
const crossRows = 64

// cross writes the lower triangle of RᵀR (d×d, leading dimension d) to c or, where
// more is set, adds it; R has k rows of leading dimension ld. The first d rows, which
// may be what a shrink left, come last.
func cross(be engine.Backend, k, d int, r []float64, ld int, more bool, c []float64) {
	add := func(lo, hi int) {
		step := max(crossRows, (hi-lo)/crossRows)
		for ; lo < hi; lo += step {
			beta := 0.0
			if more {
				beta = 1
			}
			be.Syrk(true, 1, engine.Strided(min(step, hi-lo), d, r[lo*ld:], ld), beta, engine.View(d, d, c))
			more = true
		}
	}
	add(min(d, k), k)
	add(0, min(d, k))
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
	c, tail := ws.gram, s.buf[s.kept*ld:]
	cross(be, s.rows-s.kept, d, tail, ld, false, c)
	var rest float64
	for i := range d {
		rest += c[i*d+i]
	}
	first := s.spared(rest)
	if first == 0 && s.kept > 0 {
		cross(be, s.kept, d, s.buf, ld, true, c)
	}
	v := s.buf[first*ld:]
	if !be.SymEig(engine.View(d, d, c), ws.w[:d], engine.Strided(d, d, v, ld), ws.work) {
		return errNoConvergence
	}
	live := 0
	for ; live < d && ws.w[live] > 0; live++ {
		s.norm2[first+live] = ws.w[live]
		row := v[live*ld : live*ld+d]
		f := math.Sqrt(ws.w[live] / squares(row))
		for j := range row {
			row[j] *= f
		}
	}
	s.finish(first, live, 0, padOfShrink(min(d, largestOrder), ws.w[:d]))
	return nil
}

package fd

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// The d×d matrix K = AᵀA is smaller than the buffer of a sketch if the buffer has about d rows or more. Then the
// sketch keeps K: it collects rows R and adds RᵀR to K. No part of K is discarded, so the shrinkage is 0. The
// eigenproblem of K is solved only when the sketch is read. The bound on the round-off of K follows from
// [engine.Accuracy] and grows as rows are added (docs/math.md §14).

// Storage selects whether a sketch keeps rows or K = AᵀA.
type Storage int

const (
	// StoreSmaller, the default, keeps AᵀA if the Shrink driver is Gram and AᵀA is not larger than the buffer of a
	// sketch of Size rows. Otherwise it keeps rows. See [engine.Tuning.KeepsScatter].
	StoreSmaller Storage = iota
	// StoreRows keeps at most m rows, as Frequent Directions does.
	StoreRows
	// StoreScatter keeps K for any m. K takes d² numbers.
	StoreScatter
)

// scatterRows is the largest number of rows R in a product RᵀR that is added to AᵀA. More rows mean more
// round-off in RᵀR; fewer rows mean more passes over AᵀA.
const scatterRows = 256

// A scatter holds K = AᵀA in a sketch that keeps K.
type scatter struct {
	keepsScatter bool            // the sketch keeps K instead of rows
	sums         []twofold.Total // lower triangle of K, row by row; nil until rows are added
}

// Scatter reports whether a sketch with this configuration keeps K = AᵀA. If Store is StoreSmaller, the
// answer depends on Dim, Size and Shrink, and errors come from [engine.DefaultTuning].
func (c Config) Scatter() (bool, error) {
	if c.Store != StoreSmaller {
		return c.Store == StoreScatter, nil
	}
	if c.Shrink != Gram {
		return false, nil
	}
	tuning, err := engine.DefaultTuning()
	if err != nil {
		return false, err
	}
	return tuning.KeepsScatter(c.Dim, max(c.Size, 0)), nil
}

// Scatter reports whether the sketch keeps K = AᵀA instead of rows. Shrinks of such a sketch discard nothing and
// add nothing to the shrinkage.
func (s *Sketch) Scatter() bool { return s.keepsScatter }

// capacity returns the number of rows in the buffer.
func (s *Sketch) capacity() int {
	if s.keepsScatter {
		return s.p
	}
	return s.m + s.p
}

// addToScatter adds RᵀR, for the rows R of the buffer, to K = AᵀA and empties the buffer.
func (s *Sketch) addToScatter() {
	d := s.cfg.Dim
	if s.sums == nil {
		s.sums = make([]twofold.Total, d*(d+1)/2)
	}
	pad, blocks := s.addRows(s.sums, s.ws.gram)
	s.roundOff += pad
	s.shrinks += blocks
	s.rows = 0
}

// addRows adds RᵀR, for the rows R of the buffer, to sums. The result pad bounds the norm of the round-off in sums,
// and blocks is the number of products. The argument product is a workspace of d·d numbers.
func (s *Sketch) addRows(sums []twofold.Total, product []float64) (pad float64, blocks int64) {
	d := s.cfg.Dim
	for lo := 0; lo < s.rows; lo += scatterRows {
		n := min(scatterRows, s.rows-lo)
		rows := engine.Strided(n, d, s.buf[lo*s.ld:], s.ld)
		s.cfg.Backend.Syrk(true, 1, rows, 0, engine.View(d, d, product))
		var added float64
		for i := range d {
			row := product[i*d : i*d+i+1]
			added += row[i]
			twofold.AddTo(sums[i*(i+1)/2:], row)
		}
		blocks++
		pad += padOfProduct(s.cfg.Backend, n, added) + padOfSums(s.shrinks+blocks, traceOfSums(d, sums))
	}
	return pad, blocks
}

// traceOfSums returns the trace of a d×d matrix whose lower triangle is sums.
func traceOfSums(d int, sums []twofold.Total) float64 {
	var sum float64
	for i := range d {
		sum += sums[i*(i+1)/2+i].Value()
	}
	return sum
}

// padOfProduct bounds the norm of the round-off of RᵀR for n rows R. norm2 is the computed ‖R‖²_F. The bound
// is proved in docs/math.md §14.
func padOfProduct(be engine.Backend, n int, norm2 float64) float64 {
	return (be.Accuracy().Sum(n) + engine.Roundings + 1) * eps * norm2
}

// padOfSums bounds the norm of the round-off when the k-th block is added to the compensated sums of K = AᵀA. The
// argument norm2 is ‖A‖²_F (docs/math.md §14).
func padOfSums(k int64, norm2 float64) float64 {
	return float64(k) * eps * eps * norm2
}

// readScatter returns the spectrum of AᵀA, including the rows in the buffer.
func (s *Sketch) readScatter() (*Spectrum, error) {
	d := s.cfg.Dim
	sums := slices.Clone(s.sums)
	a := make([]float64, d*d)
	if sums == nil {
		sums = make([]twofold.Total, d*(d+1)/2)
	}
	pad, _ := s.addRows(sums, a)
	norm2, _ := roundSums(sums, engine.View(d, d, a))
	// Adding a correction to its sum rounds once more.
	known := Bound{
		RoundOff:   s.roundOff + pad + eps*norm2 + s.underflow(),
		Frobenius2: s.frob.Value(),
		Rows:       s.count,
	}
	p, err := WholeSpectrum(engine.View(d, d, a), known, s.cfg.Backend)
	if err != nil {
		return nil, err
	}
	p.Bound.Shrinkage = s.eta // the shrinkage of merged sketches that kept rows; otherwise 0
	return p, nil
}

// mergeScatter adds AᵀA of o to AᵀA of s. It ignores the rows in both buffers.
func (s *Sketch) mergeScatter(o *Sketch) {
	switch {
	case o.sums == nil:
		return
	case s.sums == nil:
		s.sums = slices.Clone(o.sums)
		return
	}
	for i := range s.sums {
		s.sums[i].Merge(o.sums[i])
	}
	// An entry of o.sums is a sum and its correction. Merging adds both, so each entry has two additions: hence the
	// factor 2.
	s.roundOff += 2 * padOfSums(s.shrinks+o.shrinks+1, traceOfSums(s.cfg.Dim, s.sums))
}

// rowsOfScatter returns rows b with bᵀb = AᵀA up to pad. There are at most as many rows as were appended. pad
// includes the error of Spectrum, two roundings of each entry of b, and the largest omitted eigenvalue.
func (s *Sketch) rowsOfScatter() (b []float64, pad float64, err error) {
	p, err := s.Spectrum()
	if err != nil {
		return nil, 0, err
	}
	pad = p.Bound.RoundOff + padDecay*eps*p.Bound.Frobenius2
	if s.count < int64(len(p.Sigma2)) {
		pad += p.Sigma2[s.count]
		p.Sigma2 = p.Sigma2[:s.count]
		p.V = p.V[:int(s.count)*p.Dim]
	}
	return p.rows(), pad, nil
}

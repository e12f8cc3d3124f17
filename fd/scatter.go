package fd

import (
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// A sketch of d rows, or of nearly as many, is larger than K = AᵀA, and shrinking it is one
// eigenproblem after the other for nothing. Such a sketch keeps K itself: rows R are collected
// and RᵀR is added to K. Nothing is lost, η = 0, and the eigenproblem of K is solved once, when
// the sketch is read. The round-off of K is proved, from what [engine.Accuracy] promises, and
// booked when rows are added (docs/math.md §14).

// Storage is what a sketch keeps of the rows.
type Storage int

const (
	// StoreSmaller is the default: K itself where it is no larger than the buffer of a sketch of
	// Size rows and Shrink is Gram, else rows. [engine.Tuning.KeepsScatter] has the rule.
	StoreSmaller Storage = iota
	// StoreRows keeps at most m rows, as Frequent Directions do, even where K is no larger.
	StoreRows
	// StoreScatter keeps K itself, d² numbers, whatever m is.
	StoreScatter
)

// scatterRows is how many rows are added to K at a time, at most: the round-off of RᵀR grows
// with them, and the fewer they are the more often all of K is gone through.
const scatterRows = 256

// A scatter is K of the rows that have been added to it.
type scatter struct {
	keeps bool           // K is kept, in place of orthogonal rows
	sums  []neumaier.Sum // its lower triangle, row by row; nil before any rows were added
}

// Scatter reports whether a sketch of this configuration keeps K = AᵀA itself. Where Store
// leaves it to the engine's dispatcher that follows from Dim, Size and Shrink, and the error is
// that of [engine.DefaultTuning].
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

// Scatter reports whether the sketch keeps K = AᵀA itself, so that shrinks take nothing from it.
func (s *Sketch) Scatter() bool { return s.keeps }

// capacity is how many rows the buffer holds.
func (s *Sketch) capacity() int {
	if s.keeps {
		return s.p
	}
	return s.m + s.p
}

// addToScatter adds the rows of the buffer to K and empties it.
func (s *Sketch) addToScatter() {
	d := s.cfg.Dim
	if s.sums == nil {
		s.sums = make([]neumaier.Sum, d*(d+1)/2)
	}
	pad, blocks := s.addRows(s.sums, s.ws.gram)
	s.roundOff += pad
	s.shrinks += blocks
	s.rows = 0
}

// addRows adds the rows of the buffer to sums, in blocks. It returns what that may have done to
// K in norm, and the number of blocks. product has room for d×d numbers.
func (s *Sketch) addRows(sums []neumaier.Sum, product []float64) (pad float64, blocks int64) {
	d := s.cfg.Dim
	for lo := 0; lo < s.rows; lo += scatterRows {
		n := min(scatterRows, s.rows-lo)
		s.cfg.Backend.Syrk(true, 1, engine.Strided(n, d, s.buf[lo*s.ld:], s.ld), 0, engine.View(d, d, product))
		var added float64
		for i := range d {
			row := product[i*d : i*d+i+1]
			added += row[i]
			neumaier.AddTo(sums[i*(i+1)/2:], row)
		}
		blocks++
		pad += padOfProduct(s.cfg.Backend, n, added) + padOfSums(s.shrinks+blocks, trace(d, sums))
	}
	return pad, blocks
}

// trace is that of the d×d matrix of which sums are the lower triangle.
func trace(d int, sums []neumaier.Sum) float64 {
	var sum float64
	for i := range d {
		sum += sums[i*(i+1)/2+i].Value()
	}
	return sum
}

// padOfProduct bounds the error of RᵀR as computed, in norm, for n rows R with ‖R‖²_F = norm2.
// By engine.Accuracy that of entry i, j is at most (Sum(n) + Roundings)·eps·‖rᵢ‖‖rⱼ‖, r being
// columns of R, and the matrix of these products of norms has the norm ‖R‖²_F. One eps more is
// for norm2, which is the trace of RᵀR as computed.
func padOfProduct(be engine.Backend, n int, norm2 float64) float64 {
	return (be.Accuracy().Sum(n) + engine.Roundings + 1) * eps * norm2
}

// padOfSums bounds what adding the k-th block to the compensated sums of K does, in norm. The
// addition itself is without error. The corrections add up to at most k·eps/2·|A|ᵀ|A|, and
// each is rounded once; norm2 = ‖A‖²_F bounds the norm of |A|ᵀ|A|.
func padOfSums(k int64, norm2 float64) float64 { return float64(k) * eps * eps * norm2 }

// readScatter is the spectrum of K and of the rows that wait to be added to it.
func (s *Sketch) readScatter() (*Spectrum, error) {
	d := s.cfg.Dim
	sums, a := slices.Clone(s.sums), make([]float64, d*d)
	if sums == nil {
		sums = make([]neumaier.Sum, d*(d+1)/2)
	}
	pad, _ := s.addRows(sums, a)
	norm2 := trace(d, sums)
	for i := range d {
		for j := range i + 1 {
			a[i*d+j] = sums[i*(i+1)/2+j].Value()
		}
	}
	// A sum and its correction are rounded to one number.
	known := Bound{RoundOff: s.roundOff + pad + eps*norm2 + s.underflow(), Frobenius2: s.frob.Value(), Rows: s.count}
	p, err := WholeSpectrum(engine.View(d, d, a), known, s.cfg.Backend)
	if err != nil {
		return nil, err
	}
	p.Bound.Shrinkage = s.eta // of sketches of rows that were merged into this one
	return p, nil
}

// mergeScatter adds the sums of o, without the rows that wait.
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
	// Two roundings: of what the addition leaves, and of the other's correction.
	s.roundOff += 2 * padOfSums(s.shrinks+o.shrinks+1, trace(s.cfg.Dim, s.sums))
}

// rowsOfScatter are rows B with BᵀB = K of a sketch that keeps K, no more than were appended, and
// a bound on what it took to make them: two roundings for each entry, and the largest of the
// eigenvalues that are left out, which are round-off, beside that of reading.
func (s *Sketch) rowsOfScatter() (b []float64, pad float64, err error) {
	p, err := s.Spectrum()
	if err != nil {
		return nil, 0, err
	}
	pad = p.Bound.RoundOff + padDecay*eps*p.Bound.Frobenius2
	if s.count < int64(len(p.Sigma2)) {
		pad += p.Sigma2[s.count]
		p.Sigma2, p.V = p.Sigma2[:s.count], p.V[:int(s.count)*p.Dim]
	}
	for i, s2 := range p.Sigma2 {
		f, row := math.Sqrt(s2), p.V[i*p.Dim:(i+1)*p.Dim]
		for j := range row {
			row[j] *= f
		}
	}
	return p.V, pad, nil
}

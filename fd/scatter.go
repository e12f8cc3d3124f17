package fd

import (
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
)

// The matrix K = AᵀA of all appended rows A is d×d for d columns. If the buffer of a sketch has about d rows or
// more, K is smaller than the buffer. Then the sketch keeps K, not rows: it collects rows R and adds RᵀR to K. No
// part of K is discarded, so that the shrinkage is 0. The eigenproblem of K is solved only when the sketch is read.
// The bound on the round-off of K follows from [engine.Accuracy] and grows as rows are added (docs/math.md §14).

// Storage selects what a sketch keeps: a limited number of rows, or the matrix AᵀA of all appended rows A.
type Storage int

const (
	// StoreSmaller is the default. It keeps AᵀA if the Shrink driver is Gram and AᵀA is not larger than the buffer
	// of a sketch of Size rows. Otherwise it keeps rows. [engine.Tuning.KeepsScatter] decides.
	StoreSmaller Storage = iota
	// StoreRows keeps at most Size rows, as Frequent Directions does.
	StoreRows
	// StoreScatter keeps AᵀA for any Size. For d columns, AᵀA takes d² numbers.
	StoreScatter
)

// scatterRows is the largest number of rows R in a product RᵀR that is added to AᵀA. With more rows, RᵀR has more
// round-off. With fewer rows, AᵀA has to be read and written more often.
const scatterRows = 256

// A scatter holds the matrix K = AᵀA of all appended rows A, if the sketch keeps this matrix.
type scatter struct {
	keepsScatter bool            // the sketch keeps K instead of rows
	sums         []twofold.Total // lower triangle of K, row by row; nil until rows are added
}

// Scatter reports whether a sketch with this configuration keeps AᵀA for all appended rows A, not rows. If Store is
// StoreSmaller, the answer depends on Dim, Size and Shrink, and errors come from [engine.DefaultTuning].
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

// Scatter reports whether the sketch keeps AᵀA for all appended rows A, not rows. Shrinks of such a sketch discard
// nothing and add nothing to the shrinkage.
func (s *Sketch) Scatter() bool { return s.keepsScatter }

// capacity returns the number of rows in the buffer.
func (s *Sketch) capacity() int {
	if s.keepsScatter {
		return s.p
	}
	return s.m + s.p
}

// addToScatter adds RᵀR, for the rows R in the buffer, to the kept matrix AᵀA. It then empties the buffer.
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

// addRows adds RᵀR, for the rows R in the buffer, to sums. The result pad bounds the norm of the round-off in sums,
// and blocks is the number of matrix products. product is a workspace of d² numbers, for d columns.
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
		pad += padOfProduct(s.cfg.Backend, n, added) +
			padOfSums(s.shrinks+blocks, traceOfSums(d, sums))
	}
	return pad, blocks
}

// traceOfSums returns the trace of a symmetric d×d matrix. sums holds its lower triangle.
func traceOfSums(d int, sums []twofold.Total) float64 {
	var sum float64
	for i := range d {
		sum += sums[i*(i+1)/2+i].Value()
	}
	return sum
}

// padOfProduct bounds the norm of the round-off of RᵀR for n rows R. norm2 must be the computed sum of the squares
// of R's entries. The proof is in docs/math.md §14.
func padOfProduct(be engine.Backend, n int, norm2 float64) float64 {
	return (be.Accuracy().Sum(n) + engine.Roundings + 1) * eps * norm2
}

// padOfSums bounds the norm of the round-off when the product of the k-th block of rows is added to the compensated
// sums of AᵀA. A has the rows of all k blocks, and norm2 must be the sum of squares of their entries. The proof is
// in docs/math.md §14.
func padOfSums(k int64, norm2 float64) float64 {
	return float64(k) * eps * eps * norm2
}

// readScatter returns the spectrum of AᵀA for all appended rows A, including the rows in the buffer.
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

// mergeScatter adds the kept matrix AᵀA of o to the kept matrix of s. It does not add the rows in the buffers.
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
	// Each entry of o.sums consists of a sum and its correction. Merging adds both, which makes two additions for
	// each entry. Hence the factor 2.
	s.roundOff += 2 * padOfSums(s.shrinks+o.shrinks+1, traceOfSums(s.cfg.Dim, s.sums))
}

// rowsOfScatter returns rows b with bᵀb = AᵀA, up to an error of at most pad. A are all appended rows, and b has at
// most as many rows. pad includes the error of Spectrum, two roundings of each entry of b, and the largest omitted
// eigenvalue.
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

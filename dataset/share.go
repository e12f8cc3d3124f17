package dataset

import (
	"github.com/fdridge/fdridge/dataset/internal/proportion"
)

// A Share is one of Size consecutive parts of the rows of a source, for computations on several machines. The parts
// are numbered from 0 by Rank. The zero value is the share of all rows.
type Share struct{ Rank, Size int }

// Whole reports whether the share holds all rows.
func (s Share) Whole() bool { return s.Size <= 1 }

// Of returns the share of the range [0, n): [⌊n·Rank/Size⌋, ⌊n·(Rank+1)/Size⌋).
func (s Share) Of(n int64) (lo, hi int64) {
	if s.Whole() {
		return 0, n
	}
	rank, size := int64(s.Rank), int64(s.Size)
	return proportion.Of(n, rank, size), proportion.Of(n, rank+1, size)
}

// Part returns the rows of src that belong to share s. The result has no rows if there are more shares than rows.
// Part returns [ErrShape] if the number of rows is unknown.
func Part(src Source, s Share) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	n, _, _ := src.Dims()
	if s.Whole() {
		return src, nil
	}
	if n < 0 {
		return nil, newSourceError("the rows cannot be divided into %d parts: their number is unknown", s.Size)
	}
	lo, hi := s.Of(n)
	return Cut(src, lo, hi)
}

// Cut returns rows lo to hi−1 of src, counted from 0. Unlike [Rows], it accepts lo = hi, and then returns a source
// without rows.
func Cut(src Source, lo, hi int64) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	if lo == hi {
		_, d, t := src.Dims()
		return FromDense(0, d, t, nil, nil)
	}
	return Rows(src, lo, hi)
}

// A Range consists of bytes Lo to Hi−1 of a text file. A record belongs to the range of its first byte, so that
// consecutive ranges contain each record once. The zero value is the whole file.
type Range struct{ Lo, Hi int64 }

// Whole reports whether the range is the whole file.
func (r Range) Whole() bool { return r == Range{} }

package dataset

import (
	"github.com/fdridge/fdridge/internal/proportion"
)

// A Share is one of the Size parts that rows are divided into; Rank counts them from 0. One
// after the other, the parts are all rows, each once. The zero value is all rows.
type Share struct{ Rank, Size int }

// Whole reports whether the share is all rows.
func (s Share) Whole() bool { return s.Size <= 1 }

// Of returns the share of n things in a row, [⌊n·Rank/Size⌋, ⌊n·(Rank+1)/Size⌋).
func (s Share) Of(n int64) (lo, hi int64) {
	if s.Whole() {
		return 0, n
	}
	return proportion.Of(n, int64(s.Rank), int64(s.Size)), proportion.Of(n, int64(s.Rank)+1, int64(s.Size))
}

// Part returns the rows of a share of src, none where there are fewer rows than
// shares. Their number must be known ([ErrShape]).
func Part(src Source, s Share) (Source, error) {
	n, _, _ := src.Dims()
	if s.Whole() {
		return src, nil
	}
	if n < 0 {
		return nil, unfit("the rows have not been counted, to be divided into %d parts", s.Size)
	}
	lo, hi := s.Of(n)
	return Cut(src, lo, hi)
}

// Cut is [Rows] for ranges that may be empty.
func Cut(src Source, lo, hi int64) (Source, error) {
	if lo == hi {
		_, d, t := src.Dims()
		return FromDense(0, d, t, nil, nil)
	}
	return Rows(src, lo, hi)
}

// A Range is the bytes Lo to Hi, excluded, of a text. The records in it are those whose
// first byte is, so that ranges that follow one another have every record once. The zero
// value is the whole text.
type Range struct{ Lo, Hi int64 }

// Whole reports whether the range is the whole text.
func (r Range) Whole() bool { return r == Range{} }

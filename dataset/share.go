package dataset

import (
	"github.com/fdridge/fdridge/dataset/internal/proportion"
)

// A Share is one of Size consecutive parts of the rows of a source, for computations on several machines. The parts
// are numbered from 0 by Rank. The zero value is the share of all rows.
type Share struct{ Rank, Size int }

// Whole reports whether the share holds all rows.
func (s Share) Whole() bool { return s.Size <= 1 }

// Of returns the rows lo to hi−1 of the share, counted from 0, if there are n rows in all. lo is n·Rank/Size and hi
// is n·(Rank+1)/Size, both rounded down.
func (s Share) Of(n int64) (lo, hi int64) {
	if s.Whole() {
		return 0, n
	}
	rank, size := int64(s.Rank), int64(s.Size)
	return proportion.Of(n, rank, size), proportion.Of(n, rank+1, size)
}

// Part returns a source of the rows of src that belong to the share s. If there are more shares than rows, it may
// have no rows. If the number of rows of src is unknown, the error is [ErrShape].
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

// Cut returns a source of the rows lo to hi−1 of src, counted from 0. If lo = hi, the source has no rows, whereas
// [Rows] returns an error.
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

// A Range consists of the bytes Lo to Hi−1 of a text file. A record, such as a line, belongs to the range that
// contains its first byte. So consecutive ranges contain each record once. The zero value is the whole file.
type Range struct{ Lo, Hi int64 }

// Whole reports whether the range is the whole file.
func (r Range) Whole() bool { return r == Range{} }

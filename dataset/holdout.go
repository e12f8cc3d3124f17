package dataset

import "github.com/fdridge/fdridge/internal/errtext"

// A Holdout divides rows into training rows and held-out rows, on which a fit can be tested. Row i, counted from 0,
// is held out if h(i) < Share. The hash h(i) is computed from the row number in these steps:
//
//	z = (i+1)·9E3779B97F4A7C15₁₆,  z = (z ⊕ z>>30)·BF58476D1CE4E5B9₁₆,
//	z = (z ⊕ z>>27)·94D049BB133111EB₁₆,  z = z ⊕ z>>31,  h(i) = (z>>11)·2⁻⁵³
//
// The integers are modulo 2⁶⁴, ⊕ is exclusive or, and >> shifts right. The hash is SplitMix64 (G. Steele, D. Lea,
// C. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014). The zero value of Holdout holds no row
// out.
type Holdout struct {
	Share float64 // fraction of the rows to hold out, 0 <= Share < 1
	First int64   // row number of the first row of the source, if the source is a part of the rows
}

// Check returns nil if 0 ≤ Share < 1, otherwise an error that matches [ErrInput].
func (h Holdout) Check() error {
	if !(h.Share >= 0 && h.Share < 1) {
		return errtext.BadInput(
			"dataset: the held-out share of the rows is %v; it must be at least 0 and below 1",
			h.Share,
		)
	}
	return nil
}

// Held reports whether a row is held out. The row is counted from 0 in the source; First is added to it.
func (h Holdout) Held(row int64) bool {
	z := uint64(row+h.First+1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11)*0x1p-53 < h.Share
}

// Where returns a source of the rows of src that the function keep selects. The argument of keep is the number of a
// row, counted from 0. A pass over the result reads all rows of src.
func Where(src Source, keep func(row int64) bool) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	return &subset{src: src, keepRow: keep}, nil
}

// Split returns the training rows and the held-out rows of src. A pass over either source reads all rows of src.
func (h Holdout) Split(src Source) (fitted, held Source, err error) {
	if err := checkSources(src); err != nil {
		return nil, nil, err
	}
	if err := h.Check(); err != nil {
		return nil, nil, err
	}
	return &subset{
			src:     src,
			keepRow: func(row int64) bool { return !h.Held(row) },
		}, &subset{
			src:     src,
			keepRow: h.Held,
		}, nil
}

package dataset

import "github.com/fdridge/fdridge/internal/badinput"

// A Holdout divides rows into those that are fitted and those that are held out, to see how well
// the fit does on rows it has not seen. A row is held out by a hash of its number alone, and so
// whatever else is read, by however many: row i, from 0, is where h(i) < Share, of
//
//	z = (i+1)·9E3779B97F4A7C15₁₆,  z = (z ⊕ z>>30)·BF58476D1CE4E5B9₁₆,
//	z = (z ⊕ z>>27)·94D049BB133111EB₁₆,  z = z ⊕ z>>31,  h(i) = (z>>11)·2⁻⁵³
//
// in whole numbers modulo 2⁶⁴: SplitMix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable
// Pseudorandom Number Generators", OOPSLA 2014). The zero value holds none out.
type Holdout struct {
	Share float64 // of the rows, 0 to 1, excluded
	First int64   // number of the source's first row, where it has only some of the rows
}

// Check is nil for a share of the rows, else [ErrInput].
func (h Holdout) Check() error {
	if !(h.Share >= 0 && h.Share < 1) {
		return badinput.Errorf("dataset: a share of %v of the rows held out, must be at least 0 and below 1", h.Share)
	}
	return nil
}

// Held reports whether a row is held out, by its number in the source.
func (h Holdout) Held(row int64) bool {
	z := uint64(row+h.First+1) * 0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	z ^= z >> 31
	return float64(z>>11)*0x1p-53 < h.Share
}

// Split returns the rows of src that are fitted, and those that are held out. A pass over either
// reads all rows.
func (h Holdout) Split(src Source) (fitted, held Source, err error) {
	if err := noSource(src); err != nil {
		return nil, nil, err
	}
	if err := h.Check(); err != nil {
		return nil, nil, err
	}
	return &chosen{src: src, keep: func(row int64) bool { return !h.Held(row) }}, &chosen{src: src, keep: h.Held}, nil
}

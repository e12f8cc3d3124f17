package dataset

// Every returns a source of every k-th row of src: the rows 0, k, 2k and so on. A pass over the result reads all
// rows of src. If k < 1, the error is [ErrShape].
func Every(src Source, k int64) (Source, error) {
	if err := checkSources(src); err != nil {
		return nil, err
	}
	switch {
	case k < 1:
		return nil, newSourceError("cannot take every %d-th row", k)
	case k == 1:
		return src, nil
	}
	sample := &subset{src: src, keepRow: func(row int64) bool { return row%k == 0 }}
	if n, _, _ := src.Dims(); n > 0 {
		sample.n.Store((n-1)/k + 2)
	}
	return sample, nil
}

package dataset

// Every returns rows 0, k, 2k, … of a source: a sample that has rows from all parts of a
// file, whatever its order. A pass reads all rows. k must be positive ([ErrShape]).
func Every(src Source, k int64) (Source, error) {
	if err := noSource(src); err != nil {
		return nil, err
	}
	switch {
	case k < 1:
		return nil, unfit("every %d-th row cannot be taken", k)
	case k == 1:
		return src, nil
	}
	sample := &chosen{src: src, keep: func(row int64) bool { return row%k == 0 }}
	if n, _, _ := src.Dims(); n > 0 {
		sample.n.Store((n-1)/k + 2)
	}
	return sample, nil
}

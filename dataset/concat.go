package dataset

import (
	"context"
	"iter"
)

// Concat returns a source of the rows of several sources, one source after the other. It returns [ErrShape] if the
// sources have different numbers of features or targets.
func Concat(sources ...Source) (Source, error) {
	if len(sources) == 0 {
		return nil, newSourceError("no sources")
	}
	if err := checkSources(sources...); err != nil {
		return nil, err
	}
	_, d, t := sources[0].Dims()
	for i, s := range sources {
		if _, di, ti := s.Dims(); di != d || ti != t {
			return nil, newDimensionError(
				"the first source has %d features and %d targets, source %d has %d and %d",
				d,
				t,
				i+1,
				di,
				ti,
			)
		}
	}
	if len(sources) == 1 {
		return sources[0], nil
	}
	return concat(sources), nil
}

type concat []Source

func (c concat) Dims() (n int64, d, t int) {
	for _, s := range c {
		ni, di, ti := s.Dims()
		d, t = di, ti
		if ni < 0 {
			return -1, d, t
		}
		n += ni
	}
	return n, d, t
}

func (c concat) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		var at, end int64
		for _, s := range c {
			from := int64(0)
			if n, _, _ := s.Dims(); n >= 0 { // an unknown number of rows is counted below
				from = min(max(firstRow-at, 0), n)
				end = at + n
			}
			for b, err := range From(ctx, s, from) {
				if err == nil {
					b.First += at
					end = b.First + int64(b.N)
					if end <= firstRow {
						continue
					}
				}
				if !yield(b, err) || err != nil {
					return
				}
			}
			at = end
		}
	}
}

package dataset

import (
	"context"
	"io"
	"iter"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/parallel"
)

// transformed is a source whose features are computed from the features of src, on a goroutine. Targets and weights
// are unchanged.
type transformed struct {
	src  Source
	name string // name of the step in errors and in Waits
	d    int    // number of features of the result
	rows int    // largest number of rows of a block; 0: the same blocks as src
	// start begins a pass.
	start func() applier
	// split is true if dense rows are transformed in parallel. Each part of the rows then has an applier of its
	// own.
	split bool
	// transformColumns is not nil if each new column depends on one column of src only. It computes these columns.
	transformColumns func(features Source) Source
}

// An applier appends the transformed rows of b to out. If finite is false, the new numbers may be infinite or NaN,
// and the caller must check them.
type applier func(b Block, out *Buffer) (finite bool, err error)

// Transform returns a source with d features that are computed from the features of src, block by block, on a
// goroutine. Targets and weights are copied. A block has at most the given number of rows; 0 means as many as the
// block of src.
//
// Each pass calls start once. The function that start returns is called for each block b, and must append the new
// features of its rows to out. If a feature is not finite, the pass ends with an *[InputError] with File name.
func Transform(
	src Source,
	name string,
	d, rows int,
	start func() func(b Block, out *Buffer) error,
) Source {
	return &transformed{
		src:  src,
		name: name,
		d:    d,
		rows: rows,
		start: func() applier {
			apply := start()
			return func(b Block, out *Buffer) (bool, error) { return false, apply(b, out) }
		},
	}
}

func (s *transformed) Dims() (n int64, d, t int) {
	n, _, t = s.src.Dims()
	return n, s.d, t
}

func (s *transformed) BlocksFrom(ctx context.Context, firstRow int64) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		// readAhead waits for its goroutine before it returns. So the goroutine, which calls next, has ended before the
		// deferred call of stop.
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		next, stop := iter.Pull2(From(ctx, s.src, firstRow))
		defer stop()
		apply := s.start()
		var in Block
		var view engine.CSR
		used := 0
		for b, err := range readAhead(ctx, s.name, s.d, func(out *Buffer) error {
			for used == in.N {
				b, err, ok := next()
				if err != nil {
					return err
				}
				if !ok {
					return io.EOF
				}
				in = b
				used = s.rowsBefore(b, firstRow)
			}
			hi := in.N
			if s.rows > 0 {
				hi = min(hi, used+s.rows)
			}
			part := in.Cut(used, hi, d, t, &view)
			used = hi
			out.firstRow = part.First
			out.Sparse = part.Sparse != nil
			out.N = part.N
			out.Y = append(out.Y, part.Y...)
			out.W = append(out.W, part.W...)
			if s.split && part.Sparse == nil {
				return s.runParts(part, t, out.extend(part.N*s.d))
			}
			return s.run(apply, part, out)
		}) {
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// rowsBefore returns how many of the first rows of b to skip in a pass from row firstRow on. The skipped rows fill
// whole output blocks that end before firstRow.
func (s *transformed) rowsBefore(b Block, firstRow int64) int {
	if n := int(firstRow - b.First); n > 0 && s.rows > 0 {
		return n / s.rows * s.rows
	}
	return 0
}

// run appends the transformed rows of b to out.
func (s *transformed) run(apply applier, b Block, out *Buffer) error {
	if finite, err := apply(b, out); finite || err != nil {
		return err
	}
	return s.check(b.First, out)
}

// runParts transforms the dense rows of b, which have t targets, in parallel, and writes the new features to z.
func (s *transformed) runParts(b Block, t int, z []float64) error {
	_, d, _ := s.src.Dims()
	height := max(1, 1<<15/s.d) // a part fits in cache
	return parallel.Do((b.N+height-1)/height, len(z), func(i int) error {
		lo, hi := i*height, min((i+1)*height, b.N)
		out := Buffer{N: hi - lo, X: z[lo*s.d : lo*s.d : hi*s.d]}
		return s.run(s.start(), b.Cut(lo, hi, d, t, nil), &out)
	})
}

// check returns an error if a feature in out is not finite. firstRow is the number of the first row in out.
func (s *transformed) check(firstRow int64, out *Buffer) error {
	if !out.Sparse {
		return checkFinite(s.name, out.X, firstRow, s.d)
	}
	for i := range out.N {
		for k := out.CSR.RowPtr[i]; k < out.CSR.RowPtr[i+1]; k++ {
			if v := out.CSR.Val[k]; v-v != 0 {
				return newNonFiniteError(
					s.name,
					firstRow+int64(i),
					int(out.CSR.ColIdx[k]),
					v,
				)
			}
		}
	}
	return nil
}

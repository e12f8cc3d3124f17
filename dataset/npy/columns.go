package npy

import (
	"fmt"
	"io"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/parallel"
)

// byColumns returns two sources for an array in Fortran order, which is stored column by column. The rows of the
// first source are the feature columns of the array, and the rows of the second are the target columns.
func byColumns(
	open opening,
	h header,
	choice columns.Choice,
	stamp dataset.Stamp,
) *dataset.Columns {
	order := make([]int, choice.Features+choice.Targets)
	for j, k := range choice.To {
		if k >= 0 {
			order[k] = j
		}
	}
	source := func(order []int) dataset.Source {
		s := dataset.NewStream(int64(len(order)), int(h.rows), 0, false, func() (dataset.Reader, error) {
			in, err := open(stamp)
			if err != nil {
				return nil, err
			}
			if in.rows != h.rows || in.cols != h.cols || !in.fortran {
				in.close() // only the header was read
				return nil, &dataset.InputError{
					File: in.name,
					Msg: fmt.Sprintf(
						"is now %d×%d, but was %d×%d when it was opened",
						in.rows,
						in.cols,
						h.rows,
						h.cols,
					),
				}
			}
			return &transposedReader{input: in, order: order}, nil
		})
		s.Stamp = stamp
		return s
	}
	out := &dataset.Columns{Features: source(order[:choice.Features])}
	if choice.Targets > 0 {
		out.Targets = source(order[choice.Features:])
	}
	return out
}

// A transposedReader reads an array that is stored column by column, and returns each column as a row.
type transposedReader struct {
	*input
	order []int // order[i] is the column of the array that becomes row i
	next  int   // next index in order
}

func (r *transposedReader) Close() error { return r.close() }

// Skip implements [dataset.Skipper].
func (r *transposedReader) Skip(rows int64) (bool, error) {
	r.next += int(rows)
	return true, nil
}

// Read appends up to the given number of columns to b as rows. It reads groups of columns in parallel.
func (r *transposedReader) Read(b *dataset.Buffer, rows int) error {
	order := r.order[r.next:min(r.next+rows, len(r.order))]
	height := int(r.rows)
	if len(order) == 0 {
		return io.EOF
	}
	b.N = len(order)
	b.X = slices.Grow(b.X, len(order)*height)[:len(order)*height]
	r.next += len(order)
	group := max(1, chunkBytes/(height*r.size))
	return parallel.Do((len(order)+group-1)/group, len(b.X), func(i int) error {
		lo := i * group
		hi := min((i+1)*group, len(order))
		return r.readColumns(b.X[lo*height:hi*height], order[lo:hi])
	})
}

// readColumns reads the columns with the indices js into x, one after the other. It reads adjacent columns by one
// call.
func (r *transposedReader) readColumns(x []float64, js []int) error {
	s := strips.Get().(*strip)
	defer strips.Put(s)
	height := int(r.rows)
	size := int(r.rows) * r.size
	for len(js) > 0 {
		run := 1
		for run < len(js) && js[run] == js[0]+run {
			run++
		}
		s.raw = slices.Grow(s.raw[:0], run*size)[:run*size]
		n, err := r.at.ReadAt(s.raw, r.start+int64(js[0])*int64(size))
		if n < len(s.raw) {
			return r.truncatedError(err, int64(n%size/r.size))
		}
		r.decode(x[:run*height], s.raw)
		for k, v := range x[:run*height] {
			if v-v != 0 { // NaN or infinite
				return r.notFinite(int64(k%height), js[0]+k/height, v)
			}
		}
		x = x[run*height:]
		js = js[run:]
	}
	return nil
}

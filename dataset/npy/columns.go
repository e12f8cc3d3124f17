package npy

import (
	"fmt"
	"io"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/columns"
	"github.com/fdridge/fdridge/internal/vec"
)

// byColumns returns the features and targets of a Fortran-order array as rows.
func byColumns(open opening, h header, choice columns.Choice, stamp dataset.Stamp) *dataset.Columns {
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
				return nil, &dataset.InputError{File: in.name, Msg: fmt.Sprintf("is now %d×%d, but was %d×%d when it was opened", in.rows, in.cols, h.rows, h.cols)}
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

// A transposedReader reads columns of a Fortran-order array as rows.
type transposedReader struct {
	*input
	order []int // order[i] is the column of the array that becomes row i
	raw   []byte
	plain []float64
	next  int // next index in order
}

func (r *transposedReader) Close() error { return r.close() }

// Skip implements [dataset.Skipper].
func (r *transposedReader) Skip(rows int64) (bool, error) {
	r.next += int(rows)
	return true, nil
}

// Read appends columns as rows. It reads adjacent columns together.
func (r *transposedReader) Read(b *dataset.Buffer, rows int) error {
	if r.next == len(r.order) {
		return io.EOF
	}
	size := int(r.rows) * r.size
	for b.N < rows && r.next < len(r.order) {
		first, run := r.order[r.next], 1
		for b.N+run < rows && r.next+run < len(r.order) && r.order[r.next+run] == first+run && (run+1)*size <= windowBytes {
			run++
		}
		if len(r.raw) < run*size {
			r.raw = make([]byte, run*size)
		}
		raw := r.raw[:run*size]
		if n, err := r.at.ReadAt(raw, r.start+int64(first)*int64(size)); n < len(raw) {
			return r.truncatedError(err, int64(n%size/r.size))
		}
		r.plain = vec.Grow(r.plain, run*int(r.rows))
		r.decode(r.plain, raw)
		for k, v := range r.plain {
			if v-v != 0 { // NaN or infinite
				return r.notFinite(int64(k%int(r.rows)), first+k/int(r.rows), v)
			}
		}
		b.X = append(b.X, r.plain...)
		b.N += run
		r.next += run
	}
	return nil
}

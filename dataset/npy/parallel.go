package npy

import (
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/little"
	"github.com/fdridge/fdridge/internal/vec"
)

// maxParts limits the goroutines that read a block.
const maxParts = 16

// A part is the memory of one goroutine that reads rows.
type part struct {
	raw   []byte
	plain []float64
	err   error
}

// countParts returns the number of goroutines that read rows. It is 1 without random access. It is also 1 for
// categories, because their codes depend on the order of rows.
func (r *rowReader) countParts(rows int) int {
	if _, ok := r.data.(io.Seeker); !ok || r.at == nil || r.Category != nil {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), maxParts, rows/r.chunk))
}

func (r *rowReader) readParts(b *dataset.Buffer, rows, parts int) error {
	r.parts = slices.Grow(r.parts[:0], parts)[:parts]
	x, y := r.Grow(b, rows)
	var all sync.WaitGroup
	for i := range r.parts {
		lo, hi := rows*i/parts, rows*(i+1)/parts
		all.Go(func() {
			p := &r.parts[i]
			p.err = r.readPart(p, r.done+int64(lo), x[lo*r.Features:hi*r.Features], y[lo*r.Targets:hi*r.Targets], hi-lo)
		})
	}
	all.Wait()
	for i := range r.parts { // return the error of the first row that has one
		if err := r.parts[i].err; err != nil {
			return err
		}
	}
	r.done += int64(rows)
	if _, err := r.data.(io.Seeker).Seek(int64(rows)*int64(r.cols*r.size), io.SeekCurrent); err != nil {
		return r.wrap(err, int(r.done))
	}
	return nil
}

// readPart reads rows into the features x and the targets y. If features precede targets, whole rows are read into x,
// to avoid a copy.
func (r *rowReader) readPart(p *part, firstRow int64, x, y []float64, rows int) error {
	width := r.cols * r.size
	for done := 0; done < rows; {
		n := min(rows-done, r.chunk)
		at, to, of := firstRow+int64(done), x[done*r.Features:(done+n)*r.Features], y[done*r.Targets:(done+n)*r.Targets]
		plain := x[done*r.Features:]
		if !r.InOrder() || len(plain) < n*r.cols { // the last rows of a part with targets do not fit
			p.plain = vec.Grow(p.plain, n*r.cols)
			plain = p.plain
		}
		plain = plain[:n*r.cols]
		var raw []byte
		if r.asIs {
			raw = little.Bytes(plain)
		}
		decodes := len(raw) == 0
		if decodes {
			p.raw = slices.Grow(p.raw[:0], n*width)[:n*width]
			raw = p.raw
		}
		if got, err := r.at.ReadAt(raw, r.start+at*int64(width)); got < len(raw) {
			return r.truncatedError(err, at+int64(got/width))
		}
		if decodes {
			r.decode(plain, raw)
		}
		r.Rows(to, of, plain)
		if err := r.check(&r.Choice, to, of, at); err != nil {
			return err
		}
		done += n
	}
	return nil
}

package npy

import (
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/vec"
)

// coresFed is how many cores one goroutine that reads an array keeps at work: on more of them
// several read parts of a block side by side.
const coresFed = 8

// A part is what one of several goroutines needs that read a block side by side.
type part struct {
	raw   []byte
	plain []float64
	err   error
}

// sideBySide says in how many parts the next rows are to be read: one where the array is not
// read from a place of its own choice, or is read fast enough.
func (r *rowReader) sideBySide(rows int) int {
	if _, ok := r.data.(io.Seeker); !ok || r.at == nil {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0)/coresFed, rows/r.chunk))
}

// readParts appends the next rows, cut into parts that are read at once.
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
	for i := range r.parts { // the first error is that of the first row
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

// readPart reads rows from the given one on to where they belong.
func (r *rowReader) readPart(p *part, first int64, x, y []float64, rows int) error {
	width := r.cols * r.size
	for done := 0; done < rows; {
		n := min(rows-done, r.chunk)
		p.raw, p.plain = slices.Grow(p.raw[:0], n*width)[:n*width], vec.Grow(p.plain, n*r.cols)
		at := first + int64(done)
		if got, err := r.at.ReadAt(p.raw, r.start+at*int64(width)); got < len(p.raw) {
			return r.short(err, at+int64(got/width))
		}
		r.decode(p.plain, p.raw)
		to, of := x[done*r.Features:(done+n)*r.Features], y[done*r.Targets:(done+n)*r.Targets]
		r.Rows(to, of, p.plain)
		if err := r.check(&r.Choice, to, of, at); err != nil {
			return err
		}
		done += n
	}
	return nil
}

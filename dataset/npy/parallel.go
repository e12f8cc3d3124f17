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

// maxParts limits the number of goroutines that read parts of a block in parallel.
const maxParts = 16

// A part is the memory of a goroutine that reads some of the rows of a block.
type part struct {
	raw   []byte
	plain []float64
	err   error
}

// countParts returns the number of goroutines to read the given number of rows, at most one per core. It is 1 if the
// array cannot be read at arbitrary positions, or has categories, whose codes depend on the order of the rows.
func (r *rowReader) countParts(rows int) int {
	if _, ok := r.data.(io.Seeker); !ok || r.at == nil || r.Category != nil {
		return 1
	}
	return max(1, min(runtime.GOMAXPROCS(0), maxParts, rows/r.chunk))
}

// readParts reads the next rows in parallel and appends them to b.
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

// readPart reads rows of the array, from firstRow on, into the features x and the targets y. If the features are the
// first columns, it reads whole rows into x and then moves the targets to y, which saves a copy.
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

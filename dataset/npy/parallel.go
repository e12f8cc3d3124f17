package npy

import (
	"hash/crc32"
	"io"
	"runtime"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/parallel"
	"github.com/fdridge/fdridge/internal/vec"
	"github.com/fdridge/fdridge/internal/wire"
)

// A part is the working memory of one goroutine. Each goroutine reads some of the rows of a block.
type part struct {
	raw   []byte
	plain []float64
	sum   uint32 // CRC-32 of the bytes read, if it is needed
}

// readParts reads rows in parallel.
func (r *rowReader) readParts(b *dataset.Buffer, rows int) error {
	parts := max(1, min(runtime.GOMAXPROCS(0), 4*rows/r.chunk)) // four goroutines can share a chunk
	r.parts = slices.Grow(r.parts[:0], parts)[:parts]
	x, y := r.Grow(b, rows)
	if err := parallel.Do(parts, len(x), func(i int) error {
		lo := rows * i / parts
		hi := rows * (i + 1) / parts
		return r.readPart(
			&r.parts[i],
			r.done+int64(lo),
			x[lo*r.Features:hi*r.Features],
			y[lo*r.Targets:hi*r.Targets],
			hi-lo,
		)
	}); err != nil {
		return err
	}
	for i := range parts {
		bytes := (rows*(i+1)/parts - rows*i/parts) * r.width()
		r.sum = wire.JoinSums(crc32.IEEE, r.sum, r.parts[i].sum, bytes)
	}
	r.done += int64(rows)
	return nil
}

// readPart reads rows, and writes their features to x and their targets to y. If the features precede the targets
// in the file, it decodes whole rows directly into x, to avoid a copy.
func (r *rowReader) readPart(
	p *part,
	firstRow int64,
	x, y []float64,
	rows int,
) error {
	width := r.width()
	p.sum = 0
	for done := 0; done < rows; {
		n := min(rows-done, r.chunk)
		at := firstRow + int64(done)
		to := x[done*r.Features : (done+n)*r.Features]
		of := y[done*r.Targets : (done+n)*r.Targets]
		plain := x[done*r.Features:]
		if !r.InOrder || len(plain) < n*r.cols { // the last rows of a part with targets do not fit
			p.plain = vec.Grow(p.plain, n*r.cols)
			plain = p.plain
		}
		plain = plain[:n*r.cols]
		var raw []byte
		if r.asIs {
			raw = wire.Bytes(plain)
		}
		decodes := len(raw) == 0
		if decodes {
			p.raw = slices.Grow(p.raw[:0], n*width)[:n*width]
			raw = p.raw
		}
		var got int
		var err error
		if r.at != nil {
			got, err = r.at.ReadAt(raw, r.start+at*int64(width))
		} else {
			got, err = io.ReadFull(r.data, raw)
		}
		if got < len(raw) {
			return r.truncatedError(err, at+int64(got/width))
		}
		if r.want != 0 {
			p.sum = crc32.Update(p.sum, crc32.IEEETable, raw)
		}
		if decodes {
			r.decode(plain, raw)
		}
		r.Rows(to, of, plain)
		if err := r.check(&r.Choice, to, of, at, false); err != nil {
			return err
		}
		done += n
	}
	return nil
}

package chunk

import (
	"cmp"
	"errors"
	"io"
	"runtime"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/rawfile"
)

// A Reader is a [dataset.Reader] of a text, and a [dataset.Witness].
type Reader struct {
	file   *rawfile.File
	format Format
	sparse bool
	most   int // entries that end a sparse block before it has all its rows

	cutter cutter
	team   *team  // parses, where there is more than one chunk and more than one core
	spare  *chunk // for the next text, where there is no team
	now    *chunk // the one whose rows are being delivered, nil for none
	next   int    // row of it
	line   int    // lines before it
	tail   int    // bytes of text since the last row before it
}

// Options say how to read.
type Options struct {
	// Entries, where they are not 0, say that the rows are sparse, and that a block of them
	// ends with the row that makes its entries as many.
	Entries int
	// Size is how many bytes a chunk has, but where a record is longer; 0: what is best.
	Size int
}

// New returns a reader of the records that file has from the next line on.
func New(file *rawfile.File, format Format, opts Options) *Reader {
	return &Reader{
		file: file, format: format, sparse: opts.Entries > 0, most: opts.Entries,
		cutter: cutter{file: file, quotes: format.Quotes(), size: cmp.Or(opts.Size, usualSize)}, line: file.Line,
	}
}

// Stamp is that of the file.
func (r *Reader) Stamp() dataset.Stamp { return r.file.Stamp() }

// Unchanged is that of [dataset.Witness].
func (r *Reader) Unchanged() error { return r.file.Unchanged() }

// Close ends all goroutines, waits for them, and closes the file.
func (r *Reader) Close() error {
	r.Stop()
	if r.team != nil {
		r.team.close()
	}
	return r.file.Close()
}

// Stop is that of [dataset.Stopper].
func (r *Reader) Stop() { r.file.Stop() }

// Read is that of [dataset.Reader]. Where rows are wanted as they come a block ends with a chunk.
func (r *Reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows && (!r.sparse || len(b.CSR.Val) < r.most) {
		if r.now == nil {
			if !r.advance() {
				if b.N > 0 {
					return nil
				}
				return io.EOF
			}
			continue
		}
		if r.next < r.now.rows.N {
			r.deliver(b, rows)
			continue
		}
		if r.now.err != nil {
			return r.place(r.now.err)
		}
		if r.drop(); b.N > 0 && r.file.Prompt() {
			return nil
		}
	}
	return nil
}

// place says where in the file an error of the chunk at hand is.
func (r *Reader) place(err error) error {
	if e, ok := errors.AsType[*dataset.InputError](err); ok && e.Line > 0 {
		moved := *e
		moved.Line += r.line
		err = &moved
	}
	return r.file.Place(err)
}

// advance takes the next chunk, parsed. It reports whether there is one.
func (r *Reader) advance() bool {
	if r.now = r.parsed(); r.now == nil {
		return false
	}
	r.next = 0
	if err := r.now.tooLong(r.format, r.tail); err != nil {
		r.now.rows.Reset()
		r.now.err = err
	}
	return true
}

// parsed is the next chunk, nil for none. The first is parsed here, and so are all where there
// is one core.
func (r *Reader) parsed() *chunk {
	if r.team != nil {
		return r.team.next()
	}
	c := newChunk(r.sparse)
	if r.spare != nil {
		c, r.spare = r.spare, nil
	}
	if !r.cutter.fill(c) {
		return nil
	}
	if cores := min(runtime.GOMAXPROCS(0), mostWorkers); cores > 1 && !r.cutter.ended {
		r.team = newTeam(&r.cutter, r.format, cores, r.sparse)
	}
	c.parse(r.format)
	return c
}

// drop is called when all rows of a chunk were delivered.
func (r *Reader) drop() {
	c := r.now
	r.line += c.lines.line
	if c.rows.N > 0 {
		r.tail = 0
	}
	r.tail += c.tail
	if r.now = nil; r.team != nil {
		r.team.free <- c
	} else {
		r.spare = c
	}
}

// reserve bounds the numbers that room is made for beforehand.
const reserve = 1 << 19

// room makes room for n more elements in s, and in a file of many chunks for as many as all of
// a block is going to have, so that blocks do not grow again and again.
func (r *Reader) room(s []float64, n, all int) []float64 {
	if len(s)+n > cap(s) && (r.team != nil || !r.cutter.ended) {
		n = max(n, min(all, reserve)-len(s))
	}
	return slices.Grow(s, n)
}

// deliver appends rows of the chunk at hand to b, until there are so many or the block ends.
func (r *Reader) deliver(b *dataset.Buffer, rows int) {
	from := &r.now.rows
	lo, hi := r.next, min(from.N, r.next+rows-b.N)
	if r.sparse {
		hi = r.sparseRows(b, lo, hi)
	} else {
		d := len(from.X) / from.N
		b.X = append(r.room(b.X, (hi-lo)*d, rows*d), from.X[lo*d:hi*d]...)
		b.N += hi - lo
	}
	t := len(from.Y) / from.N
	b.Y = append(b.Y, from.Y[lo*t:hi*t]...)
	r.next = hi
}

// sparseRows appends rows lo to hi, excluded, or fewer where the block ends before. It returns
// the end of those it has appended.
func (r *Reader) sparseRows(b *dataset.Buffer, lo, hi int) int {
	ptr := r.now.rows.CSR.RowPtr
	shift := len(b.CSR.Val) - ptr[lo]
	end := lo
	for end < hi && ptr[end]+shift < r.most {
		end++
		b.CSR.RowPtr = append(b.CSR.RowPtr, ptr[end]+shift)
	}
	b.CSR.ColIdx = append(b.CSR.ColIdx, r.now.rows.CSR.ColIdx[ptr[lo]:ptr[end]]...)
	b.CSR.Val = append(b.CSR.Val, r.now.rows.CSR.Val[ptr[lo]:ptr[end]]...)
	b.N += end - lo
	return end
}

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

// A Reader reads the rows of a text file. It implements [dataset.Reader] and [dataset.Witness].
type Reader struct {
	file       *rawfile.File
	format     Format
	sparse     bool
	maxEntries int // a sparse block ends when it has this number of entries

	cutter cutter
	team   *team  // parses the chunks in parallel; nil for a single chunk or a single core
	spare  *chunk // chunk to reuse for the next text, if team is nil
	now    *chunk // chunk whose rows are being delivered, or nil
	next   int    // index in now.rows of the next row to deliver
	begun  bool   // a row was delivered
	line   int    // number of lines before now
	tail   int    // bytes of text between the last delivered row and now
}

// Options are the options of New.
type Options struct {
	// Entries is the number of entries at which a block of sparse rows ends. If it is 0, the rows are dense.
	Entries int
	// EmptyRows is true if an empty line is a record. Empty lines at the end of the file are no records in any
	// case.
	EmptyRows bool
	// Size is the number of bytes of a chunk, which a long record may exceed. 0 selects the default.
	Size int
}

// New returns a Reader of the records of file, beginning with the first line that was not read yet.
func New(file *rawfile.File, format Format, opts Options) *Reader {
	return &Reader{
		file:       file,
		format:     format,
		sparse:     opts.Entries > 0,
		maxEntries: opts.Entries,
		cutter: cutter{
			file:      file,
			quotes:    format.Quotes(),
			emptyRows: opts.EmptyRows,
			size:      cmp.Or(opts.Size, chunkSize),
		},
		line: file.Line,
	}
}

// Stamp returns the stamp of the file.
func (r *Reader) Stamp() dataset.Stamp { return r.file.Stamp() }

// Unchanged implements [dataset.Witness].
func (r *Reader) Unchanged() error { return r.file.Unchanged() }

// Close stops all goroutines of the Reader, waits until they have ended, and closes the file.
func (r *Reader) Close() error {
	r.Stop()
	if r.team != nil {
		r.team.close()
	}
	return r.file.Close()
}

// Stop implements [dataset.Stopper].
func (r *Reader) Stop() { r.file.Stop() }

// Read implements [dataset.Reader]. If the file is a pipe with the option Prompt, a block ends at the end of a
// chunk. So its rows need not wait for more data.
func (r *Reader) Read(b *dataset.Buffer, rows int) error {
	for b.N < rows && (!r.sparse || len(b.CSR.Val) < r.maxEntries) {
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
		if r.now.err != nil && b.N > 0 { // the rows before the error come first; the next call returns the error
			return nil
		}
		if r.now.err != nil {
			return r.place(r.now.err)
		}
		r.drop()
		if b.N > 0 && r.file.Prompt() {
			return nil
		}
	}
	return nil
}

// place changes the line number in an error from the number in the current chunk to the number in the file.
func (r *Reader) place(err error) error {
	if e, ok := errors.AsType[*dataset.InputError](err); ok && e.Line > 0 {
		moved := *e
		moved.Line += r.line
		if r.begun {
			moved.Texts = nil // columns that hold only texts are listed at the first row
		}
		err = &moved
	}
	return r.file.Place(err)
}

// advance takes the next parsed chunk as the current chunk. It returns false if there are no more chunks.
func (r *Reader) advance() bool {
	r.now = r.parsed()
	if r.now == nil {
		return false
	}
	r.next = 0
	if err := r.now.checkLength(r.format, r.tail); err != nil {
		r.now.rows.Reset()
		r.now.err = err
	}
	return true
}

// parsed returns the next parsed chunk, or nil at the end of the file. The team of goroutines parses the chunks.
// The first chunk, and all chunks if there is no team, are parsed by the calling goroutine.
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
	if cores := min(runtime.GOMAXPROCS(0), maxWorkers); cores > 1 && !r.cutter.ended {
		r.team = newTeam(&r.cutter, r.format, cores, r.sparse)
	}
	c.parse(r.format)
	return c
}

// drop gives the current chunk back for reuse, after all its rows were delivered.
func (r *Reader) drop() {
	c := r.now
	r.line += c.lines.line
	if c.rows.N > 0 {
		r.tail = 0
	}
	r.tail += c.tail
	r.now = nil
	if r.team != nil {
		r.team.free <- c
	} else {
		r.spare = c
	}
}

// maxReserved limits the numbers that grow allocates in advance.
const maxReserved = 1 << 19

// grow returns s with space for n more numbers. If the file has several chunks, it makes space for a whole block.
// So s need not grow again for each chunk.
func (r *Reader) grow(s []float64, n, blockSize int) []float64 {
	if len(s)+n > cap(s) && (r.team != nil || !r.cutter.ended) {
		n = max(n, min(blockSize, maxReserved)-len(s))
	}
	return slices.Grow(s, n)
}

// deliver appends rows of the current chunk to the block b, until b has the given number of rows or the chunk ends.
func (r *Reader) deliver(b *dataset.Buffer, rows int) {
	from := &r.now.rows
	lo := r.next
	hi := min(from.N, r.next+rows-b.N)
	if r.sparse {
		hi = r.sparseRows(b, lo, hi)
	} else {
		d := len(from.X) / from.N
		b.X = append(r.grow(b.X, (hi-lo)*d, rows*d), from.X[lo*d:hi*d]...)
		b.N += hi - lo
	}
	t := len(from.Y) / from.N
	b.Y = append(b.Y, from.Y[lo*t:hi*t]...)
	r.next, r.begun = hi, true
}

// sparseRows appends the rows lo to hi−1 of the current chunk to the block b. It stops when b has its maximum
// number of entries, and returns the index of the first row that was not appended.
func (r *Reader) sparseRows(b *dataset.Buffer, lo, hi int) int {
	ptr := r.now.rows.CSR.RowPtr
	shift := len(b.CSR.Val) - ptr[lo]
	end := lo
	for end < hi && ptr[end]+shift < r.maxEntries {
		end++
		b.CSR.RowPtr = append(b.CSR.RowPtr, ptr[end]+shift)
	}
	b.CSR.ColIdx = append(b.CSR.ColIdx, r.now.rows.CSR.ColIdx[ptr[lo]:ptr[end]]...)
	b.CSR.Val = append(b.CSR.Val, r.now.rows.CSR.Val[ptr[lo]:ptr[end]]...)
	b.N += end - lo
	return end
}

package dataset

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync/atomic"

	"github.com/fdridge/fdridge/internal/excerpt"
)

// EncodeOptions say how rows are encoded.
type EncodeOptions struct {
	// Cells are those that the rows were read by; nil: they were not, and each number in a categorical
	// column is a level.
	Cells *Cells
	// IgnoreUnknown makes the columns of a categorical column zero where its level is none that
	// was learnt, as scikit-learn's OneHotEncoder(handle_unknown="ignore"); otherwise such a level
	// is an *[InputError].
	IgnoreUnknown bool
	// KeepIncomplete says that rows are not left out where values are missing: of MissingDrop they
	// come with zeros for these, and Incomplete, if not nil, is told their numbers, in order, before
	// the block they are in.
	KeepIncomplete bool
	Incomplete     func(row int64)
	// Tally, if not nil, counts.
	Tally *Tally
}

// sparseFrom is how many columns, for each that comes, make sparse rows pay: of 200,000 rows with one
// categorical column and three of numbers, cg and exact took longer by sparse rows with 32 columns,
// about as long with 64, and less with 128 and more.
const sparseFrom = 16

// Apply returns src encoded. Rows are sparse where an entry in sparseFrom or fewer can differ from
// zero: then the work of a pass is that of these. Rows of another number of columns are [ErrShape],
// and so is an encoding that was not learnt.
func (e *Encoding) Apply(src Source, o EncodeOptions) (Source, error) {
	if err := e.fits(src); err != nil {
		return nil, err
	}
	if err := e.Valid(); err != nil {
		return nil, unfit("an encoding that rows cannot be encoded by: %v", err)
	}
	lexicons, err := e.lexicons(o.Cells)
	if err != nil {
		return nil, err
	}
	if o.Tally == nil {
		o.Tally = new(Tally)
	}
	if e.Missing == MissingDrop && !o.KeepIncomplete {
		src = &whole{src: src, tally: o.Tally}
	}
	if len(e.Categories) == 0 && (e.Missing == RefuseMissing || e.Missing == MissingDrop && !o.KeepIncomplete) {
		return src, nil
	}
	width := e.Width()
	rows := SparseRows
	sparse := e.sparse()
	if !sparse {
		if rows, err = denseRows(width); err != nil {
			return nil, err
		}
	}
	return &transformed{src: src, name: UnnamedRows, d: width, rows: rows, start: func() (applier, func()) {
		return newEncoder(e, lexicons, o, sparse).apply, func() {}
	}}, nil
}

// sparse says whether rows are made sparse.
func (e *Encoding) sparse() bool { return len(e.Categories) > 0 && e.Width() >= sparseFrom*e.Inputs }

// An encoder encodes the rows of one pass.
type encoder struct {
	*Encoding
	lexicons []*Lexicon // nil: columns have numbers
	o        EncodeOptions
	sparse   bool
	to       []int            // where the columns begin that are made of each column
	of       []int            // category of each column, -1: numbers
	levels   []map[string]int // of each category
	byCode   [][]int          // levels of its codes; of those that were not learnt unmet or met
	byNum    []map[float64]int
	most     int // numbers that byNum keeps of a category, beside its levels
}

// What stands for a level that was not learnt: whether the tally has it.
const (
	unmet = -1
	met   = -2
)

func newEncoder(e *Encoding, lexicons []*Lexicon, o EncodeOptions, sparse bool) *encoder {
	c := &encoder{Encoding: e, lexicons: lexicons, o: o, sparse: sparse, of: e.categoryOf(), byCode: make([][]int, len(e.Categories)), most: mostLevels}
	at := 0
	for _, i := range c.of {
		c.to = append(c.to, at)
		if i >= 0 {
			at += len(e.Categories[i].Levels)
		} else {
			at++
		}
	}
	for i := range e.Categories {
		levels := map[string]int{}
		for k, level := range e.Categories[i].Levels {
			levels[level] = k
		}
		c.levels, c.byNum = append(c.levels, levels), append(c.byNum, map[float64]int{})
	}
	return c
}

// apply appends the rows of b.
func (c *encoder) apply(b Block, out *Buffer) (finite bool, err error) {
	if b.Sparse != nil {
		return false, unfit("sparse rows have neither missing values nor categories")
	}
	var did tally
	defer func() {
		c.o.Tally.Filled.Add(did.filled)
		c.o.Tally.Unknown.Add(did.unknown)
	}()
	d := c.Inputs
	out.Sparse = c.sparse
	for i := range b.N {
		row, to := b.X[i*d:(i+1)*d], []float64(nil)
		if !c.sparse {
			to = out.extend(c.width())
			clear(to)
		}
		if c.Missing == MissingDrop && !complete(b, i, d) { // it is not predicted for
			if c.o.Incomplete != nil {
				c.o.Incomplete(b.First + int64(i))
			}
			row = nil
		}
		if err := c.row(row, to, out, b.First+int64(i), &did); err != nil {
			return false, err
		}
		if c.sparse {
			out.CSR.RowPtr = append(out.CSR.RowPtr, len(out.CSR.Val))
		}
	}
	return false, nil
}

// tally is what was done to the rows of a block.
type tally struct{ filled, unknown int64 }

// row writes what is made of a row to zeros or, where these are nil, as entries of out.
func (c *encoder) row(row, to []float64, out *Buffer, number int64, did *tally) error {
	for j, x := range row {
		at := c.to[j]
		switch k := c.of[j]; {
		case k >= 0:
			level := c.level(k, x)
			if level < 0 {
				if did.unknown++; !c.o.IgnoreUnknown {
					return c.unknown(k, x, number)
				}
				c.note(k, x)
				continue
			}
			at, x = at+level, 1
		case x != x && c.Missing != MissingMean:
			return nonFinite(UnnamedRows, number, j, x)
		case x != x:
			did.filled++
			x = c.Means[j]
		}
		if to != nil {
			to[at] = x
		} else if x != 0 {
			out.CSR.ColIdx, out.CSR.Val = append(out.CSR.ColIdx, int32(at)), append(out.CSR.Val, x)
		}
	}
	return nil
}

// width is that of the rows that are made.
func (c *encoder) width() int {
	last := len(c.of) - 1
	if k := c.of[last]; k >= 0 {
		return c.to[last] + len(c.Categories[k].Levels)
	}
	return c.to[last] + 1
}

// level is the level of value x of category k, below 0 for one that was not learnt.
func (c *encoder) level(k int, x float64) int {
	if x != x {
		if level, ok := c.levels[k][""]; ok {
			return level
		}
		return unmet
	}
	if c.lexicons == nil {
		level, ok := c.byNum[k][x]
		if !ok {
			level = c.find(k, numberText(x))
			if level >= 0 || len(c.byNum[k]) < c.most { // numbers that were not learnt have no end
				c.byNum[k][x] = level
			}
		}
		return level
	}
	code := int(x)
	if code >= len(c.byCode[k]) {
		for _, text := range c.lexicons[k].textsFrom(len(c.byCode[k])) {
			c.byCode[k] = append(c.byCode[k], c.find(k, text))
		}
	}
	return c.byCode[k][code]
}

func (c *encoder) find(k int, text string) int {
	if level, ok := c.levels[k][text]; ok {
		return level
	}
	return unmet
}

// note tells the tally, once, that value x of category k is a level that was not learnt.
func (c *encoder) note(k int, x float64) {
	if x != x {
		c.o.Tally.meet(k, "")
		return
	}
	if c.lexicons == nil {
		level, kept := c.byNum[k][x]
		if level != met {
			c.o.Tally.meet(k, numberText(x))
		}
		if kept {
			c.byNum[k][x] = met
		}
		return
	}
	if level := &c.byCode[k][int(x)]; *level != met {
		c.o.Tally.meet(k, c.lexicons[k].textsFrom(int(x))[0])
		*level = met
	}
}

// unknown reports a level that was not learnt, in a row from 0.
func (c *encoder) unknown(k int, x float64, row int64) error {
	what := "a missing value"
	switch {
	case x != x:
	case c.lexicons == nil:
		what = "the level " + numberText(x)
	default:
		what = fmt.Sprintf("the level %q", excerpt.Of(c.lexicons[k].textsFrom(int(x))[0]))
	}
	err := c.fail(k, "row %d has %s, which is none of the %d levels that were learnt", row+1, what, len(c.Categories[k].Levels))
	err.unknownLevel = true
	return err
}

// complete reports whether row i of a dense block has no missing value.
func complete(b Block, i, d int) bool {
	t := len(b.Y) / max(b.N, 1)
	return !hasNaN(b.X[i*d:(i+1)*d]) && !hasNaN(b.Y[i*t:(i+1)*t]) && (b.W == nil || !math.IsNaN(b.W[i]))
}

func hasNaN(row []float64) bool {
	for _, x := range row {
		if x != x {
			return true
		}
	}
	return false
}

// whole leaves out rows with missing values.
type whole struct {
	src   Source
	tally *Tally
	n     atomic.Int64 // rows, one more than counted; 0: not counted yet
}

func (s *whole) Dims() (n int64, d, t int) {
	_, d, t = s.src.Dims()
	return s.n.Load() - 1, d, t
}

// Once is that of the function of that name.
func (s *whole) Once() bool { return Once(s.src) }

func (s *whole) Blocks(ctx context.Context) iter.Seq2[Block, error] {
	return func(yield func(Block, error) bool) {
		_, d, t := s.src.Dims()
		var out Buffer
		var given, dropped int64
		for b, err := range s.src.Blocks(ctx) {
			if err != nil {
				yield(Block{}, err)
				return
			}
			if b.Sparse != nil {
				yield(Block{}, unfit("sparse rows have no missing values"))
				return
			}
			out.Reset()
			for i := range b.N {
				if complete(b, i, d) {
					out.AppendRow(b, i, d, t)
				}
			}
			dropped += int64(b.N - out.N)
			switch out.N {
			case 0:
				continue
			case b.N:
				b.First = given
			default:
				b = out.Block(given, d)
			}
			given += int64(b.N)
			if !yield(b, nil) {
				return
			}
		}
		if s.n.Swap(given+1) == 0 {
			s.tally.Dropped.Add(dropped)
		}
	}
}

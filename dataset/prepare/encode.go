package prepare

import (
	"fmt"
	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"slices"
	"sync/atomic"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/parallel"
)

// EncodeOptions are the options of [Encoding.Apply].
type EncodeOptions struct {
	// Cells must be the value that was passed to the reader of the rows. It is nil if the rows were read without
	// Cells. Each different number in a categorical column is then a level.
	Cells *Cells
	// IgnoreUnknown encodes an unknown level (category) as zeros, like scikit-learn's
	// OneHotEncoder(handle_unknown="ignore"). Otherwise an unknown level is an *[dataset.InputError].
	IgnoreUnknown bool
	// KeepIncomplete keeps each row that the policy MissingDrop would leave out, as a row of zeros. Incomplete, if
	// not nil, is called with the number of each such row, in order. The call comes before the block with the row
	// is yielded.
	KeepIncomplete bool
	Incomplete     func(row int64)
	// LeftOut, if not nil, is called in each pass with the number of each row that the policy MissingDrop leaves out,
	// in order. Rows count from 0.
	LeftOut func(row int64)
	// Tally, if not nil, counts the values that were filled in, the rows left out, the unknown levels and the cells
	// of a wrong type.
	Tally *Tally
	// Text states how numbers and missing values are written in the texts that a [RowEncoder] reads.
	Text Text
}

// Apply returns a source of the encoded rows of src. The encoded rows are sparse if there is a categorical column
// and at least 16 features per column of src. Apply returns [dataset.ErrShape] if the number of columns of src is
// wrong, or if the encoding is not complete.
func (e *Encoding) Apply(src dataset.Source, o EncodeOptions) (dataset.Source, error) {
	if err := e.checkWidth(src); err != nil {
		return nil, err
	}
	if err := e.Valid(); err != nil {
		return nil, newSourceError("the encoding is not complete: %v", err)
	}
	lexicons, err := e.lexicons(o.Cells)
	if err != nil {
		return nil, err
	}
	if o.Tally == nil {
		o.Tally = new(Tally)
	}
	drop := e.dropper()
	if drop != nil && !o.KeepIncomplete {
		keep := func(b *dataset.Block, i int) bool {
			leftOut := drop.drops(*b, i, e.Inputs, true)
			if leftOut && o.LeftOut != nil {
				o.LeftOut(b.First + int64(i))
			}
			return !leftOut
		}
		src = dataset.Filter(src, keep, func(leftOut int64) {
			o.Tally.Dropped.Add(leftOut)
		})
	}
	if e.Columns == nil &&
		len(e.Categories) == 0 &&
		(e.Missing == RefuseMissing || e.Missing == MissingDrop && !o.KeepIncomplete) {
		return src, nil
	}
	width := e.Width()
	rows := dataset.SparseRows
	sparse := e.usesSparse()
	if !sparse {
		tuning, err := engine.DefaultTuning()
		if err != nil {
			return nil, err
		}
		rows = tuning.GradientRows(width)
	}
	var counted atomic.Int64 // number of rows in the tally, from the first row on
	return dataset.Transform(src, UnnamedRows, width, rows, func() func(dataset.Block, *dataset.Buffer) error {
		c := newEncoder(e, lexicons, o, sparse)
		again := new(Tally)
		return func(b dataset.Block, out *dataset.Buffer) error {
			c.o.Tally = again
			if b.First >= counted.Load() {
				c.o.Tally = o.Tally
				counted.Store(b.First + int64(b.N))
			}
			return c.apply(b, out)
		}
	}), nil
}

// An encoder encodes the rows of one pass.
type encoder struct {
	*Encoding
	lexicons []*Lexicon // nil if categorical columns hold numbers
	o        EncodeOptions
	sparse   bool
	columns  []encodedColumn
	made     int // number of features
	most     int // limit on the number of entries of each byNumber map
	drops    *dropper
}

type encodedColumn struct {
	*Column
	at       int            // position of its first feature
	levels   map[string]int // index of each level
	byCode   []int32        // index of the level with each code, or unknownNew or unknownCounted; accessed atomically
	byNumber map[float64]int
}

// These stand for the index of a level that the encoding does not know.
const (
	unknownNew     = -1 // not counted in the Tally yet
	unknownCounted = -2 // counted in the Tally
)

func newEncoder(e *Encoding, lexicons []*Lexicon, o EncodeOptions, sparse bool) *encoder {
	c := &encoder{
		Encoding: e,
		lexicons: lexicons,
		o:        o,
		sparse:   sparse,
		most:     maxLevels,
		drops:    e.dropper(),
	}
	c.columns = make([]encodedColumn, 0, e.Inputs)
	for _, of := range e.read() {
		k := encodedColumn{Column: of, at: c.made}
		if of.Use == UseLevels {
			k.levels = make(map[string]int, len(of.Levels))
			k.byNumber = map[float64]int{}
			for i, level := range of.Levels {
				k.levels[level] = i
			}
		}
		c.columns = append(c.columns, k)
		c.made += of.Width()
	}
	return c
}

func (c *encoder) apply(b dataset.Block, out *dataset.Buffer) error {
	if b.Sparse != nil {
		return newSourceError("sparse rows have neither missing values nor categories")
	}
	out.Sparse = c.sparse
	if !c.sparse {
		out.X = slices.Grow(out.X, b.N*c.made)[:b.N*c.made]
	}
	for j := range c.columns {
		if k := &c.columns[j]; k.Use == UseLevels && c.lexicons != nil {
			for _, text := range c.lexicons[j].textsFrom(len(k.byCode)) {
				k.byCode = append(k.byCode, int32(k.find(text)))
			}
		}
	}
	// Use a single goroutine to append sparse rows, to fill the maps byNumber, or to call Incomplete in order.
	if c.sparse || c.lexicons == nil || c.drops != nil && c.o.Incomplete != nil {
		return c.rows(b, 0, b.N, out)
	}
	return parallel.Do(64, len(out.X), func(i int) error {
		return c.rows(
			b,
			b.N*i/64,
			b.N*(i+1)/64,
			out,
		)
	})
}

// rows encodes rows lo to hi−1 of a block.
func (c *encoder) rows(b dataset.Block, lo, hi int, out *dataset.Buffer) error {
	to := encodedRow{out: out}
	defer func() {
		c.o.Tally.Filled.Add(to.filled)
		c.o.Tally.Unknown.Add(to.unknown)
		c.o.Tally.Foreign.Add(to.foreign)
	}()
	d := c.Inputs
	for i := lo; i < hi; i++ {
		row := b.X[i*d : (i+1)*d]
		if !c.sparse {
			to.dense = out.X[i*c.made : (i+1)*c.made]
			clear(to.dense)
		}
		if c.drops.drops(b, i, d, c.Columns == nil) { // the encoded row stays zero
			if c.o.Incomplete != nil {
				c.o.Incomplete(b.First + int64(i))
			}
			row = nil
		}
		if err := c.row(row, &to, b.First+int64(i)); err != nil {
			return err
		}
		if c.sparse {
			out.CSR.RowPtr = append(out.CSR.RowPtr, len(out.CSR.Val))
		}
	}
	return nil
}

// An encodedRow takes the features of a row, and counts what the Tally will add up.
type encodedRow struct {
	dense                    []float64 // a row of zeros to write to; if nil, entries are appended to out
	out                      *dataset.Buffer
	filled, unknown, foreign int64
}

func (r *encodedRow) put(at int, x float64) {
	if r.dense != nil {
		r.dense[at] = x
	} else if x != 0 {
		r.out.CSR.ColIdx = append(r.out.CSR.ColIdx, int32(at))
		r.out.CSR.Val = append(r.out.CSR.Val, x)
	}
}

func (c *encoder) row(row []float64, to *encodedRow, number int64) error {
	for j, x := range row {
		k := &c.columns[j]
		if k.Use == UseLevels {
			level := c.level(j, x)
			if level < 0 {
				to.unknown++
				if !c.o.IgnoreUnknown && !c.Lenient && !k.Other {
					return c.unknownLevelError(j, x, number)
				}
				c.tallyUnknown(j, x)
				if !k.Other {
					continue
				}
				level = len(k.Levels)
			}
			to.put(k.at+level, 1)
			continue
		}
		if k.Use == UseOmit {
			continue
		}
		if x != x {
			if !k.Missing.fills() {
				return newNonFiniteError(UnnamedRows, number, j, x)
			}
			to.filled++
			if isForeign(x) {
				to.foreign++
			}
		}
		k.put(to, x)
	}
	return nil
}

// put writes the features of the value x, which is a number or a date. If x is NaN, it writes the features of the
// value that replaces a missing one.
func (k *encodedColumn) put(to *encodedRow, x float64) {
	at := k.at
	if k.Use == UseNumber {
		v := x
		if x != x {
			v = k.Fill
		}
		to.put(at, v)
		at++
	}
	for i := range k.Parts {
		p := &k.Parts[i]
		v := p.Fill
		if x == x {
			v = p.Part.of(x)
		}
		if p.Part.isNumber() {
			to.put(at, v)
		} else if place := slices.Index(p.Values, int(v)); place >= 0 && x == x {
			to.put(at+place, 1)
		}
		at += p.width()
	}
	if k.Indicator && x != x {
		to.put(at, 1)
	}
}

// level returns the index of the level that the number x stands for in column j. If the encoding does not know the
// level, the result is negative.
func (c *encoder) level(j int, x float64) int {
	k := &c.columns[j]
	if x != x {
		if level, ok := k.levels[k.FillLevel]; ok && !isForeign(x) {
			return level
		}
		return unknownNew
	}
	if c.lexicons == nil {
		level, ok := k.byNumber[x]
		if !ok {
			level = k.find(numberText(x))
			// Do not store every unknown level, because their number has no limit.
			if level >= 0 || len(k.byNumber) < c.most {
				k.byNumber[x] = level
			}
		}
		return level
	}
	return int(atomic.LoadInt32(&k.byCode[int(x)]))
}

func (k *encodedColumn) find(text string) int {
	if level, ok := k.levels[text]; ok {
		return level
	}
	return unknownNew
}

func (c *encoder) tallyUnknown(j int, x float64) {
	k := &c.columns[j]
	if x != x {
		c.o.Tally.addUnknown(j, "")
		return
	}
	if c.lexicons == nil {
		level, kept := k.byNumber[x]
		if level != unknownCounted {
			c.o.Tally.addUnknown(j, numberText(x))
		}
		if kept {
			k.byNumber[x] = unknownCounted
		}
		return
	}
	if atomic.SwapInt32(&k.byCode[int(x)], unknownCounted) != unknownCounted {
		c.o.Tally.addUnknown(j, c.lexicons[j].textsFrom(int(x))[0])
	}
}

func (c *encoder) unknownLevelError(j int, x float64, row int64) error {
	what := "a missing value"
	switch {
	case x != x:
	case c.lexicons == nil:
		what = "the level " + numberText(x)
	default:
		what = fmt.Sprintf("the level %q", errtext.Excerpt(c.lexicons[j].textsFrom(int(x))[0]))
	}
	msg := fmt.Sprintf(
		"column %s has %s, which is not among the %d levels learnt from the training rows",
		errtext.Excerpt(c.name(j)),
		what,
		len(c.columns[j].Levels),
	)
	err := &dataset.InputError{
		File:         UnnamedRows,
		Row:          row + 1,
		Msg:          msg,
		UnknownLevel: true,
	}
	return err
}

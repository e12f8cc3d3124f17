package dataset

import (
	"bytes"
	"context"
	"encoding/gob"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/internal/background"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A Link sends bytes between shares of the rows, as a dist.Transport does: Broadcast returns, on
// every share, what the root has given.
type Link interface {
	Broadcast(ctx context.Context, root int, b []byte) ([]byte, error)
}

// LearnOptions say which rows an encoding is learnt from.
type LearnOptions struct {
	// Held, if not nil, tells the rows that are held out, by their number in the source from 0. They
	// do not count for means. Their levels are levels all the same: a column that is zero in all
	// training rows gets no weight.
	Held func(row int64) bool
	// Cells are those that the rows were read by; nil: they were not, and each number in a categorical
	// column is a level.
	Cells *Cells
	// Share says which of the rows the source has, and Link connects it to those with the others.
	// The zero values are all rows.
	Share Share
	Link  Link
}

// A Learnt says what a pass has seen.
type Learnt struct {
	Rows    int64   // read
	Missing []int64 // values of each column that are missing, in rows that are not left out
	Dropped int64   // rows that are left out
}

// Learn makes a pass over rows, as they come, for the levels of categorical columns and the means of
// the others: of a column without its missing values, Σwx/Σw over the training rows that have it, of
// weight w. Every share makes this call, and all come to the same bits.
//
// A column that has to have a mean and no value to take it of, and more than 2²⁰ levels, are an
// *[InputError]; sparse rows are [ErrShape].
func (e *Encoding) Learn(ctx context.Context, src Source, o LearnOptions) (*Learnt, error) {
	ctx = background.IfNil(ctx)
	if err := e.fits(src); err != nil {
		return nil, err
	}
	l, err := newLearner(e, o.Cells)
	if err != nil {
		return nil, err
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, unfit("sparse rows have neither missing values nor categories")
		}
		if err := l.add(b, o.Held); err != nil {
			return nil, err
		}
	}
	seen, err := l.seen()
	if err != nil {
		return nil, err
	}
	if o.Link != nil && !o.Share.Whole() {
		if seen, err = seen.pool(ctx, o.Share, o.Link); err != nil {
			return nil, err
		}
	}
	return e.take(seen)
}

// fits refuses rows of another number of columns.
func (e *Encoding) fits(src Source) error {
	if err := noSource(src); err != nil {
		return err
	}
	if _, d, _ := src.Dims(); d != e.Inputs {
		return mismatched("rows of %d columns, the encoding is of %d", d, e.Inputs)
	}
	return nil
}

// A learner goes over the rows of one share.
type learner struct {
	*Encoding
	category []int // of each column, -1: numbers
	counts   Learnt
	trained  int64     // rows that means are taken of
	weight   []float64 // of the values of each column
	mean     []float64
	lexicons []*Lexicon         // nil: columns have numbers
	codes    [][]bool           // of each category, those that were seen, where columns have codes
	numbers  []map[float64]bool // of each category, where they have numbers
	gaps     []bool             // of each category: a value is missing
}

func newLearner(e *Encoding, cells *Cells) (*learner, error) {
	lexicons, err := e.lexicons(cells)
	if err != nil {
		return nil, err
	}
	l := &learner{Encoding: e, lexicons: lexicons, category: e.categoryOf(), codes: make([][]bool, len(e.Categories)), gaps: make([]bool, len(e.Categories))}
	l.counts.Missing = make([]int64, e.Inputs)
	l.weight, l.mean = make([]float64, e.Inputs), make([]float64, e.Inputs)
	for range e.Categories {
		l.numbers = append(l.numbers, map[float64]bool{})
	}
	return l, nil
}

// categoryOf is, for each column, its place among the categories, -1 for numbers.
func (e *Encoding) categoryOf() []int {
	out := make([]int, e.Inputs)
	for j := range out {
		out[j] = -1
	}
	for i := range e.Categories {
		out[e.Categories[i].Column] = i
	}
	return out
}

func (l *learner) add(b Block, held func(int64) bool) error {
	d := l.Inputs
	for i := range b.N {
		row := b.X[i*d : (i+1)*d]
		if l.Missing == MissingDrop && !complete(b, i, d) {
			l.counts.Dropped++
			continue
		}
		w := b.Weight(i)
		if held != nil && held(l.counts.Rows+int64(i)) {
			w = 0
		}
		if w > 0 {
			l.trained++
		}
		for j, x := range row {
			if x != x {
				l.counts.Missing[j]++
			}
			switch c := l.category[j]; {
			case c >= 0 && x != x:
				l.gaps[c] = true
			case c >= 0:
				if err := l.see(c, x); err != nil {
					return err
				}
			case x == x && w > 0:
				l.weight[j] += w
				l.mean[j] += (x - l.mean[j]) * (w / l.weight[j])
			}
		}
	}
	l.counts.Rows += int64(b.N)
	return nil
}

// see takes note of the value x of category c.
func (l *learner) see(c int, x float64) error {
	if l.lexicons == nil {
		if l.numbers[c][x] = true; len(l.numbers[c]) > mostLevels {
			return l.fail(c, "more than %d levels", mostLevels)
		}
		return nil
	}
	code := int(x)
	if code >= len(l.codes[c]) {
		l.codes[c] = append(l.codes[c], make([]bool, code+1-len(l.codes[c]))...)
	}
	l.codes[c][code] = true
	return nil
}

// fail is an error of category c.
func (e *Encoding) fail(c int, format string, args ...any) *InputError {
	return &InputError{File: UnnamedRows, Msg: "column " + excerpt.Of(e.name(e.Categories[c].Column)) + ": " + fmt.Sprintf(format, args...)}
}

// UnnamedRows is what an [Encoding] calls the file of rows in errors: it does not know it.
const UnnamedRows = "rows"

// seen is what a share has seen, as it is sent to the others.
type seen struct {
	Counts       Learnt
	Trained      int64 // rows that means are taken of
	Weight, Mean []float64
	Levels       [][]string // of each category, in any order; "" is a missing value
}

func (l *learner) seen() (*seen, error) {
	out := &seen{Counts: l.counts, Trained: l.trained, Weight: l.weight, Mean: l.mean, Levels: make([][]string, len(l.Categories))}
	for c := range l.Categories {
		var levels []string
		for x := range l.numbers[c] {
			levels = append(levels, numberText(x))
		}
		if l.lexicons != nil {
			texts := l.lexicons[c].textsFrom(0)
			for code, is := range l.codes[c] {
				if is {
					levels = append(levels, texts[code])
				}
			}
		}
		if l.gaps[c] {
			levels = append(levels, "")
		}
		out.Levels[c] = levels
	}
	return out, nil
}

// pool joins what all shares have seen, in their order. Means join as those of [moments] do: a
// constant column has its constant.
func (s *seen) pool(ctx context.Context, share Share, link Link) (*seen, error) {
	var own bytes.Buffer
	if err := gob.NewEncoder(&own).Encode(s); err != nil {
		return nil, err
	}
	d := len(s.Mean)
	all := &seen{Counts: Learnt{Missing: make([]int64, d)}, Weight: make([]float64, d), Mean: make([]float64, d), Levels: make([][]string, len(s.Levels))}
	for root := range share.Size {
		b, err := link.Broadcast(ctx, root, own.Bytes())
		if err != nil {
			return nil, err
		}
		var of seen
		if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&of); err != nil {
			return nil, err
		}
		if len(of.Mean) != d || len(of.Weight) != d || len(of.Counts.Missing) != d || len(of.Levels) != len(s.Levels) {
			return nil, mismatched("share %d has %d columns, another %d", root, len(of.Mean), d)
		}
		all.Counts.Rows += of.Counts.Rows
		all.Counts.Dropped += of.Counts.Dropped
		all.Trained += of.Trained
		for j := range d {
			all.Counts.Missing[j] += of.Counts.Missing[j]
			if of.Weight[j] > 0 {
				all.Weight[j] += of.Weight[j]
				all.Mean[j] += (of.Mean[j] - all.Mean[j]) * (of.Weight[j] / all.Weight[j])
			}
		}
		for c := range of.Levels {
			all.Levels[c] = append(all.Levels[c], of.Levels[c]...)
		}
	}
	return all, nil
}

// take completes the encoding by what was seen.
func (e *Encoding) take(s *seen) (*Learnt, error) {
	switch rows := s.Counts.Rows; {
	case rows == 0:
		return nil, unfit("there are no rows to learn columns from")
	case rows == s.Counts.Dropped:
		return nil, unfit("all %d rows have missing values, none is left to learn columns from", rows)
	case s.Trained == 0 && e.Missing == MissingMean:
		return nil, unfit("none of %d rows is left to take means of: all are held out, or have no weight", rows)
	}
	for c := range e.Categories {
		e.Categories[c].Levels = ordered(s.Levels[c])
		if n := len(e.Categories[c].Levels); n > mostLevels {
			return nil, e.fail(c, "more than %d levels", mostLevels)
		}
	}
	if e.Missing == MissingMean {
		category := e.categoryOf()
		for j, w := range s.Weight {
			if category[j] < 0 && !(w > 0) {
				return nil, &InputError{File: UnnamedRows, Omittable: true, Hint: "leave the column out", Msg: fmt.Sprintf("column %s has no value in any training row, to take the mean of", excerpt.Of(e.name(j)))}
			}
			if !isFinite(s.Mean[j]) {
				return nil, &InputError{File: UnnamedRows, NonFinite: true, Msg: fmt.Sprintf("the mean of column %s exceeds the range of float64", excerpt.Of(e.name(j)))}
			}
		}
		e.Means = s.Mean
	}
	if e.Width() > math.MaxInt32 {
		return nil, unfit("%d columns", e.Width())
	}
	return &s.Counts, nil
}

// fewLevels are levels that no column is doubted for.
const fewLevels = 1000

// Doubtful are the places, among the categories, of those that are hardly categories of the rows that
// were learnt from: they have more than 1000 levels, and more than one for every two rows, as numbers
// and names of rows do. Nothing is learnt of a level that one row has, and its column costs as much as
// any.
func (e *Encoding) Doubtful(l *Learnt) []int {
	var out []int
	for c := range e.Categories {
		if n := int64(len(e.Categories[c].Levels)); n > fewLevels && 2*n > l.Rows-l.Dropped {
			out = append(out, c)
		}
	}
	return out
}

// ordered sorts levels, each of which it keeps once: by their numbers where all are numbers, else by
// their bytes, and a missing value last.
func ordered(levels []string) []string {
	slices.Sort(levels)
	levels = slices.Compact(levels)
	gap := len(levels) > 0 && levels[0] == ""
	if gap {
		levels = levels[1:]
	}
	value := make(map[string]float64, len(levels))
	for _, level := range levels {
		v, err := strconv.ParseFloat(level, 64)
		if err != nil || !isFinite(v) {
			value = nil
			break
		}
		value[level] = v
	}
	if value != nil {
		slices.SortStableFunc(levels, func(a, b string) int {
			if value[a] < value[b] {
				return -1
			}
			if value[a] > value[b] {
				return 1
			}
			return 0
		})
	}
	if gap {
		levels = append(slices.Clip(levels), "")
	}
	return slices.Clone(levels)
}

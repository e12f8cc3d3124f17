package prepare

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
)

// LookOptions are the options of [Look].
type LookOptions struct {
	LearnOptions          // Cells must have Look set, or be nil for rows in memory, which have NaN for missing values
	Names        []string // names of the features, or nil; ignored if two are equal
	Rules
}

// Look makes one pass over rows that are not encoded yet, applies o.Rules to decide which features each column
// becomes, and returns the complete encoding. It keeps at most 65,536 different values of a column, or fewer if the
// table has more than 32 columns.
//
// Means, deviations, medians and the numbers of rows with each level are computed from the training rows. The weight
// of a row counts in the means and deviations. A median is exact if the column has at most 65,536 different values.
// Otherwise the values are rounded to 11 bits, which changes them by at most 0.05 %.
//
// If the rows are divided, every process must call Look, and all get the same encoding. If the rules do not cover the
// table, the error is an *[dataset.InputError].
func Look(ctx context.Context, src dataset.Source, o LookOptions) (*Encoding, *Learnt, error) {
	if src == nil {
		return nil, nil, newSourceError("the source of rows is nil")
	}
	_, d, _ := src.Dims()
	if o.Names != nil && len(o.Names) != d {
		return nil, nil, newDimensionError("%d names for %d columns", len(o.Names), d)
	}
	if !distinct(o.Names) {
		o.Names = nil
	}
	if err := o.checkNames(o.Names); err != nil {
		return nil, nil, err
	}
	l := newCollector(d, &o)
	l.useRules()
	stats, err := l.read(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	if l.useUnits(stats) {
		l = newCollector(d, &o)
		l.useRules()
		stats, err = l.read(ctx, src)
		if err != nil {
			return nil, nil, err
		}
	}
	if err := l.findTexts(ctx, src, stats); err != nil {
		return nil, nil, err
	}
	e, err := o.Rules.decide(stats, o.Names)
	if err != nil {
		return nil, nil, err
	}
	learnt := &Learnt{Rows: stats.Rows, Dropped: stats.Dropped}
	for j, c := range e.Columns {
		if e.Names == nil || c.Use != UseOmit {
			learnt.Missing = append(learnt.Missing, stats.Columns[j].Missing)
		}
	}
	return e, learnt, nil
}

// useUnits finds the columns in which every cell is a number with the same unit, such as 5 %. In the next pass, the
// reader then takes the numbers without the unit. If there is no such column, useUnits returns false.
func (l *collector) useUnits(s *tableStats) bool {
	found := false
	for j := range s.Columns {
		c := &s.Columns[j]
		if !l.o.Auto ||
			l.lexicons[j] == nil ||
			c.IsLevels ||
			c.Numbers.Any ||
			!c.Texts.Forms.Seen ||
			c.Texts.Forms.Mixed {
			continue
		}
		l.lexicons[j].unit, l.lexicons[j].forms = c.Texts.Forms.Unit, forms{}
		found = true
	}
	return found
}

// findTexts makes another pass for each column of numbers that also has texts. If the texts may be numbers in
// another notation (see isOdd), it returns an error about the first of them. Otherwise it notes the line of the
// first text in the statistics s.
func (l *collector) findTexts(ctx context.Context, src dataset.Source, s *tableStats) error {
	for j := range s.Columns {
		c := &s.Columns[j]
		if !l.o.Auto ||
			l.lexicons[j] == nil ||
			!c.isOdd() && !c.isForeign() {
			continue
		}
		kept := l.lexicons[j].reads
		l.lexicons[j].reads = readNumbers
		l.lexicons[j].refuses = !c.isOdd()
		err := scan(ctx, src)
		l.lexicons[j].reads = kept
		l.lexicons[j].refuses = false
		e, ok := errors.AsType[*dataset.InputError](err)
		switch {
		case c.isOdd() && err == nil: // another process has the text
			name := errtext.Excerpt(l.name(j))
			return &dataset.InputError{
				File: UnnamedRows,
				Msg: fmt.Sprintf(
					"column %s has numbers, but also %q, a number that is written differently",
					name,
					errtext.Excerpt(c.Texts.Odd.Text),
				),
			}
		case err == nil:
		case c.isOdd() || !ok:
			return err
		case l.o.Link == nil:
			c.Texts.Line = e.Line
		}
	}
	return nil
}

// scan reads all rows.
func scan(ctx context.Context, src dataset.Source) error {
	for _, err := range src.Blocks(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// isForeign reports whether the column has numbers and so few texts that the texts count as missing values.
func (c *columnStats) isForeign() bool {
	values := float64(c.Numbers.Count + c.Texts.Count)
	return c.kind() == KindMixed &&
		!c.IsLevels &&
		float64(c.Texts.Count) <= foreignShare*values
}

// isOdd reports whether texts of the column may be numbers in a notation that the reader does not accept. There are
// two such cases. In a column of numbers with few texts, at least one text looks like a number. In any other
// column, every text is a number with a comma or a point.
func (c *columnStats) isOdd() bool {
	return c.isForeign() && c.Texts.Odd.Row > 0 ||
		!c.IsLevels && c.Texts.Forms.Seen && c.Texts.Forms.Numbers
}

// read reads the rows of this process, and returns the statistics of the rows of all processes.
func (l *collector) read(ctx context.Context, src dataset.Source) (*tableStats, error) {
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		if b.Sparse != nil {
			return nil, newSourceError("sparse rows have neither missing values nor categories")
		}
		l.add(b)
	}
	stats := l.stats()
	if l.o.Link != nil && !l.o.Share.Whole() {
		return l.pool(ctx, stats, l.o.Share, l.o.Link)
	}
	return stats, nil
}

// distinct reports whether no two names are equal.
func distinct(names []string) bool {
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if seen[name] {
			return false
		}
		seen[name] = true
	}
	return true
}

// A collector computes column statistics from the rows of one process.
type collector struct {
	o        *LookOptions
	all      tableStats
	lexicons []*Lexicon
	drops    *dropper
	counts   [][]int64   // for each column, the training rows with each code
	dates    [][]float64 // for each column, the date of each code, or NaN
	numbers  int         // limit on the number of Values of a column
	last     []float64   // for each column, the last number read
	repeats  []int64     // how often the last number was repeated; these are not counted in Values yet
}

func newCollector(d int, o *LookOptions) *collector {
	l := &collector{
		o:        o,
		lexicons: make([]*Lexicon, d),
		counts:   make([][]int64, d),
		dates:    make([][]float64, d),
		last:     make([]float64, d),
		repeats:  make([]int64, d),
	}
	l.all.Columns = make([]columnStats, d)
	for j := range l.all.Columns {
		c := &l.all.Columns[j]
		c.Numbers.Kept, c.Numbers.Counts = true, true
		c.Numbers.Min, c.Numbers.Max = math.Inf(1), math.Inf(-1)
	}
	if o.Cells != nil {
		for i, j := range o.Cells.Features {
			l.lexicons[j] = o.Cells.Lexicons[i]
			l.all.Columns[j].IsLevels = l.lexicons[j].IsLevels()
		}
	}
	return l
}

// useRules sets, from the rules, how many different numbers of a column are counted and which rows are left out.
func (l *collector) useRules() {
	d := len(l.all.Columns)
	l.numbers = min(256, max(maxAllValues/d/4, 2))
	if l.o.needsValues() {
		l.numbers = lookLimit(d)
	}
	l.drops = &dropper{target: l.o.Auto || l.o.Targets == MissingDrop}
	for j := range d {
		if l.o.policy(l.name(j)).Missing == MissingDrop {
			l.drops.columns = append(l.drops.columns, j)
		}
	}
}

// add adds the rows of a block to the statistics.
func (l *collector) add(b dataset.Block) {
	d := len(l.all.Columns)
	for i := range b.N {
		number := l.all.Rows
		w := b.Weight(i)
		l.all.Rows++
		dropped := l.drops.drops(b, i, d, true)
		if dropped {
			l.all.Dropped++
		}
		if dropped || l.o.Held != nil && l.o.Held(number) {
			w = 0
		}
		if w > 0 {
			l.all.Trained++
		}
		for j, x := range b.X[i*d : (i+1)*d] {
			c := &l.all.Columns[j]
			if c.Numbers.Counts {
				if number == 0 {
					c.Numbers.First = x
				}
				c.Numbers.Counts = x == c.Numbers.First+float64(number) && !c.IsLevels
			}
			// If a row with any missing value is left out, skip its levels too. If only some columns can cause
			// this, the levels of the row are learnt, like the levels of held-out rows.
			if dropped &&
				l.drops.all {
				continue
			}
			if x == x && !c.IsLevels {
				c.Numbers.Any = true
				if w > 0 {
					c.Numbers.Count++
					c.Numbers.Moments.add(x, w)
					l.number(j, x)
				}
				continue
			}
			kind, v := uint64(boxText), int64(x)
			if x != x {
				kind, v = unbox(x)
				if w > 0 {
					c.Unfilled += w
				}
			}
			switch {
			case kind == boxText && l.lexicons[j] == nil:
				c.Numbers.count(x, 1, maxLevels, false)
			case kind == boxText:
				l.text(j, int(v), w)
			case kind == boxDate:
				c.Dates.Stored = true
				if w > 0 {
					c.Texts.Count++
					c.Dates.add(float64(v), w)
				}
			case kind == boxForeign && w > 0:
				c.Texts.Count++
				c.Texts.Foreign++
			case kind == 0:
				if !dropped {
					c.Missing++
				}
				if w > 0 {
					c.Gaps++
				}
			}
		}
	}
}

// number counts the number x of column j. If x equals the last number of this column, number only counts a
// repetition. The method flush later adds all repetitions to the map Numbers.Values in one step.
func (l *collector) number(j int, x float64) {
	c := &l.all.Columns[j]
	c.Numbers.Min, c.Numbers.Max = min(c.Numbers.Min, x), max(c.Numbers.Max, x)
	if l.numbers == 0 || !c.Numbers.Kept {
		return
	}
	if c.Numbers.Rounded {
		x = rounded(x)
	}
	if x == l.last[j] && l.repeats[j] > 0 {
		l.repeats[j]++
		return
	}
	l.flush(j)
	l.last[j], l.repeats[j] = x, 1
}

// flush counts the last number of column j as often as it was repeated. It adds this count to the map
// Numbers.Values of the column, which holds how often each number occurs.
func (l *collector) flush(j int) {
	if l.repeats[j] > 0 {
		l.all.Columns[j].Numbers.count(
			l.last[j],
			l.repeats[j],
			l.numbers,
			l.o.Rules.policy(l.name(j)).Missing == MissingMedian,
		)
		l.repeats[j] = 0
	}
}

func (l *collector) name(j int) string {
	return l.all.name(l.o.Names, j)
}

// text counts one occurrence in column j of the text with the given code. w is the weight of the row.
func (l *collector) text(j, code int, w float64) {
	for code >= len(l.counts[j]) {
		l.counts[j] = append(l.counts[j], -1)
		l.dates[j] = append(l.dates[j], math.NaN())
	}
	if l.counts[j][code] < 0 {
		l.counts[j][code] = 0
		l.first(j, l.lexicons[j].textsFrom(code)[0])
		if s, ok := parseDate([]byte(l.lexicons[j].textsFrom(code)[0])); ok {
			l.dates[j][code] = float64(s)
		}
	}
	if w > 0 {
		c := &l.all.Columns[j]
		c.Texts.Count++
		l.counts[j][code]++
		if date := l.dates[j][code]; date == date {
			c.Dates.add(date, w)
		}
	}
}

// first is called when a text s occurs for the first time in column j. It keeps the first text of the column, and
// the first text that looks like a number.
func (l *collector) first(j int, s string) {
	c := &l.all.Columns[j]
	if c.Texts.First.Row == 0 {
		c.Texts.First = text{s, l.all.Rows}
	}
	if c.Texts.Odd.Row == 0 && cell.IsLikeNumber([]byte(s)) {
		c.Texts.Odd = text{s, l.all.Rows}
	}
}

// stats returns the statistics, with texts instead of codes.
func (l *collector) stats() *tableStats {
	for j := range l.all.Columns {
		l.flush(j)
		c := &l.all.Columns[j]
		if l.lexicons[j] != nil {
			c.LeftOut = l.lexicons[j].reasonLeftOut()
			c.Unit = l.lexicons[j].unit
			c.Texts.Forms = l.lexicons[j].forms
		}
		if l.lexicons[j] == nil || l.numbers == 0 && !c.IsLevels {
			continue
		}
		c.Texts.Unkept, c.Texts.Levels = l.lexicons[j].full, map[string]int64{}
		for code, text := range l.lexicons[j].textsFrom(0) {
			if code < len(l.counts[j]) && l.counts[j][code] >= 0 {
				c.Texts.Levels[text] = l.counts[j][code]
			}
		}
	}
	return &l.all
}

// pool combines the statistics of all processes, in the order of their shares. s are the statistics of this
// process.
func (l *collector) pool(
	ctx context.Context,
	s *tableStats,
	share dataset.Share,
	link Link,
) (*tableStats, error) {
	all := &tableStats{}
	err := Exchange(ctx, share.Size, link, *s, func(root int, of tableStats) error {
		if root == 0 {
			*all = of
			return nil
		}
		if len(of.Columns) != len(all.Columns) {
			return newDimensionError(
				"share %d has %d columns, another %d",
				root,
				len(of.Columns),
				len(all.Columns),
			)
		}
		for j := range all.Columns {
			all.Columns[j].merge(
				&of.Columns[j],
				all.Rows,
				of.Rows,
				l.numbers,
				lookLimit(len(all.Columns)),
				l.o.Rules.policy(l.name(j)).Missing == MissingMedian,
			)
		}
		all.Rows += of.Rows
		all.Trained += of.Trained
		all.Dropped += of.Dropped
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

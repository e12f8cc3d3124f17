package prepare

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/vec"
)

// tableStats holds statistics, which processes exchange.
type tableStats struct {
	Rows    int64 // rows read
	Trained int64 // training rows: positive weight, a target, and not held out
	Dropped int64 // rows left out because of a missing value
	Columns []columnStats
}

// A columnStats describes one column of the training rows.
type columnStats struct {
	Missing  int64   // number of missing values in all rows that are not left out
	Gaps     int64   // number of missing values in training rows
	Unfilled float64 // total weight of missing values and texts
	IsLevels bool    // the column was read as a category
	LeftOut  string  // what the column holds, if the reader could not read it
	Numbers  numberStats
	Texts    textStats
	Dates    dateStats
	Unit     cell.Unit // that all numbers of the column have
}

// A numberStats holds the statistics of the numbers in a column.
type numberStats struct {
	Count    int64
	Moments  moment
	Min, Max float64
	Values   map[float64]int64 // how often each number occurs
	Kept     bool              // Values has all numbers, although rounded if Rounded is set
	Rounded  bool

	Any bool // there is a number, in any row
	// Counts is true if the numbers in all rows are First, First+1, First+2, and so on.
	Counts bool
	First  float64
}

// A textStats holds the statistics of the texts in a column. Dates count as texts.
type textStats struct {
	Count   int64
	Foreign int64 // number of texts whose code is not known
	Levels  map[string]int64
	Unkept  bool // Levels does not have all texts
	First   text // the first text
	Odd     text // the first text that is like a number
	Forms   forms
	Line    int // line of the first text; 0 if it is not known
}

// A text is a text of a column and the number of its row, counted from 1.
type text struct {
	Text string
	Row  int64
}

// A dateStats holds the statistics of the dates in a column.
type dateStats struct {
	Count  int64
	Days   moment
	Years  moment
	Parts  [3]uint32 // one bit for each month, weekday and hour that occurs
	Stored bool      // some dates were stored as dates in the file, and not as text
}

func (s *tableStats) name(names []string, j int) string {
	if names == nil {
		return (&Encoding{}).name(j)
	}
	return names[j]
}

// count adds n occurrences of the number x to Values. If Values then has more than limit different numbers, count
// rounds the numbers if mayRound is true, and drops all of them if it is false.
func (c *numberStats) count(x float64, n int64, limit int, mayRound bool) {
	if !c.Kept {
		return
	}
	if c.Values == nil {
		c.Values = map[float64]int64{}
	}
	if c.Rounded {
		x = rounded(x)
	}
	c.Values[x] += n
	if len(c.Values) <= limit || c.Rounded && len(c.Values) <= maxLevels {
		return
	}
	if !mayRound || c.Rounded {
		c.Values, c.Kept = nil, false
		return
	}
	c.round()
}

func (c *numberStats) round() {
	all := c.Values
	c.Values = map[float64]int64{}
	c.Rounded = true
	for v, n := range all {
		c.Values[rounded(v)] += n
	}
}

// rounded returns x rounded to 11 significant bits. A number halfway between two results goes to the even one.
func rounded(x float64) float64 {
	const bits = 52 - 10
	b := math.Float64bits(x)
	b += 1<<(bits-1) - 1 + b>>bits&1
	if v := math.Float64frombits(b &^ (1<<bits - 1)); vec.IsFinite(v) {
		return v
	}
	return x
}

// medianOrMode returns the mode (the most frequent number) of Values if mode is true, otherwise the median. If
// several numbers are most frequent, it returns the smallest.
func (c *numberStats) medianOrMode(mode bool) float64 {
	all := slices.Sorted(maps.Keys(c.Values))
	if mode {
		best := all[0]
		for _, v := range all {
			if c.Values[v] > c.Values[best] {
				best = v
			}
		}
		return best
	}
	var before int64
	for i, v := range all {
		switch before += c.Values[v]; {
		case 2*before == c.Count:
			return v + (all[i+1]-v)/2
		case 2*before > c.Count:
			return v
		}
	}
	return all[len(all)-1]
}

// add adds a date of a training row, given in seconds since 1970. w is the weight of the row.
func (c *dateStats) add(seconds, w float64) {
	c.Count++
	c.Days.add(Elapsed.of(seconds), w)
	c.Years.add(Year.of(seconds), w)
	for i, unit := range []DateUnit{Month, Weekday, Hour} {
		c.Parts[i] |= 1 << uint(unit.of(seconds))
	}
}

func (c *columnStats) kind() Kind {
	switch {
	case c.Numbers.Count+c.Texts.Count == 0:
		return KindEmpty
	case c.Texts.Count == 0:
		return KindNumber
	case c.Numbers.Count > 0:
		return KindMixed
	case c.Dates.Count == c.Texts.Count:
		return KindDate
	}
	return KindText
}

// merge adds the statistics o of other rows, which follow the rows of c. rowsBefore is the number of rows of c, and
// rows the number of the other rows.
func (c *columnStats) merge(
	o *columnStats,
	rowsBefore, rows int64,
	maxNumbers, maxTexts int,
	mayRound bool,
) {
	c.Missing += o.Missing
	c.Gaps += o.Gaps
	c.Unfilled += o.Unfilled
	if c.IsLevels {
		maxNumbers = maxLevels
	}
	for _, t := range []struct{ own, other *text }{{&c.Texts.First, &o.Texts.First}, {&c.Texts.Odd, &o.Texts.Odd}} {
		if t.own.Row == 0 && t.other.Row > 0 {
			*t.own = text{t.other.Text, t.other.Row + rowsBefore}
		}
	}
	c.Numbers.merge(&o.Numbers, rowsBefore, rows, maxNumbers, mayRound)
	c.Texts.merge(&o.Texts, maxTexts)
	c.Dates.merge(&o.Dates)
	c.IsLevels = c.IsLevels || o.IsLevels
	c.LeftOut = cmp.Or(c.LeftOut, o.LeftOut)
}

func (c *numberStats) merge(o *numberStats, before, rows int64, limit int, round bool) {
	switch {
	case rows == 0:
	case before == 0:
		c.Counts, c.First = o.Counts, o.First
	default:
		c.Counts = c.Counts && o.Counts && o.First == c.First+float64(before)
	}
	c.Moments.merge(o.Moments)
	c.Min = min(c.Min, o.Min)
	c.Max = max(c.Max, o.Max)
	if o.Rounded && !c.Rounded {
		c.round()
	}
	c.Kept = c.Kept && o.Kept
	if !c.Kept {
		c.Values = nil
	}
	for x, n := range o.Values {
		c.count(x, n, limit, round)
	}
	c.Count += o.Count
	c.Any = c.Any || o.Any
}

func (c *textStats) merge(o *textStats, limit int) {
	c.Count += o.Count
	c.Foreign += o.Foreign
	c.Forms.merge(o.Forms)
	for text, n := range o.Levels {
		if c.Levels == nil {
			c.Levels = map[string]int64{}
		}
		c.Levels[text] += n
	}
	c.Unkept = c.Unkept || o.Unkept || len(c.Levels) > limit
}

func (c *dateStats) merge(o *dateStats) {
	c.Count += o.Count
	c.Days.merge(o.Days)
	c.Years.merge(o.Years)
	for i := range c.Parts {
		c.Parts[i] |= o.Parts[i]
	}
	c.Stored = c.Stored || o.Stored
}

// A moment describes weighted numbers by the sum of the weights, the weighted mean, and the weighted sum M2 of
// squared deviations from the mean.
type moment struct{ Weight, Mean, M2 float64 }

func (m *moment) add(x, w float64) {
	m.Weight += w
	delta := x - m.Mean
	m.Mean += delta * (w / m.Weight)
	m.M2 += w * delta * (x - m.Mean)
}

// merge adds the numbers that o describes (T. Chan, G. Golub, R. LeVeque, 1983).
func (m *moment) merge(o moment) {
	if o.Weight == 0 {
		return
	}
	w := m.Weight + o.Weight
	delta := o.Mean - m.Mean
	m.Mean += delta * (o.Weight / w)
	m.M2 += o.M2 + delta*delta*(m.Weight/w)*o.Weight
	m.Weight = w
}

// filled returns the mean and the standard deviation of a column whose missing values are replaced by fill. w is
// the total weight of the missing values. If all values are equal, scale is 1.
func (m moment) filled(w, fill float64) (mean, scale float64) {
	all := m
	all.merge(moment{Weight: w, Mean: fill})
	scale = math.Sqrt(all.M2 / all.Weight)
	if !(scale > 10*0x1p-52*math.Abs(all.Mean)) {
		scale = 1 // the values are equal up to round-off
	}
	return all.Mean, scale
}

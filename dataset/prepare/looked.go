package prepare

import (
	"maps"
	"math"
	"slices"
)

// looked holds the statistics of the rows of one share, or of all shares. Shares send it to each other.
type looked struct {
	Rows    int64 // rows read
	Trained int64 // training rows: positive weight, a target, and not held out
	Dropped int64 // rows left out because of a missing value
	Columns []lookedColumn
}

// A lookedColumn holds the statistics of one column. They are about training rows, except for Missing.
type lookedColumn struct {
	Missing  int64   // number of missing values in all rows that are not left out
	Gaps     int64   // number of missing values in training rows
	Unfilled float64 // total weight of missing values and texts
	IsLevels bool    // the column was read as a category
	Numbers  lookedNumbers
	Texts    lookedTexts
	Dates    lookedDates
}

// A lookedNumbers holds the statistics of the numbers in a column.
type lookedNumbers struct {
	Count    int64
	Moments  moment
	Min, Max float64
	Values   map[float64]int64 // how often each number occurs
	Kept     bool              // Values has all numbers, although rounded if Rounded is set
	Rounded  bool

	// Counts reports whether the numbers are First, First+1, … in all rows.
	Counts bool
	First  float64
}

// A lookedTexts holds the statistics of the texts in a column, including dates.
type lookedTexts struct {
	Count   int64
	Foreign int64 // number of texts whose code is not known
	Levels  map[string]int64
	Unkept  bool // Levels does not have all texts
}

// A lookedDates holds the statistics of the dates in a column.
type lookedDates struct {
	Count  int64
	Days   moment
	Years  moment
	Parts  [3]uint32 // one bit for each month, weekday and hour that occurs
	Stored bool      // some dates were stored as dates in the file, and not as text
}

// name returns the name of column j.
func (s *looked) name(names []string, j int) string {
	if names == nil {
		return (&Encoding{}).name(j)
	}
	return names[j]
}

// count adds x, which occurs n times, to Values. If Values exceeds limit, count rounds the numbers
// if round is set, and drops them otherwise.
func (c *lookedNumbers) count(x float64, n int64, limit int, round bool) {
	if !c.Kept {
		return
	}
	if c.Values == nil {
		c.Values = map[float64]int64{}
	}
	if c.Rounded {
		x = rounded(x)
	}
	if c.Values[x] += n; len(c.Values) <= limit || c.Rounded && len(c.Values) <= mostLevels {
		return
	}
	if !round || c.Rounded {
		c.Values, c.Kept = nil, false
		return
	}
	c.round()
}

// round rounds the numbers in Values.
func (c *lookedNumbers) round() {
	all := c.Values
	c.Values, c.Rounded = map[float64]int64{}, true
	for v, n := range all {
		c.Values[rounded(v)] += n
	}
}

// rounded returns x with its mantissa rounded to 10 bits after the point, ties to even.
func rounded(x float64) float64 {
	const bits = 52 - 10
	b := math.Float64bits(x)
	b += 1<<(bits-1) - 1 + b>>bits&1
	if v := math.Float64frombits(b &^ (1<<bits - 1)); isFinite(v) {
		return v
	}
	return x
}

// middle returns the median of Values. If mode is set, it returns the most frequent number
// instead, or the smallest of several equally frequent ones.
func (c *lookedNumbers) middle(mode bool) float64 {
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

// add adds a date of a training row of weight w.
func (c *lookedDates) add(seconds, w float64) {
	c.Count++
	c.Days.add(Elapsed.of(seconds), w)
	c.Years.add(Year.of(seconds), w)
	for i, unit := range []DateUnit{Month, Weekday, Hour} {
		c.Parts[i] |= 1 << uint(unit.of(seconds))
	}
}

// kind returns the kind of the column.
func (c *lookedColumn) kind() Kind {
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

// merge adds the statistics o of the next share. The argument before is the number of rows before that share, and rows
// is their number in it. numbers and texts limit the different values kept. If round is true, numbers may be rounded.
func (c *lookedColumn) merge(o *lookedColumn, before, rows int64, numbers, texts int, round bool) {
	c.Missing += o.Missing
	c.Gaps += o.Gaps
	c.Unfilled += o.Unfilled
	if c.IsLevels {
		numbers = mostLevels
	}
	c.Numbers.merge(&o.Numbers, before, rows, numbers, round)
	c.Texts.merge(&o.Texts, texts)
	c.Dates.merge(&o.Dates)
	c.IsLevels = c.IsLevels || o.IsLevels
}

func (c *lookedNumbers) merge(o *lookedNumbers, before, rows int64, limit int, round bool) {
	switch {
	case rows == 0:
	case before == 0:
		c.Counts, c.First = o.Counts, o.First
	default:
		c.Counts = c.Counts && o.Counts && o.First == c.First+float64(before)
	}
	c.Moments.merge(o.Moments)
	c.Min, c.Max = min(c.Min, o.Min), max(c.Max, o.Max)
	if o.Rounded && !c.Rounded {
		c.round()
	}
	if c.Kept = c.Kept && o.Kept; !c.Kept {
		c.Values = nil
	}
	for x, n := range o.Values {
		c.count(x, n, limit, round)
	}
	c.Count += o.Count
}

func (c *lookedTexts) merge(o *lookedTexts, limit int) {
	c.Count += o.Count
	c.Foreign += o.Foreign
	for text, n := range o.Levels {
		if c.Levels == nil {
			c.Levels = map[string]int64{}
		}
		c.Levels[text] += n
	}
	c.Unkept = c.Unkept || o.Unkept || len(c.Levels) > limit
}

func (c *lookedDates) merge(o *lookedDates) {
	c.Count += o.Count
	c.Days.merge(o.Days)
	c.Years.merge(o.Years)
	for i := range c.Parts {
		c.Parts[i] |= o.Parts[i]
	}
	c.Stored = c.Stored || o.Stored
}

// A moment holds the weight, mean and sum of squared deviations of some numbers.
type moment struct{ Weight, Mean, M2 float64 }

func (m *moment) add(x, w float64) {
	m.Weight += w
	delta := x - m.Mean
	m.Mean += delta * (w / m.Weight)
	m.M2 += w * delta * (x - m.Mean)
}

// merge combines m with the moment o of other numbers, by the formula of Chan, Golub and LeVeque.
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

// filled returns the mean and scale of the numbers together with the number fill of the given weight.
func (m moment) filled(weight, fill float64) (mean, scale, filled float64) {
	all := m
	all.merge(moment{Weight: weight, Mean: fill})
	scale = math.Sqrt(all.M2 / all.Weight)
	if !(scale > 10*0x1p-52*math.Abs(all.Mean)) {
		scale = 1
	}
	return all.Mean, scale, fill
}

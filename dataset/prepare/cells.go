package prepare

import "math"

// Missing is the policy for missing values. A missing value is an empty cell or a mark such as NA in text files, NaN
// in an array, and NaN or null in Parquet and Arrow files.
type Missing string

const (
	RefuseMissing Missing = "" // a missing value is an error
	// a missing number becomes the mean of the training rows; a missing category becomes the level ""; a missing target
	// is an error
	MissingMean Missing = "mean"
	MissingDrop Missing = "drop" // rows with a missing feature, target or weight are left out
)

// Policies for a single [Column] only. They replace a missing value by the median, the most frequent value or a
// constant.
const (
	MissingMedian   Missing = "median"
	MissingMode     Missing = "most-frequent"
	MissingConstant Missing = "constant"
)

// fills reports whether a missing value is replaced.
func (m Missing) fills() bool { return m != RefuseMissing && m != MissingDrop }

// Cells tells readers how to read cells that are not numbers. Readers return NaN for a missing value, and a code for
// a level, which is one of the values of a categorical column. An [Encoding] turns these rows into features. A nil
// *Cells means that all cells must be numbers.
type Cells struct {
	Missing Missing
	// OneHot selects the categorical columns by name, "first", "last" or 1-based number. It is ignored if Features is
	// not nil.
	OneHot []string
	// 0-based positions of the categorical columns among the features; a reader sets them from OneHot if nil
	Features []int
	// Lexicons maps the texts of each categorical column to codes.
	Lexicons []*Lexicon
	// Look makes readers accept numbers, texts and dates in every column, as the function [Look] requires. The
	// columns in OneHot are read as categorical.
	Look bool
	// Labels, if not nil, maps the labels of the first target to codes; see [NewLabels].
	Labels *Lexicon

	separate Separate // what a file without features holds

	// refuses[k]: a missing value of feature k is an error. If refuses is nil, Missing decides for all features.
	refuses      []bool
	refuseTarget bool // a missing target is an error; only used if refuses is not nil
}

// Separate states what a file holds whose rows have no features.
type Separate int

const (
	NotSeparate     Separate = iota // the file has the features
	SeparateTargets                 // all columns are targets
	SeparateWeights                 // the column is the sample weight
)

// ForSeparate returns how to read a separate file of targets or weights. Its rows will be joined to the rows that are
// read by c. A missing value is allowed if c allows a missing target, because the policy for missing values is applied
// to the joined rows. c may be nil.
func (c *Cells) ForSeparate(holds Separate) *Cells {
	out := &Cells{separate: holds, Features: []int{}}
	if c.Allows(0, 0) { // column 0 of rows without features is a target
		out.Missing = MissingDrop
	}
	if c != nil && c.Labels != nil && holds == SeparateTargets {
		out.Features = []int{0}
		out.Lexicons = []*Lexicon{c.Labels}
	}
	return out
}

// Holds returns what a file holds that is read by c.
func (c *Cells) Holds() Separate {
	if c == nil {
		return NotSeparate
	}
	return c.separate
}

// OnlyNumbers reports whether all cells must be numbers, because c allows no missing value and has no categories.
func (c *Cells) OnlyNumbers() bool {
	return c == nil ||
		!c.AllowsSome() && len(c.OneHot) == 0 && len(c.Features) == 0 && c.Labels == nil
}

// WithoutLabels returns c, or nil if c sets nothing but Labels.
func (c *Cells) WithoutLabels() *Cells {
	if c == nil ||
		c.Labels != nil && !c.AllowsSome() && len(c.OneHot) == 0 && len(c.Features) == 0 {
		return nil
	}
	return c
}

// Allows reports whether missing values are allowed in column k. The columns are d features, followed by the targets
// and the weight. If c is nil, the result is false.
func (c *Cells) Allows(k, d int) bool {
	switch {
	case c == nil:
		return false
	case c.Look:
		return true
	case c.refuses != nil && k >= d:
		return !c.refuseTarget
	case c.refuses != nil:
		return !c.refuses[k]
	}
	return c.Missing == MissingDrop || c.Missing == MissingMean && k < d
}

// AllowsSome reports whether missing values are allowed in any column.
func (c *Cells) AllowsSome() bool {
	return c != nil && (c.Look || c.refuses != nil || c.Missing != RefuseMissing)
}

// Begin makes a lexicon for each categorical column of d features. A reader calls it after it has set Features.
func (c *Cells) Begin(d int) {
	for len(c.Lexicons) < len(c.Features) {
		c.Lexicons = append(c.Lexicons, new(Lexicon))
	}
	if !c.Look || len(c.Features) == d {
		return
	}
	listed := make([]bool, d)
	for _, k := range c.Features {
		listed[k] = true
	}
	for k := range d {
		if !listed[k] {
			c.Features = append(c.Features, k)
			c.Lexicons = append(
				c.Lexicons,
				&Lexicon{
					reads:     readAny,
					checks:    checks{lenient: true},
					limit:     lookLimit(d),
					byteLimit: max(maxAllBytes/d, 1<<10),
				},
			)
		}
	}
}

// Limits for [Look] on the different values and their text.
const (
	maxValues    = 1 << 16
	maxAllValues = 1 << 21
	maxAllBytes  = 1 << 28
)

// lookLimit limits the different texts of one of d columns.
func lookLimit(d int) int {
	return min(maxValues, max(maxAllValues/d, 16))
}

// For [Look], readers return a text or a date as a NaN with these bits:
//
//   - bits 0 to 48: v + 2⁴⁸, where v is the code of the text, or the seconds of the date (negative before 1970)
//   - bits 49 and 50: boxText, boxForeign or boxDate
//
// Any other NaN is a missing value.
const (
	boxText    = 1 // a text with its code
	boxForeign = 2 // a text whose code is not known, because there are too many texts
	boxDate    = 3 // seconds since 1970

	boxQuiet = 0x7ff8 << 48
	boxShift = 49
	boxZero  = 1 << 48
)

func boxed(kind uint64, v int64) float64 {
	return math.Float64frombits(boxQuiet | kind<<boxShift | uint64(v+boxZero)&(1<<boxShift-1))
}

// unbox returns the type and value. Missing values have type 0.
func unbox(x float64) (kind uint64, v int64) {
	bits := math.Float64bits(x)
	return bits >> boxShift & 3, int64(bits&(1<<boxShift-1)) - boxZero
}

// isForeign reports whether x is a boxed text or date.
func isForeign(x float64) bool {
	kind, _ := unbox(x)
	return kind != 0
}

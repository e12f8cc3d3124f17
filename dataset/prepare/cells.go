package prepare

import "math"

// Missing is the policy for missing values: it states what becomes of them. In text files, a missing value is an
// empty cell or a mark such as NA. In an array, it is NaN. In Parquet and Arrow files, it is NaN or null.
type Missing string

const (
	RefuseMissing Missing = "" // a missing value is an error
	// A missing number becomes the mean of the training rows. A missing category becomes the category "". A missing
	// target is an error.
	MissingMean Missing = "mean"
	MissingDrop Missing = "drop" // rows with a missing feature, target or weight are left out
)

// These policies replace a missing value by the median, the most frequent value or a constant. They can be set only
// for a single [Column].
const (
	MissingMedian   Missing = "median"
	MissingMode     Missing = "most-frequent"
	MissingConstant Missing = "constant"
)

// fills reports whether a missing value is replaced.
func (m Missing) fills() bool { return m != RefuseMissing && m != MissingDrop }

// Cells tells readers how to read cells that are not numbers. Readers return NaN for a missing value. In a
// categorical column, they return a code for each level, which is one of the values of the column. An [Encoding]
// turns rows with such numbers into features. A nil *Cells means that all cells must be numbers.
type Cells struct {
	Missing Missing
	// OneHot selects the categorical columns. Each is a name, "first", "last" or a 1-based column number. OneHot is
	// ignored if Features is not nil.
	OneHot []string
	// Features are the 0-based positions of the categorical columns among the features. If Features is nil, a
	// reader sets it from OneHot.
	Features []int
	// Lexicons has one Lexicon for each element of Features. It maps the texts of this column to codes.
	Lexicons []*Lexicon
	// Look makes readers accept numbers, texts and dates in every column, as the function [Look] requires. The
	// columns in OneHot are read as categorical.
	Look bool
	// Labels, if not nil, maps the texts of the first target to codes, because this target is a class label; see
	// [NewLabels].
	Labels *Lexicon

	separate Separate // what a file without features holds

	// refuses[k] is true if a missing value of feature k is an error. If refuses is nil, Missing decides for all
	// features.
	refuses      []bool
	refuseTarget bool // a missing target is an error; only used if refuses is not nil
}

// Separate states what a file holds. Targets and sample weights can be in separate files without features.
type Separate int

const (
	NotSeparate     Separate = iota // the file has the features
	SeparateTargets                 // all columns are targets
	SeparateWeights                 // the column is the sample weight
)

// ForSeparate returns how to read a separate file of targets or weights. The rows of the file belong to the rows
// that are read by c. A missing value in the file is allowed if c allows a missing target. It is treated later,
// when the rows of both files have been joined. c may be nil.
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

// Holds returns what a file holds that is read with the options c.
func (c *Cells) Holds() Separate {
	if c == nil {
		return NotSeparate
	}
	return c.separate
}

// OnlyNumbers reports whether c requires that all cells are numbers. c then allows no missing values, and has
// neither categorical columns nor labels.
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

// Allows reports whether missing values are allowed in column k of the rows, counted from 0. A row has d features,
// followed by the targets and the weight. If c is nil, the result is false.
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

// Begin adds a Lexicon for each element of Features that has none. If Look is set, it first adds all other features
// to Features. There are d features in all. A reader calls Begin after it has set Features.
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

// Limits of [Look] on what is counted: the different values of a column and of all columns, and the bytes of all
// texts.
const (
	maxValues    = 1 << 16
	maxAllValues = 1 << 21
	maxAllBytes  = 1 << 28
)

// lookLimit returns the largest number of different values that are counted in a column of a table of d columns.
func lookLimit(d int) int {
	return min(maxValues, max(maxAllValues/d, 16))
}

// In a pass for [Look], readers return a text or a date as a NaN with these bits, here called boxed:
//
//   - Bits 0 to 48 are v + 2⁴⁸. v is the code of the text, or the seconds of the date since 1970, which may be
//     negative.
//   - Bits 49 and 50 are the type boxText, boxForeign or boxDate.
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

// unbox returns the type of x (boxText, boxForeign or boxDate), and its code or seconds. For a missing value, the
// type is 0.
func unbox(x float64) (kind uint64, v int64) {
	bits := math.Float64bits(x)
	return bits >> boxShift & 3, int64(bits&(1<<boxShift-1)) - boxZero
}

// isForeign reports whether x is a NaN that stands for a text or a date.
func isForeign(x float64) bool {
	kind, _ := unbox(x)
	return kind != 0
}

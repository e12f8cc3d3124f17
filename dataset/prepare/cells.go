package prepare

import "math"

// Missing is the policy for missing values. A missing value is an empty cell or a mark such as NA
// in text, NaN in an array, and NaN or null in Parquet and Arrow files.
type Missing string

const (
	RefuseMissing Missing = ""     // a missing value is an error
	MissingMean   Missing = "mean" // a missing number becomes the mean of the training rows; a missing category becomes the level ""; a missing target is an error
	MissingDrop   Missing = "drop" // rows with a missing feature, target or weight are left out
)

// These policies, for a [Column] only, replace a missing value by another value than the mean.
const (
	MissingMedian   Missing = "median"
	MissingMode     Missing = "most-frequent"
	MissingConstant Missing = "constant"
)

// fills reports whether a missing value is replaced.
func (m Missing) fills() bool { return m != RefuseMissing && m != MissingDrop }

// Cells tells readers how to read cells that are not numbers. A missing value is read as NaN, and
// a level of a categorical column as its code. The rows must then pass through an [Encoding]. A
// nil *Cells means that all cells must be numbers.
type Cells struct {
	Missing Missing
	// OneHot selects the categorical columns, by the same specifications as targets. It is ignored
	// if Features is not nil.
	OneHot   []string
	Features []int // 0-based positions of the categorical columns among the features; a reader sets them from OneHot if nil
	// Lexicons maps the texts of each categorical column to codes.
	Lexicons []*Lexicon
	// Look makes readers accept numbers, texts and dates in every column, for the function [Look].
	// The columns in OneHot are read as categorical.
	Look bool
	// Labels, if not nil, maps the labels of the first target to codes; see [NewLabels].
	Labels *Lexicon

	refuses      []bool // refuses[k] is true if a missing value of feature k is an error; if nil, Missing decides
	refuseTarget bool   // whether a missing target is an error, if refuses is not nil
}

// WithoutLabels returns c, or nil if c sets nothing but Labels.
func (c *Cells) WithoutLabels() *Cells {
	if c == nil || c.Labels != nil && !c.AllowsSome() && len(c.OneHot) == 0 && len(c.Features) == 0 {
		return nil
	}
	return c
}

// Allows reports whether column k may have missing values, which readers return as NaN. Columns 0
// to d−1 are the features; the targets and the weight follow. If c is nil, the result is false.
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

// AllowsSome reports whether any column may have missing values.
func (c *Cells) AllowsSome() bool {
	return c != nil && (c.Look || c.refuses != nil || c.Missing != RefuseMissing)
}

// Begin makes a lexicon for each categorical column. A reader calls it after it has set Features.
// d is the number of features.
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
			c.Lexicons = append(c.Lexicons, &Lexicon{reads: readAny, lenient: true, limit: lookLimit(d), byteLimit: max(lookBytes/d, 1<<10)})
		}
	}
}

// These constants limit the number of different values that [Look] keeps, of one column and of all columns together.
const (
	mostLooked = 1 << 16
	lookTexts  = 1 << 21
	lookBytes  = 1 << 28
)

// lookLimit returns the limit on the number of different texts of one column, if there are d columns.
func lookLimit(d int) int { return min(mostLooked, max(lookTexts/d, 16)) }

// A reader returns a text or a date as a NaN. The lowest 49 bits of the NaN are 2⁴⁸ plus a code or
// a date, and the two bits above state the type. A NaN without such bits is a missing value.
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

// unbox returns the type and the value in the bits of a NaN. The type is 0 for a missing value.
func unbox(x float64) (kind uint64, v int64) {
	bits := math.Float64bits(x)
	return bits >> boxShift & 3, int64(bits&(1<<boxShift-1)) - boxZero
}

// isForeign reports whether x is a NaN that stands for a text or a date, instead of a missing value.
func isForeign(x float64) bool {
	kind, _ := unbox(x)
	return kind != 0
}

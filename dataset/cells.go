package dataset

// A Missing says what becomes of missing values. What counts as missing is said by the readers: in
// text an empty cell and marks such as NA, in arrays NaN, in Parquet and Arrow a null as well.
type Missing string

const (
	RefuseMissing Missing = ""     // the first is an error that says where it is
	MissingMean   Missing = "mean" // one in a column of numbers becomes the mean of the training rows that have it; in a categorical column it is a level; one in a target is an error
	MissingDrop   Missing = "drop" // rows that have one are left out, be it in a feature, a target or a weight
)

// Allows reports whether readers let a value be missing that is column k of d features and, behind
// these, targets and weights. They then give NaN.
func (m Missing) Allows(k, d int) bool { return m == MissingDrop || m == MissingMean && k < d }

// Cells tell readers what to do with cells that are no numbers. The rows are then to go through
// an [Encoding]: they have NaN where a value is missing, and codes in categorical columns. A nil
// *Cells takes numbers alone.
type Cells struct {
	Missing Missing
	// OneHot are the categorical columns, named as targets are; where Features is not nil these are
	// they, by their places among the features, from 0.
	OneHot   []string
	Features []int // set by the reader where it is nil
	// Lexicons, one for each categorical column, give the codes.
	Lexicons []*Lexicon
}

// Policy is what becomes of missing values.
func (c *Cells) Policy() Missing {
	if c == nil {
		return RefuseMissing
	}
	return c.Missing
}

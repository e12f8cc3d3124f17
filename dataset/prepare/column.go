package prepare

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/vec"
)

// A Column describes the features that are made from one column of a table. It is stored with a model as JSON, and may
// be edited by hand.
type Column struct {
	Name string `json:"name,omitempty"`
	Kind Kind   `json:"kind,omitempty"`
	Use  Use    `json:"use"`
	Why  string `json:"why,omitempty"`

	// Missing is the policy for missing values. If the policy fills them in, a missing number becomes Fill, and a
	// missing level of a categorical column becomes FillLevel. If FillLevel is "", missing values are a level of
	// their own.
	Missing   Missing `json:"missing,omitempty"`
	Fill      float64 `json:"fill,omitempty"`
	FillLevel string  `json:"fill_level,omitempty"`
	// Indicator adds a feature: 1 if the value is missing, 0 otherwise.
	Indicator bool `json:"indicator,omitempty"`
	// A number x of the column becomes (x − Mean)/Scale. If Scale is zero, it stays unchanged.
	Mean  float64 `json:"mean,omitempty"`
	Scale float64 `json:"scale,omitempty"`

	// Unit is the text, such as $ or %, that stands with every number of the column in text files. If Unit is set,
	// a cell without it is an error.
	Unit Unit `json:"unit,omitzero"`

	Levels []string   `json:"levels,omitempty"`
	Other  bool       `json:"other,omitempty"` // add one feature for all levels that are not in Levels
	Parts  []DatePart `json:"parts,omitempty"` // of a date
}

// A Kind is the type of the cells in a column.
type Kind string

const (
	KindNumber Kind = "number"
	KindText   Kind = "text"
	KindMixed  Kind = "mixed" // numbers and texts
	KindDate   Kind = "date"
	KindEmpty  Kind = "empty"
)

// A Use states which features a column becomes.
type Use string

const (
	UseNumber Use = "number" // one feature, the number
	UseLevels Use = "levels" // one feature of 0 and 1 for each level
	UseDate   Use = "date"   // one or more features for each of the Parts
	UseOmit   Use = "omit"   // no feature
)

// A DatePart makes features from a part of a date, such as the month. If the part is one number, such as the year,
// it is one feature: Fill replaces a missing value, and Mean and Scale standardise it. Any other part becomes one
// feature of 0 and 1 for each of its Values.
type DatePart struct {
	Part   DateUnit `json:"part"`
	Fill   float64  `json:"fill,omitempty"`
	Mean   float64  `json:"mean,omitempty"`
	Scale  float64  `json:"scale,omitempty"`
	Values []int    `json:"values,omitempty"`
}

// OtherLevels ends the name of the feature for all levels of a categorical column that have no feature of their
// own.
const OtherLevels = "(other)"

// A Unit is the text before and after each number of a column, such as $ or %.
type Unit = cell.Unit

// Width returns the number of features that the column becomes.
func (c *Column) Width() int {
	w := 0
	switch c.Use {
	case UseNumber:
		w = 1
	case UseLevels:
		w = len(c.Levels)
		if c.Other {
			w++
		}
	case UseDate:
		for i := range c.Parts {
			w += c.Parts[i].width()
		}
	}
	if c.Indicator {
		w++
	}
	return w
}

func (p *DatePart) width() int {
	if p.Part.isNumber() {
		return 1
	}
	return len(p.Values)
}

// madeNames appends the names of the features that the column becomes. name is the name of the column.
func (c *Column) madeNames(out []string, name string) []string {
	switch c.Use {
	case UseNumber:
		out = append(out, name)
	case UseLevels:
		for _, level := range c.Levels {
			out = append(out, name+"="+level)
		}
		if c.Other {
			out = append(out, name+"="+OtherLevels)
		}
	case UseDate:
		for _, p := range c.Parts {
			made := name + "." + string(p.Part)
			if p.Part.isNumber() {
				out = append(out, made)
			}
			for _, v := range p.Values {
				out = append(out, made+"="+strconv.Itoa(v))
			}
		}
	}
	if c.Indicator {
		out = append(out, name+"=missing")
	}
	return out
}

// scaling appends the mean and scale of each feature of the column to s. For features that are not standardised,
// they are 0 and 1.
func (c *Column) scaling(s *dataset.Scaling) {
	add := func(mean, scale float64) {
		if scale == 0 {
			mean, scale = 0, 1
		}
		s.Mean = append(s.Mean, mean)
		s.Scale = append(s.Scale, scale)
	}
	from := len(s.Mean)
	switch c.Use {
	case UseNumber:
		add(c.Mean, c.Scale)
	case UseDate:
		for _, p := range c.Parts {
			if p.Part.isNumber() {
				add(p.Mean, p.Scale)
			}
			for range p.Values {
				add(0, 0)
			}
		}
	}
	for len(s.Mean) < from+c.Width() {
		add(0, 0)
	}
}

// check returns an error if the column is invalid, for example after an edit of the saved file.
func (c *Column) check() error {
	numbers := []float64{c.Fill, c.Mean, c.Scale}
	for _, p := range c.Parts {
		if !slices.Contains(dateUnits, p.Part) ||
			p.Part.isNumber() != (len(p.Values) == 0) {
			return fmt.Errorf("part %q of a date, with %d values, is not known", string(p.Part), len(p.Values))
		}
		numbers = append(numbers, p.Fill, p.Mean, p.Scale)
	}
	for _, v := range numbers {
		if !vec.IsFinite(v) {
			return fmt.Errorf("%v is not finite", v)
		}
	}
	switch c.Missing {
	case RefuseMissing, MissingMean, MissingDrop, MissingMedian, MissingMode, MissingConstant:
	default:
		return fmt.Errorf("missing values: %q is no policy", string(c.Missing))
	}
	if c.Scale < 0 ||
		slices.ContainsFunc(c.Parts, func(p DatePart) bool { return p.Scale < 0 }) {
		return fmt.Errorf("a scale is negative")
	}
	if len(c.Parts) > 0 && c.Use != UseDate && c.Use != UseOmit {
		return fmt.Errorf("it has parts of a date, but its use is %q", string(c.Use))
	}
	switch c.Use {
	case UseNumber, UseOmit:
		return nil
	case UseDate:
		if len(c.Parts) == 0 {
			return fmt.Errorf("a date without parts")
		}
		return nil
	case UseLevels:
	default:
		return fmt.Errorf("%q is none of number, levels, date and omit", string(c.Use))
	}
	if len(c.Levels) == 0 && !c.Other {
		return fmt.Errorf("it has no levels")
	}
	seen := make(map[string]bool, len(c.Levels))
	for _, level := range c.Levels {
		if seen[level] {
			return fmt.Errorf("it has the level %q twice", level)
		}
		seen[level] = true
	}
	if c.FillLevel != "" && !seen[c.FillLevel] {
		return fmt.Errorf("the level %q for missing values is not among its levels", c.FillLevel)
	}
	return nil
}

package prepare

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/internal/cell"
	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/vec"
)

// Rules state how [Look] chooses the features of each column. With the zero value, columns stay unchanged, and a
// text or a missing value is an error.
type Rules struct {
	// Auto chooses the features of each column by its statistics. The other fields except MinShare are then
	// ignored.
	Auto bool
	// OneHotText makes every column that has a text categorical. The columns in OneHot of [Cells] are categorical
	// in any case.
	OneHotText bool
	Dates      []string // names of columns of dates
	// MissingOf has the policies for missing values of single columns, by name. Missing is the policy for all other
	// columns.
	Missing   Filling
	MissingOf map[string]Filling
	// Indicators adds a feature for each column that has missing values in the training rows and whose policy
	// replaces them. The feature is 1 if the value is missing, and 0 otherwise.
	Indicators  bool
	Targets     Missing // RefuseMissing or MissingDrop
	Standardize bool    // standardise numbers, and the parts of dates that are numbers
	// MinShare is a fraction of the training rows. A level that occurs in fewer rows gets no feature of its own. If
	// Auto is set, 0 means 0.0002.
	MinShare float64
}

// A Filling is a policy for missing values. If the policy is MissingConstant, Constant replaces a missing value.
type Filling struct {
	Missing
	Constant string
}

// policy returns the policy for missing values of the named column.
func (r *Rules) policy(name string) Filling {
	if f, ok := r.MissingOf[name]; ok {
		return f
	}
	return r.Missing
}

// checkNames returns an error if rules name a nonexistent column.
func (r *Rules) checkNames(names []string) error {
	for _, name := range slices.Concat(r.Dates, slices.Sorted(maps.Keys(r.MissingOf))) {
		if !slices.Contains(names, name) {
			return &dataset.InputError{
				File: UnnamedRows,
				Msg:  fmt.Sprintf("there is no feature %q, or two columns have the same name", errtext.Excerpt(name)),
			}
		}
	}
	return nil
}

// needsValues reports whether a policy for missing values needs the median or the most frequent number of a column.
func (r *Rules) needsValues() bool {
	all := append(slices.Collect(maps.Values(r.MissingOf)), r.Missing)
	return slices.ContainsFunc(
		all,
		func(f Filling) bool {
			return f.Missing == MissingMedian || f.Missing == MissingMode
		},
	)
}

// decide returns the encoding that the rules choose for a table. s are the statistics of the table.
func (r *Rules) decide(s *tableStats, names []string) (*Encoding, error) {
	switch {
	case s.Rows == 0:
		return nil, newSourceError("there are no rows to decide from")
	case s.Rows == s.Dropped:
		return nil, &dataset.InputError{
			File: UnnamedRows,
			Msg: fmt.Sprintf(
				"all %d rows are left out: each lacks its target, or another value without which it is left out",
				s.Rows,
			),
		}
	case s.Trained == 0:
		return nil, newSourceError(
			"none of the %d rows can be used for decisions: all are held out, left out or have weight 0",
			s.Rows,
		)
	}
	targets, lenient := r.Targets, r.Auto
	if r.Auto {
		targets = MissingDrop
	}
	var texts *dataset.InputError
	columns := make([]Column, len(s.Columns))
	for j := range columns {
		name := s.name(names, j)
		if r.Auto {
			columns[j] = r.autoColumn(&s.Columns[j], s)
		} else {
			var err *dataset.InputError
			columns[j], err = r.ruleColumn(&s.Columns[j], s, name)
			if err != nil && !err.Omittable {
				return nil, err
			} else if err != nil && texts == nil {
				texts = err
			}
			if err != nil && s.Columns[j].LeftOut != "" {
				texts.Others = append(texts.Others, name)
			} else if err != nil {
				texts.Texts = append(texts.Texts, name)
			}
		}
		if names != nil {
			columns[j].Name = name
		}
	}
	if texts != nil {
		return nil, texts
	}
	if names == nil &&
		!slices.ContainsFunc(columns, func(c Column) bool {
			return c.Use != UseOmit
		}) {
		return nil, newSourceError("every column is left out, none remains as a feature")
	}
	return FromColumns(columns, targets, lenient)
}

// These are the constants in the rules of autoColumn.
const (
	indicatorShare = 0.01   // smallest fraction of missing values that gets an indicator
	foreignShare   = 0.05   // largest fraction of texts in a column of numbers
	levelShare     = 0.0002 // smallest fraction of rows of a level with its own feature
	levelRows      = 2      // smallest number of rows of a level with its own feature
	keyShare       = 0.5    // a column with more different texts per row is a key
)

// autoColumn decides which features a column becomes, by these rules:
//
//  1. A column is left out if it cannot be read, or has no value or only one, or if its deviation overflows.
//  2. Numbers that count the rows are left out as an index, except years from 1500 to 2200.
//  3. Other numbers are standardised.
//  4. Dates become elapsed days, year, month, weekday and hour, if these differ between the rows.
//     Days and year are standardised. The others become one feature for each value.
//  5. If at most 5 % of the values are texts and the others are numbers, the texts count as missing.
//  6. Any other column with texts becomes one feature for each level, including a level for missing values.
//  7. Levels in a single training row, or in less than 0.02 %, share the feature (other).
//  8. Texts are left out as a key if there are more different texts than half the rows, or more
//     than 65,536.
//  9. A missing number or date becomes the mean. If at least 1 % are missing, an indicator is added.
//  10. Rows without a target are left out.
func (r *Rules) autoColumn(c *columnStats, s *tableStats) Column {
	values := c.Numbers.Count + c.Texts.Count
	out := Column{Kind: c.kind(), Missing: MissingMean}
	omit := func(why string, args ...any) Column {
		return Column{Kind: out.Kind, Use: UseOmit, Why: fmt.Sprintf(why, args...)}
	}
	switch {
	case c.LeftOut != "":
		return omit("%s", c.LeftOut)
	case values == 0:
		return omit("no values")
	case c.countsRows(s.Rows):
		return omit("counts the rows from %s", numberText(c.Numbers.First))
	case out.Kind == KindMixed && float64(c.Texts.Count) <= foreignShare*float64(values):
		out.Why = fmt.Sprintf("%s: missing%s", count(c.Texts.Count, "text"), c.Texts.where())
		fallthrough
	case c.Texts.Count == 0:
		if c.Numbers.Min == c.Numbers.Max {
			return omit("constant")
		}
		out.Use, out.Kind = UseNumber, KindNumber
		if u := c.Unit; u != (cell.Unit{}) {
			out.Unit = u
			out.Why = join(out.Why, fmt.Sprintf("unit %s", u.Before+u.After))
		}
		out.Fill = c.Numbers.Moments.Mean
		out.Mean, out.Scale = c.Numbers.Moments.filled(c.Unfilled, out.Fill)
		if !vec.IsFinite(out.Mean) || !vec.IsFinite(out.Scale) {
			return omit("deviation exceeds float64")
		}
	case out.Kind == KindDate:
		out.Use = UseDate
		out.Parts = c.dateParts()
		if len(out.Parts) == 0 {
			return omit("constant")
		}
	default:
		return r.autoLevels(c, s, out, omit)
	}
	share := float64(c.Gaps+values-c.Numbers.Count) / float64(s.Trained)
	if out.Use == UseNumber && share >= indicatorShare ||
		out.Use == UseDate && float64(c.Gaps) >= indicatorShare*float64(s.Trained) {
		out.Indicator = true
	}
	if c.Gaps > 0 {
		out.Why = join(out.Why, fmt.Sprintf("%d missing", c.Gaps))
	}
	return out
}

// countsRows reports whether the numbers of the column are consecutive integers in all rows, like row numbers. For
// consecutive years the result is false, because a trend over years is information.
func (c *columnStats) countsRows(rows int64) bool {
	const firstYear, lastYear = 1500, 2200
	first, last := c.Numbers.First, c.Numbers.First+float64(rows-1)
	if c.Texts.Count > 0 ||
		!c.Numbers.Counts ||
		rows <= 2 ||
		first != math.Trunc(first) {
		return false
	}
	return !(first >= firstYear && last <= lastYear)
}

// autoLevels chooses the features of a column with texts if the rule Auto is set. omit returns out, with a reason,
// as a column without features.
func (r *Rules) autoLevels(
	c *columnStats,
	s *tableStats,
	out Column,
	omit func(string, ...any) Column,
) Column {
	different := 0
	for _, n := range c.Texts.Levels {
		if n > 0 {
			different++
		}
	}
	if out.Kind == KindMixed && !c.Numbers.Kept || c.Texts.Unkept {
		return omit("too many different values")
	}
	if out.Kind == KindMixed {
		different += len(c.Numbers.Values)
	}
	dates := ""
	if c.isLikeDates() {
		dates = "like dates, unknown layout"
	}
	if float64(different) > keyShare*float64(s.Trained) {
		return omit("%s", join(dates, fmt.Sprintf("a key: %d different of %d", different, s.Trained)))
	}
	share := r.MinShare
	if share == 0 {
		share = levelShare
	}
	rare := c.levels(
		&out,
		int64(math.Ceil(max(levelRows, share*float64(s.Trained)))),
		c.Gaps,
	)
	switch n := len(out.Levels); {
	case n == 0:
		return omit("no level in %d rows or more", levelRows)
	case n == 1 && !out.Other:
		return omit("constant")
	}
	out.Use = UseLevels
	out.Why = dates
	if c.Gaps > 0 {
		out.Why = join(out.Why, fmt.Sprintf("%d missing", c.Gaps))
	}
	if rare > 0 {
		out.Why = join(out.Why, fmt.Sprintf("%d rare grouped", rare))
	}
	if limit := c.Texts.limit(); limit != "" {
		out.Why = join(out.Why, fmt.Sprintf("%q is a limit, not a number", errtext.Excerpt(limit)))
	}
	return out
}

// isLikeDates reports whether all texts of the column look like dates, although parseDate accepts none of them.
func (c *columnStats) isLikeDates() bool {
	for text := range c.Texts.Levels {
		if !isLikeDate(text) {
			return false
		}
	}
	return len(c.Texts.Levels) > 0 && c.Dates.Count == 0
}

// ruleColumn chooses the features of a column if the rule Auto is not set. If the column has texts that the rules
// do not allow, but can be left out, the error has Omittable set.
func (r *Rules) ruleColumn(c *columnStats, s *tableStats, name string) (Column, *dataset.InputError) {
	fail := func(format string, args ...any) (Column, *dataset.InputError) {
		return Column{}, &dataset.InputError{
			File: UnnamedRows,
			Msg:  "column " + errtext.Excerpt(name) + ": " + fmt.Sprintf(format, args...),
		}
	}
	f := r.policy(name)
	out := Column{Kind: c.kind(), Missing: f.Missing}
	date := slices.Contains(r.Dates, name)
	switch {
	case c.LeftOut != "":
		_, err := fail("it %s", c.LeftOut)
		err.Omittable = true
		return Column{}, err
	case date && c.Numbers.Count+c.Texts.Count > c.Dates.Count:
		return fail(
			"it is named as a column of dates, and %d of its values are no dates%s",
			c.Numbers.Count+c.Texts.Count-c.Dates.Count,
			c.example(name),
		)
	case date && c.Dates.Count == 0:
		return fail("it is named as a column of dates and has none in the training rows")
	case date:
		out.Use = UseDate
		out.Parts = c.dateParts()
		if len(out.Parts) == 0 {
			return fail("all its dates are the same; leave it out")
		}
		if f.Missing.fills() && f.Missing != MissingMean && c.Gaps > 0 {
			return fail("missing dates can be replaced by their mean, not by the policy %q", string(f.Missing))
		}
		if !r.Standardize {
			for i := range out.Parts {
				out.Parts[i].Mean, out.Parts[i].Scale = 0, 0
			}
		}
	case c.IsLevels, r.OneHotText && c.Texts.Count > 0:
		if out.Kind == KindMixed && !c.Numbers.Kept || c.Texts.Unkept {
			return fail("it has too many different values for levels; leave it out")
		}
		gaps := c.Missing
		if f.Missing == MissingDrop ||
			f.Missing == RefuseMissing ||
			f.Missing == MissingMode ||
			f.Missing == MissingConstant {
			gaps = 0
		}
		c.levels(&out, int64(math.Ceil(r.MinShare*float64(s.Trained))), gaps)
		out.Use = UseLevels
		switch {
		case c.Missing == 0:
		case f.Missing == MissingMode && len(c.Texts.Levels) > 0:
			out.FillLevel = mostFrequent(c.Texts.Levels)
		case f.Missing == MissingConstant:
			out.FillLevel = f.Constant
		}
		if out.FillLevel != "" && !slices.Contains(out.Levels, out.FillLevel) {
			out.Levels = sortLevels(append(out.Levels, out.FillLevel))
		}
		if len(out.Levels) == 0 && !out.Other {
			return fail("it has no levels: every value is missing")
		}
	case c.Texts.Count > 0:
		_, err := fail("%s among its values%s", count(c.Texts.Count, "text"), c.example(name))
		err.Omittable = true
		return Column{}, err
	default:
		out.Use = UseNumber
		fill := c.Numbers.Moments.Mean
		switch {
		case f.Missing == MissingConstant:
			var err error
			fill, err = strconv.ParseFloat(f.Constant, 64)
			if err != nil || !vec.IsFinite(fill) {
				return fail("%q is no number to put in place of missing ones", f.Constant)
			}
		case c.Numbers.Count == 0 && (f.Missing.fills() || r.Standardize):
			return fail("it has no value in any training row; leave it out")
		case f.Missing == MissingMedian || f.Missing == MissingMode:
			if !c.Numbers.Kept {
				return fail("it has too many different values for the policy %q", string(f.Missing))
			}
			fill = c.Numbers.medianOrMode(f.Missing == MissingMode)
		}
		unfilled := c.Unfilled
		if !f.Missing.fills() {
			unfilled = 0
		}
		mean, scale := c.Numbers.Moments.filled(unfilled, fill)
		if f.Missing.fills() {
			out.Fill = fill
		}
		if r.Standardize {
			out.Mean, out.Scale = mean, scale
		}
	}
	for _, v := range []float64{out.Fill, out.Mean, out.Scale} {
		if !vec.IsFinite(v) {
			return fail("its mean or deviation exceeds the range of float64")
		}
	}
	out.Indicator = r.Indicators &&
		f.Missing.fills() &&
		c.Gaps > 0 &&
		(out.Use != UseLevels || out.FillLevel != "")
	return out, nil
}

// dateParts returns the date parts that differ between rows.
func (c *columnStats) dateParts() []DatePart {
	var out []DatePart
	for i, m := range []moment{c.Dates.Days, c.Dates.Years} {
		if m.M2 > 0 {
			p := DatePart{Part: dateUnits[i], Fill: m.Mean}
			p.Mean, p.Scale = m.filled(max(0, c.Unfilled-c.Dates.Days.Weight), m.Mean)
			out = append(out, p)
		}
	}
	for i, bits := range c.Dates.Parts {
		p := DatePart{Part: dateUnits[i+2]}
		for v := range 32 {
			if bits>>uint(v)&1 == 1 {
				p.Values = append(p.Values, v)
			}
		}
		if len(p.Values) > 1 {
			out = append(out, p)
		}
	}
	return out
}

// levels sets out.Levels to the levels that occur in at least minRows rows, and returns the number of other levels.
// The argument gaps is the number of missing values, which are the level "".
func (c *columnStats) levels(out *Column, minRows, gaps int64) (rare int64) {
	counts := maps.Clone(c.Texts.Levels)
	if counts == nil {
		counts = map[string]int64{}
	}
	if out.Kind == KindMixed && !c.IsLevels {
		for v, n := range c.Numbers.Values {
			counts[numberText(v)] += n
		}
	}
	if gaps > 0 {
		counts[""] = gaps
	}
	for level, n := range counts {
		if n >= minRows && level != OtherLevels {
			out.Levels = append(out.Levels, level)
		} else if n > 0 {
			rare++
			out.Other = true
		}
	}
	out.Levels = sortLevels(out.Levels)
	return rare
}

// mostFrequent returns the level that occurs most often, given the number of rows of each level. If several levels
// do, it returns the first in alphabetical order.
func mostFrequent(levels map[string]int64) string {
	best := ""
	for level, n := range levels {
		if most := levels[best]; n > most || n == most && level < best {
			best = level
		}
	}
	return best
}

// limit returns a text such as <0.5, or "".
func (c *textStats) limit() string {
	for _, s := range slices.Sorted(maps.Keys(c.Levels)) {
		number := strings.TrimLeft(s, "<>≤≥= ")
		if _, err := strconv.ParseFloat(number, 64); err == nil && number != s {
			return s
		}
	}
	return ""
}

// where describes the first text.
func (c *textStats) where() string {
	switch {
	case c.First.Row == 0:
		return ""
	case c.Line > 0:
		return fmt.Sprintf(" (line %d: %q)", c.Line, errtext.Excerpt(c.First.Text))
	}
	return fmt.Sprintf(" (row %d: %q)", c.First.Row, errtext.Excerpt(c.First.Text))
}

// example returns a text of the column that is not a date, to be added to an error. The name of the column is no
// example.
func (c *columnStats) example(name string) string {
	for _, text := range slices.Sorted(maps.Keys(c.Texts.Levels)) {
		if _, is := parseDate([]byte(text)); !is && text != name {
			return fmt.Sprintf(", for example %q", errtext.Excerpt(text))
		}
	}
	return ""
}

// count returns for example "3 rows".
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprint(n, " ", thing)
}

func join(a, b string) string {
	return strings.TrimPrefix(a+"; "+b, "; ")
}

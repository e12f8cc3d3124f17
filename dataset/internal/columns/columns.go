// Package columns selects which columns of a file become features and which become targets.
package columns

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// A Choice states which columns of a file are features and which are targets. A row of the result has the features,
// in the requested order, and then the targets.
type Choice struct {
	// To has for each column of the file its index in a row of the result, or -1 if the column is not used.
	To                []int
	Features, Targets int
	InOrder           bool           // the columns of the file are the features, in order, followed by the targets
	Cells             *prepare.Cells // how to read cells that are not numbers
	// Category has for each column of the file its index in Cells.Lexicons, or -1 if the column is not categorical.
	// If no column is categorical, Category is nil.
	Category []int

	labels *prepare.Lexicon // codes of the labels of the first target; nil if it is a number
}

// Choose selects features and targets among the columns with the given names. Each element of targets and features
// is a name, "first", "last" or a 1-based number. If a text is both a name and a number, it is read as the name.
//
// If features is empty, all columns except the targets are features. If every element begins with "-", the columns
// after the "-" are left out, and all other columns are features. A column cannot be both a feature and a target.
// The argument named is false if the file has no names, so that names holds only numbers.
func Choose(names []string, named bool, targets, features []string) (Choice, error) {
	c := Choice{To: make([]int, len(names))}
	if len(names) == 0 {
		return c, errors.New("there are no columns")
	}
	for i, name := range names {
		if !utf8.ValidString(name) {
			return c, fmt.Errorf("the name of column %d is not UTF-8: %q", i+1, errtext.Excerpt(name))
		}
	}
	t := &table{names: names, named: named}
	target, err := t.list(targets)
	if err != nil {
		return c, err
	}
	feature, listed, err := t.features(features)
	if err != nil {
		return c, err
	}
	for _, i := range target {
		if listed && slices.Contains(feature, i) {
			return c, fmt.Errorf("column %q is named as a feature and as a target or weight", errtext.Excerpt(names[i]))
		}
	}
	feature = without(feature, target, len(names))
	if len(feature) == 0 {
		return c, fmt.Errorf("no column is left for the features")
	}
	for i := range c.To {
		c.To[i] = -1
	}
	for k, i := range feature {
		c.To[i] = k
	}
	for k, i := range target {
		c.To[i] = len(feature) + k
	}
	c.Features, c.Targets = len(feature), len(target)
	c.InOrder = true
	for j, k := range c.To {
		c.InOrder = c.InOrder && j == k
	}
	return c, nil
}

// Read sets c.Cells and finds the categorical columns. These are the features whose indices are in cells.Features.
// If cells.Features is nil, Read first sets it to the indices of the columns named in cells.OneHot.
func (c *Choice) Read(cells *prepare.Cells, names []string, named bool) error {
	if cells != nil && c.Targets > 0 {
		c.labels = cells.Labels
	}
	c.Cells = cells.WithoutLabels()
	if c.Cells == nil {
		return nil
	}
	if cells.Features == nil {
		t := &table{names: names, named: named}
		found, err := t.list(cells.OneHot)
		if err != nil {
			return err
		}
		places := make([]int, len(found))
		for i, j := range found {
			places[i] = c.To[j]
			if places[i] < 0 || places[i] >= c.Features {
				return fmt.Errorf("column %q is not a feature and cannot be categorical", errtext.Excerpt(cells.OneHot[i]))
			}
		}
		cells.Features = places
	}
	cells.Begin(c.Features)
	if len(cells.Features) == 0 {
		return nil
	}
	place := make(map[int]int, len(cells.Features))
	for i, k := range cells.Features {
		place[k] = i
	}
	c.Category = make([]int, len(c.To))
	for j := range c.Category {
		i, is := place[c.To[j]]
		c.Category[j] = -1
		if is {
			c.Category[j] = i
		}
	}
	return nil
}

// Insert records that the file has an additional column at index j, which is not used.
func (c *Choice) Insert(j int) {
	c.To = slices.Insert(c.To, j, -1)
	if c.Category != nil {
		c.Category = slices.Insert(c.Category, j, -1)
	}
	c.InOrder = false
}

// Lexicon returns the Lexicon with the codes of the categories in column j of the file. It is nil if the column is
// numeric.
func (c *Choice) Lexicon(j int) *prepare.Lexicon {
	switch {
	case c.labels != nil && c.To[j] == c.Features:
		return c.labels
	case c.Category == nil || c.Category[j] < 0:
		return nil
	}
	return c.Cells.Lexicons[c.Category[j]]
}

// Allows reports whether values may be missing in column j of the file. The column must be a feature or a target.
func (c *Choice) Allows(j int) bool {
	return c.Cells.Allows(c.To[j], c.Features)
}

// Encode replaces the numbers in categorical columns by the codes of their categories. The arguments are the
// features x and the targets y of dense rows. It returns the first column that has too many categories, or -1 if
// there is none.
func (c *Choice) Encode(x, y []float64) (column int) {
	if c.labels != nil {
		for at := 0; at < len(y); at += c.Targets {
			code, ok := c.labels.Number(y[at])
			if y[at] == y[at] && !ok {
				return slices.Index(c.To, c.Features)
			} else if ok && y[at] == y[at] {
				y[at] = code
			}
		}
	}
	if c.Category == nil {
		return -1
	}
	for j, k := range c.Category {
		if k < 0 {
			continue
		}
		l := c.Cells.Lexicons[k]
		for at := c.To[j]; at < len(x); at += c.Features {
			if v := x[at]; v != v {
				x[at] = math.NaN() // the canonical NaN stands for a missing value
			} else if code, ok := l.Number(v); ok {
				x[at] = code
			} else {
				return j
			}
		}
	}
	return -1
}

// isFeature reports whether column j of the file is a feature.
func (c *Choice) isFeature(j int) bool {
	return c.To[j] < c.Features && c.Cells.Holds() == prepare.NotSeparate
}

// isFirstTarget reports whether column j of the file is the first target.
func (c *Choice) isFirstTarget(j int) bool {
	if c.Cells.Holds() == prepare.SeparateTargets {
		return c.To[j] == 0
	}
	return c.To[j] == c.Features
}

// Gap completes the error err for a missing value in column j of the file: it sets the hint and the kind of error.
func (c *Choice) Gap(j int, err *dataset.InputError) error {
	err.Missing = true
	err.Omittable = c.isFeature(j)
	err.Hint = "fill in what is missing, or leave the row out"
	if err.Omittable {
		err.Hint = "fill in what is missing, or leave the column out"
	}
	return err
}

// NoNumber completes the error err for a text in column j of the file, which must be numeric. It sets the hint and
// the kind of error.
func (c *Choice) NoNumber(j int, err *dataset.InputError) error {
	err.Omittable = c.isFeature(j)
	err.IsLabel = c.isFirstTarget(j)
	err.Hint = "encode the column as numbers"
	if err.Omittable {
		err.Hint += ", or leave it out"
	}
	return err
}

// Refuse collects several columns that cannot be read in one error. The argument err is the error of column j. The
// argument firstErr is the error of the first such column, or nil if column j is the first. If column j is a
// feature, Refuse appends its name to the list Texts of the first error, or to Others if isText is false. It
// returns the first error.
func (c *Choice) Refuse(
	firstErr, err *dataset.InputError,
	j int,
	name string,
	isText bool,
) *dataset.InputError {
	if firstErr == nil {
		firstErr = err
	}
	switch {
	case !c.isFeature(j):
	case isText:
		firstErr.Texts = append(firstErr.Texts, name)
	default:
		firstErr.Others = append(firstErr.Others, name)
	}
	return firstErr
}

// without returns the numbers that are in all and not in out. All of them must be below n. The result overwrites
// all.
func without(all, out []int, n int) []int {
	gone := make([]bool, n)
	for _, i := range out {
		gone[i] = true
	}
	return slices.DeleteFunc(all, func(i int) bool { return gone[i] })
}

// Pick returns the names of the features and the names of the targets. The argument has the names of all columns of
// the file.
func (c Choice) Pick(names []string) (features, targets []string) {
	picked := make([]string, c.Features+c.Targets)
	for j, k := range c.To {
		if k >= 0 {
			picked[k] = names[j]
		}
	}
	return picked[:c.Features:c.Features], picked[c.Features:]
}

// Numbers returns the texts "1", "2" and so on, which serve as names for n columns without names.
func Numbers(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}

type table struct {
	names []string
	named bool
	// places has for each name the index of its column, or −1 if several columns have this name. It is nil until it
	// is needed.
	places map[string]int
}

// index fills the map places if specs, the number of columns to look up, is large.
func (t *table) index(specs int) {
	const few = 16
	if !t.named || specs <= few || t.places != nil {
		return
	}
	t.places = make(map[string]int, len(t.names))
	for i, name := range t.names {
		if _, twice := t.places[name]; twice {
			i = -1
		}
		t.places[name] = i
	}
}

// place returns the index of the column with the given name, or −1 if several columns have this name. If no column
// has the name, ok is false.
func (t *table) place(name string) (i int, ok bool) {
	if !t.named {
		return 0, false
	}
	if t.places != nil {
		i, ok = t.places[name]
		return i, ok
	}
	i = slices.Index(t.names, name)
	if i < 0 {
		return 0, false
	}
	if slices.Contains(t.names[i+1:], name) {
		i = -1
	}
	return i, true
}

// features returns the indices of the columns that specs selects as features. The result listed is true if specs
// lists the features. It is false if specs is empty or lists columns to leave out.
func (t *table) features(specs []string) (out []int, listed bool, err error) {
	all := make([]int, len(t.names))
	for i := range all {
		all[i] = i
	}
	if len(specs) == 0 {
		return all, false, nil
	}
	t.index(len(specs))
	var left []string
	for _, s := range specs {
		rest, cut := strings.CutPrefix(s, "-")
		if !cut {
			continue
		}
		if _, is := t.place(s); !is {
			left = append(left, rest)
		}
	}
	if len(left) == 0 {
		out, err = t.list(specs)
		return out, true, err
	}
	if len(left) < len(specs) {
		return nil, false, fmt.Errorf(
			"either all columns begin with \"-\" (left out) or none does, unlike in %q",
			errtext.Excerpt(strings.Join(specs, ",")),
		)
	}
	out, err = t.list(left)
	if err != nil {
		return nil, false, err
	}
	return without(all, out, len(t.names)), false, nil
}

// list returns the indices of the columns, without duplicates.
func (t *table) list(specs []string) ([]int, error) {
	t.index(len(specs))
	var out []int
	taken := map[int]bool{}
	for _, s := range specs {
		i, err := t.find(s)
		if err != nil {
			return nil, err
		}
		if taken[i] {
			return nil, fmt.Errorf("column %q is named twice", errtext.Excerpt(s))
		}
		out = append(out, i)
		taken[i] = true
	}
	return out, nil
}

func (t *table) find(spec string) (int, error) {
	if i, ok := t.place(spec); ok {
		if i < 0 {
			return 0, fmt.Errorf("more than one column is called %q", errtext.Excerpt(spec))
		}
		return i, nil
	}
	n, err := strconv.Atoi(spec)
	switch {
	case spec == "first":
		n = 1
	case spec == "last":
		n = len(t.names)
	case err != nil || n < 1 || n > len(t.names):
		return 0, fmt.Errorf(
			"there is no column %q; %sthe %d columns %s",
			errtext.Excerpt(spec),
			t.suggest(spec),
			len(t.names),
			t,
		)
	}
	return n - 1, nil
}

// suggest returns the text "did you mean …" with the name most similar to spec. It returns "" if there is no such
// name.
func (t *table) suggest(spec string) string {
	if !t.named {
		return ""
	}
	name := mostSimilar(t.names, spec)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? ", errtext.Excerpt(name))
}

func (t *table) String() string {
	const most = 12
	switch {
	case !t.named:
		return fmt.Sprintf("have no names: use first, last or a number from 1 to %d", len(t.names))
	case len(t.names) <= most:
		return "are " + strings.Join(errtext.Excerpts(t.names), ", ")
	}
	return "are " + strings.Join(errtext.Excerpts(t.names[:most]), ", ") + ", …"
}

// Package columns chooses the columns of a file that become features and targets.
package columns

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/excerpt"
)

// A Choice says where each column of a row goes: the features first, in their
// order, the targets behind them.
type Choice struct {
	// To has, for each column of the file, its place in features and targets, or
	// -1 for a column that is left out.
	To                []int
	Features, Targets int
	Cells             *dataset.Cells // how cells that are no numbers are read
	// Category has, for each column of the file, its place in Cells.Lexicons, or -1; nil: no
	// column is categorical.
	Category []int

	inOrder bool // a row of the file is its features, then its targets
}

// Choose resolves the columns of a file. A specification is a name, "first",
// "last" or a 1-based number; names go before numbers. An empty list of features
// takes every column that is no target; otherwise the features are those listed,
// in that order, or, where each begins with "-", all but those listed. A target that
// is listed as a feature is an error. named tells that the names are the file's own,
// not just numbers.
func Choose(names []string, named bool, targets, features []string) (Choice, error) {
	c := Choice{To: make([]int, len(names))}
	if len(names) == 0 {
		return c, errors.New("there are no columns")
	}
	for i, name := range names {
		if !utf8.ValidString(name) {
			return c, fmt.Errorf("the name of column %d is not UTF-8: %q", i+1, excerpt.Of(name))
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
			return c, fmt.Errorf("column %q is named as a feature and as a target or weight", excerpt.Of(names[i]))
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
	c.inOrder = true
	for j, k := range c.To {
		c.inOrder = c.inOrder && j == k
	}
	return c, nil
}

// Read takes in how cells are to be read, and finds the categorical columns: those that cells
// names, or has the places of among the features, which it is given otherwise.
func (c *Choice) Read(cells *dataset.Cells, names []string, named bool) error {
	if c.Cells = cells; cells == nil {
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
			if places[i] = c.To[j]; places[i] < 0 || places[i] >= c.Features {
				return fmt.Errorf("column %q is no feature, to make columns of its levels", excerpt.Of(cells.OneHot[i]))
			}
		}
		cells.Features = places
	}
	for len(cells.Lexicons) < len(cells.Features) {
		cells.Lexicons = append(cells.Lexicons, new(dataset.Lexicon))
	}
	if len(cells.Features) == 0 {
		return nil
	}
	c.Category = make([]int, len(c.To))
	for j := range c.Category {
		c.Category[j] = -1
		if c.To[j] >= 0 {
			c.Category[j] = slices.Index(cells.Features, c.To[j])
		}
	}
	return nil
}

// Lexicon is that of column j of the file, nil where it has numbers.
func (c *Choice) Lexicon(j int) *dataset.Lexicon {
	if c.Category == nil || c.Category[j] < 0 {
		return nil
	}
	return c.Cells.Lexicons[c.Category[j]]
}

// Allows reports whether column j of the file, which is read, may have missing values.
func (c *Choice) Allows(j int) bool { return c.Cells.Policy().Allows(c.To[j], c.Features) }

// Encode puts codes in the place of numbers in the categorical columns of dense rows. Where a column
// has too many levels it returns that column, else -1.
func (c *Choice) Encode(x []float64) (column int) {
	if c.Category == nil {
		return -1
	}
	for j, k := range c.Category {
		if k < 0 {
			continue
		}
		l := c.Cells.Lexicons[k]
		for at := c.To[j]; at < len(x); at += c.Features {
			if v := x[at]; v == v {
				code, ok := l.Number(v)
				if !ok {
					return j
				}
				x[at] = code
			}
		}
	}
	return -1
}

// Gap completes the error of a missing value in column j of the file, which is read.
func (c *Choice) Gap(j int, err *dataset.InputError) error {
	err.Missing, err.Omittable = true, c.To[j] < c.Features
	if err.Hint = "fill in what is missing, or leave the row out"; err.Omittable {
		err.Hint = "fill in what is missing, or leave the column out"
	}
	return err
}

// NoNumber completes the error of a text in column j of the file, which is read and has numbers.
func (c *Choice) NoNumber(j int, err *dataset.InputError) error {
	err.Omittable = c.To[j] < c.Features
	if err.Hint = "encode the column as numbers"; err.Omittable {
		err.Hint += ", or leave it out"
	}
	return err
}

// Refuse adds the refusal of column j to those before it, of which first is the first one, nil for
// none. It returns the first of all. text reports whether the column could be categorical.
func (c *Choice) Refuse(first, err *dataset.InputError, j int, name string, text bool) *dataset.InputError {
	if first == nil {
		first = err
	}
	switch {
	case c.To[j] >= c.Features:
	case text:
		first.Texts = append(first.Texts, name)
	default:
		first.Others = append(first.Others, name)
	}
	return first
}

// NoCode says what is wrong with a column, for a text that its lexicon has no code for.
func NoCode[T ~string | ~[]byte](text T) string {
	if s := string(text); !utf8.ValidString(s) {
		return fmt.Sprintf("has a text that is not UTF-8: %q", excerpt.Of(s))
	}
	return TooManyLevels
}

// TooManyLevels is what is wrong with a column if a lexicon has no code for a text of it.
const TooManyLevels = "has too many levels to be categorical (2²⁰, or 64 MiB of them): is it a name, or a number?"

// without deletes those of n columns that are in out.
func without(all, out []int, n int) []int {
	gone := make([]bool, n)
	for _, i := range out {
		gone[i] = true
	}
	return slices.DeleteFunc(all, func(i int) bool { return gone[i] })
}

// Pick returns the names of the features and of the targets, in their order.
func (c Choice) Pick(names []string) (features, targets []string) {
	picked := make([]string, c.Features+c.Targets)
	for j, k := range c.To {
		if k >= 0 {
			picked[k] = names[j]
		}
	}
	return picked[:c.Features:c.Features], picked[c.Features:]
}

// Numbers are the names of n columns that have none.
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
	// places has the index of each name, -1 where several columns have it. It is nil where
	// few columns are to be found: then names is searched for each.
	places map[string]int
}

// index makes places where many columns are to be found.
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

// place returns the index of a name, -1 where several columns have it. ok is false where
// none has.
func (t *table) place(name string) (i int, ok bool) {
	if !t.named {
		return 0, false
	}
	if t.places != nil {
		i, ok = t.places[name]
		return i, ok
	}
	if i = slices.Index(t.names, name); i < 0 {
		return 0, false
	}
	if slices.Contains(t.names[i+1:], name) {
		i = -1
	}
	return i, true
}

// features resolves the list of features, or of the columns that are no features. listed reports
// that it was a list of features.
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
		return nil, false, fmt.Errorf("the columns are either listed or, each after \"-\", left out: not both, as in %q", excerpt.Of(strings.Join(specs, ",")))
	}
	if out, err = t.list(left); err != nil {
		return nil, false, err
	}
	return without(all, out, len(t.names)), false, nil
}

// list resolves specifications, each of which must be another column.
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
			return nil, fmt.Errorf("column %q is named twice", excerpt.Of(s))
		}
		out, taken[i] = append(out, i), true
	}
	return out, nil
}

func (t *table) find(spec string) (int, error) {
	if i, ok := t.place(spec); ok {
		if i < 0 {
			return 0, fmt.Errorf("more than one column is called %q", excerpt.Of(spec))
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
		return 0, fmt.Errorf("there is no column %q; %sthe %d columns %s", excerpt.Of(spec), t.meant(spec), len(t.names), t)
	}
	return n - 1, nil
}

// meant asks for the name that a specification is written almost like, "" where there is none.
func (t *table) meant(spec string) string {
	if !t.named {
		return ""
	}
	name := near(t.names, spec)
	if name == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q? ", excerpt.Of(name))
}

func (t *table) String() string {
	const most = 12
	switch {
	case !t.named:
		return fmt.Sprintf("have no names: say first, last or a number from 1 to %d", len(t.names))
	case len(t.names) <= most:
		return "are " + strings.Join(excerpt.All(t.names), ", ")
	}
	return "are " + strings.Join(excerpt.All(t.names[:most]), ", ") + ", …"
}

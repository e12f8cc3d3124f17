// Package table turns files into the rows of a fit. It selects columns and rows, encodes missing values, categories
// and dates, holds rows out, and scales columns.
//
// A [Spec] describes the rows, in the words of the flags of the command fdridge. [Open] opens the rows in fixed stages,
// and each stage returns a value:
//
//	resolve   Spec → its parsed values; an error names the field
//	decide    → the encoding of each column, from a plan or from a pass over the rows
//	read      → the rows of the files, with the selected columns
//	hold out  → the rows of the fit and the held-out rows
//	encode    → numbers instead of categories, dates and missing values
//	penalise  → the penalty of each column
//	scale     → means and deviations
//	label     → the classes
//	prepare   → the rows of the fit
//
// [Fit] opens the rows, fits them and returns a model. [Predict] opens new rows as the model requires, and predicts
// them with proved bounds.
package table

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/fdridge/fdridge/dataset/file"
)

// A Spec describes rows: the files, the columns, and how cells become numbers. Each field has the name and the syntax
// of a flag of the command fdridge, and the zero value of a field is its default. A column is given by its name in the
// file, or by its number from 1.
//
// As JSON, a Spec is the identity of the rows; see [Spec.Identity].
type Spec struct {
	// Data are the files, read one after the other. FILE.npz:NAME is an array of an archive. A single "-" is standard
	// input, and a single file may be a named pipe.
	Data []string `json:"data,omitempty"`
	// Format is the format of the files, one of [file.Formats]. By default, it is detected.
	Format string `json:"format,omitempty"`
	// Delimiter separates the fields of csv files: one character, or tab. By default, it is detected.
	Delimiter string `json:"delimiter,omitempty"`
	// Header states whether the first line of csv files has names: yes, no, or auto (the default).
	Header string `json:"header,omitempty"`
	// Decimal is the decimal mark of numbers in text: "." or ",". By default, it is detected.
	Decimal string `json:"decimal,omitempty"`
	// MissingMarks are further texts or numbers that stand for a missing value.
	MissingMarks []string `json:"missing_marks,omitempty"`
	// SkipRows are lines of csv files to skip: a number N skips the first N lines, and A:B skips the lines A to B.
	SkipRows []string `json:"skip_rows,omitempty"`
	// Escape is the character before a quote within quotes of csv files: \ as in "5\" pipe", or ". By default it is
	// detected.
	Escape string `json:"escape,omitempty"`
	// Comment is a character. Lines of csv files that begin with this character are skipped.
	Comment string `json:"comment,omitempty"`
	// FirstIndex is the smallest index of svmlight rows: 0, 1, or auto (the default).
	FirstIndex string `json:"first_index,omitempty"`

	// Columns are the features, in this order. If each begins with "-", these columns are left out. The default is all
	// columns that are not targets.
	Columns []string `json:"columns,omitempty"`
	// Target lists the target columns, each a name, a number, first or last. A single element may be a file.
	Target []string `json:"target,omitempty"`
	// Weights are the sample weights: a column, or a file.
	Weights string `json:"weights,omitempty"`
	// NFeatures is the number of features of svmlight rows. By default, a pass finds it.
	NFeatures int `json:"n_features,omitempty"`
	// Rows selects the rows A:B, counted from 1.
	Rows string `json:"rows,omitempty"`
	// Transposed is true if the files have one feature a row and one sample a column. Columns then selects samples.
	Transposed bool `json:"transposed,omitempty"`
	// Part selects part I of N of the rows, as I/N with I from 0 to N−1.
	Part string `json:"part,omitempty"`
	// Key is a column whose texts name the rows. It is no feature; see [Keys].
	Key string `json:"key,omitempty"`

	// Prepare is auto, or the file of a plan. With auto, a pass over the rows decides how to encode each column.
	Prepare string `json:"prepare,omitempty"`
	// Missing are the policies for missing values. The first element may be the policy of all columns: refuse (the
	// default), mean, median, most-frequent, constant, constant:VALUE or drop. COLUMN=POLICY is the policy of a column.
	Missing []string `json:"missing,omitempty"`
	// MissingIndicator adds a 0/1 column for each column whose missing values are replaced.
	MissingIndicator bool `json:"missing_indicator,omitempty"`
	// MissingTarget states what becomes of rows without a target or weight: drop or refuse.
	MissingTarget string `json:"missing_target,omitempty"`
	// OneHot lists columns whose levels become 0/1 columns. The element text stands for all columns with text.
	OneHot []string `json:"onehot,omitempty"`
	// MinShare is a fraction of the rows. All levels that occur in fewer rows share the level (other).
	MinShare float64 `json:"min_share,omitempty"`
	// Dates lists columns of dates. They become elapsed days, year, month, weekday and hour.
	Dates []string `json:"dates,omitempty"`
	// Standardize scales columns to mean 0 and deviation 1: true for all columns, numeric for all but the levels of
	// categories, false (the default) for none.
	Standardize string `json:"standardize,omitempty"`
	// Features are computed features: rff:D,gamma=G,seed=S for Fourier features, or poly:K.
	Features string `json:"features,omitempty"`

	// Penalty is a file with one number for each input column. The number multiplies γ.
	Penalty string `json:"penalty,omitempty"`
	// Bands are groups of columns with a common penalty, such as 1-10=1 or 11-20. Without =P, the fit chooses the penalty.
	Bands []string `json:"bands,omitempty"`
	// Unpenalized lists columns without penalty: names, numbers, or ranges A-C.
	Unpenalized []string `json:"unpenalized,omitempty"`

	// Holdout is the fraction of the rows that are kept out of the fit and used to score it.
	Holdout float64 `json:"holdout,omitempty"`
	// Classes is true if the target is a column of labels.
	Classes bool `json:"classes,omitempty"`
	// ClassWeight is "", or balanced to give all classes the same weight.
	ClassWeight string `json:"class_weight,omitempty"`
}

// Values of [Spec.Standardize].
const (
	ScaleNone    = "false"
	ScaleAll     = "true"
	ScaleNumeric = "numeric"
)

// allText is the element of Spec.OneHot that selects all columns with text.
const allText = "text"

// defaults maps fields to a text that means the same as "" or an empty list.
var defaults = map[string]string{
	"Format":      auto,
	"Header":      auto,
	"FirstIndex":  auto,
	"Standardize": ScaleNone,
	"Missing":     refuse,
}

// canonical returns a Spec that is equal for all ways to write the same rows: defaults are zero values.
func (s Spec) canonical() Spec {
	v := reflect.ValueOf(&s).Elem()
	for name, value := range defaults {
		if f := v.FieldByName(name); f.Kind() == reflect.String && f.String() == value {
			f.SetString("")
		}
	}
	if isRefused(s.Missing) {
		s.Missing = nil
	}
	return s
}

// Identity returns the JSON of s, with defaults left out. Two Specs with the same identity describe the same rows if
// their files have the same content.
func (s Spec) Identity() string { return encode(s.canonical()) }

// encode returns the JSON of s. It panics if a number is not finite, which [Spec.Check] refuses.
func encode(s Spec) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// reading returns s with only the fields that affect the rows as they are read from the files. Encoding, scaling,
// penalties and labels come later. s must be the canonical form of a valid Spec.
func (s Spec) reading() Spec {
	policy := policyOf(s.Missing)
	s.Key = ""
	s.Prepare = ""
	s.Missing = nil
	s.MissingIndicator = false
	s.MissingTarget = ""
	s.OneHot = nil
	s.MinShare = 0
	s.Dates = nil
	s.Standardize = ""
	s.Features = ""
	s.Penalty = ""
	s.Bands = nil
	s.Unpenalized = nil
	s.Holdout = 0
	s.Classes = false
	s.ClassWeight = ""
	if policy != refuse {
		s.Missing = []string{policy} // only drop reads rows with a missing target
	}
	return s
}

// refuse is the default policy for missing values.
const refuse = "refuse"

// policyOf returns the policy of all columns if it is mean or drop, otherwise refuse.
func policyOf(missing []string) string {
	if len(missing) == 1 && (missing[0] == "mean" || missing[0] == "drop") {
		return missing[0]
	}
	return refuse
}

// Name returns the name of the rows in messages.
func (s *Spec) Name() string {
	name := strings.Join(s.Data, ",")
	if name == "-" {
		return stdinName
	}
	return name
}

// stdinName is the name of standard input (Data "-") in messages.
const stdinName = "standard input"

// Piped reports whether the rows come from standard input or from a named pipe, which can be read only once.
func (s *Spec) Piped() bool {
	return len(s.Data) == 1 && isPipe(s.Data[0])
}

// isPipe reports whether a file name is standard input (-) or a named pipe.
func isPipe(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// RowFiles returns the files of rows, targets and weights, without the names of arrays inside .npz archives and without
// standard input.
func (s *Spec) RowFiles() []string {
	data := slices.DeleteFunc(slices.Clone(s.Data), func(name string) bool {
		return name == "-"
	})
	return withoutArrays(slices.Concat(data, s.Target, []string{s.Weights}))
}

// Files returns all input files: the files of RowFiles, the file of penalties and the plan. A name may be "" or a
// column.
func (s *Spec) Files() []string {
	files := append(s.RowFiles(), withoutArrays([]string{s.Penalty})...)
	if s.Prepare != "" && s.Prepare != auto {
		files = append(files, s.Prepare)
	}
	return files
}

func withoutArrays(paths []string) []string {
	for i, path := range paths {
		paths[i], _ = file.SplitArray(path)
	}
	return paths
}

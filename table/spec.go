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

// A Spec describes the rows of a fit: the files, the columns, and how cells become numbers. Each field corresponds
// to a flag of the command fdridge, with the same name and syntax. The zero value of a field is its default. A
// column is given by its name in the file, or by its number counted from 1.
//
// The JSON of a Spec identifies the rows; see [Spec.Identity].
type Spec struct {
	// Data lists the files with the rows, in the order in which they are read. FILE.npz:NAME means the array NAME
	// of the archive FILE.npz. A single element "-" means standard input. A single file may be a named pipe.
	Data []string `json:"data,omitempty"`
	// Format is the format of the files: one of [file.Formats]. "" means that the format is detected.
	Format string `json:"format,omitempty"`
	// Delimiter is the character that separates the fields of csv files, or the word tab. By default, it is
	// detected.
	Delimiter string `json:"delimiter,omitempty"`
	// Header states whether the first line of csv files has names: yes, no, or auto (the default).
	Header string `json:"header,omitempty"`
	// Decimal is the decimal mark of numbers in text files: "." or ",". By default, it is detected.
	Decimal string `json:"decimal,omitempty"`
	// MissingMarks are texts or numbers that stand for a missing value, in addition to the built-in ones.
	MissingMarks []string `json:"missing_marks,omitempty"`
	// SkipRows lists lines of csv files to skip. The element N skips the first N lines, and A:B skips the lines A
	// to B.
	SkipRows []string `json:"skip_rows,omitempty"`
	// Escape is the character that precedes a quote character within quoted fields of csv files: a backslash, as in
	// "5\" pipe", or a second quote. By default, it is detected.
	Escape string `json:"escape,omitempty"`
	// Comment is a character. Lines of csv files that begin with this character are skipped.
	Comment string `json:"comment,omitempty"`
	// FirstIndex is the index of the first feature in svmlight files: 0, 1, or auto (the default).
	FirstIndex string `json:"first_index,omitempty"`

	// Columns lists the features, in this order. If each element begins with "-", the named columns are left out,
	// and all others are features. By default, all columns that are not targets are features.
	Columns []string `json:"columns,omitempty"`
	// Target lists the target columns. Each element is a name, a number, or the word first or last. A single
	// element may also name a file with the targets.
	Target []string `json:"target,omitempty"`
	// Weights names the column or the file with the sample weights.
	Weights string `json:"weights,omitempty"`
	// NFeatures is the number of features of svmlight rows. By default, a pass over the rows finds this number.
	NFeatures int `json:"n_features,omitempty"`
	// Rows selects the rows A:B, counted from 1.
	Rows string `json:"rows,omitempty"`
	// Transposed is true if each row of the files is a feature and each column is a sample. The field Columns then
	// selects samples.
	Transposed bool `json:"transposed,omitempty"`
	// Part divides the rows into N parts and selects one of them. It is written I/N, with I from 0 to N−1.
	Part string `json:"part,omitempty"`
	// Key names a column whose texts identify the rows. This column is not a feature; see [Rows.Keys].
	Key string `json:"key,omitempty"`

	// Prepare is the word auto, or the name of a file with a plan. With auto, a pass over the rows decides how each
	// column is encoded. A plan lists the encoding of each column.
	Prepare string `json:"prepare,omitempty"`
	// Missing lists the policies for missing values. The first element can be the policy for all columns: refuse
	// (the default), mean, median, most-frequent, constant, constant:VALUE or drop. COLUMN=POLICY sets the policy
	// for one column.
	Missing []string `json:"missing,omitempty"`
	// MissingIndicator adds a feature for each column whose missing values are replaced. The feature is 1 where the
	// value was missing, and otherwise 0.
	MissingIndicator bool `json:"missing_indicator,omitempty"`
	// MissingTarget tells what to do with rows that have no target or no weight. drop leaves them out, and refuse
	// returns an error.
	MissingTarget string `json:"missing_target,omitempty"`
	// OneHot lists categorical columns. Each distinct text in such a column (a level) becomes a feature with the
	// values 0 and 1. The element "text" means all columns that contain text.
	OneHot []string `json:"onehot,omitempty"`
	// MinShare is a fraction of the rows. Levels of a categorical column that occur in a smaller fraction of the
	// rows are combined into one level, named (other).
	MinShare float64 `json:"min_share,omitempty"`
	// Dates lists columns of dates. Each is replaced by the features elapsed days, year, month, weekday and hour.
	Dates []string `json:"dates,omitempty"`
	// Standardize selects the columns that are shifted to mean 0 and scaled to standard deviation 1. The value true
	// selects all columns, and false (the default) selects none. The value numeric selects all columns except the
	// levels of categorical columns.
	Standardize string `json:"standardize,omitempty"`
	// Features selects features that are computed from the columns. The text rff:D,gamma=G,seed=S means D random
	// Fourier features, see [dataset.Fourier]. The text poly:K means polynomial features of degree K, see
	// [dataset.Polynomial].
	Features string `json:"features,omitempty"`

	// Penalty names a file with one number for each input column. The ridge penalty γ is multiplied by this number.
	Penalty string `json:"penalty,omitempty"`
	// Bands lists groups of columns whose ridge penalty γ is multiplied by a common factor. In an element such as
	// 1-10=2, the last number is the factor. For an element such as 11-20, the fit chooses the factor.
	Bands []string `json:"bands,omitempty"`
	// Unpenalized lists the columns without ridge penalty. An element is a name, a number, or a range such as A-C.
	Unpenalized []string `json:"unpenalized,omitempty"`

	// Holdout is the fraction of the rows that are not used for the fit. The fit is scored on these rows.
	Holdout float64 `json:"holdout,omitempty"`
	// Classes is true if the target is a column of class labels.
	Classes bool `json:"classes,omitempty"`
	// ClassWeight is "", or the word balanced. With balanced, rows are weighted so that all classes have the same
	// total weight.
	ClassWeight string `json:"class_weight,omitempty"`
}

// Values of [Spec.Standardize].
const (
	ScaleNone    = "false"
	ScaleAll     = "true"
	ScaleNumeric = "numeric"
)

// allText is the element of Spec.OneHot that selects all columns that contain text.
const allText = "text"

// defaults maps the name of a field to the text that means the same as its zero value.
var defaults = map[string]string{
	"Format":      auto,
	"Header":      auto,
	"FirstIndex":  auto,
	"Standardize": ScaleNone,
	"Missing":     refuse,
}

// canonical returns s with each default replaced by the zero value. Two Specs that describe the same rows in
// different ways then become equal.
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

// Identity returns the JSON of s, without fields that have their default. If two Specs have the same identity and
// their files have the same contents, they describe the same rows.
func (s Spec) Identity() string { return encode(s.canonical()) }

// encode returns the JSON of s. It panics if a number is infinite or NaN. [Spec.Check] refuses such numbers.
func encode(s Spec) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// reading returns s with only the fields that affect how rows are read from the files. Fields about encoding,
// scaling, penalties and labels are cleared. s must be the result of canonical for a valid Spec.
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

// policyOf returns the policy for missing values if it is mean or drop for all columns. Otherwise it returns
// refuse.
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

// Piped reports whether the rows come from standard input or a named pipe. Such rows can be read only once.
func (s *Spec) Piped() bool {
	return len(s.Data) == 1 && isPipe(s.Data[0])
}

// isPipe reports whether a file name means standard input ("-") or a named pipe.
func isPipe(name string) bool {
	if name == "-" {
		return true
	}
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// RowFiles returns the names of the files with rows, targets and weights. Standard input is left out, and
// FILE.npz:NAME is shortened to FILE.npz. If targets or weights are columns, the result also contains their names.
func (s *Spec) RowFiles() []string {
	data := slices.DeleteFunc(slices.Clone(s.Data), func(name string) bool {
		return name == "-"
	})
	return withoutArrays(slices.Concat(data, s.Target, []string{s.Weights}))
}

// Files returns the names of all input files: the result of RowFiles, the file of penalties and the file of the
// plan. A name can also be "" or the name of a column.
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

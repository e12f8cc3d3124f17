package table

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/csv"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/dataset/prepare"
	"github.com/fdridge/fdridge/internal/errtext"
)

// resolved holds the parsed values of a valid Spec.
type resolved struct {
	spec   Spec
	text   csv.Options   // how text files are written
	heads  file.Heads    // what the beginnings of the files showed
	lo, hi int64         // the rows lo ≤ row < hi of Spec.Rows, counted from 0; hi is math.MaxInt64 without Rows
	share  dataset.Share // of Spec.Part; the zero value is all rows
	rules  *prepare.Rules
	// plan is the encoding of the columns in the file that Spec.Prepare names. If a pass over the rows decides on
	// the encoding, rules holds the rules for this decision. Both are nil if no column needs a decision.
	plan      *prepare.Encoding
	bands     []namedBand
	expansion dataset.Features // computed features; nil: none
}

// cuts reports whether Spec.Rows selects some of the rows.
func (r *resolved) cuts() bool { return r.spec.Rows != "" }

// Check returns a *[SpecError] if a field is invalid, or if fields contradict each other. It reads no rows. If
// s.Prepare names the file of a plan, Check reads this file.
func (s Spec) Check() error {
	_, err := resolve(s)
	return err
}

// resolve parses and checks the fields of s. It is the first stage of [Open].
func resolve(s Spec) (*resolved, error) {
	r := &resolved{spec: s}
	for _, step := range []func() error{
		r.parsePenalties, r.parsePreparation, r.checkTransposed, r.checkReread, r.parseRows, r.parsePart, r.checkDivisible,
		r.parseFeatures, r.checkHoldout, r.checkClasses,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func (r *resolved) checkTransposed() error {
	s := &r.spec
	if s.Transposed &&
		(len(s.OneHot) > 0 || len(s.Dates) > 0 || s.Prepare != "") {
		return specError(
			"Transposed", "%v, %v and %v need features as columns", Field("OneHot"), Field("Dates"), Field("Prepare"),
		)
	}
	return nil
}

// checkReread returns an error if the rows come from a pipe, and a pass has to decide on the encoding of the
// columns. A pipe can be read only once.
func (r *resolved) checkReread() error {
	if r.rules == nil || !r.spec.Piped() {
		return nil
	}
	return specError(
		"Prepare",
		"it looks at all rows first, and %s can be read once; write a plan by %v from a file, and use %v PLAN",
		r.spec.Name(),
		Field("PlanOut"),
		Field("Prepare"),
	)
}

// parseRows parses and checks the fields that tell which rows are read, and how text files are written.
func (r *resolved) parseRows() error {
	s := &r.spec
	switch {
	case len(s.Data) == 0:
		return specError("Data", "no file is named")
	case s.NFeatures < 0 || s.NFeatures > math.MaxInt32:
		return specError("NFeatures", "%d, must be 1 to %d", s.NFeatures, math.MaxInt32)
	}
	if err := r.checkPipe(); err != nil {
		return err
	}
	if err := oneOf("Format", s.Format, append([]string{""}, file.Formats...)...); err != nil {
		return err
	}
	if err := r.parseText(); err != nil {
		return err
	}
	r.hi = math.MaxInt64
	if s.Rows == "" {
		return nil
	}
	var err error
	r.lo, r.hi, err = parseRange(s.Rows)
	return err
}

// checkPipe returns an error if Data contains a pipe and other files, or if the rows of a pipe are transposed.
func (r *resolved) checkPipe() error {
	s := &r.spec
	i := slices.IndexFunc(s.Data, isPipe)
	if i < 0 {
		return nil
	}
	name := s.Data[i]
	if name == "-" {
		name = stdinName
	}
	switch {
	case len(s.Data) > 1:
		return specError("Data", "%s cannot be combined with other files; let its writer send all rows", name)
	case s.Transposed:
		return specError(
			"Transposed",
			"it reads the rows several times, and %s can be read only once; write the rows to a file",
			name,
		)
	}
	return nil
}

// headers maps the values of Spec.Header to csv options.
var headers = map[string]csv.Header{
	"":     csv.Auto,
	"auto": csv.Auto,
	"yes":  csv.Present,
	"no":   csv.Absent,
}

// parseText parses and checks the fields that tell how text files are written, such as Delimiter and Decimal.
func (r *resolved) parseText() error {
	s := &r.spec
	header, ok := headers[s.Header]
	if !ok {
		return specError("Header", "%q must be one of auto, yes, no", errtext.Excerpt(s.Header))
	}
	delimiter, err := parseDelimiter(s.Delimiter)
	if err != nil {
		return err
	}
	r.text = csv.Options{Delimiter: delimiter, Header: header}
	if s.Decimal != "" && s.Decimal != "." && s.Decimal != "," {
		return specError("Decimal", "%q must be . or a comma", errtext.Excerpt(s.Decimal))
	}
	if err := oneOf("FirstIndex", s.FirstIndex, "", "auto", "0", "1"); err != nil {
		return err
	}
	r.text.Text = prepare.Text{Decimal: s.Decimal, Marks: s.MissingMarks}
	if s.FirstIndex != "auto" {
		r.text.Text.FirstIndex = s.FirstIndex
	}
	if s.Escape != "" && s.Escape != `\` && s.Escape != `"` {
		return specError("Escape", "%q must be a backslash or a quote", errtext.Excerpt(s.Escape))
	}
	if s.Escape != "" {
		r.text.Text.Escape = s.Escape[0]
	}
	if len(s.Comment) > 1 || strings.ContainsAny(s.Comment, "\"\r\n.+-0123456789") {
		return specError("Comment", "%q must be one character that begins no number", errtext.Excerpt(s.Comment))
	}
	if s.Comment != "" {
		r.text.Comment = s.Comment[0]
	}
	for _, item := range s.SkipRows {
		lines, ok := parseLines(item)
		if !ok {
			return specError("SkipRows", "%q must be a number of lines, or A:B with 1 <= A <= B", errtext.Excerpt(item))
		}
		r.text.Skip = append(r.text.Skip, lines)
	}
	return nil
}

// parseDelimiter parses a delimiter: one character, or "tab". It returns 0 for an empty text.
func parseDelimiter(text string) (rune, error) {
	if text == "tab" || text == `\t` {
		return '\t', nil
	}
	c, size := utf8.DecodeRuneInString(text)
	switch {
	case text == "":
		return 0, nil
	case size != len(text) ||
		c == utf8.RuneError ||
		strings.ContainsRune("\"\r\n.+-eE0123456789", c):
		return 0, specError(
			"Delimiter",
			"%q must be one character that is not part of a number, or tab",
			errtext.Excerpt(text),
		)
	}
	return c, nil
}

// parseLines parses a range of lines A:B. It also accepts a number N, which means the first N lines.
func parseLines(text string) (csv.Lines, bool) {
	a, b, ok := strings.Cut(text, ":")
	if !ok {
		a, b = "1", text
	}
	first, err1 := strconv.Atoi(a)
	last, err2 := strconv.Atoi(b)
	valid := err1 == nil &&
		err2 == nil &&
		1 <= first &&
		first <= last &&
		last < math.MaxInt32
	return csv.Lines{First: first, Last: last}, valid
}

// parseRange parses a range of rows A:B, where A and B are counted from 1 and row B is included. It returns the
// same range as lo ≤ row < hi, where rows are counted from 0.
func parseRange(text string) (lo, hi int64, err error) {
	a, b, ok := strings.Cut(text, ":")
	lo, err1 := strconv.ParseInt(a, 10, 64)
	hi, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || lo < 1 || hi < lo {
		return 0, 0, specError("Rows", "%q must be A:B with 1 <= A <= B", errtext.Excerpt(text))
	}
	return lo - 1, hi, nil
}

// FirstRow returns the index, counted from 0, of the first row that s.Rows selects. It returns 0 if s.Rows is
// invalid.
func (s *Spec) FirstRow() int64 {
	if s.Rows == "" {
		return 0
	}
	lo, _, err := parseRange(s.Rows)
	if err != nil { // Check refuses it
		return 0
	}
	return lo
}

// parsePart parses Spec.Part, which is I/N for part I of N with I from 0 to N−1. I = N has an error message of its
// own, because a user may have counted the parts from 1.
func (r *resolved) parsePart() error {
	text := r.spec.Part
	if text == "" {
		return nil
	}
	index, count, ok := strings.Cut(text, "/")
	i, err1 := strconv.ParseUint(index, 10, 64)
	n, err2 := strconv.ParseUint(count, 10, 64)
	switch {
	case !ok || err1 != nil || err2 != nil || n < 1 || n > math.MaxInt32:
		return specError("Part", "%q must be I/N, part I of N, with 0 <= I < N < 2³¹", errtext.Excerpt(text))
	case i >= n:
		return specError(
			"Part",
			"there is no part %d of %d: parts are counted from 0 to %d; if the array counts from 1, subtract 1",
			i,
			n,
			n-1,
		)
	}
	r.share = dataset.Share{Rank: int(i), Size: int(n)}
	return nil
}

// Share returns the part of the rows that s.Part selects. If s.Part is "" or invalid, it returns the zero value,
// which means all rows.
func (s Spec) Share() dataset.Share {
	r := &resolved{spec: s}
	if r.parsePart() != nil {
		return dataset.Share{}
	}
	return r.share
}

// checkDivisible returns an error if Spec.Part is given for a pipe or for transposed files, whose rows cannot be
// divided.
func (r *resolved) checkDivisible() error {
	s := &r.spec
	switch {
	case s.Part == "":
		return nil
	case s.Piped():
		return specError(
			"Part",
			"%s is a pipe, which cannot be divided; let its writer send each task its own rows",
			s.Name(),
		)
	case s.Transposed:
		return specError(
			"Part",
			"with %v a row of the file has values of all samples; divide the files, or leave out %v",
			Field("Transposed"),
			Field("Transposed"),
		)
	}
	return nil
}

func (r *resolved) parseFeatures() error {
	if r.spec.Features == "" {
		return nil
	}
	var err error
	r.expansion, err = dataset.ParseFeatures(r.spec.Features)
	if err != nil {
		return specError("Features", "%w", err)
	}
	return nil
}

func (r *resolved) checkHoldout() error {
	if (dataset.Holdout{Share: r.spec.Holdout}).Check() != nil {
		return specError("Holdout", "%v, must be at least 0 and below 1", r.spec.Holdout)
	}
	if r.spec.Holdout > 0 && !r.share.Whole() {
		return specError(
			"Holdout",
			"it needs row numbers, which %v does not know; use %v instead of %v",
			Field("Part"),
			Field("Rows"),
			Field("Part"),
		)
	}
	return nil
}

func (r *resolved) checkClasses() error {
	s := &r.spec
	switch {
	case s.ClassWeight != "" && !s.Classes:
		return specError("ClassWeight", "it needs %v", Field("Classes"))
	case s.Classes && s.Piped():
		return specError(
			"Classes",
			"a pass reads the labels first, and %s can be read only once; write the rows to a file",
			s.Name(),
		)
	case s.Classes && s.Part != "":
		return specError("Classes", "a part of the rows does not know all classes; leave out %v", Field("Part"))
	}
	return oneOf("ClassWeight", s.ClassWeight, "", "balanced")
}

// fillings maps the names of the policies for missing values to the constants of package prepare.
var fillings = map[string]prepare.Missing{
	refuse:          prepare.RefuseMissing,
	"drop":          prepare.MissingDrop,
	"mean":          prepare.MissingMean,
	"median":        prepare.MissingMedian,
	"most-frequent": prepare.MissingMode,
	"constant":      prepare.MissingConstant,
}

// Policies are the policies of [Spec.Missing].
var Policies = []string{refuse, "mean", "median", "most-frequent", "constant", "drop"}

// plainPolicies are the policies for missing values that do not require a pass over the rows to choose an encoding.
var plainPolicies = []string{refuse, "mean", "drop"}

// auto is the value of Spec.Prepare that makes a pass over the rows decide on the encoding of all columns.
const auto = "auto"

// parseFilling parses a policy for missing values: a name in fillings, or constant:VALUE.
func parseFilling(text string) (f prepare.Filling, ok bool) {
	name, value, given := strings.Cut(text, ":")
	f.Missing, ok = fillings[name]
	f.Constant = value
	if f.Missing == prepare.MissingConstant && !given {
		f.Constant = "0"
	}
	return f, ok && (!given || f.Missing == prepare.MissingConstant)
}

// parseMissing parses the elements of Spec.Missing. byColumn maps a column to its own policy for missing values.
// all is the policy for the other columns.
func parseMissing(items []string) (all prepare.Filling, byColumn map[string]prepare.Filling, err error) {
	byColumn = map[string]prepare.Filling{}
	for i, item := range items {
		f, ok := parseFilling(item)
		if ok && i == 0 {
			all = f
			continue
		}
		at := strings.LastIndexByte(item, '=')
		if at > 0 {
			f, ok = parseFilling(item[at+1:])
		}
		if at <= 0 || !ok {
			return all, nil, specError(
				"Missing",
				"%q must be one of %s, or COLUMN=POLICY",
				errtext.Excerpt(item),
				strings.Join(Policies, ", "),
			)
		}
		byColumn[item[:at]] = f
	}
	return all, byColumn, nil
}

// isPlain reports whether Spec.Missing has at most one element, and this element is one of plainPolicies.
func isPlain(missing []string) bool {
	return len(missing) == 0 ||
		len(missing) == 1 && slices.Contains(plainPolicies, missing[0])
}

// isRefused reports whether Missing has its default.
func isRefused(missing []string) bool {
	return len(missing) == 0 || len(missing) == 1 && missing[0] == refuse
}

// rulesReason returns the first field of s that requires a pass over the rows to choose an encoding, other than
// Prepare and Standardize. It returns "" if there is none. If only one value of the field requires the pass, value
// is a blank followed by this value.
func (s *Spec) rulesReason() (field Field, value string) {
	switch {
	case slices.Contains(s.OneHot, allText):
		return "OneHot", " " + allText
	case len(s.Dates) > 0:
		return "Dates", ""
	case !isPlain(s.Missing):
		return "Missing", " " + errtext.Excerpt(strings.Join(s.Missing, ","))
	case s.MissingIndicator:
		return "MissingIndicator", ""
	case s.MissingTarget == "drop":
		return "MissingTarget", " drop"
	case len(s.OneHot) > 0 && s.MinShare > 0:
		return "MinShare", ""
	}
	return "", ""
}

// parsePreparation checks Spec.Prepare and the fields about the encoding of columns. It reads the plan, or sets
// rules if a pass over the rows has to find the encoding.
func (r *resolved) parsePreparation() error {
	s := &r.spec
	if err := oneOf("MissingTarget", s.MissingTarget, "", "drop", refuse); err != nil {
		return err
	}
	if err := oneOf("Standardize", s.Standardize, "", ScaleAll, ScaleNone, ScaleNumeric); err != nil {
		return err
	}
	if !(s.MinShare >= 0 && s.MinShare < 1) {
		return specError("MinShare", "%v, must be at least 0 and below 1", s.MinShare)
	}
	all, of, err := parseMissing(s.Missing)
	if err != nil {
		return err
	}
	text := slices.Contains(s.OneHot, allText)
	reason, value := s.rulesReason()
	byHand := reason != "" || s.Standardize == ScaleNumeric
	if s.Prepare != "" {
		if err := s.checkDecided(); err != nil {
			return err
		}
	}
	switch {
	case s.Prepare == auto:
		r.rules = &prepare.Rules{Auto: true, MinShare: s.MinShare}
	case s.Prepare != "":
		r.plan, err = readPlan(s.Prepare)
		return err
	case byHand && s.Standardize == ScaleAll:
		return specError(
			"Standardize",
			"cannot be combined with %v%s: use %v numeric, which leaves columns of levels as they are",
			reason,
			value,
			Field("Standardize"),
		)
	case byHand:
		r.rules = &prepare.Rules{
			OneHotText:  text,
			Dates:       s.Dates,
			Missing:     all,
			MissingOf:   of,
			Indicators:  s.MissingIndicator,
			Standardize: s.Standardize == ScaleNumeric,
			MinShare:    s.MinShare,
		}
		if s.MissingTarget == "drop" ||
			s.MissingTarget == "" && all.Missing == prepare.MissingDrop {
			r.rules.Targets = prepare.MissingDrop
		}
	case s.MinShare > 0:
		return specError("MinShare", "it groups levels, and there is no %v", Field("OneHot"))
	}
	return nil
}

// checkDecided returns an error if Prepare is given together with another field about the encoding. Prepare decides
// on the encoding of each column.
func (s *Spec) checkDecided() error {
	for _, decided := range []struct {
		field Field
		given bool
	}{
		{"OneHot", len(s.OneHot) > 0},
		{"Missing", !isRefused(s.Missing)},
		{"Dates", len(s.Dates) > 0},
		{"MissingIndicator", s.MissingIndicator},
		{"MissingTarget", s.MissingTarget != ""},
		{"Standardize", s.Standardize != "" && s.Standardize != ScaleNone},
		{"MinShare", s.MinShare > 0 && s.Prepare != auto},
	} {
		if decided.given {
			return specError(
				decided.field,
				"%v decides it for each column; leave it out, or edit a plan that %v wrote",
				Field("Prepare"),
				Field("PlanOut"),
			)
		}
	}
	return nil
}

// readPlan reads the encoding of each column from the file with this name.
func readPlan(name string) (*prepare.Encoding, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, specError("Prepare", "%w", err)
	}
	defer f.Close() // nothing was written, so Close cannot lose data
	plan, err := prepare.ReadPlan(f)
	if err != nil {
		return nil, specError("Prepare", "%s: %w", name, err)
	}
	return plan, nil
}

// A Decision tells what decides on the encoding of each column.
type Decision int

const (
	Undecided     Decision = iota // no column needs a decision
	DecidedByPlan                 // by the plan that Prepare names
	DecidedByPass                 // by a pass over all rows
)

// Decision returns what decides on the encoding of each column. It returns Undecided if s is invalid.
func (s Spec) Decision() Decision {
	r := &resolved{spec: s}
	switch err := r.parsePreparation(); {
	case err != nil:
		return Undecided
	case r.plan != nil:
		return DecidedByPlan
	case r.rules != nil:
		return DecidedByPass
	}
	return Undecided
}

// Learns returns the first of the fields Prepare, OneHot and Missing that causes a pass over the rows before the
// fit. It considers Prepare only if it is auto, and Missing only if it is mean. It returns "" if there is no such
// field.
func (s *Spec) Learns() Field {
	switch {
	case s.Prepare == auto:
		return "Prepare"
	case s.Prepare != "":
		return ""
	case len(s.OneHot) > 0:
		return "OneHot"
	case policyOf(s.Missing) == "mean":
		return "Missing"
	}
	return ""
}

// cells returns the settings for cells that are not numbers. It returns nil if all cells must be numbers, or if a
// plan or a pass determines the settings.
func (r *resolved) cells() *prepare.Cells {
	policy := policyOf(r.spec.Missing)
	switch {
	case r.rules != nil || r.plan != nil:
		return nil // a pass over the rows or the plan determines the settings
	case policy == refuse && len(r.spec.OneHot) == 0:
		return nil
	}
	return &prepare.Cells{Missing: fillings[policy], OneHot: r.spec.OneHot}
}

// oneOf returns an error unless value is one of the allowed values.
func oneOf(field Field, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	named := slices.DeleteFunc(slices.Clone(allowed), func(s string) bool {
		return s == ""
	})
	return specError(field, "%q must be one of %s", errtext.Excerpt(value), strings.Join(named, ", "))
}

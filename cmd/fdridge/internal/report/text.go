package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/ridge"
)

// WriteText writes the report as text, in lines of at most 100 characters.
func (f *Fit) WriteText(w io.Writer) error {
	w = errtext.Writer(w)
	rec := f.record()
	facts := f.facts(rec)
	write := func(belongs func(fact) bool) {
		for _, line := range facts {
			if line.Value != "" && belongs(line) {
				fmt.Fprintln(w, wrapText(line.Value))
			}
		}
	}

	// How well the model predicts.
	write(func(line fact) bool { return line.Name == "Size" || line.isScore() })
	fmt.Fprintln(w)
	f.scoresTable(rec).write(w)
	var legends []string
	if rec.HeldOut != nil {
		legends = append(legends, "RMSE, MAE: errors of held-out rows; baseline: RMSE of predicting the mean of these rows.")
	}
	text := criterionOf(rec.criterionName()).Words().Legend
	if text != "" {
		legends = append(legends, text)
	}
	if legends != nil {
		fmt.Fprintln(w, "\n"+strings.Join(legends, "\n"))
	}
	if t := f.Classes.confusion(); t != nil {
		fmt.Fprintln(w)
		t.write(w)
	}

	// What the model is.
	switch {
	case f.printsCoefficients():
		for _, s := range f.Found.Solutions {
			for j := range s.Targets {
				fmt.Fprintln(w)
				f.coefficientsTable(s, j, false).write(w)
			}
		}
	case f.StandardErrors != nil:
		f.writeLargest(w)
	}

	// What is proved.
	fmt.Fprintln(w)
	if rec.Targets > mostTargets {
		for i := range rec.Fits {
			f.quantilesTable(rec, i).write(w)
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "the %d targets with the largest error bounds:\n", worstTargets)
	}
	f.fitsTable(rec, false).write(w)
	fmt.Fprintln(w, "\n"+legend+f.scaledLegend(rec))
	if s := f.dependentFit(); s != nil {
		text := f.describeDependent(s)
		fmt.Fprintln(w, "\n"+wrapText(strings.ToUpper(text[:1])+text[1:]))
	}
	if text := f.listUnproved(); text != "" {
		fmt.Fprintln(w, "\n"+wrapText(text))
	}

	// How it was computed.
	fmt.Fprintln(w)
	if rec.Encoding != nil && rec.Encoding.Prepared != nil {
		t, more := wrapPrepared(rec.Encoding.Prepared, 60)
		t.write(w)
		if more > 0 {
			fmt.Fprintf(w, "and %d more columns; --json and --prepare-out list them all\n", more)
		}
		fmt.Fprintln(w)
	}
	write(func(line fact) bool { return line.Name != "Size" && !line.isScore() })
	if rec.Ranks != nil {
		t := &table{
			keys: 1,
			rows: [][]string{{"rank", "rows", "seconds", "communicating", "sent", "received"}},
		}
		for _, k := range rec.Ranks {
			t.add(
				fmt.Sprint(k.Rank),
				fmt.Sprint(k.Rows),
				fmt.Sprintf("%.2f", float64(k.Seconds)),
				fmt.Sprintf("%.2f s (%s)", float64(k.Waiting), percent(float64(k.Share))),
				megabytes(k.Sent),
				megabytes(k.Received),
			)
		}
		fmt.Fprintln(w)
		t.write(w)
	}
	isShown := f.printsCoefficients()
	if !isShown && rec.Model == "" && f.Written.Predictions == "" {
		if text := f.describeUnprinted(); text != "" {
			fmt.Fprintf(w, "\n%s; fdridge show --top 0 prints them from a model that --out writes\n", text)
		}
	}
	for _, written := range [][2]string{
		{"model", rec.Model},
		{"report", f.Written.Page},
		{"predictions", f.Written.Predictions},
		{"sketch", f.Written.Sketch},
	} {
		if written[1] == "" {
			continue
		}
		switch {
		case written[0] == "sketch":
			written[1] += ": " + f.describeSketchBound()
		case written[0] == "model" && !isShown:
			written[1] += fmt.Sprintf("; fdridge show %s prints its coefficients", rec.Model)
		}
		_, err := fmt.Fprintf(w, "\n%s written to %s\n", written[0], written[1])
		if err != nil {
			return err
		}
	}
	return nil
}

// printsCoefficients reports whether the text report lists all coefficients. It does if there are few of them.
func (f *Fit) printsCoefficients() bool {
	t, d := f.Found.Solutions[0].Dims()
	return d > 0 && len(f.Found.Solutions)*t*d <= mostPrinted
}

// describeUnprinted states how many coefficients the text report does not print, without intercepts. It returns "" if
// all are printed. It must be called only if printsCoefficients returns false.
func (f *Fit) describeUnprinted() string {
	gammas := len(f.Found.Solutions)
	targets, dim := f.Found.Solutions[0].Dims()
	count := gammas * targets * dim
	if f.StandardErrors != nil { // writeLargest prints some of the coefficients
		count -= min(gammas*targets, mostTables) * min(dim, mostPrinted)
		return describeCount(count, "")
	}
	switch {
	case gammas > 1 && targets > 1:
		return describeCount(count, fmt.Sprintf(" (%d for each gamma and target)", dim))
	case gammas > 1:
		return describeCount(count, fmt.Sprintf(" (%d for each gamma)", dim))
	case targets > 1:
		return describeCount(count, fmt.Sprintf(" (%d for each target)", dim))
	}
	return describeCount(count, "")
}

// describeCount states that count coefficients are not printed. It returns "" if count is 0. The text each, which may
// be "", follows the word coefficients.
func describeCount(count int, each string) string {
	if count == 0 {
		return ""
	}
	noun, verb := plural(count, "coefficient", "coefficients"), plural(count, "is", "are")
	return fmt.Sprintf("%d %s%s %s not printed", count, noun, each, verb)
}

// describeSketchBound states a bound on the error of the sketch. If the Gram matrix AᵀA of the rows is stored
// instead of a sketch, the bound is on the error of AᵀA.
func (f *Fit) describeSketchBound() string {
	if f.describeGram() != "" {
		return "error of AᵀA ≤ " + AtMost(f.sketchBound(), 4)
	}
	return "‖AᵀA − BᵀB‖ ≤ " + AtMost(f.sketchBound(), 4)
}

// size states the numbers of rows, features and targets.
func (f *Fit) size(rec *fitRecord) string {
	size := fmt.Sprintf(
		"%d rows × %d features, %d %s",
		rec.N,
		rec.D,
		rec.Targets,
		plural(rec.Targets, "target", "targets"),
	)
	if len(f.Data.Targets) > 0 {
		size += ": " + errtext.List(f.Data.Targets, mostNamed)
	}
	return size
}

// facts returns the facts about the fit that the text report and the HTML page show. Facts with an empty value must
// be skipped.
func (f *Fit) facts(rec *fitRecord) []fact {
	method := "method " + rec.Method.String()
	used := f.Found.Solutions[0].Method
	if used != rec.Method && !f.differ(func(s *ridge.Solution) any { return s.Method }) {
		method += fmt.Sprintf(" (%s)", used)
	}
	if rec.MethodReason != "" {
		method += ": " + rec.MethodReason
	}
	out := []fact{{"Size", f.size(rec)}, {"Method", method}}
	add := func(name string, lines ...string) {
		for _, line := range lines {
			out = append(out, fact{name, line})
		}
	}
	if rec.Size > 0 {
		kept := f.describeGram()
		if kept == "" {
			kept = fmt.Sprintf("sketch of %d rows", rec.Size)
		}
		if rec.Lanes > 1 {
			kept += fmt.Sprintf(" in %d lanes", rec.Lanes)
		}
		text := kept + "; " + f.describeSketchBound()
		if f.hasLaterGram() {
			text += fmt.Sprintf("; a later pass computed AᵀA, with an error ≤ %s", AtMost(rec.Fits[0].Shrinkage, 4))
		}
		add("Sketch", text)
	}
	scoring := ""
	if rec.HeldOut != nil {
		scoring = " (1 for held-out scores)"
	}
	add("Cost", fmt.Sprintf(
		"%d %s over the data%s, %.2f s, %d MiB of memory, %s (%s)",
		rec.Reads,
		plural(rec.Reads, "pass", "passes"),
		scoring,
		float64(rec.TotalTime),
		(rec.PeakRSS+1<<20-1)>>20,
		rec.Backend,
		rec.Kernel,
	))
	if rec.Encoding != nil {
		add(
			"Columns",
			rec.Encoding.describeMissing(),
			rec.Encoding.describeLeftOut(),
			rec.Encoding.describeSurprises(),
			rec.Encoding.describeCategories(),
		)
	}
	if rec.HeldOut != nil {
		add(heldOutFact, rec.HeldOut.sentence())
	}
	add(newRowsFact, f.coverageLines()...)
	if f.NoStandardErrors != "" {
		add("Standard errors", f.NoStandardErrors)
	}
	add(classesFact, f.Classes.lines(f.Found.Solutions)...)
	if rec.Penalties != nil {
		add("Penalties", rec.Penalties.String())
	}
	if rec.Choice != nil {
		add("", rec.Choice.String(), describePasses(rec.Choice.Passes, rec.Choice.Spent))
	}
	if rec.Each != nil {
		add("", rec.Each.lines()...)
	}
	return out
}

// mostNamed is the maximum number of targets or labels that a line of the report names.
const mostNamed = 6

// differ reports whether the function property has different values for different solutions of the fit.
func (f *Fit) differ(property func(*ridge.Solution) any) bool {
	all := f.Found.Solutions
	return slices.ContainsFunc(all, func(s *ridge.Solution) bool {
		return property(s) != property(all[0])
	})
}

// A fitColumn is a column of a table with a row for each penalty and target. cell returns the text in the row for
// penalty i and target j.
type fitColumn struct {
	heading string
	shown   bool
	cell    func(i, j int) string
}

// leadingColumns returns the first columns of a table of fits: the penalty γ and, if there are several targets, the
// target.
func (f *Fit) leadingColumns(rec *fitRecord) []fitColumn {
	const targetWidth = 24
	return []fitColumn{
		{"gamma", true, func(i, j int) string {
			return fmt.Sprintf("%.6g", rec.Fits[i].GammaOf(j))
		}},
		{"target", rec.Targets > 1, func(_, j int) string {
			return shorten(f.targetName(j), targetWidth)
		}},
	}
}

// scoresTable returns a table of scores with a row for each penalty γ and target. It has scores of the training
// rows and, if rows were held out, scores of the held-out rows.
func (f *Fit) scoresTable(rec *fitRecord) *table {
	held := rec.HeldOut != nil
	score := func(of func(*heldOutScore) brackets) func(i, j int) string {
		return func(i, j int) string {
			return formatFigure(of(&rec.HeldOut.Fits[i])[j])
		}
	}
	return buildFits(rec, append(
		f.leadingColumns(rec),
		fitColumn{"held-out R²", held, score(func(s *heldOutScore) brackets {
			return s.R2Bracket
		})},
		fitColumn{"RMSE", held, score(func(s *heldOutScore) brackets {
			return s.RMSEBracket
		})},
		fitColumn{"MAE", held, score(func(s *heldOutScore) brackets {
			return s.MAEBracket
		})},
		fitColumn{"baseline", held, score(func(s *heldOutScore) brackets {
			return s.BaselineBracket
		})},
		fitColumn{"training R²", true, func(i, j int) string {
			return formatFigure(rec.Fits[i].R2Bracket[j])
		}},
		fitColumn{rec.scoreHeading(), true, func(i, j int) string {
			return formatFigure(rec.scores(&rec.Fits[i])[j])
		}},
	))
}

// fitsTable returns a table of what is proved, with a row for each penalty γ and target. If page is false, the
// column of passes is left out if all fits have the same number. The column of methods is always left out if all
// are the same.
func (f *Fit) fitsTable(rec *fitRecord, page bool) *table {
	return buildFits(rec, append(
		f.leadingColumns(rec),
		fitColumn{"error ≤", true, func(i, j int) string {
			return bound(float64(rec.Fits[i].CoefRelative[j]))
		}},
		fitColumn{"‖x̂ − x*‖ ≤", page, func(i, j int) string {
			return bound(float64(rec.Fits[i].CoefError[j]))
		}},
		fitColumn{"eff. dim.", true, func(i, _ int) string {
			return formatFigure(rec.Fits[i].EffectiveDimension)
		}},
		fitColumn{"status", true, func(i, _ int) string {
			return nameStatus(rec.Fits[i].Status)
		}},
		fitColumn{
			"method",
			f.differ(func(s *ridge.Solution) any { return s.Method }),
			func(i, _ int) string { return rec.Fits[i].Method.String() },
		},
		fitColumn{
			"passes",
			page || f.differ(func(s *ridge.Solution) any { return s.Passes }),
			func(i, _ int) string { return fmt.Sprint(rec.Fits[i].Passes) },
		},
	))
}

// buildFits returns a table with a row for each penalty γ and target. It has the columns whose field shown is true.
func buildFits(rec *fitRecord, columns []fitColumn) *table {
	t := &table{keys: min(rec.Targets, 2), rows: [][]string{nil}}
	for _, c := range columns {
		if !c.shown {
			continue
		}
		at := 0
		for i, s := range rec.Fits {
			for _, j := range targetsToShow(s.CoefRelative) {
				at++
				if at == len(t.rows) {
					t.add()
				}
				t.rows[at] = append(t.rows[at], c.cell(i, j))
			}
		}
		t.rows[0] = append(t.rows[0], c.heading)
	}
	return t
}

// nameStatus returns the name of a status, the same as in JSON.
func nameStatus(s ridge.Status) string {
	name, err := s.MarshalText()
	if err != nil {
		return s.String()
	}
	return string(name)
}

// legend explains the columns of the table.
const legend = `error: proved bound on ‖x̂ − x*‖/‖x*‖, the relative error of the coefficients.
All digits shown are proved (± 1 in the last one); [a, b] is a proved bracket.`

// scaledLegend states the error bound of the coefficients of the scaled columns. --tol limits this bound, but the
// tables have bounds in the units of the file. If the columns were not scaled, scaledLegend returns "".
func (f *Fit) scaledLegend(rec *fitRecord) string {
	if f.Data.Preparation.Reversible() == nil {
		return ""
	}
	worst := 0.0
	for _, fit := range rec.Fits {
		for _, c := range fit.Certificates {
			worst = math.Max(worst, c.RelativeErrorBound)
		}
	}
	return "\nThe fit scaled the columns. --tol is about the coefficients of scaled columns, with an error ≤ " +
		bound(worst) + "."
}

// mostPrinted is the maximum number of coefficients that the text report prints, not counting intercepts. If there
// are more, none are printed, unless they have standard errors. The report then prints the largest coefficients.
const mostPrinted = 20

// coefficientsTable returns a table of the coefficients for target j of solution s, in the units of the file.
// If page is true, the table is for the HTML page. It has
//   - the mostWeights largest coefficients;
//   - a column that says whether the sign of a coefficient is proved.
//
// If page is false, the first row is the intercept, if there is one. The table then has all coefficients, or
// only the mostPrinted largest. The largest coefficients are found by comparing the coefficients of the scaled
// columns.
func (f *Fit) coefficientsTable(s *ridge.Solution, j int, page bool) *table {
	heading := "coefficient"
	if f.hasSeveralFits() && !page {
		heading = f.nameOf(s, j)
	}
	t := &table{keys: 1, rows: [][]string{{shorten(heading, nameWidth), "value", "±"}}}
	prep := &f.Data.Preparation
	o := &s.Targets[j]
	if b, e, ok := f.intercept(o); ok && !page {
		value, within := formatAround(b, e)
		t.add("(intercept)", value, within)
	}
	se := f.errorsOf(s, j)
	t.rows[0] = addStandardErrors(t.rows[0], se, headings)
	if len(t.rows) > 1 {
		t.rows[1] = addStandardErrors(t.rows[1], se, ofIntercept)
	}
	scaled := page && prep.Reversible() != nil
	if scaled {
		t.rows[0] = append(t.rows[0], "of the scaled column", "±")
	}
	order := make([]int, len(o.Coef))
	bounds := o.CoefficientBounds(f.after)
	names := prep.Terms()
	for i := range order {
		order[i] = i
	}
	most := mostPrinted
	if page {
		t.rows[0] = append(t.rows[0], "sign")
		most = mostWeights
	}
	if page || len(order) > most {
		order = largest(order, func(i int) float64 {
			return math.Abs(o.Coef[i])
		})[:min(len(order), most)]
	}
	for _, i := range order {
		x, e := divide(o.Coef[i], bounds[i], f.scale(i))
		value, within := formatAround(x, e)
		if s.Status == ridge.MinimumNorm {
			value = fmt.Sprintf("%.6g", x) // more digits than usual without a bound, because nothing else is known of x
		}
		cells := addStandardErrors(
			[]string{shorten(featureName(names, i), nameWidth), value, within},
			se,
			i,
		)
		if scaled {
			value, within = formatAround(o.Coef[i], bounds[i])
			cells = append(cells, value, within)
		}
		if page {
			sign := "open"
			if math.Abs(o.Coef[i]) > bounds[i] {
				sign = "proved"
			}
			cells = append(cells, sign)
		}
		t.add(cells...)
	}
	return t
}

// nameWidth is the maximum width in characters of a table column that contains names.
const nameWidth = 48

// listUnproved names the fits whose relative error bound is 1 or more, so that nothing is proved. Minimum-norm
// solutions are left out. It returns "" if there is no such fit.
func (f *Fit) listUnproved() string {
	var fits []string
	for _, s := range f.Found.Solutions {
		for j := range s.Targets {
			if s.Status != ridge.MinimumNorm && !s.Targets[j].Proves() {
				fits = append(fits, f.nameOf(s, j))
			}
		}
	}
	if fits == nil {
		return ""
	}
	return "nothing is proved about these coefficients (no relative error below 1): " + strings.Join(fits, "; ")
}

func megabytes(b int64) string {
	return fmt.Sprintf("%.3g MB", float64(b)/1e6)
}

// bytesOf formats a size in bytes, rounded up.
func bytesOf(b uint64) string {
	if b < 1<<30 {
		return fmt.Sprintf("%d MiB", (b+1<<20-1)>>20)
	}
	return fmt.Sprintf("%.1f GiB", math.Ceil(float64(b)/(1<<30)*10)/10)
}

func secondsOf(s float64) string {
	if s < 60 {
		return fmt.Sprintf("%.2g s", s)
	}
	return time.Duration(s * float64(time.Second)).Round(time.Second).String()
}

// plural returns one if n is 1, otherwise many.
func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

package outside

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"sort"
)

// bracket is [lo, hi]; a null end is an infinity.
type bracket [2]*float64

type fitRecord struct {
	Gamma            float64    `json:"gamma"`
	Gammas           []float64  `json:"gammas"`
	Method           string     `json:"method"`
	Status           string     `json:"status"`
	Converged        bool       `json:"converged"`
	CoefError        []*float64 `json:"coef_error_bound"`
	CoefRelative     []*float64 `json:"coef_relative_error_bound"`
	Error            []*float64 `json:"error_bound"`
	Relative         []*float64 `json:"relative_error_bound"`
	Energy           []*float64 `json:"energy_bound"`
	Intercept        []*float64 `json:"intercept_bound"`
	Freedom          any        `json:"effective_dimension"`
	Objective        []bracket  `json:"objective"`
	RSS              []bracket  `json:"rss"`
	GCV              []bracket  `json:"gcv"`
	R2               []*float64 `json:"r2"`
	R2Bracket        []bracket  `json:"r2_bracket"`
	UnpenalizedBound any        `json:"unpenalized_bounds"`
}

type pathRecord struct {
	Gamma    float64    `json:"gamma"`
	Freedom  bracket    `json:"effective_dimension"`
	RSS      []bracket  `json:"rss"`
	GCV      []bracket  `json:"gcv"`
	LOO      []bracket  `json:"loo"`
	Accuracy *bracket   `json:"accuracy"`
	Relative []*float64 `json:"relative_error_bound"`
}

type classRecord struct {
	Rows            int     `json:"rows"`
	Confusion       [][]int `json:"confusion"`
	Unknown         int     `json:"unknown"`
	Proved          int     `json:"proved"`
	Right           []int   `json:"right"`
	Possible        []int   `json:"possible"`
	AccuracyBracket bracket `json:"accuracy_bracket"`
	BalancedBracket bracket `json:"balanced_accuracy_bracket"`
}

type record struct {
	N         int  `json:"n"`
	D         int  `json:"d"`
	Converged bool `json:"converged"`
	Choice    *struct {
		By             string       `json:"by"`
		Gamma          float64      `json:"gamma"`
		Score          bracket      `json:"score"`
		Certain        bool         `json:"certain"`
		Possible       bracket      `json:"possible"`
		Excess         *float64     `json:"excess"`
		RelativeExcess *float64     `json:"relative_excess"`
		Path           []pathRecord `json:"path"`
	} `json:"choice"`
	PerTarget *struct {
		By         string     `json:"by"`
		Candidates []float64  `json:"candidates"`
		Scores     []bracket  `json:"scores"`
		Excess     []*float64 `json:"excess"`
		Proved     int        `json:"proved"`
	} `json:"per_target"`
	Holdout *struct {
		Rows int `json:"rows"`
		Fits []struct {
			Gamma float64   `json:"gamma"`
			R2    []bracket `json:"r2_bracket"`
			RMSE  []bracket `json:"rmse_bracket"`
		} `json:"fits"`
	} `json:"holdout"`
	Classes *struct {
		Labels   []string      `json:"labels"`
		Counts   []float64     `json:"counts"`
		Training []classRecord `json:"training"`
		LeftOut  *classRecord  `json:"left_out"`
		Holdout  []classRecord `json:"holdout"`
	} `json:"classes"`
	Fits []fitRecord `json:"fits"`
}

type modelRecord struct {
	Scaling *struct {
		Mean  []float64 `json:"mean"`
		Scale []float64 `json:"scale"`
	} `json:"folded_scaling"`
	Models []struct {
		Gamma     float64     `json:"gamma"`
		Coef      [][]float64 `json:"coef"`
		Intercept []float64   `json:"intercept"`
		Total     []*float64  `json:"tss"`
		Fitted    struct {
			Coef      [][]float64 `json:"coef"`
			Intercept []float64   `json:"intercept"`
		} `json:"fitted"`
		Unpenalized [][]*float64 `json:"unpenalized_bounds"`
	} `json:"models"`
}

// checker compares one record with exact arithmetic.
type checker struct {
	t        *trial
	record   record
	model    modelRecord
	original *problem // in the units of the file
	fitted   *problem // the columns that the certificate is about
	scaled   bool     // the columns of fitted are scaled
	scales   []*big.Rat
	held     []int
	code     int // exit code
	known    map[float64]*exact
	counts   map[string]int
	faults   []string
}

func (c *checker) count(kind string, ok bool, format string, args ...any) {
	c.counts[kind]++

	if !ok {
		c.faults = append(c.faults, kind+": "+fmt.Sprintf(format, args...))
	}
}

func show(v *big.Rat) string {
	if v == nil {
		return "undefined"
	}

	f := new(big.Float).SetPrec(200).SetRat(v)

	return f.Text('g', 24)
}

func end(v *float64) string {
	if v == nil {
		return "null"
	}

	return number(*v)
}

func contains(b bracket, v *big.Rat) bool {
	return (b[0] == nil || rat(*b[0]).Cmp(v) <= 0) && (b[1] == nil || rat(*b[1]).Cmp(v) >= 0)
}

// inside checks lo ≤ v ≤ hi.
func (c *checker) inside(kind string, b bracket, v *big.Rat, where string) {
	if v == nil {
		return
	}

	c.count(kind, contains(b, v), "%s: exact %s is not in [%s, %s]", where, show(v), end(b[0]), end(b[1]))
}

// below checks √squared ≤ bound.
func (c *checker) below(kind string, squared *big.Rat, bound *float64, where string) {
	if bound == nil || math.IsInf(*bound, 0) {
		return
	}

	ok := *bound >= 0 && squared.Cmp(square(rat(*bound))) <= 0
	root, _ := new(big.Float).SetRat(squared).Float64()
	c.count(kind, ok, "%s: exact error %.17g exceeds the bound %.17g", where, math.Sqrt(root), *bound)
}

func at[T any](list []T, i int) (v T) {
	if i < len(list) {
		return list[i]
	}

	return v
}

// build makes the exact problems of the training rows.
func (c *checker) build() error {
	t := c.t
	p := &problem{intercept: !t.noIcpt}

	var index map[string]int

	if t.labels != nil {
		index = map[string]int{}

		for k, label := range c.record.Classes.Labels {
			index[label] = k
		}
	}

	for i := range t.x {
		if t.isHeld(i) {
			c.held = append(c.held, i)

			continue
		}

		p.x = append(p.x, c.row(t.x[i]))
		p.y = append(p.y, c.target(i, index))
		w := 1.0

		if t.weights != nil {
			w = t.weights[i]
		}

		p.w = append(p.w, rat(w))
	}

	if t.balanced {
		c.balance(p, index)
	}

	if p.intercept {
		p.p = append(p.p, new(big.Rat))
	}

	for _, v := range t.p {
		p.p = append(p.p, rat(v))
	}

	c.original = p
	c.fitted = p

	if t.standard && c.model.Scaling == nil {
		return fmt.Errorf("no folded_scaling")
	}

	if c.model.Scaling != nil {
		c.standardise()
	}

	return nil
}

// row returns a row of exact numbers, after a one for the intercept.
func (c *checker) row(values []float64) []*big.Rat {
	var row []*big.Rat

	if !c.t.noIcpt {
		row = append(row, rat(1))
	}

	for _, v := range values {
		row = append(row, rat(v))
	}

	return row
}

func (c *checker) target(i int, index map[string]int) []*big.Rat {
	var row []*big.Rat

	if c.t.labels == nil {
		for _, v := range c.t.y[i] {
			row = append(row, rat(v))
		}

		return row
	}

	k, known := index[c.t.labels[i]]

	for class := range index {
		_ = class
		row = append(row, rat(-1))
	}

	if known {
		row[k].SetInt64(1)
	}

	if len(index) == 2 {
		row = row[1:]
	}

	return row
}

// balance multiplies weights by n/(k·count), rounded as in scikit-learn. Rows
// count without their weights.
func (c *checker) balance(p *problem, index map[string]int) {
	counts := make([]float64, len(index))

	var classes []int

	for i := range c.t.x {
		if !c.t.isHeld(i) {
			k := index[c.t.labels[i]]
			classes = append(classes, k)
			counts[k]++
		}
	}

	for i, k := range classes {
		factor := float64(len(classes)) / (float64(len(index)) * counts[k])
		w, _ := p.w[i].Float64()
		p.w[i] = rat(w * factor)
	}
}

// rootBits is the precision of roots of penalties.
const rootBits = 192

// rootOf returns √p, exactly if it is a float64 and otherwise to rootBits bits.
func rootOf(p float64) *big.Rat {
	root, _ := new(big.Float).SetPrec(rootBits).Sqrt(new(big.Float).SetPrec(rootBits).SetFloat64(p)).Rat(nil)

	return root
}

// standardise makes the problem of the scaled columns, without rounding. A deviation is the number in the model.
// Without --standardize the scale is the root of the penalty.
func (c *checker) standardise() {
	o := c.original

	for j, v := range c.model.Scaling.Scale {
		scale := rat(v)
		if !c.t.standard && c.t.p[j] != 0 {
			scale = rootOf(c.t.p[j])
		}

		c.scales = append(c.scales, scale)
	}

	f := &problem{y: o.y, w: o.w, intercept: o.intercept}

	if o.intercept {
		f.p = append(f.p, new(big.Rat))
	}

	for _, v := range c.t.p {
		if v != 0 {
			v = 1 // the penalty is in the scale
		}

		f.p = append(f.p, rat(v))
	}

	for i := range c.t.x {
		if !c.t.isHeld(i) {
			f.x = append(f.x, c.scaledRow(c.t.x[i]))
		}
	}

	c.fitted = f
	c.scaled = true
}

// scaledRow returns the scaled columns of a row.
func (c *checker) scaledRow(values []float64) []*big.Rat {
	row := c.row(nil)
	for j, v := range values {
		row = append(row, quo(sub(rat(v), rat(c.model.Scaling.Mean[j])), c.scales[j]))
	}

	return row
}

// fittedRow returns a row of the fitted problem.
func (c *checker) fittedRow(values []float64) []*big.Rat {
	if c.scaled {
		return c.scaledRow(values)
	}

	return c.row(values)
}

// at returns the exact solution of the fitted problem at gamma.
func (c *checker) at(gamma float64) *exact {
	e, done := c.known[gamma]
	if !done {
		e = c.fitted.solveExact(rat(gamma), true)
		c.known[gamma] = e
	}

	return e
}

// vector returns a coefficient vector with its intercept in front.
func (c *checker) vector(coef []float64, intercept float64) []*big.Rat {
	var v []*big.Rat

	if !c.t.noIcpt {
		v = append(v, rat(intercept))
	}

	for _, x := range coef {
		v = append(v, rat(x))
	}

	return v
}

// norms returns Σ e² and Σ x² from column first on, if asked only of columns
// with a penalty, or multiplied by the penalties.
func norms(x []*big.Rat, e []*big.Rat, p []*big.Rat, first int, penalised, byPenalty bool) (error2, size2 *big.Rat) {
	error2, size2 = new(big.Rat), new(big.Rat)

	for j := first; j < len(x); j++ {
		if penalised && p[j].Sign() == 0 {
			continue
		}

		a, b := square(e[j]), square(x[j])

		if byPenalty && p[j].Sign() != 0 {
			a.Mul(a, p[j])
			b.Mul(b, p[j])
		}

		error2.Add(error2, a)
		size2.Add(size2, b)
	}

	return error2, size2
}

func (c *checker) run(output, model []byte) error {
	err := json.Unmarshal(output, &c.record)
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}

	err = json.Unmarshal(model, &c.model)
	if err != nil {
		return fmt.Errorf("model: %w", err)
	}

	err = c.build()
	if err != nil {
		return err
	}

	c.known = map[float64]*exact{}
	c.count("rows", c.record.N == len(c.original.x), "n = %d of %d rows", c.record.N, len(c.original.x))
	c.count("columns", c.record.D == len(c.t.p), "d = %d of %d columns", c.record.D, len(c.t.p))

	isOneShot := c.t.method == "one-shot"
	c.count("exit code", c.record.Converged || c.code == 3 || c.code == 0 && isOneShot, "exit code %d", c.code)

	for i := range c.record.Fits {
		c.fit(i)
	}

	c.choice()
	c.perTarget()
	c.holdout()
	c.classes()

	return nil
}

// gammaOf returns γ of one fit and target.
func (f *fitRecord) gammaOf(target int) float64 {
	if len(f.Gammas) > 0 {
		return f.Gammas[target]
	}

	return f.Gamma
}

func (c *checker) fit(i int) {
	f := &c.record.Fits[i]
	m := c.model.Models[i]

	for k := range f.RSS {
		where := fmt.Sprintf("fit %d (γ = %v), target %d", i, f.gammaOf(k), k)
		e := c.at(f.gammaOf(k))
		coef := c.vector(m.Coef[k], at(m.Intercept, k))
		own := coef

		if len(m.Fitted.Coef) > 0 {
			own = c.vector(m.Fitted.Coef[k], at(m.Fitted.Intercept, k))
		}

		rss := c.residual(c.original, m.Coef[k], at(m.Intercept, k), k)
		c.inside("rss", f.RSS[k], rss, where)

		total := c.original.total(k)
		if total.Sign() > 0 {
			c.inside("r2", f.R2Bracket[k], sub(rat(1), quo(rss, total)), where)
		}

		if e == nil {
			continue
		}

		c.freedom(f, k, e, where)

		// Unlike rss and r2, the GCV belongs to the exact solution.
		c.inside("gcv", f.GCV[k], e.gcv[k], where)
		c.objective(f, k, e, where)
		c.errors(f, i, k, e, coef, own, where)
	}
}

// residual returns Σ w·(y − xᵀv − b)² of the coefficients v and the intercept b in a model. Without an
// intercept in the fit, b comes from the means of --standardize.
func (c *checker) residual(p *problem, coef []float64, intercept float64, k int) *big.Rat {
	shifted := *p

	if c.t.noIcpt {
		shifted.y = nil

		for _, row := range p.y {
			row = slices.Clone(row)
			row[k] = sub(row[k], rat(intercept))
			shifted.y = append(shifted.y, row)
		}
	}

	return shifted.residual(c.vector(coef, intercept), k)
}

// penalised returns the effective dimension without the free columns.
func (c *checker) penalised(e *exact) *big.Rat {
	free := 0

	for _, v := range c.fitted.p {
		if v.Sign() == 0 {
			free++
		}
	}

	return sub(e.freedom, rat(float64(free)))
}

func (c *checker) freedom(f *fitRecord, k int, e *exact, where string) {
	list, _ := f.Freedom.([]any)
	if len(list) == 0 {
		return
	}

	pair := list

	if _, isNested := list[0].([]any); isNested {
		pair, _ = list[k].([]any)
	}

	var b bracket

	for i := range 2 {
		v, isNumber := pair[i].(float64)
		if isNumber {
			b[i] = &v
		}
	}

	c.inside("effective dimension", b, c.penalised(e), where)
}

func (c *checker) objective(f *fitRecord, k int, e *exact, where string) {
	sum := new(big.Rat).Set(e.rss[k])

	for j, v := range column(e.x, k) {
		sum.Add(sum, mul(mul(e.gamma, c.fitted.p[j]), square(v)))
	}

	sum.Quo(sum, rat(2))
	c.inside("objective", at(f.Objective, k), sum, where)
}

// errors checks every bound on the coefficients and the intercept.
func (c *checker) errors(f *fitRecord, i, k int, e *exact, coef, own []*big.Rat, where string) {
	first := len(coef) - len(c.t.p)
	x := column(e.x, k)
	difference := make([]*big.Rat, len(x))

	for j := range x {
		difference[j] = sub(own[j], x[j])
	}

	error2, size2 := norms(x, difference, c.fitted.p, first, true, true)
	c.below("error bound", error2, at(f.Error, k), where)

	if size2.Sign() > 0 {
		c.below("relative error", quo(error2, size2), at(f.Relative, k), where)
	}

	errorAll, sizeAll := norms(x, difference, c.fitted.p, first, false, true)
	if sizeAll.Sign() > 0 {
		c.below("relative error of all", quo(errorAll, sizeAll), at(f.Relative, k), where)
	}

	relative := at(f.Relative, k)
	if f.Converged && f.Status == "" && f.Method != "one-shot" && size2.Sign() > 0 {
		// A solution that is zero up to round-off has no relative error.
		ownBound := at(f.Error, k)
		isZero := relative == nil && ownBound != nil && size2.Cmp(square(rat(2**ownBound))) <= 0
		c.count("converged", isZero || relative != nil && *relative <= 1e-8, "%s: bound %s, ‖x*‖² = %s, error bound %s",
			where, end(relative), show(size2), end(ownBound))
	}

	c.below("energy bound", energy(c.fitted, e.h, difference), at(f.Energy, k), where)

	exactCoef := slices.Clone(x)

	if c.scaled {
		for j := range c.t.p {
			exactCoef[first+j] = quo(x[first+j], c.scales[j])
		}

		if first == 1 {
			exactCoef[0] = new(big.Rat).Set(x[0])
			for j := range c.t.p {
				exactCoef[0].Sub(exactCoef[0], mul(exactCoef[1+j], rat(c.model.Scaling.Mean[j])))
			}
		}
	}

	for j := range x {
		difference[j] = sub(coef[j], exactCoef[j])
	}

	error2, size2 = norms(exactCoef, difference, c.fitted.p, first, false, false)
	c.below("coefficient error", error2, at(f.CoefError, k), where)

	if size2.Sign() > 0 {
		c.below("relative coefficient error", quo(error2, size2), at(f.CoefRelative, k), where)
	}

	if first == 1 {
		c.below("intercept", square(difference[0]), at(f.Intercept, k), where)
	}

	next := 0

	for j := range c.t.p {
		if c.t.p[j] != 0 {
			continue
		}

		bounds := at(c.model.Models[i].Unpenalized, k)
		if next < len(bounds) {
			c.below("unpenalised", square(difference[first+j]), bounds[next], where+fmt.Sprintf(", column x%d", j))
		}

		next++
	}
}

// score returns the exact score of a γ, summed over targets, or nil.
func (c *checker) score(by string, gamma float64, target int) *big.Rat {
	e := c.at(gamma)
	if e == nil {
		return nil
	}

	if by == "accuracy" || by == "balanced-accuracy" {
		return c.errorRate(by, e)
	}

	list := e.gcv
	if by == "loo" {
		list = e.loo
	}

	if list == nil {
		return nil
	}

	if target >= 0 {
		return list[target]
	}

	sum := new(big.Rat)

	for _, v := range list {
		if v == nil {
			return nil
		}

		sum.Add(sum, v)
	}

	return sum
}

// rate checks the bracket of an error rate, which float64 rounds.
func (c *checker) rate(b bracket, v *big.Rat, where string) {
	value, _ := v.Float64()
	ok := (b[0] == nil || *b[0] <= value+1e-14) && (b[1] == nil || *b[1] >= value-1e-14)
	c.count("error rate", ok, "%s: exact %v is not in [%s, %s]", where, value, end(b[0]), end(b[1]))
}

// errorRate returns the leave-one-out error rate, or nil if labels are tied.
func (c *checker) errorRate(by string, e *exact) *big.Rat {
	if e.leftOut == nil {
		return nil
	}

	wrong, counts := make([]int64, len(c.record.Classes.Labels)), make([]int64, len(c.record.Classes.Labels))
	row := -1

	for i := range c.t.x {
		if c.t.isHeld(i) {
			continue
		}

		row++

		if c.t.weights != nil && c.t.weights[i] == 0 {
			continue
		}

		class, tied := classOf(e.leftOut[row])
		if tied {
			return nil
		}

		for k, label := range c.record.Classes.Labels {
			if label != c.t.labels[i] {
				continue
			}

			counts[k]++

			if class != k {
				wrong[k]++
			}
		}
	}

	all, sum, rates, present := int64(0), int64(0), new(big.Rat), int64(0)

	for k := range counts {
		all += counts[k]
		sum += wrong[k]

		if counts[k] > 0 {
			present++
			rates.Add(rates, big.NewRat(wrong[k], counts[k]))
		}
	}

	if all == 0 {
		return nil
	}

	if by == "accuracy" {
		return big.NewRat(sum, all)
	}

	return rates.Quo(rates, new(big.Rat).SetInt64(present))
}

func (c *checker) choice() {
	choice := c.record.Choice
	if choice == nil {
		return
	}

	candidates := map[float64]bool{}

	for _, p := range choice.Path {
		candidates[p.Gamma] = true
		c.path(&p)
	}

	if choice.By == "cv" {
		return
	}

	chosen := c.score(choice.By, choice.Gamma, -1)
	if chosen == nil {
		return
	}

	where := fmt.Sprintf("choice of γ = %v by %s", choice.Gamma, choice.By)
	if choice.By == "gcv" || choice.By == "loo" {
		c.inside("score", choice.Score, chosen, where)
	} else {
		c.rate(choice.Score, chosen, where)
	}

	c.unknownScore(where)

	var gammas []float64
	for g := range candidates {
		gammas = append(gammas, g)
	}

	sort.Float64s(gammas)

	var best *big.Rat

	bestGamma := 0.0

	for _, g := range gammas {
		v := c.score(choice.By, g, -1)
		if v == nil {
			continue
		}

		if best == nil || v.Cmp(best) < 0 {
			best, bestGamma = v, g
		}

		if choice.Certain {
			c.count("certain", chosen.Cmp(v) <= 0, "%s has score %s, γ = %v has %s", where, show(chosen), g, show(v))
		}
	}

	if choice.Excess != nil {
		gap := sub(chosen, best)
		c.count("excess", gap.Cmp(rat(*choice.Excess)) <= 0, "%s: γ = %v is better by %s, excess %v",
			where, bestGamma, show(gap), *choice.Excess)
	}

	if choice.Possible[0] != nil && choice.Possible[1] != nil {
		c.count("possible", bestGamma >= *choice.Possible[0] && bestGamma <= *choice.Possible[1] ||
			chosen.Cmp(best) == 0, "%s: the best is γ = %v, possible [%v, %v]",
			where, bestGamma, *choice.Possible[0], *choice.Possible[1])
	}
}

// unknownScore checks the rule of command.md: the exit code is 3 if the score is not known within a factor of two.
// Exempt are tiny scores, constant targets, and targets that the fit matches up to round-off.
func (c *checker) unknownScore(where string) {
	choice := c.record.Choice
	variance := new(big.Rat)
	isMatched, isConstant := true, true

	for k := range c.fitted.y[0] {
		total, size := c.fitted.total(k), new(big.Rat)
		variance.Add(variance, total)

		for i, row := range c.fitted.y {
			size.Add(size, mul(c.fitted.w[i], square(row[k])))
		}

		if total.Cmp(add(mul(size, rat(1e-20)), rat(1e-300))) <= 0 {
			continue // constant up to round-off, or its squares underflow
		}

		isConstant = false

		for _, p := range choice.Path {
			if p.Gamma == choice.Gamma {
				rss := at(p.RSS, k)
				isMatched = isMatched && rss[1] != nil && rat(*rss[1]).Cmp(mul(total, rat(1.001e-12))) <= 0
			}
		}
	}

	variance.Quo(variance, big.NewRat(int64(len(c.fitted.x)), 1))
	variance.Mul(variance, rat(1.001))

	isAtMost := func(v *big.Rat) bool { return choice.Score[1] != nil && rat(*choice.Score[1]).Cmp(v) <= 0 }
	known := choice.Score[0] != nil && choice.Score[1] != nil && *choice.Score[1] <= 2**choice.Score[0]
	known = known || isConstant || isAtMost(mul(variance, rat(1e-9))) || isMatched && isAtMost(variance)
	c.count("exit code of an unknown score", known || c.code == 3, "%s: score [%s, %s], exit code %d",
		where, end(choice.Score[0]), end(choice.Score[1]), c.code)
}

func (c *checker) path(p *pathRecord) {
	e := c.at(p.Gamma)
	if e == nil {
		return
	}

	where := fmt.Sprintf("candidate γ = %v", p.Gamma)
	c.inside("path: effective dimension", p.Freedom, c.penalised(e), where)

	for k := range c.fitted.y[0] {
		target := fmt.Sprintf("%s, target %d", where, k)

		if k < len(p.RSS) {
			c.pathResidual(p, e, k, target)
		}

		if k < len(p.GCV) {
			c.inside("path: gcv", p.GCV[k], e.gcv[k], target)
		}

		if k < len(p.LOO) && e.loo != nil {
			c.inside("path: leave-one-out", p.LOO[k], e.loo[k], target)
		}
	}
}

// pathResidual checks the residual of a candidate. It belongs to the computed
// solution, which differs from the exact one by the relative error bound.
func (c *checker) pathResidual(p *pathRecord, e *exact, k int, where string) {
	bound := at(p.Relative, k)
	if bound == nil {
		return
	}

	first := len(e.x) - len(c.t.p)
	size, entries := new(big.Rat), new(big.Rat)

	for j := first; j < len(e.x); j++ {
		size.Add(size, square(e.x[j][k]))
	}

	for i, row := range c.fitted.x {
		for _, v := range row[first:] {
			entries.Add(entries, mul(c.fitted.w[i], square(v)))
		}
	}

	a, _ := entries.Float64()
	b, _ := size.Float64()
	r, _ := e.rss[k].Float64()
	delta := math.Sqrt(a) * math.Sqrt(b) * *bound
	slack := rat((2*math.Sqrt(r)*delta + delta*delta) * (1 + 1e-9))
	widened := p.RSS[k]

	if slack == nil {
		return
	}

	if widened[0] != nil {
		low, _ := sub(rat(*widened[0]), slack).Float64()
		low = math.Nextafter(low, math.Inf(-1))
		widened[0] = &low
	}

	if widened[1] != nil {
		high, _ := add(rat(*widened[1]), slack).Float64()
		high = math.Nextafter(high, math.Inf(1))
		widened[1] = &high
	}

	c.inside("path: rss", widened, e.rss[k], where)
}

func (c *checker) perTarget() {
	choice := c.record.PerTarget
	if choice == nil || choice.By != "gcv" && choice.By != "loo" {
		return
	}

	c.count("per target: proved", choice.Proved <= len(c.fitted.y[0]), "%d proved", choice.Proved)
	best := 0

	for k := range c.fitted.y[0] {
		gamma := c.record.Fits[0].gammaOf(k)
		where := fmt.Sprintf("γ = %v of target %d by %s", gamma, k, choice.By)

		chosen := c.score(choice.By, gamma, k)
		if chosen == nil {
			best++

			continue
		}

		if k < len(choice.Scores) {
			c.inside("per target: score", choice.Scores[k], chosen, where)
		}

		isBest := true

		for _, g := range choice.Candidates {
			v := c.score(choice.By, g, k)
			if v == nil {
				continue
			}

			gap := sub(chosen, v)
			isBest = isBest && gap.Sign() <= 0

			if k < len(choice.Excess) && choice.Excess[k] != nil {
				c.count("per target: excess", gap.Cmp(rat(*choice.Excess[k])) <= 0,
					"%s: γ = %v is better by %s, excess %v", where, g, show(gap), *choice.Excess[k])
			}
		}

		if isBest {
			best++
		}
	}

	c.count("per target: best", choice.Proved <= best, "%d proved, %d best", choice.Proved, best)
}

func (c *checker) holdout() {
	h := c.record.Holdout
	if h == nil || c.t.labels != nil {
		return
	}

	rows := &problem{}

	for _, i := range c.held {
		w := 1.0
		if c.t.weights != nil {
			w = c.t.weights[i]
		}

		if w == 0 {
			continue
		}

		rows.x = append(rows.x, c.row(c.t.x[i]))
		rows.y = append(rows.y, c.target(i, nil))
		rows.w = append(rows.w, rat(w))
	}

	c.count("held-out rows", h.Rows == len(rows.x), "%d of %d rows", h.Rows, len(rows.x))

	if len(rows.x) == 0 {
		return
	}

	rows.intercept = true
	weight := new(big.Rat)

	for _, w := range rows.w {
		weight.Add(weight, w)
	}

	for i, fit := range h.Fits {
		for k := range rows.y[0] {
			where := fmt.Sprintf("held-out rows, fit %d, target %d", i, k)
			m := c.model.Models[i]
			rss := c.residual(rows, m.Coef[k], at(m.Intercept, k), k)
			total := rows.total(k)

			r2 := func(rss *big.Rat) *big.Rat { return sub(rat(1), quo(rss, total)) }
			hasR2 := k < len(fit.R2) && total.Sign() > 0

			if k < len(fit.RMSE) {
				c.insideRoot("held-out rmse", fit.RMSE[k], quo(rss, weight), where)
			}

			if hasR2 && isInverted(fit.R2[k]) && total.Cmp(rat(1e-300)) < 0 {
				c.counts["excluded: held-out r2 after underflow"]++
			} else if hasR2 {
				c.inside("held-out r2", fit.R2[k], r2(rss), where)
			}
		}
	}
}

// isInverted reports whether the ends of a bracket are in the wrong order.
func isInverted(b bracket) bool { return b[0] != nil && b[1] != nil && *b[0] > *b[1] }

func containsRoot(b bracket, v *big.Rat) bool {
	return (b[0] == nil || *b[0] <= 0 || square(rat(*b[0])).Cmp(v) <= 0) &&
		(b[1] == nil || square(rat(*b[1])).Cmp(v) >= 0)
}

// insideRoot checks lo² ≤ v ≤ hi².
func (c *checker) insideRoot(kind string, b bracket, v *big.Rat, where string) {
	c.count(kind, containsRoot(b, v), "%s: the square %s is not in [%s, %s]²", where, show(v), end(b[0]), end(b[1]))
}

// classOf returns the class of a row of predictions, and whether it is tied.
func classOf(predictions []*big.Rat) (class int, tied bool) {
	if len(predictions) == 1 {
		if predictions[0].Sign() > 0 {
			return 1, false
		}

		return 0, predictions[0].Sign() == 0
	}

	for k, v := range predictions {
		if v.Cmp(predictions[class]) > 0 {
			class = k
		}
	}

	for k, v := range predictions {
		tied = tied || k != class && v.Cmp(predictions[class]) == 0
	}

	return class, tied
}

func (c *checker) classes() {
	if c.record.Classes == nil {
		return
	}

	var rows []int

	for i := range c.t.x {
		if !c.t.isHeld(i) {
			rows = append(rows, i)
		}
	}

	index := map[string]int{}
	for k, label := range c.record.Classes.Labels {
		index[label] = k
	}

	for i := range c.record.Classes.Training {
		e := c.at(c.record.Fits[i].Gamma)
		if e == nil {
			continue
		}

		c.oneClassRecord("training", &c.record.Classes.Training[i], e.training, rows, index)

		if i < len(c.record.Classes.Holdout) && len(c.held) > 0 {
			var x matrix
			for _, row := range c.held {
				x = append(x, c.fittedRow(c.t.x[row]))
			}

			c.oneClassRecord("held-out", &c.record.Classes.Holdout[i], multiply(x, e.x), c.held, index)
		}
	}

	if c.record.Classes.LeftOut != nil && c.record.Choice != nil {
		e := c.at(c.record.Choice.Gamma)
		if e != nil && e.leftOut != nil {
			c.oneClassRecord("left-out", c.record.Classes.LeftOut, e.leftOut, rows, index)
		}
	}
}

func (c *checker) oneClassRecord(kind string, r *classRecord, predictions matrix, rows []int, index map[string]int) {
	count := len(c.record.Classes.Labels)
	right, tied := make([]int, count), make([]int, count)
	total := 0

	for i, row := range rows {
		if c.t.weights != nil && c.t.weights[row] == 0 {
			continue
		}

		total++

		truth, isKnown := index[c.t.labels[row]]
		if !isKnown {
			continue
		}

		class, isTied := classOf(predictions[i])

		switch {
		case isTied:
			tied[truth]++
		case class == truth:
			right[truth]++
		}
	}

	c.count(kind+" class rows", r.Rows == total, "%s: %d of %d rows", kind, r.Rows, total)

	sum, ties := 0, 0

	for k := range right {
		if k < len(r.Right) {
			c.count(
				kind+" right",
				r.Right[k] <= right[k]+tied[k] && right[k] <= r.Possible[k],
				"%s class %d: exact %d (%d tied), right %d, possible %d",
				kind,
				k,
				right[k],
				tied[k],
				r.Right[k],
				r.Possible[k],
			)
		}

		sum += right[k]
		ties += tied[k]
	}

	if total > 0 && ties == 0 && r.AccuracyBracket[0] != nil && r.AccuracyBracket[1] != nil {
		accuracy := float64(sum) / float64(total)
		c.count(kind+" accuracy", *r.AccuracyBracket[0] <= accuracy && accuracy <= *r.AccuracyBracket[1],
			"%s: exact accuracy %v is not in [%v, %v]", kind, accuracy, *r.AccuracyBracket[0], *r.AccuracyBracket[1])
	}
}

package model

import (
	"encoding/json"
	"math"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/ridge"
)

// A Score measures the errors of the predictions for one target. [Score.Add] adds a row, and [Score.AddWeighted]
// adds a row with a sample weight. The zero value has no rows. Sums have twice the digits of a float64 and a bound
// on their error. Therefore R2Bracket and RMSEBracket are proved; see docs/math.md §19. For training rows,
// [ridge.Target.R2] returns a proved interval for R².
type Score struct {
	rows int64
	sums
}

// sums holds sums over rows. A row has the weight w, the target y and the prediction ŷ.
type sums struct {
	shift  float64        // the target of the first row
	weight twofold.Number // Σw
	rss    twofold.Number // Σw(y − ŷ)²
	abs    twofold.Number // Σw|y − ŷ|
	first  twofold.Number // Σw(y − shift)
	second twofold.Number // Σw(y − shift)²
}

// Add adds one row with its observed target and its predicted target.
func (s *Score) Add(observed, predicted float64) {
	s.AddWeighted(1, observed, predicted)
}

// AddWeighted adds one row with the sample weight w. It does nothing if w is not positive.
func (s *Score) AddWeighted(w, observed, predicted float64) {
	s.addResidual(w, observed, twofold.Of(observed).Minus(twofold.Of(predicted)))
}

// addResidual adds one row with the weight w and the residual r. It does nothing if w is not positive.
func (s *Score) addResidual(w, observed float64, r twofold.Number) {
	if !(w > 0) {
		return
	}
	if s.rows == 0 {
		s.shift = observed
	}
	s.rows++
	off := twofold.Of(observed).Minus(twofold.Of(s.shift))
	by := twofold.Of(w)
	s.weight = s.weight.Plus(by)
	s.rss = s.rss.Plus(r.Times(r).Times(by))
	if r.Hi < 0 {
		r = twofold.Number{}.Minus(r)
	}
	s.abs = s.abs.Plus(r.Times(by))
	s.first = s.first.Plus(off.Times(by))
	s.second = s.second.Plus(off.Times(off).Times(by))
}

// Join adds the rows of o to s.
func (s *Score) Join(o Score) {
	switch {
	case !(o.weight.Hi > 0):
		return
	case s.rows == 0:
		*s = o
		return
	}
	// The sums over the rows of o are about o.shift and are needed about s.shift. With δ = o.shift − s.shift: Σw(y
	// − s.shift)² = Σw(y − o.shift)² + 2δ·Σw(y − o.shift) + δ²·Σw.
	move := twofold.Of(o.shift).Minus(twofold.Of(s.shift))
	cross := move.Times(o.first)
	square := move.Times(move).Times(o.weight)
	s.second = s.second.Plus(o.second).Plus(cross).Plus(cross).Plus(square)
	s.first = s.first.Plus(o.first).Plus(move.Times(o.weight))
	s.rows += o.rows
	s.weight = s.weight.Plus(o.weight)
	s.rss = s.rss.Plus(o.rss)
	s.abs = s.abs.Plus(o.abs)
}

// Rows returns the number of rows.
func (s *Score) Rows() int64 { return s.rows }

// squares returns the sum Σw(y − ȳ)² over the rows, with weights w, targets y and their weighted mean ȳ. It
// equals Σw(y − shift)² − (Σw(y − shift))²/Σw.
func (s *Score) squares() twofold.Number {
	if s.rows == 0 {
		return twofold.Number{}
	}
	return s.second.Minus(s.first.Times(s.first).Over(s.weight))
}

// mean returns ȳ.
func (s *Score) mean() float64 {
	if s.rows == 0 {
		return 0
	}
	v, _ := twofold.Of(s.shift).Plus(s.first.Over(s.weight)).Round()
	return v
}

// endsOf returns an interval that contains n, which must not be negative. n has a bound on its error.
func endsOf(n twofold.Number) ridge.Interval {
	v, off := n.Round()
	if math.IsNaN(v) || math.IsNaN(off) {
		return ridge.Interval{Lo: 0, Hi: math.Inf(1)}
	}
	return ridge.Interval{
		Lo: math.Max(0, below(v-off)),
		Hi: math.Max(0, above(v+off)),
	}
}

func below(x float64) float64 {
	return math.Nextafter(x, math.Inf(-1))
}
func above(x float64) float64 {
	return math.Nextafter(x, math.Inf(1))
}

// isConstant reports whether the sums show no difference between the targets, or overflow.
func (s *Score) isConstant() bool {
	v := s.squares()
	return !(v.Hi > 0) || math.IsInf(v.Hi, 1)
}

// R2 returns 1 − Σw(y − ŷ)²/Σw(y − ȳ)², like scikit-learn's r2_score. The sums are over the rows, with
// weights w, targets y, predictions ŷ and the weighted mean ȳ of the targets. R2 returns NaN if there are no rows,
// if all targets are equal, or if Σw(y − ȳ)² overflows.
func (s *Score) R2() float64 {
	if s.isConstant() {
		return math.NaN()
	}
	v, _ := twofold.Of(1).Minus(s.rss.Over(s.squares())).Round()
	return v
}

// R2Bracket returns an interval that is proved to contain R² before [Score.R2] rounds it. Both ends are NaN if R2
// returns NaN.
func (s *Score) R2Bracket() ridge.Interval {
	if s.isConstant() {
		return ridge.Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	rss := endsOf(s.rss)
	squares := endsOf(s.squares())
	out := ridge.Interval{Lo: math.Inf(-1), Hi: 1}
	if squares.Lo > 0 && !math.IsInf(rss.Hi, 1) {
		out.Lo = below(1 - above(rss.Hi/squares.Lo))
	}
	if !math.IsInf(squares.Hi, 1) {
		out.Hi = math.Min(1, above(1-below(rss.Lo/squares.Hi)))
	}
	v, off := twofold.Of(1).Minus(s.rss.Over(s.squares())).Round()
	if off <= math.MaxFloat64 {
		out.Lo = math.Max(out.Lo, below(v-off))
		out.Hi = math.Min(out.Hi, above(v+off))
	}
	return out
}

// RMSE returns the root mean squared error √(Σw(y − ŷ)²/Σw). The sums are over the rows, with weights w,
// targets y and predictions ŷ. RMSE returns NaN if there are no rows.
func (s *Score) RMSE() float64 {
	if s.rows == 0 {
		return math.NaN()
	}
	v, _ := s.rss.Over(s.weight).Round()
	return math.Sqrt(math.Max(0, v))
}

// RMSEBracket returns an interval that is proved to contain the root mean squared error before [Score.RMSE] rounds
// it. Both ends are NaN if there are no rows.
func (s *Score) RMSEBracket() ridge.Interval { return s.root(s.rss) }

// MAEBracket returns an interval that is proved to contain the mean absolute error Σw|y − ŷ|/Σw. The sums are over
// the rows, with weights w, targets y and predictions ŷ. Both ends are NaN if there are no rows. If an earlier
// program wrote the Score without the sum of |y − ŷ|, the interval is [0, ∞].
func (s *Score) MAEBracket() ridge.Interval {
	if s.rows == 0 {
		return ridge.Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	return endsOf(s.abs.Over(s.weight))
}

// BaselineBracket returns an interval that is proved to contain √(Σw(y − ȳ)²/Σw). The sums are over the rows,
// with weights w, targets y and their weighted mean ȳ. The root is the RMSE if every prediction is ȳ. Both ends are
// NaN if there are no rows.
func (s *Score) BaselineBracket() ridge.Interval {
	return s.root(s.squares())
}

// root returns an interval that contains √(sum/Σw).
func (s *Score) root(sum twofold.Number) ridge.Interval {
	if s.rows == 0 {
		return ridge.Interval{Lo: math.NaN(), Hi: math.NaN()}
	}
	v := endsOf(sum.Over(s.weight))
	return ridge.Interval{
		Lo: math.Max(0, below(math.Sqrt(v.Lo))),
		Hi: above(math.Sqrt(v.Hi)),
	}
}

// scoreJSON is the JSON form of a [Score].
type scoreJSON struct {
	Rows        int64          `json:"n"`
	R2          Number         `json:"r2"`
	R2Bracket   ridge.Interval `json:"r2_bracket"`
	RMSE        Number         `json:"rmse"`
	RMSEBracket ridge.Interval `json:"rmse_bracket"`
	Weight      Number         `json:"weight"`
	RSS         Number         `json:"rss"`
	Mean        Number         `json:"mean"`
	Squares     Number         `json:"squares"`
	Sums        []Number       `json:"sums,omitempty"`
}

// numbers returns the sums as a list. It begins with the shift; the fields Hi, Lo and Err of each sum follow.
func (s *sums) numbers() []float64 {
	out := []float64{s.shift}
	for _, n := range []twofold.Number{s.weight, s.rss, s.first, s.second, s.abs} {
		out = append(out, n.Hi, n.Lo, n.Err)
	}
	return out
}

// sumsOf returns the sums in the list v, which the method numbers returned. If v lacks the sum Σw|y − ŷ| of
// absolute errors, the error bound of this sum is infinite.
func sumsOf(v []float64) sums {
	at := func(i int) twofold.Number {
		return twofold.Number{
			Hi:  v[1+3*i],
			Lo:  v[2+3*i],
			Err: v[3+3*i],
		}
	}
	out := sums{
		shift:  v[0],
		weight: at(0),
		rss:    at(1),
		first:  at(2),
		second: at(3),
	}
	out.abs = twofold.Number{Err: math.Inf(1)}
	if len(v) == sumsLength {
		out.abs = at(4)
	}
	return out
}

// sumsLength is the length of the list that numbers returns. sumsLengthFirst is its length in files of programs
// that did not sum |y − ŷ|.
const (
	sumsLength      = 16
	sumsLengthFirst = 13
)

// MarshalJSON writes the number of rows n, and r2 and rmse with their intervals. It also writes weight = Σw, rss =
// Σw(y − ŷ)², mean = ȳ and squares = Σw(y − ȳ)². The sums are over the rows, with weights w, targets y,
// predictions ŷ and the weighted mean ȳ of the targets. Values that are not finite are null. From the member sums,
// UnmarshalJSON restores the Score.
func (s Score) MarshalJSON() ([]byte, error) {
	squares, _ := s.squares().Round()
	return jsonfields.Value(scoreJSON{
		Rows:        s.rows,
		R2:          Number(s.R2()),
		R2Bracket:   s.R2Bracket(),
		RMSE:        Number(s.RMSE()),
		RMSEBracket: s.RMSEBracket(),
		Weight:      Number(s.weight.Hi),
		RSS:         Number(s.rss.Hi),
		Mean:        Number(s.mean()),
		Squares:     Number(math.Max(0, squares)),
		Sums:        Numbers(s.numbers()),
	})
}

// UnmarshalJSON reads a Score that MarshalJSON wrote. It restores the sums exactly, so that more rows or scores can
// be added. A sum that is null becomes NaN. If an earlier program wrote the Score without the member sums, its
// intervals are infinite. If the number of rows or a sum is missing or inconsistent, the error is [ErrInput], and s
// is unchanged.
func (s *Score) UnmarshalJSON(text []byte) error {
	in := scoreJSON{Rows: -1, Weight: -1, RSS: -1, Mean: Number(math.NaN()), Squares: -1} // marks missing fields
	if err := json.Unmarshal(text, &in); err != nil {
		return errtext.BadInput("model: this is not a score: %w", err)
	}
	if in.Rows < 0 ||
		in.Weight < 0 ||
		in.RSS < 0 ||
		math.IsNaN(float64(in.Mean)) ||
		in.Squares < 0 ||
		in.Sums != nil && len(in.Sums) != sumsLength && len(in.Sums) != sumsLengthFirst {
		return errtext.BadInput("model: a score without its rows, or with a sum missing or negative")
	}
	if (in.Rows == 0) != (in.Weight == 0) {
		return errtext.BadInput("model: a score of %d rows of weight %v", in.Rows, in.Weight)
	}
	known := func(v Number) float64 {
		if math.IsInf(float64(v), 0) {
			return math.NaN()
		}
		return float64(v)
	}
	out := Score{rows: in.Rows}
	if in.Sums != nil {
		list := make([]float64, len(in.Sums))
		for i, v := range in.Sums {
			list[i] = known(v)
		}
		out.sums = sumsOf(list)
		if !(out.weight.Hi == known(in.Weight)) && !math.IsNaN(known(in.Weight)) ||
			!(out.rss.Hi == known(in.RSS)) && !math.IsNaN(known(in.RSS)) {
			return errtext.BadInput("model: a score with sums that differ from each other")
		}
	} else if in.Rows > 0 {
		unbounded := func(v float64) twofold.Number {
			return twofold.Number{Hi: v, Err: math.Inf(1)}
		}
		out.sums = sums{
			shift:  known(in.Mean),
			weight: unbounded(known(in.Weight)),
			rss:    unbounded(known(in.RSS)),
			abs:    unbounded(0),
			first:  unbounded(0),
			second: unbounded(known(in.Squares)),
		}
	}
	*s = out
	return nil
}

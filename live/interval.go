package live

import (
	"encoding/json"
	"errors"
	"math"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/window"
)

// An Interval is what a [Run] tells when one has passed: in JSON one line.
type Interval struct {
	Time    time.Time `json:"time"`
	Rows    int64     `json:"rows"`     // in the sketch, those that are forgotten included: the file is of so many
	NewRows int64     `json:"new_rows"` // of them, in this interval
	Seconds float64   `json:"seconds"`
	Rate    float64   `json:"rows_per_second"`

	// Next says how well the fit of the interval before predicted the rows of this one, before they
	// were learned; nil where there was no fit or there are no rows.
	Next *Prequential `json:"next,omitempty"`

	Covered int64 `json:"covered_rows"` // the last so many are those that count
	// Fit is what is known of these now; nil where there is none, for the reason that Unfitted says.
	Fit      *Fit   `json:"fit,omitempty"`
	Unfitted string `json:"unfitted,omitempty"`

	Written int64  `json:"written_bytes"` // 0 where nothing had changed
	End     string `json:"end,omitempty"` // why the run ended, "" where it goes on: EndOfRows, Stopped or Failed
}

// Why a run ended.
const (
	EndOfRows = "end of rows"
	Stopped   = "stopped"
	Failed    = "failed"
)

// A Fit is the one-shot fit at the end of an interval.
type Fit struct {
	Gamma              Number         `json:"gamma"`
	Weight             Number         `json:"weight"`              // Σw of the rows as they count
	Eta                Number         `json:"eta"`                 // η, the proved bound on ‖AᵀA − BᵀB‖
	EffectiveDimension ridge.Interval `json:"effective_dimension"` // brackets tr(H⁻¹K)
}

// A Prequential is the error on rows that were predicted before they were learned, of each target: that of
// A. P. Dawid, J. R. Stat. Soc. A 147, 1984, taken interval by interval.
type Prequential struct {
	R2   []Number `json:"r2"`   // 1 − Σw(y − ŷ)²/Σw(y − ȳ)²; no number where y is constant
	RMSE []Number `json:"rmse"` // √(Σw(y − ŷ)²/Σw)
}

// A Number is a float64 that is null in JSON where it is not finite.
type Number float64

// MarshalJSON writes the number, or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return json.Marshal(v)
	}
	return []byte("null"), nil
}

// A score is the error of predictions of one target.
type score struct {
	weight, rss   float64
	mean, squares float64 // of y, by the updates of D. H. D. West, Commun. ACM 22, 1979
}

func (s *score) add(observed, predicted, weight float64) {
	if !(weight > 0) {
		return
	}
	s.weight += weight
	s.rss += weight * (observed - predicted) * (observed - predicted)
	off := observed - s.mean
	s.mean += off * weight / s.weight
	s.squares += weight * off * (observed - s.mean)
}

func (s *score) r2() float64 {
	if !(s.squares > 0) {
		return math.NaN()
	}
	return 1 - s.rss/s.squares
}

func (s *score) rmse() float64 { return math.Sqrt(s.rss / s.weight) }

// A judge predicts rows before they are learned, by the fit at the end of the interval before.
type judge struct {
	fit    *ridge.Solution // nil: there is none
	scores []score
	yhat   []float64
}

// refit takes the fit that is to predict from now on.
func (j *judge) refit(fit *ridge.Solution) {
	j.fit = fit
	if fit != nil {
		t, _ := fit.Dims()
		j.scores, j.yhat = make([]score, t), make([]float64, t)
	}
}

// add compares the rows of a block with what is predicted for them.
func (j *judge) add(b dataset.Block) error {
	if j.fit == nil {
		return nil
	}
	t, d := j.fit.Dims()
	for i := range b.N {
		var err error
		if b.Sparse != nil {
			idx, val := b.Sparse.Row(i)
			err = j.fit.PredictSparse(j.yhat, idx, val)
		} else {
			err = j.fit.PredictRow(j.yhat, b.X[i*d:(i+1)*d])
		}
		if err != nil {
			return err
		}
		for k, yhat := range j.yhat {
			j.scores[k].add(b.Y[i*t+k], yhat, b.Weight(i))
		}
	}
	return nil
}

// verdict is the error of the predictions, nil where there were none.
func (j *judge) verdict() *Prequential {
	if j.fit == nil || !(j.scores[0].weight > 0) {
		return nil
	}
	p := new(Prequential)
	for i := range j.scores {
		p.R2, p.RMSE = append(p.R2, Number(j.scores[i].r2())), append(p.RMSE, Number(j.scores[i].rmse()))
	}
	return p
}

// fitOf fits what counts of a sketch, at gamma or, where that is 0, at the one that GCV chooses.
func fitOf(s window.Stream, gamma float64) (*ridge.Solution, *Fit, window.Span, error) {
	sum, span, err := s.Summary()
	if err != nil {
		return nil, nil, span, err
	}
	if gamma == 0 {
		choice, err := choose.Gamma(sum, nil)
		if err != nil {
			return nil, nil, span, err
		}
		if gamma = choice.Gamma(); math.IsNaN(gamma) {
			return nil, nil, span, errors.New("live: no gamma could be chosen")
		}
	}
	fit, err := sum.Fit(gamma)
	if err != nil {
		return nil, nil, span, err
	}
	return fit, &Fit{Gamma: Number(gamma), Weight: Number(sum.Weight()), Eta: Number(fit.Shrinkage), EffectiveDimension: fit.EffectiveDimension}, span, nil
}

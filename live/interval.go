package live

import (
	"errors"
	"math"
	"time"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/jsonfields"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
	"github.com/fdridge/fdridge/ridge/window"
)

// An Interval reports the state of a [Run] at the end of an interval of time, after the sketch was written to the
// file. Its JSON form is one line.
type Interval struct {
	Time    time.Time `json:"time"`
	Rows    int64     `json:"rows"`     // number of rows appended so far, including rows no longer in the window
	NewRows int64     `json:"new_rows"` // number of rows that arrived in this interval
	Seconds float64   `json:"seconds"`
	Rate    float64   `json:"rows_per_second"`

	// Next is the prediction error for the rows that arrived in this interval. They are predicted by the fit at the
	// end of the previous interval. Next is nil if the previous interval has no fit, or if no row arrived.
	Next *Prequential `json:"next,omitempty"`

	Covered int64 `json:"covered_rows"` // number of the latest rows that the sketch represents
	// Fit is the ridge regression computed from the sketch. If no fit is possible, Fit is nil, and Unfitted tells
	// the reason.
	Fit      *Fit   `json:"fit,omitempty"`
	Unfitted string `json:"unfitted,omitempty"`

	Written int64  `json:"written_bytes"` // bytes written to the file; 0 if nothing had changed
	End     string `json:"end,omitempty"` // why the run ended: EndOfRows, Stopped or Failed; "" if it continues
}

// These are the values of Interval.End.
const (
	EndOfRows = "end of rows"
	Stopped   = "stopped"
	Failed    = "failed"
)

// MarshalJSON returns the interval as a JSON object. The keys are the names in the tags of the fields.
func (i Interval) MarshalJSON() ([]byte, error) {
	type fields Interval
	return jsonfields.Value(fields(i))
}

// A Fit describes the ridge regression at the end of an interval. It is computed from the sketch alone, without the
// rows.
type Fit struct {
	Gamma              Number         `json:"gamma"`
	Weight             Number         `json:"weight"`              // Σw of the rows with their current weights
	Eta                Number         `json:"eta"`                 // η, the proved bound on ‖AᵀA − BᵀB‖
	EffectiveDimension ridge.Interval `json:"effective_dimension"` // brackets tr(H⁻¹K), with K = AᵀA and H = K + γI
}

// A Prequential holds the prediction error of each target y. The predictions ŷ come from a fit that has not seen
// the predicted rows, which have the weights w. ȳ is the weighted mean of y. The method is by A. P. Dawid, J. R.
// Stat. Soc. A 147, 1984.
type Prequential struct {
	R2   []Number `json:"r2"`   // 1 − Σw(y − ŷ)²/Σw(y − ȳ)²; NaN if y is constant
	RMSE []Number `json:"rmse"` // √(Σw(y − ŷ)²/Σw)
}

// A Number is a float64 that JSON writes as null if the number is infinite or NaN.
type Number float64

// MarshalJSON writes the number or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return jsonfields.AppendFloat(nil, v), nil
	}
	return []byte("null"), nil
}

// A score sums the prediction errors of one target.
type score struct {
	weight, rss   float64
	mean, squares float64 // of y, updated as by D. H. D. West, Commun. ACM 22, 1979
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

func (s *score) rmse() float64 {
	return math.Sqrt(s.rss / s.weight)
}

// A scorer predicts new rows by the fit of the previous interval, and sums the errors.
type scorer struct {
	fit    *ridge.Solution // nil if there is none
	scores []score
	yhat   []float64
}

// refit sets the fit for the next predictions.
func (j *scorer) refit(fit *ridge.Solution) {
	j.fit = fit
	if fit != nil {
		t, _ := fit.Dims()
		j.scores = make([]score, t)
		j.yhat = make([]float64, t)
	}
}

// add predicts the rows of the block b, and adds the prediction errors to the scores.
func (j *scorer) add(b dataset.Block) error {
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

// predictionError returns nil if no row was predicted.
func (j *scorer) predictionError() *Prequential {
	if j.fit == nil || !(j.scores[0].weight > 0) {
		return nil
	}
	p := new(Prequential)
	for i := range j.scores {
		p.R2 = append(p.R2, Number(j.scores[i].r2()))
		p.RMSE = append(p.RMSE, Number(j.scores[i].rmse()))
	}
	return p
}

// fitOf fits the sketch s with the ridge penalty gamma. If gamma is 0, generalised cross-validation (GCV) chooses
// the penalty.
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
		gamma = choice.Gamma()
		if math.IsNaN(gamma) {
			return nil, nil, span, errors.New("live: no gamma could be chosen")
		}
	}
	fit, err := sum.Fit(gamma)
	if err != nil {
		return nil, nil, span, err
	}
	return fit, &Fit{
		Gamma:              Number(gamma),
		Weight:             Number(sum.Weight()),
		Eta:                Number(fit.Shrinkage),
		EffectiveDimension: fit.EffectiveDimension,
	}, span, nil
}

package model_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// exactScore returns R², the mean squared error, the mean absolute error, and the mean squared distance of the targets
// from their mean, of rows with weights w, targets y and residuals r.
func exactScore(w, y []float64, r []*big.Rat) (r2, mse, mae, baseline *big.Rat) {
	weight, sum, rss, squares := new(big.Rat), new(big.Rat), new(big.Rat), new(big.Rat)
	mae = new(big.Rat)
	rat := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	times := func(a, b *big.Rat) *big.Rat { return new(big.Rat).Mul(a, b) }
	for i := range w {
		weight.Add(weight, rat(w[i]))
		sum.Add(sum, times(rat(w[i]), rat(y[i])))
		rss.Add(rss, times(rat(w[i]), times(r[i], r[i])))
		mae.Add(mae, times(rat(w[i]), new(big.Rat).Abs(r[i])))
	}
	mean := sum.Quo(sum, weight)
	for i := range w {
		off := new(big.Rat).Sub(rat(y[i]), mean)
		squares.Add(squares, times(rat(w[i]), times(off, off)))
	}
	mse, mae, baseline = new(big.Rat).Quo(rss, weight), mae.Quo(mae, weight), new(big.Rat).Quo(squares, weight)
	if squares.Sign() > 0 {
		r2 = new(big.Rat).Sub(big.NewRat(1, 1), rss.Quo(rss, squares))
	}
	return r2, mse, mae, baseline
}

// TestScoreBrackets: the brackets of R², RMSE, MAE and the baseline contain the exact numbers of the coefficients,
// and are narrow. Targets have large means, rows are dense or sparse, with and without weights, and some residuals
// are only round-off.
func TestScoreBrackets(t *testing.T) {
	const n, d = 40, 3
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 44))
		noise := math.Pow(10, -12*r.Float64()+2)
		if seed%7 == 0 {
			noise = 0
		}
		mean, x, y, w := math.Pow(10, 12*r.Float64()), make([]float64, n*d), make([]float64, n), make([]float64, n)
		o := ridge.Target{Coef: make([]float64, d), Intercept: mean + r.NormFloat64()}
		for j := range o.Coef {
			o.Coef[j] = r.NormFloat64()
		}
		ptr, idx := []int{0}, []int32(nil)
		for i := range n {
			w[i] = 1
			if seed%3 == 0 {
				w[i] = r.Float64()
			}
			y[i] = mean + noise*r.NormFloat64()
			for j := range d {
				x[i*d+j] = math.Pow(10, -4+4*r.Float64()) * r.NormFloat64()
				y[i] += o.Coef[j] * x[i*d+j]
				idx = append(idx, int32(j))
			}
			ptr = append(ptr, len(idx))
		}
		src, err := dataset.FromDense(n, d, 1, x, y)
		if err != nil {
			t.Fatal(err)
		}
		var rows dataset.Source = src
		if seed%2 == 1 {
			rows, err = dataset.FromCSR(&engine.CSR{Rows: n, Cols: d, RowPtr: ptr, ColIdx: idx, Val: x}, 1, y)
			if err != nil {
				t.Fatal(err)
			}
		}
		if seed%3 == 0 {
			of, err := dataset.FromDense(n, 1, 0, w, nil)
			if err != nil {
				t.Fatal(err)
			}
			rows, err = dataset.Weigh(rows, of)
			if err != nil {
				t.Fatal(err)
			}
		}
		s := &ridge.Solution{Targets: []ridge.Target{o}}
		e, err := model.Evaluate(t.Context(), rows, []*ridge.Solution{s})
		if err != nil {
			t.Fatal(err)
		}
		var written, first, second model.Score
		exact, rounded := make([]*big.Rat, n), make([]*big.Rat, n)
		yhat := make([]float64, 1)
		for i := range n {
			sum := new(big.Rat).SetFloat64(y[i])
			sum.Sub(sum, new(big.Rat).SetFloat64(o.Intercept))
			for j := range d {
				p := new(big.Rat).SetFloat64(o.Coef[j])
				sum.Sub(sum, p.Mul(p, new(big.Rat).SetFloat64(x[i*d+j])))
			}
			exact[i] = sum
			if err := s.PredictRow(yhat, x[i*d:(i+1)*d]); err != nil {
				t.Fatal(err)
			}
			rounded[i] = new(big.Rat).Sub(new(big.Rat).SetFloat64(y[i]), new(big.Rat).SetFloat64(yhat[0]))
			written.AddWeighted(w[i], y[i], yhat[0])
			part := &first
			if i > n/3 {
				part = &second
			}
			part.AddWeighted(w[i], y[i], yhat[0])
		}
		first.Join(second)
		text, err := json.Marshal(written)
		if err != nil {
			t.Fatal(err)
		}
		var back model.Score
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			score *model.Score
			of    []*big.Rat
		}{"coefficients": {&e.Scores[0][0], exact}, "predictions": {&written, rounded}, "joined": {&first, rounded}, "JSON": {&back, rounded}} {
			r2, mse, mae, baseline := exactScore(w, y, c.of)
			inside := func(what string, v ridge.Interval, want *big.Rat, square bool, unit float64) {
				t.Helper()
				lo, hi := new(big.Rat).SetFloat64(v.Lo), new(big.Rat).SetFloat64(v.Hi)
				if lo == nil || hi == nil {
					t.Errorf("seed %d, %s: %s is in %v", seed, name, what, v)
					return
				}
				width := v.Hi - v.Lo
				if square {
					lo.Mul(lo, lo)
					hi.Mul(hi, hi)
				}
				if lo.Cmp(want) > 0 || hi.Cmp(want) < 0 || !(width <= 1e-7*unit) {
					exact, _ := want.Float64()
					t.Errorf("seed %d, %s: %s is %v, the bracket %v", seed, name, what, exact, v)
				}
			}
			ratio, _ := r2.Float64()
			inside("R²", c.score.R2Bracket(), r2, false, math.Max(1, math.Abs(ratio)))
			root, _ := mse.Float64()
			inside("RMSE", c.score.RMSEBracket(), mse, true, math.Sqrt(root)+1e-12*mean*1e-7)
			mean1, _ := mae.Float64()
			inside("MAE", c.score.MAEBracket(), mae, false, mean1+1e-12*mean*1e-7)
			spread, _ := baseline.Float64()
			inside("baseline", c.score.BaselineBracket(), baseline, true, math.Sqrt(spread)+1e-12*mean*1e-7)
			if v := c.score.R2Bracket(); !(v.Lo <= c.score.R2() && c.score.R2() <= v.Hi) {
				t.Errorf("seed %d, %s: R² %v is outside %v", seed, name, c.score.R2(), v)
			}
			if v := c.score.RMSEBracket(); !(v.Lo <= c.score.RMSE() && c.score.RMSE() <= v.Hi) {
				t.Errorf("seed %d, %s: RMSE %v is outside %v", seed, name, c.score.RMSE(), v)
			}
		}
	}
}

// TestOldScore: a score of an earlier program has no proved brackets.
func TestOldScore(t *testing.T) {
	var s model.Score
	err := json.Unmarshal([]byte(`{"n":3,"r2":0.5,"rmse":1,"weight":3,"rss":3,"mean":2,"squares":6}`), &s)
	if err != nil {
		t.Fatal(err)
	}
	if s.R2() != 0.5 || s.RMSE() != 1 || s.R2Bracket().Lo > -1e300 || s.RMSEBracket().Hi < 1e300 {
		t.Errorf("R² %v in %v, RMSE %v in %v", s.R2(), s.R2Bracket(), s.RMSE(), s.RMSEBracket())
	}
	// Before there was a sum of |y − ŷ|, sums had 13 numbers.
	err = json.Unmarshal([]byte(`{"n":1,"weight":1,"rss":4,"mean":7,"squares":0,"sums":[7,1,0,0,4,0,0,0,0,0,0,0,0]}`), &s)
	if err != nil {
		t.Fatal(err)
	}
	if v := s.MAEBracket(); v.Lo != 0 || v.Hi < 1e300 || s.RMSE() != 2 {
		t.Errorf("MAE in %v, RMSE %v", v, s.RMSE())
	}
	s.Add(7, 8)
	if v := s.MAEBracket(); v.Lo != 0 || v.Hi < 1e300 {
		t.Errorf("MAE in %v, though it is not known of the first row", v)
	}
}

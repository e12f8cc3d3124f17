package paper

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset/synthetic"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// These are the methods of figures 1 and 2, in the order of the legend.
const (
	exact             = "Exact"
	fdrr              = "FDRR"
	rfdrr             = "RFDRR"
	classicalGaussian = "Classical:Gaussian"
	classicalSJLT     = "Classical:SJLT"
	hessianGaussian   = "Hessian:Gaussian"
	hessianSJLT       = "Hessian:SJLT"
)

var (
	deterministic = []string{fdrr, rfdrr}
	randomised    = []string{classicalGaussian, classicalSJLT, hessianGaussian, hessianSJLT}
	sketched      = slices.Concat(deterministic, randomised)
)

// A metric is one of the three metrics that figures 1 and 2 show.
type metric int

const (
	bias metric = iota
	variance
	mse
	metrics
)

func (m metric) String() string {
	return [...]string{"bias", "variance", "MSE"}[m]
}

// risks holds the results of figure 1 or 2.
type risks struct {
	rank     int // R, the effective dimension
	size     int // m
	gammas   []float64
	absolute map[string][metrics][]float64 // û of each method for every γ: the median over the trials
	relative map[string][metrics][]float64 // |û − u*|/u*, with u* of the exact method: the median over the trials
	bounds   map[string][]RiskBounds       // of each method for every γ: proved for its first trial
	seconds  map[string]float64            // to sketch A, for FDRR and the random methods: the median over the trials
}

// statistics draws figures 1 and 2, for section 3 of the paper. They show bias, variance and mean squared error on
// synthetic data, computed in closed form.
func (r *run) statistics(ctx context.Context) error {
	for i, ratio := range []float64{synthetic.LowRank, synthetic.HighRank} {
		if !r.wants(i + 1) {
			continue
		}
		r.figure = i + 1
		if len(r.Ratios) > i {
			ratio = r.Ratios[i]
		}
		data := synthetic.Config{
			Rows:  int(setting(r, max(r.Rows, 0), 1<<10, 1<<7)),
			Dim:   setting(r, r.Dim, 1<<9, 1<<6),
			Ratio: ratio,
			Noise: setting(r, r.Noise, 2, 2),
			Seed:  r.Seed,
		}
		x, err := r.risks(ctx, data)
		if err != nil {
			return err
		}
		r.results.risks[i] = x
		if err := r.save(x.figure(i+1, data, r.trials())); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) trials() int {
	return setting(r, r.Trials, 10, 3)
}

// risks computes the numbers of one figure. In trial i of a random method, the seed is the seed of the run plus i.
func (r *run) risks(ctx context.Context, data synthetic.Config) (*risks, error) {
	r.tell("exact ridge regression", 0)
	d, err := synthetic.Generate(data)
	if err != nil {
		return nil, &SettingError{err.Error()}
	}
	src, err := d.Source()
	if err != nil {
		return nil, err
	}
	model, err := NewLinearModel(ctx, src, d.X0, d.Noise*d.Noise, r.Backend)
	if err != nil {
		return nil, err
	}
	x := &risks{
		rank:     data.Rank(),
		size:     setting(r, r.Size, 256, 32),
		gammas:   r.Gammas,
		absolute: map[string][metrics][]float64{},
		relative: map[string][metrics][]float64{},
		bounds:   map[string][]RiskBounds{},
		seconds:  map[string]float64{},
	}
	for e := -8; e <= 6 && r.Gammas == nil; e++ {
		x.gammas = append(x.gammas, math.Ldexp(1, e))
	}
	if err := x.add(exact, model.Exact()); err != nil {
		return nil, err
	}
	if err := x.deterministic(model, d, r.Backend); err != nil {
		return nil, err
	}
	for i, method := range randomised {
		var trials []*Estimator
		var seconds []float64
		for trial := range r.trials() {
			r.tell(
				fmt.Sprintf("%s, trial %d", method, trial+1),
				(float64(i)+float64(trial)/float64(r.trials()))/float64(len(randomised)),
			)
			cfg := randsketch.Config{
				Kind:    randsketch.Gaussian,
				Rows:    x.size,
				Dim:     d.Dim,
				Seed:    r.Seed + uint64(trial),
				Backend: r.Backend,
			}
			if method == classicalSJLT || method == hessianSJLT {
				cfg.Kind = randsketch.SJLT
			}
			start := time.Now()
			s, err := sketchAll(ctx, src, cfg)
			if err != nil {
				return nil, err
			}
			sa := s.Matrix()
			seconds = append(seconds, time.Since(start).Seconds())
			var e *Estimator
			if method == hessianGaussian || method == hessianSJLT {
				e, err = model.Hessian(sa)
			} else {
				e, err = model.Classical(sa, outer(s))
			}
			if err != nil {
				return nil, err
			}
			trials = append(trials, e)
		}
		x.seconds[method] = median(seconds)
		if err := x.add(method, trials...); err != nil {
			return nil, err
		}
	}
	return x, nil
}

// deterministic adds FDRR and RFDRR, from one sketch.
func (x *risks) deterministic(model *LinearModel, d *synthetic.Data, be engine.Backend) error {
	start := time.Now()
	s, err := fd.New(fd.Config{
		Dim:     d.Dim,
		Size:    x.size,
		Backend: be,
		Store:   fd.StoreRows,
	})
	if err != nil {
		return err
	}
	if err := s.AppendRows(d.Rows, d.X, d.Dim); err != nil {
		return err
	}
	sketch, err := s.Spectrum()
	if err != nil {
		return err
	}
	x.seconds[fdrr] = time.Since(start).Seconds()
	plain, err1 := model.FD(sketch)
	robust, err2 := model.RFD(sketch)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return errors.Join(x.add(fdrr, plain), x.add(rfdrr, robust))
}

// outer returns SSᵀ for the rows read so far.
func outer(s *randsketch.Sketch) *mat.SymDense {
	n, m := int(s.Rows()), s.Config().Rows
	columns := make([]float64, 0, n*m) // Sᵀ, n×m
	for i := range n {
		columns = append(columns, s.Column(int64(i))...)
	}
	var sst mat.SymDense
	sst.SymOuterK(1, mat.NewDense(n, m, columns).T())
	return &sst
}

// add evaluates the estimators of one method at every γ. There is one estimator for each trial, and add stores the
// medians. The exact method must be added first.
func (x *risks) add(method string, trials ...*Estimator) error {
	var absolute, relative [metrics][]float64
	for i, gamma := range x.gammas {
		var u, e [metrics][]float64
		for _, t := range trials {
			risk, err := t.Risk(gamma)
			if err != nil {
				return err
			}
			for m, v := range [metrics]float64{risk.Bias2, risk.Variance, risk.MSE} {
				u[m] = append(u[m], v)
				if method != exact {
					best := x.value(exact, metric(m), i)
					e[m] = append(e[m], math.Abs(v-best)/best)
				}
			}
		}
		for m := range metrics {
			absolute[m] = append(absolute[m], median(u[m]))
			if method != exact {
				relative[m] = append(relative[m], median(e[m]))
			}
		}
		b, err := trials[0].Bounds(gamma)
		if err != nil {
			return err
		}
		x.bounds[method] = append(x.bounds[method], b)
	}
	x.absolute[method], x.relative[method] = absolute, relative
	return nil
}

// median returns the median of a nonempty list. For an even length it is the mean of the two values in the middle.
func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}

// figure draws panels with the relative errors, and below them panels with the values. Its table contains every
// number, and the bounds of the deterministic methods.
func (x *risks) figure(number int, data synthetic.Config, trials int) *figure {
	f := &figure{
		Number:  number,
		Columns: int(metrics),
		Title: fmt.Sprintf(
			"Bias, variance and MSE against γ, effective dimension R = %d (n = %d, d = %d, m = %d)",
			x.rank,
			data.Rows,
			data.Dim,
			x.size,
		),
		Settings: map[string]any{
			"n":      data.Rows,
			"d":      data.Dim,
			"m":      x.size,
			"ratio":  data.Ratio,
			"R":      x.rank,
			"noise":  data.Noise,
			"trials": trials,
		},
		Table: table{Columns: []string{"gamma", "method"}},
	}
	all := append(slices.Clone(sketched), exact) // Exact on top, because most others are close to it
	for _, row := range []struct {
		label   string
		methods []string
		values  map[string][metrics][]float64
	}{{"relative error", sketched, x.relative}, {"absolute value", all, x.absolute}} {
		for m, title := range []string{"squared bias", "variance (trace)", "mean squared error"} {
			p := chart.Panel{
				Title: title,
				X:     "γ",
				LogX:  2,
				LogY:  true,
			}
			if m == 0 {
				p.Y = row.label
			}
			for _, method := range row.methods {
				p.Lines = append(p.Lines, chart.Line{
					Method: method,
					X:      x.gammas,
					Y:      row.values[method][m],
				})
			}
			f.Panels = append(f.Panels, p)
		}
	}
	for m := range metrics {
		for _, what := range []string{"", "_relative_error", "_lower_bound", "_upper_bound"} {
			f.Table.Columns = append(f.Table.Columns, m.String()+what)
		}
	}
	for i, gamma := range x.gammas {
		for _, method := range slices.Concat([]string{exact}, sketched) {
			row := []any{gamma, method}
			for m := range metrics {
				u := x.value(method, m, i)
				e := 0.0
				b := ridge.Interval{Lo: u, Hi: u}
				if method != exact {
					e = x.err(method, m, i)
					b = x.bound(method, m, i)
				}
				row = append(row, u, e, b.Lo, b.Hi)
			}
			f.Table.Rows = append(f.Table.Rows, row)
		}
	}
	return f
}

// bound returns the bound of a method.
func (x *risks) bound(method string, m metric, i int) ridge.Interval {
	b := x.bounds[method][i]
	return [metrics]ridge.Interval{b.Bias2, b.Variance, b.MSE}[m]
}

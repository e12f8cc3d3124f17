package paper

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/randsketch"
)

// sketchTrials is the number of sketches of each kind and size. Each random sketch has its own seed.
const sketchTrials = 3

// A covariance holds the results of figure 7 for one data set.
type covariance struct {
	dataset, from, title string
	points               []*covariancePoint
}

// A covariancePoint is the result of one method at one m.
type covariancePoint struct {
	method string
	size   int
	errors []float64 // ‖AᵀA − K̂‖₂/‖A‖²_F of each trial
	bound  float64   // proved bound; NaN for random methods, which have none
	rate   float64   // appended rows per second, the best of the trials
}

// covariance draws figure 7. It shows how well sketches of m rows of real data approximate AᵀA, and how many rows
// each sketch appends per second.
func (r *run) covariance(ctx context.Context) error {
	r.figure = 7
	var found []*covariance
	for i, name := range datasets {
		c, err := r.covarianceOf(ctx, name, func(what string, done float64) {
			r.tell(name+", "+what, (float64(i)+done)/float64(len(datasets)))
		})
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		found = append(found, c)
	}
	return r.save(drawCovariances(found))
}

// covarianceOf makes every sketch of one data set.
func (r *run) covarianceOf(
	ctx context.Context,
	name string,
	tell func(what string, done float64),
) (*covariance, error) {
	tell("reading", 0)
	src, err := r.open(ctx, name)
	if err != nil {
		return nil, err
	}
	k, err := newGram(ctx, src, r.Backend)
	if err != nil {
		return nil, err
	}
	sizes := []int{16, 32, 64, 128, 256, 512}[:setting(r, 0, 6, 3)]
	// A sketch of d rows or more is useless, because it is no smaller than AᵀA.
	sizes = slices.DeleteFunc(sizes, func(m int) bool { return m >= k.d })
	if len(sizes) == 0 {
		return nil, &SettingError{
			fmt.Sprintf("figure 7 makes sketches of 16 rows and more, which %d features don't need", k.d),
		}
	}
	n, d, _ := src.Dims()
	c := &covariance{
		dataset: name,
		from:    src.from,
		title:   fmt.Sprintf("%s (n = %d, d = %d)", name, n, d),
	}
	for i, m := range sizes {
		tell(fmt.Sprintf("m = %d", m), float64(i)/float64(len(sizes)))
		points, err := r.sketches(ctx, src, k, m)
		if err != nil {
			return nil, err
		}
		c.points = append(c.points, points...)
	}
	return c, nil
}

// sketches makes the sketches of one size. Each trial makes one sketch of every kind in turn, so that other load on
// the machine affects all kinds alike.
func (r *run) sketches(
	ctx context.Context,
	src dataset.Source,
	k *gram,
	m int,
) ([]*covariancePoint, error) {
	rfd := &covariancePoint{method: "RFD", size: m}
	var points []*covariancePoint
	for _, method := range []string{"FD", "Gaussian", "SJLT", "Nyström"} {
		points = append(points, &covariancePoint{method: method, size: m, bound: math.NaN()})
	}
	for trial := range uint64(sketchTrials) {
		for _, p := range points {
			s, err := newCovarianceSketch(p.method, k.d, m, r.Seed+trial, r.Backend)
			if err != nil {
				return nil, err
			}
			var taken time.Duration // of appending alone
			n := 0
			for b, err := range src.Blocks(ctx) {
				if err != nil {
					return nil, err
				}
				start := time.Now()
				if err := s.append(b.N, b.X, k.d); err != nil {
					return nil, err
				}
				taken += time.Since(start)
				n += b.N
			}
			b, bound, err := s.read()
			if err != nil {
				return nil, err
			}
			lo, hi, err := k.minus(b)
			if err != nil {
				return nil, err
			}
			p.rate = max(p.rate, float64(n)/taken.Seconds())
			p.errors = append(p.errors, max(-lo, hi)/k.trace)
			if bound != nil { // RFD is the same sketch with the shift ρ
				rho := bound.Shift()
				rfd.rate = p.rate
				rfd.errors = append(rfd.errors, max(rho-lo, hi-rho)/k.trace)
				p.bound = bound.FD() / k.trace
				rfd.bound = bound.RFD() / k.trace
			}
		}
	}
	return slices.Insert(points, 1, rfd), nil
}

// A covarianceSketch is any sketch whose result is K̂ = BᵀB.
type covarianceSketch struct {
	append func(n int, x []float64, ldx int) error
	read   func() (b *mat.Dense, bound *fd.Bound, err error) // bound is nil if nothing is proved
}

func newCovarianceSketch(
	method string,
	d, m int,
	seed uint64,
	be engine.Backend,
) (covarianceSketch, error) {
	switch method {
	case "FD":
		s, err := fd.New(fd.Config{
			Dim:     d,
			Size:    m,
			Backend: be,
			Store:   fd.StoreRows,
		})
		return covarianceSketch{s.AppendRows, func() (*mat.Dense, *fd.Bound, error) {
			p, err := s.Spectrum()
			if err != nil {
				return nil, nil, err
			}
			return p.Matrix(), &p.Bound, nil
		}}, err
	case "Nyström":
		s, err := randsketch.NewNystrom(randsketch.NystromConfig{
			Rank:    m,
			Dim:     d,
			Seed:    seed,
			Backend: be,
		})
		return covarianceSketch{s.AppendRows, func() (*mat.Dense, *fd.Bound, error) {
			p, err := s.Spectrum()
			if err != nil {
				return nil, nil, err
			}
			b := mat.NewDense(len(p.Lambda), d, p.V)
			for i, lambda := range p.Lambda {
				floats.Scale(math.Sqrt(lambda), b.RawRowView(i))
			}
			return b, nil, nil
		}}, err
	}
	kind := map[string]randsketch.Kind{"Gaussian": randsketch.Gaussian, "SJLT": randsketch.SJLT}[method]
	s, err := randsketch.New(randsketch.Config{
		Kind:    kind,
		Rows:    m,
		Dim:     d,
		Seed:    seed,
		Backend: be,
	})
	return covarianceSketch{
		append: func(n int, x []float64, ldx int) error {
			return s.AppendRows(n, x, ldx, nil)
		},
		read: func() (*mat.Dense, *fd.Bound, error) { return s.Matrix(), nil, nil },
	}, err
}

// A gram is AᵀA, with which sketches are compared.
type gram struct {
	be          engine.Backend
	d           int
	k           []float64 // d×d, lower triangle
	trace       float64   // ‖A‖²_F
	e, w, space []float64 // workspace of minus
}

func newGram(ctx context.Context, src dataset.Source, be engine.Backend) (*gram, error) {
	_, d, _ := src.Dims()
	g := &gram{
		be:    be,
		d:     d,
		k:     make([]float64, d*d),
		e:     make([]float64, d*d),
		w:     make([]float64, d),
		space: make([]float64, be.SymEigWork(d, 0)),
	}
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, err
		}
		be.Syrk(true, 1, engine.View(b.N, d, b.X), 1, engine.View(d, d, g.k))
	}
	for i := range d {
		g.trace += g.k[i*d+i]
	}
	return g, nil
}

// minus returns the smallest and the largest eigenvalue of AᵀA − bᵀb. It computes all eigenvalues, because an
// iteration for the largest eigenvalue would only give a lower bound.
func (g *gram) minus(b *mat.Dense) (lo, hi float64, err error) {
	copy(g.e, g.k)
	g.be.Syrk(true, -1, engine.Matrix(b.RawMatrix()), 1, engine.View(g.d, g.d, g.e))
	if !g.be.SymEig(engine.View(g.d, g.d, g.e), g.w, engine.Matrix{}, g.space) {
		return 0, 0, fmt.Errorf("paper: %w", fd.ErrNoConvergence)
	}
	return g.w[g.d-1], g.w[0], nil
}

// drawCovariances draws errors in the upper panels and rows per second in the lower ones. All data sets have the same
// scale.
func drawCovariances(found []*covariance) *figure {
	f := &figure{
		Number:   7,
		Columns:  len(found),
		Title:    "Covariance error and rows per second against m",
		Settings: map[string]any{"trials": sketchTrials},
		Table: table{
			Columns: []string{
				"dataset",
				"method",
				"m",
				"error",
				"error_least",
				"error_most",
				"bound",
				"rows_per_second",
			},
		},
	}
	var rates []chart.Panel
	for _, c := range found {
		f.Settings[c.dataset] = c.from
		p := chart.Panel{
			Title: c.title,
			X:     "m",
			LogX:  2,
			LogY:  true,
		}
		q := chart.Panel{
			Title: c.dataset,
			X:     "m",
			LogX:  2,
			LogY:  true,
		}
		for _, method := range []string{"FD", "RFD", "Gaussian", "SJLT", "Nyström"} {
			p.Lines = append(p.Lines, c.line(method, func(p *covariancePoint) float64 {
				return median(p.errors)
			}))
			if method != "RFD" { // RFD has the curve of FD
				q.Lines = append(q.Lines, c.line(method, func(p *covariancePoint) float64 {
					return p.rate
				}))
			}
		}
		bound := c.line("FD", func(p *covariancePoint) float64 { return p.bound })
		bound.Label = "FD's bound η/‖A‖²"
		bound.Dashed = true
		p.Lines = append(p.Lines, bound)
		f.Panels, rates = append(f.Panels, p), append(rates, q)
		for _, p := range c.points {
			f.Table.Rows = append(f.Table.Rows, []any{
				c.dataset, p.method, p.size, median(p.errors), slices.Min(p.errors), slices.Max(p.errors), p.bound, p.rate,
			})
		}
	}
	f.Panels[0].Y, rates[0].Y = "spectral norm of the error / ‖A‖²", "rows per second"
	sameScale(f.Panels)
	sameScale(rates)
	f.Panels = append(f.Panels, rates...)
	return f
}

// sameScale gives panels the same range of y, with some room.
func sameScale(panels []chart.Panel) {
	lo, hi := math.Inf(1), 0.0
	for _, p := range panels {
		for _, l := range p.Lines {
			lo = min(lo, floats.Min(l.Y))
			hi = max(hi, floats.Max(l.Y))
		}
	}
	for i := range panels {
		panels[i].YMin, panels[i].YMax = lo/1.3, hi*1.3
	}
}

// line draws a method as a function of m.
func (c *covariance) line(method string, value func(*covariancePoint) float64) chart.Line {
	l := chart.Line{Method: method}
	for _, p := range c.points {
		if p.method == method {
			l.X = append(l.X, float64(p.size))
			l.Y = append(l.Y, value(p))
		}
	}
	return l
}

package adversary

import (
	"context"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// dualRows is the most rows that are solved for through AAᵀ: it takes n² numbers.
const dualRows = 120

// dual checks solutions through AAᵀ, by rows and by columns, for one γ and for several.
func (e *evaluation) dual() {
	if n, _, _ := e.p.source.Dims(); n < 0 || n > dualRows {
		return
	}
	for _, tol := range []float64{0, 1e-15} {
		e.dualTo("dual", e.p.source, ridge.Dual, tol)
		e.dualTo("dual-cg", e.p.source, ridge.DualCG, tol)
		if turned, err := e.p.turned(); !e.refused("columns", err) {
			e.dualTo("dual by columns", turned, ridge.Dual, tol)
		}
	}
	g := e.p.gamma
	fits, err := ridge.SolveExact(
		context.Background(),
		e.p.source,
		[]float64{g, g * 3, g * 1e3, g * 1e-3},
		ridge.ExactOptions{Method: ridge.Dual, Intercept: e.p.g.Intercept},
	)
	if e.refused("dual, many γ", err) {
		return
	}
	e.certificate("dual, many γ", fits[0], e.truth)
	if truth := e.solve(g * 1e3); truth != nil {
		e.certificate("dual, many γ", fits[2], truth)
	}
}

// dualTo is one of them.
func (e *evaluation) dualTo(name string, src dataset.Source, factor ridge.Method, tol float64) {
	if tol > 0 {
		name += ", refined"
	}
	fits, err := ridge.SolveExact(
		context.Background(),
		src,
		[]float64{e.p.gamma},
		ridge.ExactOptions{Method: factor, Intercept: e.p.g.Intercept, Tol: tol},
	)
	if e.refused(name, err) {
		return
	}
	e.certificate(name, fits[0], e.truth)
	if tol > 0 {
		e.refined(name, fits[0], e.truth, false)
	}
}

// turned are the rows of the stream, to be read by columns.
func (p *problem) turned() (dataset.Source, error) {
	_, d, t := p.source.Dims()
	var x, y, w []float64
	for b, err := range p.source.Blocks(context.Background()) {
		if err != nil {
			return nil, err
		}
		for i := range b.N {
			row := make([]float64, d)
			if b.Sparse == nil {
				copy(row, b.X[i*d:(i+1)*d])
			} else {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			}
			x = append(x, row...)
			if b.W != nil {
				w = append(w, b.W[i])
			}
		}
		y = append(y, b.Y...)
	}
	n := len(y) / t
	columns := make([]float64, len(x))
	for i := range n {
		for j := range d {
			columns[j*n+i] = x[i*d+j]
		}
	}
	features, err := dataset.FromDense(d, n, 0, columns, nil)
	if err != nil {
		return nil, err
	}
	rows, err := dataset.Transpose(context.Background(), features, 0)
	if err != nil {
		return nil, err
	}
	targets, err := dataset.FromDense(n, t, 0, y, nil)
	if err != nil {
		return nil, err
	}
	rows, err = dataset.Zip(rows, targets)
	if err != nil || w == nil {
		return rows, err
	}
	weights, err := dataset.FromDense(n, 1, 0, w, nil)
	if err != nil {
		return nil, err
	}
	return dataset.Weigh(rows, weights)
}

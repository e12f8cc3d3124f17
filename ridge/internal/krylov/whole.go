package krylov

import (
	"context"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// Whole makes a pass that multiplies K with all unit vectors, so that it returns K itself, of
// order d, and what is known now: rows that turned out to be sparse are read in another way.
// Of the problem the operator and what is known count.
func Whole(ctx context.Context, p Problem) (k []float64, known *certify.Known, err error) {
	p.Gammas = nil
	b := newBatch(&p)
	d, r := b.Dim(), b.newRequest(b.Dim())
	rows := d + b.targets()
	r.V, r.Out = make([]float64, rows*d), make([]float64, rows*d)
	for i := range d {
		r.V[i*d+i] = 1
		r.Queries = append(r.Queries, gram.Query{})
	}
	if err := b.read(ctx, 1, &r); err != nil {
		return nil, nil, err
	}
	k = r.Out[:d*d]
	for i := range d { // each element was computed twice
		for j := range i {
			mean := k[i*d+j]/2 + k[j*d+i]/2
			k[i*d+j], k[j*d+i] = mean, mean
		}
	}
	return k, b.Known, nil
}

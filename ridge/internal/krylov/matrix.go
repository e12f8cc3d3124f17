package krylov

import (
	"context"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// ComputeMatrix returns K (d×d), computed by one pass that multiplies K by all unit vectors. known is p.Known,
// updated if the pass read sparse rows. Only p.Operator and p.Known are used.
func ComputeMatrix(ctx context.Context, p Problem) (k []float64, known *certify.Known, err error) {
	p.Pairs = nil
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
	for i := range d { // the pass computed each element twice
		for j := range i {
			mean := k[i*d+j]/2 + k[j*d+i]/2
			k[i*d+j], k[j*d+i] = mean, mean
		}
	}
	return k, b.Known, nil
}

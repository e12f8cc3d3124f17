package krylov

import (
	"context"

	"github.com/fdridge/fdridge/ridge/internal/certify"
	"github.com/fdridge/fdridge/ridge/internal/gram"
)

// ComputeMatrix computes AᵀA (d×d) in one pass, which multiplies all unit vectors by AᵀA. It uses only p.Operator
// and p.Known. The result known holds the bounds for the pass. It is p.Known.ReadSparse() if the pass has read
// sparse rows, and p.Known otherwise.
func ComputeMatrix(ctx context.Context, p Problem) (k []float64, known *certify.Known, err error) {
	p.Pairs = nil
	b := newBatch(&p)
	d := b.Dim()
	r := b.newRequest(b.Dim())
	rows := d + b.targets()
	r.V = make([]float64, rows*d)
	r.Out = make([]float64, rows*d)
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

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/bench"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// A sample is a matrix whose sketch is made in parts, with what is known of it.
type sample struct {
	name string
	n, d int
	a    []float64
	k    *mat.SymDense // K = AᵀA
	eig  []float64     // its eigenvalues, ascending
}

func newSample(name string, n, d int, a []float64) (*sample, error) {
	s := &sample{name: name, n: n, d: d, a: a, k: mat.NewSymDense(d, nil)}
	s.k.SymOuterK(1, mat.NewDense(n, d, a).T())
	var eig mat.EigenSym
	if !eig.Factorize(s.k, false) {
		return nil, fmt.Errorf("%s: no eigenvalues", name)
	}
	s.eig = eig.Values(nil)
	return s, nil
}

// samples are normal rows, rows of decaying spectra, rows of integers of rank 16 and
// those of a file, each of n rows or as many as the file has.
func samples(ctx context.Context, n, d int, path string) ([]*sample, error) {
	normal := rand.New(rand.NewPCG(5, 1))
	flat := make([]float64, n*d)
	for i := range flat {
		flat[i] = normal.NormFloat64()
	}
	real, rows, columns, err := load(ctx, path, n)
	if err != nil {
		return nil, err
	}
	var out []*sample
	for _, s := range []struct {
		name string
		n, d int
		a    []float64
	}{
		{"normal", n, d, flat},
		{"λ ~ 1/j", n, d, bench.Slow(n, d)},
		{"λ ~ exp(−2j²/R²)", n, d, bench.Rows(n, d)},
		{"w8a", rows, columns, real},
		{"integers of rank 16", n, d, lowRank(n, d, 16)},
	} {
		one, err := newSample(s.name, s.n, s.d, s.a)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// lowRank is a product of small integers, n×rank times rank×d, so that its K has no
// round-off.
func lowRank(n, d, rank int) []float64 {
	rng := rand.New(rand.NewPCG(5, 2))
	right := make([]float64, rank*d)
	for i := range right {
		right[i] = float64(rng.IntN(9) - 4)
	}
	a := make([]float64, n*d)
	for i := range n {
		for l := range rank {
			f := float64(rng.IntN(9) - 4)
			for j, v := range right[l*d : (l+1)*d] {
				a[i*d+j] += f * v
			}
		}
	}
	return a
}

// load reads the features of a file's first rows, at most so many, as a dense matrix,
// row-major.
func load(ctx context.Context, path string, most int) (a []float64, n, d int, err error) {
	src, err := file.Open([]string{path}, file.Options{Targets: 1})
	if err != nil {
		return nil, 0, 0, err
	}
	_, d, _ = src.Dims()
	for b, err := range src.Blocks(ctx) {
		if err != nil {
			return nil, 0, 0, err
		}
		for i := range min(b.N, most-n) {
			row := make([]float64, d)
			if b.Sparse != nil {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					row[j] = val[k]
				}
			} else {
				copy(row, b.X[i*d:(i+1)*d])
			}
			a = append(a, row...)
		}
		if n += b.N; n >= most {
			return a, most, d, nil
		}
	}
	return a, n, d, nil
}

// parts sketches the rows in so many parts of equal length.
func (s *sample) parts(p, m int, be engine.Backend) ([]*fd.Sketch, error) {
	out := make([]*fd.Sketch, p)
	for r := range out {
		one, err := fd.New(fd.Config{Dim: s.d, Size: m, Backend: be, Store: fd.StoreRows})
		if err != nil {
			return nil, err
		}
		lo, hi := s.n*r/p, s.n*(r+1)/p
		if err := one.AppendRows(hi-lo, s.a[lo*s.d:], s.d); err != nil {
			return nil, err
		}
		out[r] = one
	}
	return out, nil
}

// tree merges in the order of dist.Merge, chain from the last to the first.
func tree(parts []*fd.Sketch) error {
	for step := 1; step < len(parts); step *= 2 {
		for r := 0; r+step < len(parts); r += 2 * step {
			if err := parts[r].Merge(parts[r+step]); err != nil {
				return err
			}
		}
	}
	return nil
}

func chain(parts []*fd.Sketch) error {
	for r := len(parts) - 2; r >= 0; r-- {
		if err := parts[r].Merge(parts[r+1]); err != nil {
			return err
		}
	}
	return nil
}

// A merging is a sketch made in parts, and what became of it.
type merging struct {
	data    string
	n, d, m int
	order   string
	parts   int
	shrinks int64   // in all
	merged  float64 // shrinks of a merge, in the mean
	live    float64 // rows of a summary that is sent, over m, in the mean
	deviation
	preconditioning
}

// A deviation is how far BᵀB is from K, over ‖A‖²_F.
type deviation struct {
	eta   float64
	bound float64 // min_k ‖A − A_k‖²_F/(m+1−k)
	error float64 // ‖K − BᵀB‖₂
	below float64 // −λ_min(K − BᵀB), which only round-off makes positive
	pad   float64 // Bound.RoundOff
}

// A preconditioning is what the sketch is worth at γ = ‖A‖²_F/d, the mean eigenvalue.
type preconditioning struct {
	proved      float64 // ρ/(γ+ρ)
	contraction float64 // ‖I − Ĥ^−½HĤ^−½‖₂, Ĥ = BᵀB + (γ+ρ)I
	passes      int     // of CG to 10⁻⁸, as η predicts
}

// mergings sketches s in 1, 2, 4, … most parts and merges them in both orders.
func (s *sample) mergings(m, most int, be engine.Backend) ([]merging, error) {
	var out []merging
	for p := 1; p <= most; p *= 2 {
		for _, order := range []string{"tree", "chain"} {
			if p == 1 && order == "chain" {
				continue
			}
			one, err := s.merge(m, p, order, be)
			if err != nil {
				return nil, fmt.Errorf("%s, %d parts, %s: %w", s.name, p, order, err)
			}
			out = append(out, *one)
		}
	}
	return out, nil
}

func (s *sample) merge(m, p int, order string, be engine.Backend) (*merging, error) {
	parts, err := s.parts(p, m, be)
	if err != nil {
		return nil, err
	}
	r := &merging{data: s.name, n: s.n, d: s.d, m: m, order: order, parts: p}
	var before int64
	for _, one := range parts {
		before += one.Shrinks()
	}
	join := tree
	if order == "chain" {
		join = chain
	}
	if err := join(parts); err != nil {
		return nil, err
	}
	r.shrinks = parts[0].Shrinks()
	if p > 1 {
		r.merged = float64(r.shrinks-before) / float64(p-1)
		// A summary that was sent has not changed since.
		for _, one := range parts[1:] {
			rows := float64(one.BinarySize()-124) / 8 / float64(s.d)
			r.live += math.Floor(rows) / float64(m) / float64(p-1)
		}
	}
	spec, err := parts[0].Spectrum()
	if err != nil {
		return nil, err
	}
	return r, s.judge(r, spec)
}

// judge compares a merged sketch with K.
func (s *sample) judge(r *merging, spec *fd.Spectrum) error {
	total := spec.Bound.Frobenius2
	r.eta, r.pad, r.bound = spec.Bound.Shrinkage/total, spec.Bound.RoundOff/total, s.bound(r.m)/total

	btb := mat.NewSymDense(s.d, nil)
	btb.SymOuterK(1, spec.Matrix().T())
	e := mat.NewSymDense(s.d, nil)
	e.ScaleSym(-1, btb)
	e.AddSym(e, s.k)
	var eig mat.EigenSym
	if !eig.Factorize(e, false) {
		return fmt.Errorf("no eigenvalues")
	}
	values := eig.Values(nil)
	r.below = -values[0] / total
	r.error = math.Max(-values[0], values[s.d-1]) / total

	gamma := total / float64(s.d)
	rho := spec.Bound.Shift()
	r.proved = rho / (gamma + rho)
	r.passes = passesOf(1+spec.Bound.FD()/gamma, 1e-8)
	var err error
	r.contraction, err = contraction(e, spec, gamma, rho)
	return err
}

// bound is min_{k≤m} ‖A − A_k‖²_F/(m+1−k).
func (s *sample) bound(m int) float64 {
	tail := 0.0
	for _, v := range s.eig {
		tail += math.Max(0, v)
	}
	best := tail / float64(m+1)
	for k := 1; k <= min(m, s.d); k++ {
		tail -= math.Max(0, s.eig[s.d-k])
		best = math.Min(best, math.Max(0, tail)/float64(m+1-k))
	}
	return best
}

// contraction is ‖I − Ĥ^−½HĤ^−½‖₂, by which a Newton step with Ĥ = BᵀB + (γ+ρ)I
// shrinks the error in the norm of Ĥ. With E = K − BᵀB that is
// ‖Ĥ^−½(ρI − E)Ĥ^−½‖₂, and Ĥ^−½ = (γ+ρ)^−½·I + Vᵀ·diag((σ²+γ+ρ)^−½ − (γ+ρ)^−½)·V.
func contraction(e *mat.SymDense, spec *fd.Spectrum, gamma, rho float64) (float64, error) {
	d, s := spec.Dim, gamma+rho
	root := mat.NewSymDense(d, nil)
	for i := range d {
		root.SetSym(i, i, 1/math.Sqrt(s))
	}
	for i, s2 := range spec.Sigma2 {
		v := mat.NewVecDense(d, spec.V[i*d:(i+1)*d])
		root.SymRankOne(root, 1/math.Sqrt(s2+s)-1/math.Sqrt(s), v)
	}
	middle := mat.NewSymDense(d, nil)
	middle.ScaleSym(-1, e)
	for i := range d {
		middle.SetSym(i, i, middle.At(i, i)+rho)
	}
	var half, full mat.Dense
	half.Mul(root, middle)
	full.Mul(&half, root)
	sym := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			sym.SetSym(i, j, (full.At(i, j)+full.At(j, i))/2)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(sym, false) {
		return 0, fmt.Errorf("no eigenvalues")
	}
	values := eig.Values(nil)
	return math.Max(-values[0], values[d-1]), nil
}

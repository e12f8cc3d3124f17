package adversary

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// A problem is the data of a genome: distinct rows, and the stream that is made of
// them. It is a [dataset.Source].
type problem struct {
	g       Genome
	x, y    [][]float64 // distinct rows
	w       []float64   // weight of each
	stream  []int       // which of them come one after another
	betas   []float64   // factor of each decay
	gamma   float64
	moments *refbig.Problem
}

func newProblem(g Genome) *problem {
	r := rand.New(rand.NewPCG(g.Seed, 1))
	p := &problem{g: g}
	p.draw(r)
	p.weigh(r)
	p.order(r)
	return p
}

// draw makes the distinct rows.
func (p *problem) draw(r *rand.Rand) {
	g := p.g
	d, n := g.Cols, g.Rows
	sigma := make([]float64, d)
	for k := range sigma {
		sigma[k] = math.Pow(10, g.Top-g.Span*g.fall(k, d))
	}
	axes := identity(d)
	if g.Basis == Rotated {
		axes = rotation(r, d)
	}
	mean := make([]float64, d)
	if g.Mean > -17 {
		for j := range mean {
			mean[j] = math.Pow(10, g.Top+g.Mean) * (0.5 + r.Float64())
		}
	}
	near := 1 + r.IntN(3)
	for i := range n {
		u := normals(r, d)
		if g.Near < 0 && i >= near { // a copy of one of the first, but for a little
			first := p.x[i%near]
			row := append([]float64(nil), first...)
			for j := range row {
				row[j] += math.Pow(10, g.Near) * u[j] * row[j]
			}
			p.x = append(p.x, row)
			p.y = append(p.y, p.targets(r, u, sigma))
			continue
		}
		row := append([]float64(nil), mean...)
		for k, v := range u {
			s := sigma[k]
			if g.Basis == Rows {
				s = sigma[i%d]
			}
			for j := range row {
				row[j] += v * s * axes[k][j]
			}
		}
		p.x, p.y = append(p.x, row), append(p.y, p.targets(r, u, sigma))
	}
	for i := range n {
		for j := range p.x[i] {
			if r.Float64() < g.Zeros {
				p.x[i][j] = 0
			}
		}
		if g.Single {
			round32(p.x[i])
			round32(p.y[i])
		}
	}
}

// fall is how much of the span singular value k of d is down.
func (g *Genome) fall(k, d int) float64 {
	switch {
	case g.Shape == Geometric:
		return float64(k) / float64(max(d-1, 1))
	case g.Shape == Step && k < (d+1)/2, k == 0:
		return 0
	}
	return 1
}

// targets are those of the row with left singular entries u.
func (p *problem) targets(r *rand.Rand, u, sigma []float64) []float64 {
	g := p.g
	y := make([]float64, g.Targets)
	for j := range y {
		k := (int(g.Along*float64(len(u)-1)+0.5) + j) % len(u)
		y[j] = math.Pow(10, g.Scale) * (u[k] + math.Pow(10, g.Noise)*r.NormFloat64())
	}
	return y
}

func (p *problem) weigh(r *rand.Rand) {
	p.w = slices.Repeat([]float64{1}, p.g.Rows)
	if p.g.Weights == Unweighted {
		return
	}
	for i := range p.w {
		p.w[i] = float64(r.IntN(8))
		if p.g.Weights == Uneven {
			p.w[i] = math.Ldexp(p.w[i], r.IntN(61)-30)
		}
	}
	p.w[r.IntN(len(p.w))] = 1 // not all are zero
}

func (p *problem) order(r *rand.Rand) {
	ids := make([]int, p.g.Rows)
	for i := range ids {
		ids[i] = i
	}
	size := func(i int) float64 { return largest(p.x[i]) }
	switch p.g.Order {
	case Rising:
		slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(size(a), size(b)) })
	case Falling:
		slices.SortStableFunc(ids, func(a, b int) int { return cmp.Compare(size(b), size(a)) })
	}
	for _, i := range ids {
		for range p.g.Repeat {
			p.stream = append(p.stream, i)
		}
	}
	if p.g.Order == Shuffled {
		r.Shuffle(len(p.stream), func(a, b int) { p.stream[a], p.stream[b] = p.stream[b], p.stream[a] })
	}
	for range p.g.Decays {
		p.betas = append(p.betas, []float64{0.5, 0.75, 255.0 / 256}[r.IntN(3)])
	}
}

// part is where row i of the stream goes.
func (p *problem) part(i int) int { return i / p.g.Block % p.g.Parts }

// reference reduces the rows of the stream for which keep holds, at the weights that
// the decays leave them. All weights are exact: they have few bits.
func (p *problem) reference(intercept bool, keep func(i int) bool) *refbig.Problem {
	w, n := make([]float64, len(p.x)), 0
	for i, id := range p.stream {
		if keep(i) {
			n++
			w[id] += p.w[id] * p.decayed(i)
		}
	}
	ref := refbig.New(p.x, p.y, w, intercept)
	ref.N = n
	return ref
}

func everything(int) bool { return true }

// decayed is the factor by which row i of the stream counts: after each of equal
// shares of the stream everything seen so far decays.
func (p *problem) decayed(i int) float64 {
	f := 1.0
	for k, beta := range p.betas {
		if i < p.decayAt(k) {
			f *= beta
		}
	}
	return f
}

// decayAt is where decay k happens.
func (p *problem) decayAt(k int) int { return (k + 1) * len(p.stream) / (len(p.betas) + 1) }

// summary streams the rows into the summaries of the parts, which are merged.
func (p *problem) summary(size int) (*ridge.Summary, error) {
	g := p.g
	parts := make([]*ridge.Summary, g.Parts)
	for k := range parts {
		s, err := ridge.NewSummary(ridge.SummaryConfig{
			Dim: g.Cols, Targets: g.Targets, Size: size, Intercept: g.Intercept, Shrink: p.driver(), ShrinkRows: g.Shrink,
		})
		if err != nil {
			return nil, err
		}
		parts[k] = s
	}
	next := 0
	for lo := 0; lo < len(p.stream); {
		hi := min((lo/g.Block+1)*g.Block, len(p.stream))
		if next < len(p.betas) {
			hi = min(hi, max(p.decayAt(next), lo))
		}
		if hi > lo {
			if err := parts[p.part(lo)].AppendBlock(p.block(lo, hi)); err != nil {
				return nil, err
			}
			lo = hi
		}
		for next < len(p.betas) && lo == p.decayAt(next) {
			for _, s := range parts {
				if err := s.Decay(p.betas[next]); err != nil {
					return nil, err
				}
			}
			next++
		}
	}
	for _, s := range parts[1:] {
		if err := parts[0].Merge(s); err != nil {
			return nil, err
		}
	}
	return parts[0], nil
}

func (p *problem) driver() fd.Driver {
	if p.g.SVD {
		return fd.SVD
	}
	return fd.Gram
}

// block is rows lo to hi of the stream.
func (p *problem) block(lo, hi int) dataset.Block {
	b := dataset.Block{First: int64(lo), N: hi - lo}
	if p.g.Sparse {
		b.Sparse = &engine.CSR{Rows: hi - lo, Cols: p.g.Cols, RowPtr: []int{0}}
	}
	for _, id := range p.stream[lo:hi] {
		b.Y = append(b.Y, p.y[id]...)
		if p.g.Weights != Unweighted {
			b.W = append(b.W, p.w[id])
		}
		if b.Sparse == nil {
			b.X = append(b.X, p.x[id]...)
			continue
		}
		for j, v := range p.x[id] {
			if v != 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(j)), append(b.Sparse.Val, v)
			}
		}
		b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
	}
	return b
}

// Dims is that of the stream.
func (p *problem) Dims() (n int64, d, t int) { return int64(len(p.stream)), p.g.Cols, p.g.Targets }

// Blocks makes one pass.
func (p *problem) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < len(p.stream); lo += p.g.Block {
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			if !yield(p.block(lo, min(lo+p.g.Block, len(p.stream))), nil) {
				return
			}
		}
	}
}

func normals(r *rand.Rand, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		u[i] = r.NormFloat64()
	}
	return u
}

func identity(d int) [][]float64 {
	out := make([][]float64, d)
	for i := range out {
		out[i] = make([]float64, d)
		out[i][i] = 1
	}
	return out
}

// rotation is a random orthogonal matrix, by Gram and Schmidt.
func rotation(r *rand.Rand, d int) [][]float64 {
	out := make([][]float64, d)
	for i := range out {
		v := normals(r, d)
		for range 2 {
			for _, o := range out[:i] {
				c := 0.0
				for j := range v {
					c += v[j] * o[j]
				}
				for j := range v {
					v[j] -= c * o[j]
				}
			}
		}
		var q float64
		for _, x := range v {
			q += x * x
		}
		for j := range v {
			v[j] /= math.Sqrt(q)
		}
		out[i] = v
	}
	return out
}

func round32(x []float64) {
	for i, v := range x {
		x[i] = float64(float32(v))
	}
}

func largest(x []float64) float64 {
	most := 0.0
	for _, v := range x {
		most = math.Max(most, math.Abs(v))
	}
	return most
}

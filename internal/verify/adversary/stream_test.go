package adversary

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// weigh draws the weights of the distinct rows.
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

// order makes the stream and draws the decays.
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
		beta := p.g.Beta
		if beta == 0 {
			beta = []float64{0.5, 0.75, 255.0 / 256}[r.IntN(3)]
		}
		p.betas = append(p.betas, beta)
	}
}

// move puts copies of rows, at another level, in the place of some of the stream.
func (p *problem) move(r *rand.Rand) {
	g := p.g
	p.again = slices.Clone(p.stream)
	if !g.levelled() {
		return
	}
	x, y := make([]float64, g.Cols), make([]float64, g.Targets)
	for j := range x {
		x[j] = level(g.Top, g.Level) * (0.5 + r.Float64())
	}
	for j := range y {
		y[j] = level(g.Scale, g.LevelY) * (0.5 + r.Float64())
	}
	copies := map[[2]int]int{} // of a row to either side
	every := max(g.LevelEvery, 1)
	for k := 0; k < g.LevelRows && k*every < len(p.stream); k++ {
		sign, from := 1, p.stream[k*every]
		if g.Alternate && k%2 == 1 {
			sign = -1
		}
		id, ok := copies[[2]int{from, sign}]
		if !ok {
			id = len(p.x)
			copies[[2]int{from, sign}] = id
			p.x = append(p.x, shifted(p.x[from], x, float64(sign), g.Single, g.Hollow))
			p.y = append(p.y, shifted(p.y[from], y, float64(sign), g.Single, false))
			p.w = append(p.w, p.w[from]*math.Pow(10, g.LevelWeight))
		}
		p.stream[k*every] = id
	}
}

// level is how far off rows are that are so many decades above others.
func level(top, decades float64) float64 {
	if decades == 0 {
		return 0
	}
	return math.Pow(10, top+decades)
}

// shifted is x + f·by, rounded to float32 where single; zeros stay where hollow.
func shifted(x, by []float64, f float64, single, hollow bool) []float64 {
	out := slices.Clone(x)
	for j := range out {
		if out[j] != 0 || !hollow {
			out[j] += f * by[j]
		}
	}
	if single {
		round32(out)
	}
	return out
}

// weighStream makes the weights of the rows as they come.
func (p *problem) weighStream() {
	if !p.g.weighted() {
		return
	}
	last := float64(max(len(p.stream)-1, 1))
	for i, id := range p.stream {
		decades := p.g.WeightTop - p.g.Forget*(last-float64(i))/last
		p.weights = append(p.weights, p.w[id]*math.Pow(10, math.Min(decades, 300)))
	}
}

// forget makes the factors of the decays.
func (p *problem) forget() {
	p.factors = make([]*big.Float, len(p.betas)+1)
	f := refbig.Float(1)
	for k := len(p.betas); k >= 0; k-- {
		p.factors[k] = f
		if k > 0 {
			f = new(big.Float).Mul(f, refbig.Float(p.betas[k-1]))
		}
	}
}

// rows is how many there are in all cycles.
func (p *problem) rows() int { return len(p.stream) * p.g.cycles() }

// id is which of the distinct rows row i is.
func (p *problem) id(i int) int {
	if i < len(p.stream) {
		return p.stream[i]
	}
	return p.again[i%len(p.again)]
}

// weight returns the sample weight of row i when it is appended.
func (p *problem) weight(i int) float64 {
	switch {
	case p.weights == nil:
		return 1
	case i < len(p.stream):
		return p.weights[i]
	}
	return p.w[p.id(i)] * math.Pow(10, p.g.WeightTop)
}

// decayAt is where decay k happens: everything seen so far decays.
func (p *problem) decayAt(k int) int {
	if p.g.Beta != 0 {
		return (k + 1) * p.rows() / len(p.betas)
	}
	return (k + 1) * p.rows() / (len(p.betas) + 1)
}

// left is the exact weight that row i has in the end, next being how many decays are
// over when it comes.
func (p *problem) left(i, next int) *big.Float {
	return new(big.Float).Mul(refbig.Float(p.weight(i)), p.factors[next])
}

// reference returns the exact problem of the rows i with keep(i). Each row has the weight that the decays leave it.
func (p *problem) reference(intercept bool, keep func(i int) bool) *refbig.Problem {
	w, n := zeros(len(p.x)), 0
	counts := make([]int, len(p.x)) // of rows since the last decay in later cycles, which weigh alike
	next := 0
	settle := func() {
		for id, k := range counts {
			if k > 0 {
				one := new(big.Float).Mul(refbig.Float(p.cycleWeight(id)), p.factors[next])
				w[id].Add(w[id], one.Mul(one, refbig.Float(float64(k))))
				counts[id] = 0
			}
		}
	}
	for i := range p.rows() {
		for next < len(p.betas) && p.decayAt(next) <= i {
			settle()
			next++
		}
		if !keep(i) {
			continue
		}
		n++
		id := p.id(i)
		if i >= len(p.stream) {
			counts[id]++
			continue
		}
		w[id].Add(w[id], p.left(i, next))
	}
	settle()
	ref := refbig.NewWeighted(p.x, p.y, w, intercept)
	ref.N = n
	return ref
}

// cycleWeight returns the weight of a row in later cycles.
func (p *problem) cycleWeight(id int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.w[id] * math.Pow(10, p.g.WeightTop)
}

func everything(int) bool { return true }

// replay has passes read the rows at the weights that decays left them, and reports
// whether float64 holds these.
func (p *problem) replay() bool {
	if len(p.betas) == 0 {
		return true
	}
	if p.g.cycles() > 1 || p.g.Preparation != Raw {
		return false
	}
	next, w := 0, make([]float64, len(p.stream))
	for i := range p.stream {
		for next < len(p.betas) && p.decayAt(next) <= i {
			next++
		}
		v, accuracy := p.left(i, next).Float64()
		if accuracy != big.Exact {
			return false
		}
		w[i] = v
	}
	p.weights, p.betas = w, nil
	p.forget()
	return true
}

// end is where the block that begins at row lo does.
func (p *problem) end(lo int) int {
	n := len(p.stream)
	return min((lo/p.g.Block+1)*p.g.Block, (lo/n+1)*n)
}

// block is rows lo to hi, all of one cycle.
func (p *problem) block(lo, hi int) dataset.Block {
	n := len(p.stream)
	if lo < n {
		return p.make(lo, hi)
	}
	key := [2]int{lo % n, (hi-1)%n + 1}
	b, ok := p.kept[key]
	if !ok {
		b = p.make(lo, hi)
		p.kept[key] = b
	}
	b.First = int64(lo)
	return b
}

// make copies rows lo to hi.
func (p *problem) make(lo, hi int) dataset.Block {
	b := dataset.Block{First: int64(lo), N: hi - lo}
	if p.g.Sparse && !(p.g.Mixed && lo/p.g.Block%2 == 1) {
		b.Sparse = &engine.CSR{Rows: hi - lo, Cols: p.g.Cols, RowPtr: []int{0}}
	}
	for i := lo; i < hi; i++ {
		id := p.id(i)
		b.Y = append(b.Y, p.y[id]...)
		if p.weights != nil {
			b.W = append(b.W, p.weight(i))
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

// Dims returns the dimensions of the stream.
func (p *problem) Dims() (n int64, d, t int) { return int64(p.rows()), p.g.Cols, p.g.Targets }

// Blocks makes one pass.
func (p *problem) Blocks(ctx context.Context) iter.Seq2[dataset.Block, error] {
	return func(yield func(dataset.Block, error) bool) {
		for lo := 0; lo < p.rows(); lo = p.end(lo) {
			if err := ctx.Err(); err != nil {
				yield(dataset.Block{}, err)
				return
			}
			if !yield(p.block(lo, p.end(lo)), nil) {
				return
			}
		}
	}
}

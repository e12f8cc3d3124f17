// Package shrinks attacks the bounds of sketches with a reference of its own: AᵀA in twice the
// digits, for rows that make round-off add up. Its test checks package fd.
package shrinks

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

const eps = 0x1p-52

// A Report counts bounds that were checked. Worst has the largest quotient of an error and its
// bound, for each kind of bound.
type Report struct {
	Problems, Bounds, Refused, Lost int
	Worst                           map[string]float64
	At                              map[string]string
	False                           []string
}

func NewReport() *Report {
	return &Report{Worst: map[string]float64{}, At: map[string]string{}}
}

func (r *Report) check(what, at string, excess, bound float64) {
	r.Bounds++
	ratio := excess / bound
	if excess <= 0 {
		ratio = 0
	}
	if old, ok := r.Worst[what]; !ok || !(ratio <= old) {
		r.Worst[what], r.At[what] = ratio, at
	}
	if !(ratio <= 1) && len(r.False) < 200 {
		r.False = append(r.False, fmt.Sprintf("%s: %.4g of %.4g: %s", what, excess, bound, at))
	}
}

// A problem is a sketch and what it is of.
type problem struct {
	r     *rand.Rand
	k     symmetric // AᵀA
	s     *fd.Sketch
	d     int
	name  string
	moves string
}

// Run makes the problem of a seed and checks what is said of it.
func Run(seed uint64, out *Report) {
	r := rand.New(rand.NewPCG(seed, 31))
	run(r, seed, nil, out)
}

// RunSpoiled is Run with a backend whose eigenpairs are wrong.
func RunSpoiled(seed uint64, out *Report) {
	r := rand.New(rand.NewPCG(seed, 32))
	be, err := engine.Default()
	if err != nil {
		panic(err)
	}
	run(r, seed, &spoiled{be, r, math.Pow(10, -4-11*r.Float64()), r.IntN(6)}, out)
}

func run(r *rand.Rand, seed uint64, be *spoiled, out *Report) {
	d := 1 + r.IntN(12)
	if r.IntN(4) == 0 {
		d = 1 + r.IntN(40)
	}
	c := randomConfig(r, d)
	if be != nil {
		c.Backend = be
	}
	p := newProblem(r, d, c)
	if p == nil {
		return
	}
	if be != nil {
		p.moves = fmt.Sprintf(" spoiled %d by %.2g:", be.how, be.off)
	}
	out.Problems++
	p.name = fmt.Sprintf("seed %d", seed)
	if err := p.feed(out); err != nil {
		if _, ok := err.(*fd.RangeError); ok {
			out.Refused++
			return
		}
		out.Lost++
		if be != nil && errors.Is(err, engine.ErrNoConvergence) {
			return
		}
		out.False = append(out.False, fmt.Sprintf("lost: %v: %s", err, p))
		return
	}
	p.read(out)
}

func (p *problem) String() string {
	c := p.s.Config()
	return fmt.Sprintf(
		"%s d=%d m=%d p=%d r=%d %v store=%d:%s",
		p.name,
		c.Dim,
		c.Size,
		c.ShrinkRows,
		c.SparseRows,
		c.Shrink,
		c.Store,
		p.moves,
	)
}

func randomConfig(r *rand.Rand, d int) fd.Config {
	c := fd.Config{Dim: d, Size: 1 + r.IntN(d+1)}
	if d > 4 && r.IntN(2) == 0 {
		c.Size = 1 + r.IntN(4)
	}
	m := min(c.Size, d)
	c.ShrinkRows = []int{1, 2, 8, m, 2 * m, 0}[r.IntN(6)]
	c.Store = []fd.Storage{fd.StoreRows, fd.StoreRows, fd.StoreRows, fd.StoreScatter, fd.StoreSmaller}[r.IntN(5)]
	if r.IntN(3) == 0 {
		c.Shrink = fd.SVD
	}
	c.SparseRows = []int{0, 1, 3, 8, -1}[r.IntN(5)]
	return c
}

func newProblem(r *rand.Rand, d int, c fd.Config) *problem {
	s, err := fd.New(c)
	if err != nil {
		return nil
	}
	return &problem{r: r, k: newSymmetric(d), s: s, d: d}
}

// feed appends rows, decays, merges, encodes and reads in between.
func (p *problem) feed(out *Report) error {
	r := p.r
	c := sizes[r.IntN(len(sizes))]
	if r.IntN(2) == 0 {
		c = 1
	}
	if r.IntN(12) == 0 {
		if err := p.fade(c); err != nil {
			return err
		}
	}
	for range 1 + r.IntN(5) {
		if err := p.append(c); err != nil {
			return err
		}
		switch r.IntN(8) {
		case 0:
			beta := []float64{1e-300, 1e-100, 1e-16, 1e-8, 0.1, 0.5, 0.9, 0.999999, 1}[r.IntN(9)]
			p.moves += fmt.Sprintf(" decay %g", beta)
			if err := p.s.Decay(beta); err != nil {
				return err
			}
			p.k.scale(beta)
		case 1:
			if err := p.merge(c, out); err != nil {
				return err
			}
		case 2:
			p.moves += " encode"
			data, err := p.s.MarshalBinary()
			if err != nil {
				return err
			}
			again, err := fd.ReadSketch(bytes.NewReader(data), p.s.Config().Backend)
			if err != nil {
				return err
			}
			p.s = again
		case 3:
			p.read(out)
		}
	}
	return nil
}

// fade appends many rows of one kind, one by one, with decays between.
func (p *problem) fade(c float64) error {
	r, x := p.r, make([]float64, p.d)
	kind, n := inputs[r.IntN(len(inputs))], 50+r.IntN(300)
	beta := []float64{1, 0.999, 0.5, 0.9, 1e-3, 1e-16}[r.IntN(6)]
	every := 1 + r.IntN(4)
	p.moves += fmt.Sprintf(" fade %d×%s·%g by %g every %d", n, kind.name, c, beta, every)
	for i := range n {
		kind.row(r, x, i, n, c)
		if err := p.s.AppendRow(x); err != nil {
			return err
		}
		p.k.addSquare(1, x)
		if i%every == 0 {
			if err := p.s.Decay(beta); err != nil {
				return err
			}
			p.k.scale(beta)
		}
	}
	return nil
}

func (p *problem) merge(c float64, out *Report) error {
	config := p.s.Config()
	config.SparseRows = 0
	if p.r.IntN(2) == 0 {
		other := randomConfig(p.r, p.d)
		config.Shrink, config.Store, config.ShrinkRows, config.SparseRows = other.Shrink, other.Store, other.ShrinkRows,
			other.SparseRows
	}
	o := newProblem(p.r, p.d, config)
	if o == nil {
		return nil
	}
	for range 1 + p.r.IntN(3) {
		if err := o.append(c); err != nil {
			return err
		}
	}
	p.moves += fmt.Sprintf(" merge(p=%d %v store=%d:%s)", config.ShrinkRows, config.Shrink, config.Store, o.moves)
	if p.r.IntN(2) == 0 {
		p.s, o.s = o.s, p.s
		p.moves += " swapped"
	}
	if err := p.s.Merge(o.s); err != nil {
		return err
	}
	p.k.add(o.k)
	return nil
}

// append appends rows of one kind.
func (p *problem) append(c float64) error {
	r, d := p.r, p.d
	kind := inputs[r.IntN(len(inputs))]
	n := 1 + r.IntN(3*d+8)
	if r.IntN(6) == 0 {
		n *= 4
	}
	way := r.IntN(4)
	if d < 8 {
		way = 0
	}
	p.moves += fmt.Sprintf(" %d×%s·%g/%d", n, kind.name, c, way)
	x := make([]float64, n*d)
	for i := range n {
		kind.row(r, x[i*d:(i+1)*d], i, n, c)
	}
	if way < 2 {
		if err := p.s.AppendRows(n, x, d); err != nil {
			return err
		}
		for i := range n {
			p.k.addSquare(1, x[i*d:(i+1)*d])
		}
		return nil
	}
	sparse := engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i := range n {
		keep := 1 + r.IntN(d/8)
		if r.IntN(10) == 0 {
			keep = d / 2
		}
		for j := range d {
			if (j*7+i)%d < keep {
				sparse.ColIdx, sparse.Val = append(sparse.ColIdx, int32(j)), append(sparse.Val, x[i*d+j])
			} else {
				x[i*d+j] = 0
			}
		}
		sparse.RowPtr = append(sparse.RowPtr, len(sparse.Val))
	}
	if way == 2 {
		if err := p.s.AppendSparse(&sparse); err != nil {
			return err
		}
		for i := range n {
			p.k.addSquare(1, x[i*d:(i+1)*d])
		}
		return nil
	}
	mu := make([]float64, d)
	times := make([]float64, n)
	switch r.IntN(4) {
	case 0:
		fill(mu, c)
	case 1: // near the rows
		copy(mu, x[:d])
	default:
		kind.row(r, mu, r.IntN(n), n, c)
	}
	f := []float64{1, 1, 1e-3, 1e3}[r.IntN(4)]
	for i := range times {
		times[i] = f * []float64{1, 1, 0, 0.3, r.NormFloat64()}[r.IntN(5)]
	}
	if r.IntN(6) == 0 { // multiples far from 1
		g := []float64{1e100, 1e-100, 1e140, 1e-140}[r.IntN(4)]
		for j := range mu {
			mu[j] /= g
		}
		for i := range times {
			times[i] *= g
		}
	}
	if err := p.s.AppendCentred(&sparse, times, mu); err != nil {
		return err
	}
	row := make([]pair, d)
	for i := range n {
		for j := range d {
			row[j] = pair{x[i*d+j], 0}.minus(productOf(times[i], mu[j]))
		}
		p.k.addSquareOf(1, row)
	}
	return nil
}

// store names what the sketch keeps.
func (p *problem) store() string {
	c := p.s.Config()
	switch {
	case c.Store == fd.StoreScatter:
		return "scatter"
	case c.Size >= c.Dim:
		return fmt.Sprintf("lossless %v", c.Shrink)
	}
	return c.Shrink.String()
}

// read reads the sketch and checks all that it says.
func (p *problem) read(out *Report) {
	sp, err := p.s.Spectrum()
	if err != nil {
		out.Lost++
		if _, ok := p.s.Config().Backend.(*spoiled); ok && errors.Is(err, engine.ErrNoConvergence) {
			return
		}
		out.False = append(out.False, fmt.Sprintf("not read: %v: %s", err, p))
		return
	}
	p.live(out)
	at, store, r := p.String(), p.store(), p.r
	checkSpectrum(out, store, at, p.k, sp)
	// ‖A‖²_F and the tail are rounded without a pad: see that they are near.
	b := sp.Bound
	out.check("‖A‖²_F, "+store, at, math.Abs(b.Frobenius2-p.k.trace().value()), 2*b.RoundOff)
	m := min(p.s.Size(), p.d)
	values := p.k.eigenvalues()
	// Wrong eigenvalues make η larger, which RoundOff does not measure and need not.
	_, wrong := p.s.Config().Backend.(*spoiled)
	for k := 0; k <= m && b.Shrinkage > 0 && !wrong; k++ {
		tail := tailOf(values, k)
		out.check("η, "+store, at, b.Shrinkage, tail/float64(m+1-k)+4*float64(p.d)*b.RoundOff)
	}
	if r.IntN(2) == 0 {
		scale := make([]float64, p.d)
		spread := []float64{0, 1, 10, 100, 170}[r.IntN(5)]
		for j := range scale {
			scale[j] = math.Pow(10, spread*(2*r.Float64()-1))
		}
		if r.IntN(3) == 0 {
			fill(scale, scale[0])
		}
		p.scaled(out, sp, scale)
	}
}

// twice checks columns that are scaled twice, the first time by powers of two.
func (p *problem) twice(out *Report, sp *fd.Spectrum, scale []float64) {
	first, be := make([]float64, p.d), p.s.Config().Backend
	for j := range first {
		first[j] = math.Ldexp(1, p.r.IntN(40)-20)
	}
	half, err := sp.Scaled(first, be)
	if err != nil {
		return
	}
	q, err := half.Scaled(scale, be)
	if err != nil {
		return
	}
	k := p.k.clone()
	k.divide(first)
	k.divide(scale)
	at, b, d := fmt.Sprintf("%s, scaled by %.3g and %.3g", p, first, scale), q.Bound, float64(p.d)
	for _, v := range k.a {
		if math.IsNaN(v.value()) || math.IsInf(v.value(), 0) {
			return
		}
	}
	checkSpectrum(out, "scaled", at, k, q)
	e := trailing(k, q).trace().value()
	out.check("‖AR⁻¹‖²_F, twice", at, k.trace().value()-b.Frobenius2, 16*eps*b.Frobenius2+1e-320)
	out.check("tail, scaled twice", at, e-b.Tail, 2*d*b.RoundOff)
	out.check("slack of the tail, twice", at, b.Tail-b.TailSlack-e, 2*d*b.RoundOff)
}

// scaled checks Scaled.
func (p *problem) scaled(out *Report, sp *fd.Spectrum, scale []float64) {
	at := fmt.Sprintf("%s, scaled by %.3g", p, scale)
	q, err := sp.Scaled(scale, p.s.Config().Backend)
	if err != nil {
		if _, ok := err.(*fd.RangeError); !ok {
			out.Lost++
			if _, ok := p.s.Config().Backend.(*spoiled); ok && errors.Is(err, engine.ErrNoConvergence) {
				return
			}
			out.False = append(out.False, fmt.Sprintf("not scaled: %v: %s", err, at))
			return
		}
		out.Refused++
		return
	}
	k := p.k.clone()
	k.divide(scale)
	for _, v := range k.a {
		if math.IsNaN(v.value()) || math.IsInf(v.value(), 0) {
			return // out of the reference's range
		}
	}
	if p.r.IntN(3) == 0 {
		p.twice(out, sp, scale)
	}
	checkSpectrum(out, "scaled", at, k, q)
	b, d := q.Bound, float64(p.d)
	e := trailing(k, q).trace().value()
	out.check("‖AR⁻¹‖²_F", at, k.trace().value()-b.Frobenius2, 16*eps*b.Frobenius2+1e-320)
	out.check("tail, scaled", at, e-b.Tail, 2*d*b.RoundOff)
	out.check("slack of the tail", at, b.Tail-b.TailSlack-e, 2*d*b.RoundOff)
}

// trailing returns K − BᵀB.
func trailing(k symmetric, sp *fd.Spectrum) symmetric {
	e := k.clone()
	for i, s2 := range sp.Sigma2 {
		e.addSquare(-s2, sp.V[i*sp.Dim:(i+1)*sp.Dim])
	}
	return e
}

// checkSpectrum checks both sides of the guarantee, for V as stored and for the nearest V with
// orthonormal rows, Skew, and Tail.
func checkSpectrum(out *Report, store, at string, k symmetric, sp *fd.Spectrum) {
	e := trailing(k, sp)
	checkSides(out, store, at, e, sp.Bound)
	omega := skewOf(sp)
	var norm float64
	for i := range omega.d {
		for j, v := range omega.row(i) {
			f := 2.0
			if i == j {
				f = 1
			}
			norm += f * v.value() * v.value()
		}
	}
	out.check("Skew, "+store, at, math.Sqrt(norm), sp.Skew)
	checkSides(out, store+", orthonormal", at, trailing2(k, sp, omega), sp.Bound)
	if sp.Bound.TailSlack == 0 && store != "scaled" {
		out.check(
			"tail, "+store,
			at,
			math.Abs(math.Max(0, e.trace().value())-sp.Bound.Tail),
			2*float64(sp.Dim)*sp.Bound.RoundOff,
		)
	}
}

// checkSides checks −RoundOff·I ⪯ E ⪯ (η + RoundOff)·I.
func checkSides(out *Report, store, at string, e symmetric, b fd.Bound) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, v := range e.eigenvalues() {
		least, most = math.Min(least, v), math.Max(most, v)
	}
	below, above := -least, most-b.Shrinkage
	if below > b.RoundOff && e.positive(1, b.RoundOff) {
		below = b.RoundOff // Jacobi's round-off
	}
	if above > b.RoundOff && e.positive(-1, b.FD()) {
		above = b.RoundOff
	}
	out.check("below, "+store, at, below, b.RoundOff)
	out.check("above, "+store, at, above, b.RoundOff)
}

// skewOf returns VVᵀ − I.
func skewOf(sp *fd.Spectrum) symmetric {
	d, omega := sp.Dim, newSymmetric(len(sp.Sigma2))
	for i := range omega.d {
		for j, row := 0, omega.row(i); j <= i; j++ {
			row[j] = dot(sp.V[i*d:(i+1)*d], sp.V[j*d:(j+1)*d])
			if i == j {
				row[j] = row[j].minus(pair{1, 0})
			}
		}
	}
	return omega
}

// trailing2 returns K − V̄ᵀΣ²V̄ with V̄ = (I + Ω)^{−½}V. Three terms of the series in Ω are enough.
func trailing2(k symmetric, sp *fd.Spectrum, omega symmetric) symmetric {
	e, d, r := k.clone(), sp.Dim, len(sp.Sigma2)
	at := func(i, j int) pair { return omega.row(max(i, j))[min(i, j)] }
	for i, s2 := range sp.Sigma2 {
		row := make([]pair, d)
		for l := range r {
			f := at(i, l).times(pair{-0.5, 0})
			if i == l {
				f = f.plus(pair{1, 0})
			}
			var square float64
			for h := range r {
				square += at(i, h).value() * at(h, l).value()
			}
			f = f.plus(pair{0.375 * square, 0})
			for j := range d {
				row[j] = row[j].plus(f.times(pair{sp.V[l*d+j], 0}))
			}
		}
		e.addSquareOf(-s2, row)
	}
	return e
}

// tailOf is the sum of all values but the k largest.
func tailOf(values []float64, k int) (sum float64) {
	left := append([]float64(nil), values...)
	for range min(k, len(left)) {
		largest := 0
		for i, v := range left {
			if v > left[largest] {
				largest = i
			}
		}
		left[largest] = 0
	}
	for _, v := range left {
		sum += v
	}
	return sum
}

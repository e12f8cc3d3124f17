package adversary

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
)

// A problem is the data of a genome: distinct rows, and the stream that is made of
// them. It is a [dataset.Source].
type problem struct {
	g       Genome
	x, y    [][]float64 // distinct rows
	w       []float64   // weight of each
	stream  []int       // which of them come one after another
	again   []int       // and which do in all cycles but the first
	weights []float64   // of the rows of the stream, nil when none has any
	decays
	source  dataset.Source
	kept    map[[2]int]dataset.Block // blocks of later cycles
	gamma   float64
	moments *refbig.Problem
}

// decays are the decays of the summary while rows are appended to it.
type decays struct {
	betas   []float64    // factor of each decay
	factors []*big.Float // what is left, in the end, of the rows before each decay, and after the last
}

func newProblem(g Genome) *problem {
	if g.Method == ridge.Auto {
		g.Method = ridge.CG
	}
	r := rand.New(rand.NewPCG(g.Seed, 1))
	p := &problem{g: g}
	p.draw(r)
	p.weigh(r)
	p.order(r)
	p.move(rand.New(rand.NewPCG(g.Seed, 5)))
	p.weighStream()
	p.finish()
	return p
}

func (p *problem) finish() {
	p.source, p.kept = p, map[[2]int]dataset.Block{}
	p.forget()
}

// draw makes the distinct rows.
func (p *problem) draw(r *rand.Rand) {
	g := p.g
	d, n := g.Cols, g.Rows
	sigma := make([]float64, d)
	for k := range sigma {
		sigma[k] = math.Pow(10, g.Top-g.Span*g.fall(k, d))
	}
	if d > mostCols {
		p.drawMany(r, sigma)
		return
	}
	axes := identity(d)
	if g.Basis == Rotated {
		axes = rotation(r, d)
	}
	mean := p.mean(r)
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
	p.thin(r)
}

// mean returns a vector that is added to all rows.
func (p *problem) mean(r *rand.Rand) []float64 {
	mean := make([]float64, p.g.Cols)
	if p.g.Mean > -17 {
		for j := range mean {
			mean[j] = math.Pow(10, p.g.Top+p.g.Mean) * (0.5 + r.Float64())
		}
	}
	return mean
}

// thin puts zeros in the rows, and rounds them to float32.
func (p *problem) thin(r *rand.Rand) {
	for i := range p.x {
		for j := range p.x[i] {
			if r.Float64() < p.g.Zeros {
				p.x[i][j] = 0
			}
		}
		if p.g.Single {
			round32(p.x[i])
			round32(p.y[i])
		}
	}
}

// drawMany makes rows of many columns: three reflections take the place of a random
// rotation.
func (p *problem) drawMany(r *rand.Rand, sigma []float64) {
	g := p.g
	mirrors := make([][]float64, 3)
	for k := range mirrors {
		mirrors[k] = normals(r, g.Cols)
	}
	mean := p.mean(r)
	near := 1 + r.IntN(3)
	for i := range g.Rows {
		u := normals(r, g.Cols)
		p.y = append(p.y, p.targets(r, u, sigma))
		row := make([]float64, g.Cols)
		p.x = append(p.x, row)
		if g.Near < 0 && i >= near {
			for j, v := range p.x[i%near] {
				row[j] = v + math.Pow(10, g.Near)*u[j]*v
			}
			continue
		}
		for j, v := range u {
			row[j] = v * sigma[j]
			if g.Basis == Rows {
				row[j] = v * sigma[i%g.Cols]
			}
		}
		if g.Basis == Rotated {
			for _, m := range mirrors {
				mirror(m, row)
			}
		}
		for j, v := range mean {
			row[j] += v
		}
	}
	p.thin(r)
}

// mirror overwrites x with (I − 2vvᵀ/vᵀv)x.
func mirror(v, x []float64) {
	var vv, vx float64
	for j, a := range v {
		vv += a * a
		vx += a * x[j]
	}
	f := 2 * vx / vv
	for j, a := range v {
		x[j] -= f * a
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

// targets returns the targets of the row with left singular entries u.
func (p *problem) targets(r *rand.Rand, u, sigma []float64) []float64 {
	g := p.g
	y := make([]float64, g.Targets)
	for j := range y {
		k := (int(g.Along*float64(len(u)-1)+0.5) + j) % len(u)
		y[j] = math.Pow(10, g.Scale) * (u[k] + math.Pow(10, g.Noise)*r.NormFloat64())
	}
	return y
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

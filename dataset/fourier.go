package dataset

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/badinput"
)

// Fourier describes random Fourier features (A. Rahimi, B. Recht, NIPS 2007) as
// in the paper's experiments,
//
//	z(x) = √(2/D)·cos(Wx + u),  W_ij ~ N(0, 2γ),  u_i uniform on [0, 2π),
//
// whose inner products approximate the kernel exp(−γ‖x − y‖²). W and u follow
// from the seed and the number of inputs alone. Plain data, to be kept with a
// model.
type Fourier struct {
	Components int     `json:"components"` // D
	Gamma      float64 `json:"gamma"`
	Seed       uint64  `json:"seed"`
}

// maxWeights bounds W, at 512 GiB.
const maxWeights = 1 << 36

// Apply returns the D features of src, dense. The arithmetic is that of be, or of
// engine.Default() where it is nil. The features of a row depend on the row alone,
// but for round-off in Wx.
func (f Fourier) Apply(src Source, be engine.Backend) (Source, error) {
	if err := noSource(src); err != nil {
		return nil, err
	}
	_, d, _ := src.Dims()
	switch {
	case f.Components < 1:
		return nil, badinput.Errorf("dataset: %d Fourier features, must be positive", f.Components)
	case !(f.Gamma > 0) || math.IsInf(2*f.Gamma, 0):
		return nil, badinput.Errorf("dataset: Fourier features with gamma = %v, must be positive and finite", f.Gamma)
	}
	if hi, lo := bits.Mul64(uint64(d), uint64(f.Components)); hi != 0 || lo > maxWeights {
		return nil, badinput.Errorf("dataset: %d×%d weights of Fourier features are too many", d, f.Components)
	}
	if be == nil {
		var err error
		if be, err = engine.Default(); err != nil {
			return nil, err
		}
	}
	rows, err := denseRows(f.Components)
	if err != nil {
		return nil, err
	}
	w, u := f.draw(d)
	return &transformed{src: src, name: "Fourier features", d: f.Components, rows: rows, start: func() (func(Block, *Buffer), func()) {
		p := startProjection(be, w, u, runtime.GOMAXPROCS(0))
		return p.features, p.stop
	}}, nil
}

// draw makes W, stored input-major (d×D: the weights of one input are a row), and
// u.
func (f Fourier) draw(d int) (w, u []float64) {
	rng := rand.New(rand.NewPCG(f.Seed, 0x466f7572696572)) // "Fourier"
	u = make([]float64, f.Components)
	for i := range u {
		u[i] = 2 * math.Pi * rng.Float64()
	}
	w = make([]float64, d*f.Components)
	sd := math.Sqrt(2 * f.Gamma)
	for i := range w {
		w[i] = sd * rng.NormFloat64()
	}
	return w, u
}

// A projection computes the features of one pass on goroutines that live as long
// as the pass, so that a block costs no allocation.
type projection struct {
	be   engine.Backend
	w, u []float64

	block  Block     // at hand
	z      []float64 // its features, N×D
	parts  int
	jobs   chan int // parts of the block
	done   sync.WaitGroup
	worker sync.WaitGroup
}

func startProjection(be engine.Backend, w, u []float64, parts int) *projection {
	p := &projection{be: be, w: w, u: u, parts: parts, jobs: make(chan int, parts)}
	for range parts {
		p.worker.Go(func() {
			for k := range p.jobs {
				p.part(k)
				p.done.Done()
			}
		})
	}
	return p
}

// stop ends the goroutines and waits for them.
func (p *projection) stop() {
	close(p.jobs)
	p.worker.Wait()
}

// features appends z(x) for each row of b. The rows are shared out; each is
// computed in the same way whoever does it.
func (p *projection) features(b Block, out *Buffer) {
	out.Sparse = false
	for range b.N {
		out.X = append(out.X, p.u...)
	}
	p.block, p.z = b, out.X
	if b.Sparse == nil {
		dim := len(p.u)
		d := len(p.w) / dim
		p.be.Gemm(false, false, 1, engine.View(b.N, d, b.X), engine.View(d, dim, p.w), 1, engine.View(b.N, dim, p.z))
	}
	p.done.Add(p.parts)
	for k := range p.parts {
		p.jobs <- k
	}
	p.done.Wait()
}

// part finishes the rows of part k: z holds u for sparse rows, Wx + u for dense.
func (p *projection) part(k int) {
	dim := len(p.u)
	scale := math.Sqrt(2 / float64(dim))
	for i := p.block.N * k / p.parts; i < p.block.N*(k+1)/p.parts; i++ {
		z := p.z[i*dim : (i+1)*dim]
		if p.block.Sparse != nil {
			idx, val := p.block.Sparse.Row(i)
			for k, j := range idx {
				floats.AddScaled(z, val[k], p.w[int(j)*dim:(int(j)+1)*dim])
			}
		}
		for c, v := range z {
			z[c] = scale * math.Cos(v)
		}
	}
}

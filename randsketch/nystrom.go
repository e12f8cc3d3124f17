package randsketch

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/neumaier"
	"github.com/fdridge/fdridge/internal/vec"
)

// NystromConfig says what approximation to make. Rank and Dim are required; the
// zero value of every other field is the documented default.
type NystromConfig struct {
	Rank int    // m, columns of the test matrix; more than Dim is never used
	Dim  int    // d, the number of features
	Seed uint64 // the test matrix follows from it and the dimensions
	// Backend does the arithmetic. nil is engine.Default().
	Backend engine.Backend
}

// A Nystrom is the Nyström approximation of K = AᵀA by a random test matrix Ω
// (d×m) with orthonormal columns,
//
//	K̂ = Y(ΩᵀY)⁻¹Yᵀ,  Y = KΩ = Σ aᵢaᵢᵀΩ,
//
// whose Y is the sum over one pass over the rows aᵢ. 0 ⪯ K̂ ⪯ K whatever Ω is. Z.
// Frangella, J. Tropp, M. Udell, "Randomized Nyström Preconditioning" (SIAM J.
// Matrix Anal. Appl. 2023), Algorithm 2.1. As a [Spectrum] it is their
// preconditioner
//
//	P⁻¹ = (λ_m + γ)·U(Λ + γI)⁻¹Uᵀ + (I − UUᵀ)
//
// but for the factor λ_m + γ, that is Ĥ(γ)⁻¹ = P⁻¹/(λ_m + γ).
//
// Ω is drawn like the columns of a sketch, and so doesn't depend on threads or, but
// for round-off, on the backend. Dense rows are multiplied in panels of 256 counted
// from the first, so that sums don't depend on blocks, and the panels are added with
// compensation, so that round-off doesn't grow with them.
//
// It holds (4m+256)·d + 256·m float64; appending allocates nothing. One goroutine
// may write at a time; any number may read while none writes.
type Nystrom struct {
	cfg NystromConfig
	intake
	m    int
	team team

	omega []float64      // Ωᵀ, m×d
	y     []neumaier.Sum // Yᵀ, m×d, of all rows but those that wait
	panel
	share []float64 // what a panel adds to Yᵀ
	r     []float64 // AΩ of a panel, panelRows×m

	csr         engine.CSR                  // sparse rows at hand, none between calls
	sparse, add func(s *stream, lo, hi int) // methods, bound once, so that calls make no closure
}

// NewNystrom makes the approximation of no rows and draws Ω. It reports an error
// when Rank or Dim is not positive, when the buffers cannot be addressed
// ([fd.ErrSize]), and [ErrNoConvergence].
func NewNystrom(cfg NystromConfig) (*Nystrom, error) {
	switch {
	case cfg.Dim <= 0:
		return nil, fmt.Errorf("randsketch: Dim is %d, must be positive", cfg.Dim)
	case cfg.Rank <= 0:
		return nil, fmt.Errorf("randsketch: Rank is %d, must be positive", cfg.Rank)
	}
	m, d := min(cfg.Rank, cfg.Dim), cfg.Dim
	if !addressable(m, d, m) {
		return nil, fmt.Errorf("%w: m·d = %d·%d", fd.ErrSize, m, d)
	}
	var err error
	if cfg.Backend, err = backend(cfg.Backend); err != nil {
		return nil, err
	}
	a := &Nystrom{
		cfg: cfg, intake: intake{dim: d}, m: m,
		omega: make([]float64, m*d), y: make([]neumaier.Sum, m*d), share: make([]float64, m*d),
		panel: panel{waiting: make([]float64, panelRows*d)}, r: make([]float64, panelRows*m),
	}
	a.sparse, a.add = a.sparseGradient, a.addRows
	if err := a.draw(); err != nil {
		return nil, err
	}
	return a, nil
}

// draw makes Ωᵀ: orthonormal rows that span m Gaussian vectors.
func (a *Nystrom) draw() error {
	d, be := a.cfg.Dim, a.cfg.Backend
	g := make([]float64, a.m*d)
	a.team.do(a.m, a.m*d*drawCost, func(s *stream, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.seek(a.cfg.Seed, forNystrom, int64(i))
			s.normal(g[i*d : (i+1)*d])
		}
	})
	if !be.SVD(engine.View(a.m, d, g), make([]float64, a.m), engine.View(min(a.m, d), d, a.omega), make([]float64, be.SVDWork(a.m, d))) {
		return errNoConvergence
	}
	return nil
}

// Config returns the configuration in force.
func (a *Nystrom) Config() NystromConfig { return a.cfg }

// Rows is the number of rows appended.
func (a *Nystrom) Rows() int64 { return a.rows }

// AppendRows appends n rows stored row-major in x with leading dimension
// ldx >= Dim.
//
// Like AppendSparse it checks the whole argument first: on *[fd.NonFiniteError],
// *[fd.RangeError] and [ErrShape] nothing is changed. The argument is not written
// and not kept.
func (a *Nystrom) AppendRows(n int, x []float64, ldx int) error {
	if err := a.admit(n, x, ldx, nil); err != nil {
		return err
	}
	d := a.cfg.Dim
	for i := range n {
		copy(a.waiting[a.held*d:(a.held+1)*d], x[i*ldx:])
		if a.held++; a.held == panelRows {
			a.multiply(a.share, a.r)
			a.held = 0
			a.team.do(a.m, a.m*d*addCost, a.add)
		}
	}
	return nil
}

// multiply writes to share (m×d) what the rows that wait add to Yᵀ.
func (a *Nystrom) multiply(share, r []float64) {
	d := a.cfg.Dim
	clear(share)
	a.cfg.Backend.Gradient(engine.View(a.held, d, a.waiting), engine.View(a.m, d, a.omega), engine.Matrix{}, engine.View(a.m, d, share), engine.View(a.held, a.m, r))
}

// AppendSparse appends the rows of x, whose column indices must be below Dim, in O(m·nnz).
func (a *Nystrom) AppendSparse(x *engine.CSR) error {
	if err := a.admitSparse(x, nil); err != nil {
		return err
	}
	for lo := 0; lo < x.Rows; lo += panelRows {
		a.csr = x.Slice(lo, min(lo+panelRows, x.Rows))
		a.team.do(a.m, (2*a.csr.NNZ()+min(a.csr.NNZ(), a.cfg.Dim)*addCost)*a.m, a.sparse)
	}
	a.csr = engine.CSR{}
	return nil
}

// sparseGradient adds to rows lo to hi of Yᵀ the share of the sparse rows at hand: plain sums of
// them, or, where they have fewer entries than there are columns, each product by itself.
func (a *Nystrom) sparseGradient(s *stream, lo, hi int) {
	d := a.cfg.Dim
	if a.csr.NNZ() < d {
		for r := lo; r < hi; r++ {
			sums, omega := a.y[r*d:(r+1)*d], a.omega[r*d:(r+1)*d]
			for i := range a.csr.Rows {
				idx, val := a.csr.Row(i)
				neumaier.AddScaled(sums, vec.SparseDot(idx, val, omega), idx, val)
			}
		}
		return
	}
	clear(a.share[lo*d : hi*d])
	a.csr.Gradient(engine.View(hi-lo, d, a.omega[lo*d:]), engine.Matrix{}, engine.View(hi-lo, d, a.share[lo*d:]), engine.Strided(a.csr.Rows, hi-lo, a.r[lo:], a.m))
	a.addRows(s, lo, hi)
}

// addCost is about what adding with compensation costs, in additions.
const addCost = 8

// addRows adds rows lo to hi of a share.
func (a *Nystrom) addRows(_ *stream, lo, hi int) {
	for i := lo * a.cfg.Dim; i < hi*a.cfg.Dim; i++ {
		a.y[i].Add(a.share[i])
	}
}

// Spectrum computes K̂ = U·diag(Λ)·Uᵀ, V = Uᵀ:
//
//	ΩᵀY = QWQᵀ,  B = Y·Q·W^(−1/2) = UΣRᵀ,  Λ = Σ².
//
// The paper factors ΩᵀY by Cholesky, for which K has to be shifted by a ν that keeps
// round-off from making ΩᵀY indefinite, and subtracts ν afterwards. Eigenpairs need no
// shift: those up to ν are round-off and are left out. Measured, that is as exact or
// better. The stream may go on.
func (a *Nystrom) Spectrum() (*Spectrum, error) {
	m, d, be := a.m, a.cfg.Dim, a.cfg.Backend
	y := make([]float64, m*d)
	a.multiply(y, make([]float64, panelRows*m))
	for i, held := range y {
		sum := a.y[i]
		sum.Add(held)
		y[i] = sum.Value()
	}
	core, w, q := make([]float64, m*m), make([]float64, m), make([]float64, m*m)
	be.Gemm(false, true, 1, engine.View(m, d, y), engine.View(m, d, a.omega), 0, engine.View(m, m, core))
	for i := range m {
		for j := range i {
			core[i*m+j] = (core[i*m+j] + core[j*m+i]) / 2
		}
	}
	if !be.SymEig(engine.View(m, m, core), w, engine.View(m, m, q), make([]float64, be.SymEigWork(m, m))) {
		return nil, errNoConvergence
	}
	k, nu := 0, math.Sqrt(float64(d))*eps*vec.Norm(y)
	for ; k < m && w[k] > nu; k++ {
		floats.Scale(1/math.Sqrt(w[k]), q[k*m:(k+1)*m])
	}
	b := make([]float64, k*d)
	be.Gemm(false, false, 1, engine.View(k, m, q), engine.View(m, d, y), 0, engine.View(k, d, b))
	alpha2 := 0.0
	for j := range k {
		row := b[j*d : (j+1)*d]
		alpha2 += floats.Dot(row, row) / w[j]
	}
	p, err := spectrumOf(be, k, d, b)
	if err != nil {
		return nil, err
	}
	a.bound(p, alpha2)
	return p, nil
}

// roundOff is how much of ‖A‖²_F the arithmetic may have added to K̂, in units of
// eps·α²: a panel is a chain of additions, whose roundings go all the same way where
// rows are repeated. On other rows TestNystromRange measures less than a quarter of 16.
const roundOff = panelRows/2 + 16

// bound says what is certain of K̂: that K − K̂ is positive semidefinite but for
// round-off, and its trace. Errors δ of Y and of C = ΩᵀY change K̂ = YC⁻¹Yᵀ by
// (2α + α²)·δ with α = ‖YC⁻¹‖, at most the Frobenius norm given. α is large where Ω
// by chance almost misses a direction that K doesn't.
func (a *Nystrom) bound(p *Spectrum, alpha2 float64) {
	if r := len(p.Lambda); r == a.m && r < p.Dim {
		p.Floor = p.Lambda[r-1]
	}
	frob := a.frob.Value() + a.underflow()
	p.Under = roundOff * eps * alpha2 * frob
	p.Over = max(0, frob-floats.Sum(p.Lambda)) + float64(p.Dim)*p.Under
}

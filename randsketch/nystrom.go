package randsketch

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// NystromConfig holds the options of [NewNystrom]. Rank and Dim are required. The zero value of any other field
// selects its documented default.
type NystromConfig struct {
	Rank int    // m, number of columns of the test matrix; at most Dim are used
	Dim  int    // d, number of features
	Seed uint64 // determines the test matrix, together with the dimensions
	// Backend does the linear algebra. nil means engine.Default().
	Backend engine.Backend
}

// A Nystrom is the Nyström approximation K̂ of K = AᵀA by a random test matrix Ω (d×m) with orthonormal columns,
//
//	K̂ = Y(ΩᵀY)⁻¹Yᵀ,  Y = KΩ = Σ aᵢaᵢᵀΩ.
//
// Y is a sum over one pass over the rows aᵢ. For every Ω, 0 ⪯ K̂ ⪯ K (Z. Frangella, J. Tropp, M. Udell,
// "Randomized Nyström Preconditioning", SIAM J. Matrix Anal. Appl. 2023, Algorithm 2.1). With the eigenvalues
// Λ and eigenvectors U of K̂, the paper's preconditioner is
//
//	P⁻¹ = (λ_m + γ)·U(Λ + γI)⁻¹Uᵀ + (I − UUᵀ).
//
// λ_m is the m-th eigenvalue of K̂. The [Spectrum] of a Nystrom applies P⁻¹ up to a factor: Ĥ(γ)⁻¹ =
// P⁻¹/(λ_m + γ).
//
// Ω depends only on Seed and the dimensions, apart from round-off that depends on the backend. Dense rows are
// multiplied 256 at a time, counted from the first row, so that the sums do not depend on how the rows are divided into
// blocks. Compensated sums add these panels, so that round-off does not grow with the number of rows.
//
// A Nystrom holds (4m+256)·d + 256·m float64. Appending allocates nothing. One goroutine may write at a time.
// Any number of goroutines may read while none writes.
type Nystrom struct {
	cfg NystromConfig
	intake
	m    int
	team team

	omega []float64       // Ωᵀ, m×d
	y     []twofold.Total // Yᵀ (m×d) of all rows except the buffered ones
	panel
	share []float64 // the contribution of a panel to Yᵀ
	r     []float64 // AΩ of a panel, panelRows×m

	csr         engine.CSR                  // the current sparse rows, none between calls
	sparse, add func(s *stream, lo, hi int) // method values, bound once to avoid allocation
}

// NewNystrom draws the test matrix and returns the approximation of a matrix without rows. It returns an error if Rank
// or Dim is not positive, [fd.ErrSize] if the buffers cannot be addressed, and [ErrNoConvergence] if the test matrix
// cannot be orthogonalised.
func NewNystrom(cfg NystromConfig) (*Nystrom, error) {
	switch {
	case cfg.Dim <= 0:
		return nil, fmt.Errorf("randsketch: Dim is %d, must be positive", cfg.Dim)
	case cfg.Rank <= 0:
		return nil, fmt.Errorf("randsketch: Rank is %d, must be positive", cfg.Rank)
	}
	m := min(cfg.Rank, cfg.Dim)
	d := cfg.Dim
	if !addressable(m, d, m) {
		return nil, fmt.Errorf("%w: m·d = %d·%d", fd.ErrSize, m, d)
	}
	var err error
	cfg.Backend, err = engine.OrDefault(cfg.Backend)
	if err != nil {
		return nil, err
	}
	a := &Nystrom{
		cfg:    cfg,
		intake: intake{dim: d},
		m:      m,
		omega:  make([]float64, m*d),
		y:      make([]twofold.Total, m*d),
		share:  make([]float64, m*d),
		panel:  panel{waiting: make([]float64, panelRows*d)},
		r:      make([]float64, panelRows*m),
	}
	a.sparse, a.add = a.sparseGradient, a.addRows
	if err := a.draw(); err != nil {
		return nil, err
	}
	return a, nil
}

// draw draws the test matrix Ωᵀ, with orthonormal rows. They span the same space as m Gaussian vectors.
func (a *Nystrom) draw() error {
	d, be := a.cfg.Dim, a.cfg.Backend
	g := make([]float64, a.m*d)
	a.team.do(a.m, a.m*d*drawCost, func(s *stream, lo, hi int) {
		for i := lo; i < hi; i++ {
			s.seek(a.cfg.Seed, forNystrom, int64(i))
			s.normal(g[i*d : (i+1)*d])
		}
	})
	values := make([]float64, a.m)
	work := make([]float64, be.SVDWork(a.m, d))
	vectors := engine.View(min(a.m, d), d, a.omega)
	if !be.SVD(engine.View(a.m, d, g), values, vectors, work) {
		return errNoConvergence
	}
	return nil
}

// Config returns the configuration with all defaults filled in.
func (a *Nystrom) Config() NystromConfig { return a.cfg }

// Rows returns the number of rows appended.
func (a *Nystrom) Rows() int64 { return a.rows }

// AppendRows appends n rows, stored row-major in x with leading dimension ldx ≥ Dim. It neither changes nor keeps x.
//
// AppendRows and AppendSparse check all rows before they append any. On a *[fd.NonFiniteError],
// *[fd.RangeError] or [ErrShape] nothing is appended.
func (a *Nystrom) AppendRows(n int, x []float64, ldx int) error {
	if err := a.admit(n, x, ldx, nil); err != nil {
		return err
	}
	d := a.cfg.Dim
	for i := range n {
		copy(a.waiting[a.held*d:(a.held+1)*d], x[i*ldx:])
		a.held++
		if a.held == panelRows {
			a.multiply(a.share, a.r)
			a.held = 0
			a.team.do(a.m, a.m*d*addCost, a.add)
		}
	}
	return nil
}

// multiply overwrites share (m×d) with ΩᵀAᵀA for the buffered rows A. r is workspace.
func (a *Nystrom) multiply(share, r []float64) {
	d := a.cfg.Dim
	clear(share)
	a.cfg.Backend.Gradient(
		engine.View(a.held, d, a.waiting),
		engine.View(a.m, d, a.omega),
		engine.Matrix{},
		engine.View(a.m, d, share),
		engine.View(a.held, a.m, r),
	)
}

// AppendSparse appends the rows of x in O(m·nnz) time, for nnz entries. Column indices must be below Dim.
func (a *Nystrom) AppendSparse(x *engine.CSR) error {
	if err := a.admitSparse(x, nil); err != nil {
		return err
	}
	for lo := 0; lo < x.Rows; lo += panelRows {
		a.csr = x.Slice(lo, min(lo+panelRows, x.Rows))
		nnz := a.csr.NNZ()
		cost := 2*nnz + min(nnz, a.cfg.Dim)*addCost
		a.team.do(a.m, cost*a.m, a.sparse)
	}
	a.csr = engine.CSR{}
	return nil
}

// sparseGradient adds ΩᵀAᵀA, for the current sparse rows A, to rows lo to hi−1 of Yᵀ. It sums plainly over
// the sparse rows, and then adds this sum to the compensated sums of Yᵀ. If the sparse rows have fewer than d
// entries together, it adds each product to the compensated sums instead.
func (a *Nystrom) sparseGradient(s *stream, lo, hi int) {
	d := a.cfg.Dim
	if a.csr.NNZ() < d {
		for r := lo; r < hi; r++ {
			sums := a.y[r*d : (r+1)*d]
			omega := a.omega[r*d : (r+1)*d]
			for i := range a.csr.Rows {
				idx, val := a.csr.Row(i)
				twofold.AddScaled(sums, vec.SparseDot(idx, val, omega), idx, val)
			}
		}
		return
	}
	clear(a.share[lo*d : hi*d])
	a.csr.Gradient(
		engine.View(hi-lo, d, a.omega[lo*d:]),
		engine.Matrix{},
		engine.View(hi-lo, d, a.share[lo*d:]),
		engine.Strided(a.csr.Rows, hi-lo, a.r[lo:], a.m),
	)
	a.addRows(s, lo, hi)
}

// addCost is the approximate cost of an addition to a compensated sum, in units of one plain addition.
const addCost = 8

// addRows adds rows lo to hi−1 of a.share to Yᵀ.
func (a *Nystrom) addRows(_ *stream, lo, hi int) {
	for i := lo * a.cfg.Dim; i < hi*a.cfg.Dim; i++ {
		a.y[i].Add(a.share[i])
	}
}

// Spectrum computes the eigendecomposition K̂ = U·diag(Λ)·Uᵀ. More rows may be appended afterwards. With Y and
// Ω of [Nystrom], the eigendecomposition ΩᵀY = QWQᵀ and a singular value decomposition of B,
//
//	B = Y·Q·W^(−1/2) = UΣRᵀ,  Λ = Σ²,  V = Uᵀ.
//
// Frangella et al. factor ΩᵀY by Cholesky. Their method therefore shifts K by a number ν that keeps ΩᵀY
// definite in spite of round-off, and subtracts ν afterwards. Spectrum needs no shift, because it drops the
// eigenvalues of ΩᵀY up to ν, which are round-off. Measured errors are as small or smaller.
func (a *Nystrom) Spectrum() (*Spectrum, error) {
	m := a.m
	d := a.cfg.Dim
	be := a.cfg.Backend
	y := make([]float64, m*d)
	a.multiply(y, make([]float64, panelRows*m))
	for i, held := range y {
		sum := a.y[i]
		sum.Add(held)
		y[i] = sum.Value()
	}
	core := make([]float64, m*m)
	w := make([]float64, m)
	q := make([]float64, m*m)
	omega := engine.View(m, d, a.omega)
	be.Gemm(false, true, 1, engine.View(m, d, y), omega, 0, engine.View(m, m, core))
	for i := range m {
		for j := range i {
			core[i*m+j] = (core[i*m+j] + core[j*m+i]) / 2
		}
	}
	work := make([]float64, be.SymEigWork(m, m))
	if !be.SymEig(engine.View(m, m, core), w, engine.View(m, m, q), work) {
		return nil, errNoConvergence
	}
	k := 0
	nu := math.Sqrt(float64(d)) * eps * vec.Norm(y)
	for ; k < m && w[k] > nu; k++ {
		floats.Scale(1/math.Sqrt(w[k]), q[k*m:(k+1)*m])
	}
	b := make([]float64, k*d)
	rows := engine.View(m, d, y)
	be.Gemm(false, false, 1, engine.View(k, m, q), rows, 0, engine.View(k, d, b))
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

// roundOff bounds the round-off in K̂, the approximation of AᵀA. The unit is eps·α²·‖A‖²_F, with α =
// ‖YC⁻¹‖ as in [Nystrom.bound]. A panel sum has panelRows additions in sequence, and their roundings may all
// have the same sign if rows repeat. For other rows, TestNystromRange measures less than 4 units.
const roundOff = panelRows/2 + 16

// bound sets the bounds of p on K − K̂, for K = AᵀA and its approximation K̂ = YC⁻¹Yᵀ with C = ΩᵀY. Up
// to round-off, K − K̂ is positive semidefinite, so that its trace bounds its norm.
//
// Errors of norm δ in Y and in C change K̂ by at most about (2α + α²)·δ, with α = ‖YC⁻¹‖. The argument
// alpha2 is at least α². α is large if, by chance, Ω is almost orthogonal to a direction of K.
func (a *Nystrom) bound(p *Spectrum, alpha2 float64) {
	if r := len(p.Lambda); r == a.m && r < p.Dim {
		p.Floor = p.Lambda[r-1]
	}
	frob := a.frob.Value() + a.underflow()
	p.Under = roundOff * eps * alpha2 * frob
	p.Over = max(0, frob-floats.Sum(p.Lambda)) + float64(p.Dim)*p.Under
}

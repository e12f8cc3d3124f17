package purego

import "github.com/fdridge/fdridge/internal/shape"

// A gradient is R = A·Xᵀ − B and G += Rᵀ·A for rows that are divided among parts
// by their shape alone, each with a G of its own; these are added in order.
type gradient struct {
	be      *Backend
	n, d, t int
	a       []float64
	lda     int
	x       []float64
	ldx     int
	b       []float64
	ldb     int
	r       []float64
	ldr     int
	g       []float64 // of part 0; where there are more, all of them
	ldg     int
	parts   int
}

type gradientTeam struct {
	team
	gradient
	sums []float64
}

var gradients pool[gradientTeam]

// Fewest rows of a part and most parts: enough to share out, few enough that
// adding them costs little.
const (
	partRows  = 32
	mostParts = 16
)

// manyTargets is the number of right-hand sides from which on arithmetic, not the
// reading of A, takes the time, and two products are faster.
const manyTargets = 24

// Gradient computes R = A·Xᵀ − B and G += Rᵀ·A, each row of A being used for both
// while it is in cache: A is read once from memory. From manyTargets right-hand
// sides on it is two products.
func (b *Backend) Gradient(n, d, t int, a []float64, lda int, x []float64, ldx int, rhs []float64, ldb int, g []float64, ldg int, r []float64, ldr int) {
	shape.Matrix(n, d, lda, len(a))
	shape.Matrix(t, d, ldx, len(x))
	shape.Matrix(t, d, ldg, len(g))
	shape.Matrix(n, t, ldr, len(r))
	if rhs != nil {
		shape.Matrix(n, t, ldb, len(rhs))
	}
	if n == 0 || t == 0 {
		return
	}
	if t >= manyTargets {
		b.twoProducts(n, d, t, a, lda, x, ldx, rhs, ldb, g, ldg, r, ldr)
		return
	}
	v := gradient{be: b, n: n, d: d, t: t, a: a, lda: lda, x: x, ldx: ldx, b: rhs, ldb: ldb, r: r, ldr: ldr, g: g, ldg: ldg, parts: 1}
	if n*d*t >= minParallel/8 {
		v.parts = min(mostParts, n/partRows)
	}
	if v.parts <= 1 {
		v.rows(0, n, g, ldg)
		return
	}
	team := gradients.get()
	v.g, v.ldg = grow(&team.sums, v.parts*t*d)[:v.parts*t*d], d
	team.gradient = v
	team.run(&team.gradient, v.parts)
	for i := range v.parts {
		for q := range t {
			if d > 0 {
				b.kernel.Axpy1(d, 1, &v.g[(i*t+q)*d], &g[q*ldg])
			}
		}
	}
	team.gradient = gradient{}
	gradients.put(team)
}

func (b *Backend) twoProducts(n, d, t int, a []float64, lda int, x []float64, ldx int, rhs []float64, ldb int, g []float64, ldg int, r []float64, ldr int) {
	beta := 0.0
	if rhs != nil {
		beta = -1
		for i := range n {
			copy(r[i*ldr:i*ldr+t], rhs[i*ldb:])
		}
	}
	b.Gemm(false, true, n, t, d, 1, a, lda, x, ldx, beta, r, ldr)
	b.Gemm(true, false, t, d, n, 1, r, ldr, a, lda, 1, g, ldg)
}

func (v *gradient) part(i int, _ *scratch) {
	g := v.g[i*v.t*v.d : (i+1)*v.t*v.d]
	clear(g)
	v.rows(share(v.n, i, v.parts, 4), share(v.n, i+1, v.parts, 4), g, v.d)
}

// rows does rows lo to hi, four at a time.
func (v *gradient) rows(lo, hi int, g []float64, ldg int) {
	k, d := v.be.kernel, v.d
	if d == 0 {
		for i := lo; i < hi; i++ {
			for q := range v.t {
				v.residual(i, q, 0)
			}
		}
		return
	}
	i := lo
	for ; i+4 <= hi; i += 4 {
		a := &v.a[i*v.lda]
		for q := range v.t {
			s0, s1, s2, s3 := k.Dot4(d, a, v.lda, &v.x[q*v.ldx])
			s0, s1, s2, s3 = v.residual(i, q, s0), v.residual(i+1, q, s1), v.residual(i+2, q, s2), v.residual(i+3, q, s3)
			k.Axpy4(d, s0, s1, s2, s3, a, v.lda, &g[q*ldg])
		}
	}
	for ; i < hi; i++ {
		a := &v.a[i*v.lda]
		for q := range v.t {
			k.Axpy1(d, v.residual(i, q, k.Dot1(d, a, &v.x[q*v.ldx])), a, &g[q*ldg])
		}
	}
}

// residual books aᵢ·x_q − b_iq and returns it.
func (v *gradient) residual(i, q int, ax float64) float64 {
	if v.b != nil {
		ax -= v.b[i*v.ldb+q]
	}
	v.r[i*v.ldr+q] = ax
	return ax
}

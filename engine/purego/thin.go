package purego

// A thin is a product C = alpha·A·op(B) + beta·C for an A of few rows. To pack B would
// take as long as the product, so that it is read where it is: four of its rows at a
// time, with as many of those of A, or C, as the kernels take.
//
// Every element of C is a sum over k in one order, whatever columns it is computed with.
type thin struct {
	product
	strip int // columns of C, or rows of Bᵀ, that a part has
}

type thinTeam struct {
	team
	thin
}

var thins pool[thinTeam]

// fewRows is the number of rows of A from which on packing B costs less than it saves.
const fewRows = 24

// thinStrip is how many columns of C are computed at a time: some rows of them stay in
// the first-level cache, and calls are long enough. thinDepth is how many of A and Bᵀ
// are: fewRows rows of them stay in the second-level cache.
const (
	thinStrip = 512
	thinDepth = 4096
)

// multiplyThin computes p.
func multiplyThin(p product) {
	if p.m == 0 || p.n == 0 {
		return
	}
	t := thin{p, thinStrip}
	if t.transB {
		t.strip = roundUp(max(4, thinStrip*thinStrip/max(t.k, 1)), 4) // as much work
	}
	parts := (t.n + t.strip - 1) / t.strip
	team := thins.get()
	team.thin = t
	if t.m*t.n*t.k < minParallel {
		s := scratches.get()
		for i := range parts {
			team.thin.part(i, s)
		}
		scratches.put(s)
	} else {
		team.run(&team.thin, parts)
	}
	team.thin = thin{}
	thins.put(team)
}

// part computes one strip of C.
func (t *thin) part(i int, s *scratch) {
	lo, hi := i*t.strip, min((i+1)*t.strip, t.n)
	for j := range t.m {
		scaleRow(t.beta, t.c[j*t.ldc+lo:j*t.ldc+hi])
	}
	if t.alpha == 0 || t.k == 0 {
		return
	}
	if t.transB {
		t.dots(lo, hi, s)
	} else {
		t.axpys(lo, hi, s)
	}
}

// axpys adds to columns lo to hi of C the rows of B times those of alpha·Aᵀ.
func (t *thin) axpys(lo, hi int, s *scratch) {
	k, n := t.be.kernel, hi-lo
	most := len(k.Axpys)
	groups := (t.m + most - 1) / most
	c := grow(&s.a, 4*t.m)
	l := 0
	for ; l+4 <= t.k; l += 4 {
		for j := range t.m {
			for i, v := range t.a[j*t.lda+l : j*t.lda+l+4] {
				c[i*t.m+j] = t.alpha * v
			}
		}
		for g := range groups {
			j, end := g*t.m/groups, (g+1)*t.m/groups
			k.Axpys[end-j-1](n, &c[j], t.m, &t.b[l*t.ldb+lo], t.ldb, &t.c[j*t.ldc+lo], t.ldc)
		}
	}
	for ; l < t.k; l++ {
		for j := range t.m {
			k.Axpy1(n, t.alpha*t.a[j*t.lda+l], &t.b[l*t.ldb+lo], &t.c[j*t.ldc+lo])
		}
	}
}

// dots adds to columns lo to hi of C the products of rows of A and of Bᵀ.
func (t *thin) dots(lo, hi int, s *scratch) {
	for l := 0; l < t.k; l += thinDepth {
		t.dotsOf(l, min(thinDepth, t.k-l), lo, hi, grow(&s.a, 4*t.m))
	}
}

// dotsOf is dots for n columns of A and Bᵀ from l on, given room for 4×m numbers.
func (t *thin) dotsOf(l, n, lo, hi int, r []float64) {
	k := t.be.kernel
	most := len(k.Dots)
	groups := (t.m + most - 1) / most
	i := lo
	for ; i+4 <= hi; i += 4 {
		for g := range groups {
			j, end := g*t.m/groups, (g+1)*t.m/groups
			k.Dots[end-j-1](n, &t.b[i*t.ldb+l], t.ldb, &t.a[j*t.lda+l], t.lda, &r[j], t.m)
		}
		for j := range t.m {
			c := t.c[j*t.ldc+i : j*t.ldc+i+4]
			for p := range c {
				c[p] += t.alpha * r[p*t.m+j]
			}
		}
	}
	for ; i < hi; i++ {
		for j := range t.m {
			t.c[j*t.ldc+i] += t.alpha * k.Dot1(n, &t.b[i*t.ldb+l], &t.a[j*t.lda+l])
		}
	}
}

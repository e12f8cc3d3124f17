package purego

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
	"github.com/fdridge/fdridge/internal/twofold"
)

// A twofoldStrip is rows lo to hi of a call, at most 32, with scales s of rows and c of
// columns such that
//
//	|a_ij| ≤ s_i·c_j
//
// from which the bases of all sums follow, and the bounds of their errors. The scales of
// rows are powers of two.
type twofoldStrip struct {
	*twofoldGradient
	lo, hi int
	last   []float64  // the rows behind the last four, filled up with zeros
	s      []float64  // of rows
	c      []float64  // of columns
	size   []float64  // Σ c·|x| of each strip of columns, for each right-hand side
	sums   []fourSums // of each right-hand side, of one group of rows
	coef   []float64  // w·r of each group and right-hand side: four high, four low parts
	h, l   []float64  // elements of G that have a base
	small  []float64  // for calls of kernels: twelve numbers, and one for each column
}

// fourSums are a·x of four rows as far as strips of columns have been added, and the
// magnitudes in them.
type fourSums struct{ hi, lo, size [4]float64 }

func newStrip(v *twofoldGradient, s *scratch, lo, hi int) twofoldStrip {
	d, t := v.a.Cols, v.x.Rows
	p := twofoldStrip{twofoldGradient: v, lo: lo, hi: hi}
	work := grow(&s.a, 6*d+2*twofoldColumns+8*p.groups()*t+p.strips()*t+4*p.groups()+12)
	cut := func(n int) []float64 {
		x := work[:n:n]
		work = work[n:]
		return x
	}
	p.c, p.h, p.l, p.coef = cut(d), cut(twofoldColumns), cut(twofoldColumns), cut(8*p.groups()*t)
	p.size, p.s, p.small = cut(p.strips()*t), cut(4*p.groups()), cut(12+d)
	if len(s.four) < t {
		s.four = make([]fourSums, t)
	}
	p.sums = s.four[:t]
	if whole := lo + (hi-lo)&^3; whole < hi {
		p.last = cut(4 * d)
		clear(p.last)
		for i := whole; i < hi; i++ {
			copy(p.last[(i-whole)*d:], v.a.Row(i))
		}
	}
	return p
}

// groups is how many times four rows there are, and strips how many strips of columns.
func (p *twofoldStrip) groups() int { return (p.hi - p.lo + 3) / 4 }
func (p *twofoldStrip) strips() int { return (p.a.Cols + twofoldColumns - 1) / twofoldColumns }

// columns is where a strip of columns begins and how many these are.
func (p *twofoldStrip) columns(strip int) (j, n int) {
	j = strip * twofoldColumns
	return j, min(twofoldColumns, p.a.Cols-j)
}

// four are the rows of a group from column j on, and how far they are apart.
func (p *twofoldStrip) four(group, j int) (a *float64, lda int) {
	if i := p.lo + 4*group; i+4 <= p.hi {
		return &p.a.Data[i*p.a.Stride+j], p.a.Stride
	}
	return &p.last[j], p.a.Cols
}

// coefficients are those of a group and a right-hand side.
func (p *twofoldStrip) coefficients(group, q int) []float64 {
	return p.coef[8*(group*p.x.Rows+q):][:8]
}

// least is the least scale of rows and of columns: inverses and products of these are in
// range.
const least = 0x1p-500

// leasts are to be copied: that is quicker than to write one by one.
var leasts = func() (c [twofoldColumns]float64) {
	for j := range c {
		c[j] = least
	}
	return c
}()

func fillLeast(c []float64) {
	for len(c) > 0 {
		c = c[copy(c, leasts[:]):]
	}
}

// raise is for the roundings of what a base, or a bound, is computed from.
const raise = 1 + 0x1p-30

// majorise finds the scales, and the size of products with each right-hand side.
func (p *twofoldStrip) majorise() {
	d := p.a.Cols
	if d == 0 {
		return
	}
	fillLeast(p.c)
	for group := range p.groups() {
		a, lda := p.four(group, 0)
		p.k.Twofold.Maxima(d, a, lda, &p.s[4*group], &p.c[0])
	}
	if p.even() || !p.scaleRows() {
		for i := range p.s {
			p.s[i] = 1
		}
	}
	for strip := range p.strips() {
		j, n := p.columns(strip)
		for q := range p.x.Rows {
			p.size[strip*p.x.Rows+q] = raise*p.k.Dot1(n, &p.c[j], &p.absX.Data[q*p.absX.Stride+j]) + lost
		}
	}
}

// uneven is how many times the largest entries of some rows may be those of others where columns
// alone are taken to tell enough of the entries.
const uneven = 8

// even says so of the rows, but for those of zeros; s are their largest entries. They are not
// called even where [least] is not far below them.
func (p *twofoldStrip) even() bool {
	lo, hi := math.Inf(1), 0.
	for _, s := range p.s[:p.hi-p.lo] {
		if hi = max(hi, s); s > 0 {
			lo = min(lo, s)
		}
	}
	return hi <= uneven*lo && math.Abs(float64(math.Ilogb(hi))) < 250
}

// scaleRows makes scales of the largest entries of rows, where that bounds the entries better than
// those C of columns alone, which c are. In x, x², x³, … it does not. Scales of rows make elements
// of R smaller by C_j/(s_i·c_j), and those of G larger by max s_i·c_j/C_j: the one is held against
// the other, as powers of two and on average.
func (p *twofoldStrip) scaleRows() (better bool) {
	inverse, scaled := p.small[:4], p.small[12:]
	fillLeast(scaled)
	var n, rows, columns int // rows and columns: sums of exponents
	largest := math.Ilogb(least)
	for group := range p.groups() {
		s := p.s[4*group : 4*group+4]
		for i := range s {
			zero := s[i] == 0
			s[i] = max(least, kernel.Binade(s[i]))
			inverse[i] = 1 / s[i]
			if e := math.Ilogb(s[i]); !zero {
				n, rows, largest = n+1, rows+e, max(largest, e)
			}
		}
		a, lda := p.four(group, 0)
		p.k.Twofold.ColMax(p.a.Cols, &inverse[0], a, lda, &scaled[0])
	}
	for j, c := range p.c {
		columns += math.Ilogb(scaled[j]) - math.Ilogb(c)
	}
	if float64(largest)+float64(rows)/float64(max(1, n))+2*float64(columns)/float64(len(p.c)) > 0 {
		return false
	}
	copy(p.c, scaled)
	return true
}

// residuals computes R of four rows and books the coefficients w·r.
func (p *twofoldStrip) residuals(group int) {
	clear(p.sums)
	for strip := range p.strips() {
		j, n := p.columns(strip)
		a, lda := p.four(group, j)
		for q := range p.sums {
			p.dots(group, n, p.size[strip*p.x.Rows+q], a, lda, &p.x.Data[q*p.x.Stride+j], &p.sums[q])
		}
	}
	for q := range p.sums {
		coef := p.coefficients(group, q)
		clear(coef)
		for i := range min(4, p.hi-p.lo-4*group) {
			sum := &p.sums[q]
			coef[i], coef[4+i] = p.residual(p.lo+4*group+i, q, sum.hi[i], sum.lo[i], sum.size[i])
		}
	}
}

// dots adds to sums the products of n columns of four rows with x, given Σ c·|x|.
func (p *twofoldStrip) dots(group, n int, size float64, a *float64, lda int, x *float64, sums *fourSums) {
	base, sum := p.small[:4], p.small[4:12]
	for i := range base {
		magnitude := p.s[4*group+i] * size
		sums.size[i] += magnitude
		base[i] = kernel.Base(magnitude)
	}
	p.k.Twofold.Dots(n, &base[0], a, lda, x, &sum[0])
	for i := range base {
		var e float64
		sums.hi[i], e = twofold.Sum(sums.hi[i], sum[i])
		sums.lo[i] += e + sum[4+i]
	}
}

// unit2 is u² for u = 2⁻⁵³, the unit of what sums of two numbers are off by.
const unit2 = 0x1p-106

// alongRows is what a product of d columns may be off by, taken in so many strips, less b and
// with a shift, relative to the magnitudes of which its bases are made. See [engine.Twofold].
func alongRows(d, strips int) float64 {
	n, s := float64(min(d, twofoldColumns)), float64(strips+2)
	return 2 * unit2 * (n*(70+n/2) + 2*s*(4*n+s))
}

// alongStrip is what an element of G may be off by of so many rows.
func alongStrip(rows int) float64 {
	r := float64(rows)
	return 2 * unit2 * (16*r*r + 4*r)
}

// tiny is more than what underflows in the some thousand operations on an element of a
// strip.
const tiny = 0x1p-1060

// lost is more than what underflows in a sum of magnitudes, of up to 512 columns or 32 rows, or in
// what is taken of one: it counts where scales that these are multiplied by are large.
const lost = 0x1p-1064

// residual books row i's a·x − b + c, given a·x as a sum of two and the magnitudes in it, and
// returns it times the weight.
func (p *twofoldStrip) residual(i, q int, hi, lo, size float64) (ch, cl float64) {
	if p.b.Data != nil {
		b := p.b.Data[i*p.b.Stride+q]
		var e float64
		hi, e = twofold.Sum(hi, -b)
		lo += e
		size += math.Abs(b)
	}
	if p.shift != nil {
		c := p.shift[q]
		var e float64
		hi, e = twofold.Sum(hi, c)
		lo += e
		size += math.Abs(c)
	}
	size += hi - hi // which is 0, or NaN as all is then
	hi, lo = twofold.Sum(hi, lo)
	p.r.Hi.Data[i*p.r.Hi.Stride+q] = hi
	p.r.Lo.Data[i*p.r.Lo.Stride+q] = lo
	p.r.Err.Data[i*p.r.Err.Stride+q] = size*alongRows(p.a.Cols, p.strips()) + tiny*float64(p.a.Cols+1)
	if p.w == nil {
		return hi, lo
	}
	w := p.w[i]
	ch, _ = twofold.Product(w, hi)
	return ch, math.FMA(w, lo, math.FMA(w, hi, -ch))
}

// magnitude is Σ s·|w·r| of a right-hand side, and what Σ s·w·r is off by for the R that is
// returned; both 0 where R is.
func (p *twofoldStrip) magnitude(q int) (sigma, off float64) {
	var some bool
	for i := range p.hi - p.lo {
		c := math.Abs(p.coefficients(i/4, q)[i%4])
		if p.w != nil {
			off += p.s[i] * (0x1p-103*c + tiny)
		}
		sigma += p.s[i] * c
		some = some || c != 0
	}
	if !some {
		return 0, off
	}
	sigma = raise*sigma + lost
	return sigma, raise*(off+alongStrip(4*p.groups())*sigma) + lost
}

// gradient adds the strip's part of G.
func (p *twofoldStrip) gradient(g matrix.Twofold) {
	for q := range p.x.Rows {
		sigma, off := p.magnitude(q)
		for strip := range p.strips() {
			j, n := p.columns(strip)
			p.k.Twofold.Open(n, sigma, &p.c[j], &p.h[0], &p.l[0])
			for group := range p.groups() {
				a, lda := p.four(group, j)
				p.k.Twofold.Axpys(n, &p.coefficients(group, q)[0], a, lda, &p.h[0], &p.l[0])
			}
			p.k.Twofold.Close(n, sigma, off, &p.c[j], &p.h[0], &p.l[0], &g.Hi.Row(q)[j], &g.Lo.Row(q)[j], &g.Err.Row(q)[j])
		}
	}
}

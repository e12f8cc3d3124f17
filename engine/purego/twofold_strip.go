package purego

import (
	"math"

	"github.com/fdridge/fdridge/engine/internal/matrix"
	"github.com/fdridge/fdridge/engine/purego/internal/kernel"
	"github.com/fdridge/fdridge/internal/twofold"
)

// A twofoldStrip holds rows lo to hi−1 of the matrix a, at most 32. Each row i has a scale s_i, and each column j
// has a scale c_j. They satisfy
//
//	|a_ij| ≤ s_i·c_j,
//
// and each s_i is a power of two. Error bounds of sums depend on the scales, see [kernel.Twofold] and
// [engine.Twofold].
type twofoldStrip struct {
	*twofoldGradient
	lo, hi int
	last   []float64  // the last rows, if they are fewer than four, padded with zeros
	s      []float64  // scales of rows
	c      []float64  // scales of columns
	size   []float64  // Σ c_j·|x_j| over each strip of columns, for each right-hand side
	sums   []fourSums // sums for the current four rows, for each right-hand side
	coef   []float64  // w·r for each group of four rows and right-hand side: four high parts, then four low parts
	h, l   []float64  // sums for elements of G, including their bases
	small  []float64  // workspace for calls of kernels: twelve numbers, and one for each column
}

// fourSums holds the inner products of four rows with x over the columns processed so far. Each inner product is
// hi + lo. The field size holds bounds on the sums of the magnitudes of the terms.
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

// groups returns the number of groups of four rows, and strips returns the number of strips of columns.
func (p *twofoldStrip) groups() int {
	return (p.hi - p.lo + 3) / 4
}
func (p *twofoldStrip) strips() int {
	return (p.a.Cols + twofoldColumns - 1) / twofoldColumns
}

// columns returns the first column and the number of columns of a strip.
func (p *twofoldStrip) columns(strip int) (j, n int) {
	j = strip * twofoldColumns
	return j, min(twofoldColumns, p.a.Cols-j)
}

// groupRows returns the address of the first of the four rows of a group, at column j. It also returns the distance
// between the rows.
func (p *twofoldStrip) groupRows(group, j int) (a *float64, lda int) {
	if i := p.lo + 4*group; i+4 <= p.hi {
		return &p.a.Data[i*p.a.Stride+j], p.a.Stride
	}
	return &p.last[j], p.a.Cols
}

// coefficients returns the residuals of the four rows of a group for right-hand side q, multiplied by the weights
// of the rows. Each is the sum of two numbers. The four high parts come first, then the four low parts.
func (p *twofoldStrip) coefficients(group, q int) []float64 {
	return p.coef[8*(group*p.x.Rows+q):][:8]
}

// minScale is the smallest scale of a row or column. Its inverse does not overflow, and its square does not
// underflow.
const minScale = 0x1p-500

// minScales is an array of minScale. Copying it to a slice is faster than a loop.
var minScales = func() (c [twofoldColumns]float64) {
	for j := range c {
		c[j] = minScale
	}
	return c
}()

func fillMinScale(c []float64) {
	for len(c) > 0 {
		c = c[copy(c, minScales[:]):]
	}
}

// inflate is a factor that covers the round-off in the computation of a base or a bound.
const inflate = 1 + 0x1p-30

// computeScales computes the scales of the rows and columns. It also computes p.size from the scales of the
// columns.
func (p *twofoldStrip) computeScales() {
	d := p.a.Cols
	if d == 0 {
		return
	}
	fillMinScale(p.c)
	for group := range p.groups() {
		a, lda := p.groupRows(group, 0)
		p.k.Twofold.Maxima(d, a, lda, &p.s[4*group], &p.c[0])
	}
	if p.isEven() || !p.scaleRows() {
		for i := range p.s {
			p.s[i] = 1
		}
	}
	if p.x.Data == nil {
		return
	}
	for strip := range p.strips() {
		j, n := p.columns(strip)
		for q := range p.x.Rows {
			p.size[strip*p.x.Rows+q] = inflate*p.k.Dot1(n, &p.c[j], &p.absX.Data[q*p.absX.Stride+j]) + lostMagnitude
		}
	}
}

// maxRatio limits the ratio of the largest entries of any two rows. If no ratio is larger, the scales of all rows
// are 1.
const maxRatio = 8

// isEven reports whether the largest entries of any two nonzero rows differ by at most a factor of maxRatio. p.s
// must hold the largest entry of each row. If these entries are very small or very large, isEven returns false.
func (p *twofoldStrip) isEven() bool {
	lo, hi := math.Inf(1), 0.
	for _, s := range p.s[:p.hi-p.lo] {
		hi = max(hi, s)
		if s > 0 {
			lo = min(lo, s)
		}
	}
	return hi <= maxRatio*lo && math.Abs(float64(math.Ilogb(hi))) < 250
}

// scaleRows computes scales s_i of the rows from their largest entries in p.s, and stores the scales in p.s. It
// also adapts the scales c_j of the columns in p.c. It returns false and does not change p.c if scales of the
// columns alone give smaller bounds. An example is a matrix with the columns x, x², x³, ….
//
// Let C_j be the scales of columns alone. Then scales of rows multiply the bounds for row i of R by s_i·c_j/C_j.
// They multiply the bounds for G by the largest s_i·c_j/C_j. scaleRows compares the averages of the exponents of
// these two factors.
func (p *twofoldStrip) scaleRows() (better bool) {
	inverse := p.small[:4]
	scaled := p.small[12:]
	fillMinScale(scaled)
	var n, rows, columns int // rows and columns are sums of exponents
	largest := math.Ilogb(minScale)
	for group := range p.groups() {
		s := p.s[4*group : 4*group+4]
		for i := range s {
			zero := s[i] == 0
			s[i] = max(minScale, kernel.Binade(s[i]))
			inverse[i] = 1 / s[i]
			e := math.Ilogb(s[i])
			if !zero {
				n++
				rows += e
				largest = max(largest, e)
			}
		}
		a, lda := p.groupRows(group, 0)
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

// residuals computes R for a group of four rows. It also stores the coefficients that G needs, which are the
// residuals multiplied by the weights of the rows.
func (p *twofoldStrip) residuals(group int) {
	clear(p.sums)
	strips := p.strips()
	if p.x.Data == nil {
		strips = 0
	}
	for strip := range strips {
		j, n := p.columns(strip)
		a, lda := p.groupRows(group, j)
		for q := range p.sums {
			p.dots(
				group,
				n,
				p.size[strip*p.x.Rows+q],
				a,
				lda,
				&p.x.Data[q*p.x.Stride+j],
				&p.sums[q],
			)
		}
	}
	for q := range p.sums {
		coef := p.coefficients(group, q)
		clear(coef)
		for i := range min(4, p.hi-p.lo-4*group) {
			sum := &p.sums[q]
			coef[i], coef[4+i] = p.residual(
				p.lo+4*group+i,
				q,
				sum.hi[i],
				sum.lo[i],
				sum.size[i],
			)
		}
	}
}

// dots adds the inner products of x and the four rows of a group, over n columns, to sums. The argument size is the
// sum of c_j·|x_j| over these columns, where c_j is the scale of column j.
func (p *twofoldStrip) dots(
	group, n int,
	size float64,
	a *float64,
	lda int,
	x *float64,
	sums *fourSums,
) {
	base := p.small[:4]
	sum := p.small[4:12]
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

// unit2 is the square of the unit round-off 2⁻⁵³. The error bounds of numbers that are stored as a sum of two are
// multiples of unit2.
const unit2 = 0x1p-106

// rowError bounds the error of an element of R relative to the sum of the magnitudes of its terms. The terms are d
// products, a target and an offset. The argument strips is the number of strips of columns. [engine.Twofold] has
// the derivation.
func rowError(d, strips int) float64 {
	n := float64(min(d, twofoldColumns))
	s := float64(strips + 2)
	return 2 * unit2 * (n*(70+n/2) + 2*s*(4*n+s))
}

// stripError bounds the error of the sum that a strip of rows adds to an element of G. The bound is relative to the
// sum of the magnitudes of the terms. [engine.Twofold] has the derivation.
func stripError(rows int) float64 {
	r := float64(rows)
	return 2 * unit2 * (16*r*r + 4*r)
}

// tiny bounds the error that underflow causes in an element of a strip, in a few thousand operations.
const tiny = 0x1p-1060

// lostMagnitude bounds the error that underflow causes in a sum of magnitudes over up to 512 columns or 32 rows.
// This error matters if the sum is multiplied by large scales.
const lostMagnitude = 0x1p-1064

// residual computes and stores the residual r = a·x − b + c of row i for right-hand side q. The argument hi + lo is
// a·x, and size is the sum of the magnitudes of its terms. residual returns the residual multiplied by the weight
// of the row, as the sum ch + cl.
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
	size += hi - hi // hi − hi is 0, or NaN if hi is not finite
	hi, lo = twofold.Sum(hi, lo)
	p.r.Hi.Data[i*p.r.Hi.Stride+q] = hi
	p.r.Lo.Data[i*p.r.Lo.Stride+q] = lo
	p.r.Err.Data[i*p.r.Err.Stride+q] = size*rowError(p.a.Cols, p.strips()) +
		tiny*float64(p.a.Cols+1)
	if p.w == nil {
		return hi, lo
	}
	w := p.w[i]
	ch, _ = twofold.Product(w, hi)
	return ch, math.FMA(w, lo, math.FMA(w, hi, -ch))
}

// magnitude returns the sum sigma = Σ s_i·|w_i·r_i| for right-hand side q. Row i has the scale s_i, the weight w_i
// and the residual r_i. It also returns a bound on the error of Σ s_i·w_i·r_i for the computed residuals. If all
// residuals are 0, sigma is 0.
func (p *twofoldStrip) magnitude(q int) (sigma, errBound float64) {
	var some bool
	for i := range p.hi - p.lo {
		c := math.Abs(p.coefficients(i/4, q)[i%4])
		if p.w != nil {
			errBound += p.s[i] * (0x1p-103*c + tiny)
		}
		sigma += p.s[i] * c
		some = some || c != 0
	}
	if !some {
		return 0, errBound
	}
	sigma = inflate*sigma + lostMagnitude
	return sigma, inflate*(errBound+stripError(4*p.groups())*sigma) + lostMagnitude
}

// gradient adds the contribution of the strip to G.
func (p *twofoldStrip) gradient(g matrix.Twofold) {
	for q := range p.x.Rows {
		sigma, off := p.magnitude(q)
		for strip := range p.strips() {
			j, n := p.columns(strip)
			p.k.Twofold.Open(n, sigma, &p.c[j], &p.h[0], &p.l[0])
			for group := range p.groups() {
				a, lda := p.groupRows(group, j)
				p.k.Twofold.Axpys(
					n,
					&p.coefficients(group, q)[0],
					a,
					lda,
					&p.h[0],
					&p.l[0],
				)
			}
			p.k.Twofold.Close(
				n,
				sigma,
				off,
				&p.c[j],
				&p.h[0],
				&p.l[0],
				&g.Hi.Row(q)[j],
				&g.Lo.Row(q)[j],
				&g.Err.Row(q)[j],
			)
		}
	}
}

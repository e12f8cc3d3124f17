package purego

// A thin is a product C = alpha·A·op(B) + beta·C for an A of few rows. To pack B would
// take as long as the product, so that it is read where it is: in tiles or, for fewer
// rows still, four of its rows at a time with as many of those of A, or C, as the
// kernels take.
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

// fewRows is the number of rows of A from which on packing B costs less than it saves,
// thinTiles the one from which on tiles are faster than single rows.
const (
	fewRows   = 48
	thinTiles = 8
)

const (
	// thinStrip is the number of columns of C computed at a time: some rows of them stay
	// in the first-level cache, and calls are long enough.
	thinStrip = 512
	// thinDepth is the number of columns of A and Bᵀ taken at a time by single rows:
	// thinTiles rows of them stay in the second-level cache.
	thinDepth = 4096
	// thinChunk is the number of rows of B taken at a time by tiles. Of Bᵀ tiles take
	// wideStrip columns.
	thinChunk = 32
)

// multiplyThin computes p.
func multiplyThin(p *product) {
	if p.m == 0 || p.n == 0 {
		return
	}
	team := thins.get()
	t := &team.thin
	t.product, t.strip = *p, thinStrip
	if t.b.trans {
		t.strip = roundUp(max(4, thinStrip*thinStrip/max(t.k, 1)), 4) // as much work
		if t.m >= thinTiles {
			t.strip = roundUp(2*t.strip, t.be.kernel.Unit) // A is packed for each
		}
	}
	parts := (t.n + t.strip - 1) / t.strip
	if t.m*t.n*t.k < minParallel {
		s := scratches.get()
		for i := range parts {
			t.part(i, s)
		}
		scratches.put(s)
	} else {
		team.run(t, parts)
	}
	*t = thin{}
	thins.put(team)
}

// part computes one strip of C.
func (t *thin) part(i int, s *scratch) {
	lo, hi := i*t.strip, min((i+1)*t.strip, t.n)
	for j := range t.m {
		scaleRow(t.beta, t.c.Data[j*t.c.Stride+lo:j*t.c.Stride+hi])
	}
	if t.alpha == 0 || t.k == 0 {
		return
	}
	switch few := t.m < thinTiles; {
	case t.b.trans && few:
		t.dots(lo, hi, s)
	case t.b.trans:
		t.rows(lo, hi, s)
	case few:
		t.axpys(lo, hi, s)
	default:
		t.columns(lo, hi, s)
	}
}

// columns adds to columns lo to hi of C in tiles, for some rows of B after the other.
func (t *thin) columns(lo, hi int, s *scratch) {
	mr := t.be.kernel.MR()
	for l := 0; l < t.k; l += thinChunk {
		k := min(thinChunk, t.k-l)
		a := t.be.pack(grow(&s.a, k*roundUp(t.m, mr)), mr, false, t.a.Data, t.a.Stride, l, 0, k, t.m)
		t.tiles(s, a, t.b.Data[l*t.b.Stride+lo:], t.b.Stride, 0, lo, t.m, hi-lo, k, true)
	}
}

// rows adds to columns lo to hi of C in tiles of its transpose: rows of Bᵀ where they
// lie times Aᵀ, for some columns of these after the other.
func (t *thin) rows(lo, hi int, s *scratch) {
	unit, n := t.be.kernel.Unit, hi-lo
	m, size := roundUp(t.m, unit), roundUp(n, unit)*roundUp(t.m, unit)
	width := t.be.evenPanels(m)
	work := grow(&s.b, size+m*wideStrip)
	c, packed := work[:size], work[size:]
	for l := 0; l < t.k; l += wideStrip {
		k := min(wideStrip, t.k-l)
		t.be.pack(packed, width, false, t.a.Data, t.a.Stride, l, 0, k, t.m)
		t.be.timesRows(s, n, m, k, t.b.Data[lo*t.b.Stride+l:], t.b.Stride, packed, width, c, m, l > 0)
	}
	for j := range t.m {
		row := t.c.Data[j*t.c.Stride+lo : j*t.c.Stride+hi]
		for i := range row {
			row[i] += t.alpha * c[i*m+j]
		}
	}
}

// axpys adds to columns lo to hi of C the rows of B times those of alpha·Aᵀ.
func (t *thin) axpys(lo, hi int, s *scratch) {
	k, n := t.be.kernel, hi-lo
	c := grow(&s.a, 4*t.m)
	l := 0
	for ; l+4 <= t.k; l += 4 {
		for j := range t.m {
			for i, v := range t.a.Data[j*t.a.Stride+l : j*t.a.Stride+l+4] {
				c[i*t.m+j] = t.alpha * v
			}
		}
		k.AxpysMany(n, t.m, &c[0], t.m, &t.b.Data[l*t.b.Stride+lo], t.b.Stride, &t.c.Data[lo], t.c.Stride)
	}
	for ; l < t.k; l++ {
		for j := range t.m {
			k.Axpy1(n, t.alpha*t.a.Data[j*t.a.Stride+l], &t.b.Data[l*t.b.Stride+lo], &t.c.Data[j*t.c.Stride+lo])
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
	i := lo
	for ; i+4 <= hi; i += 4 {
		k.DotsMany(n, t.m, &t.b.Data[i*t.b.Stride+l], t.b.Stride, &t.a.Data[l], t.a.Stride, &r[0], t.m)
		for j := range t.m {
			c := t.c.Data[j*t.c.Stride+i : j*t.c.Stride+i+4]
			for p := range c {
				c[p] += t.alpha * r[p*t.m+j]
			}
		}
	}
	for ; i < hi; i++ {
		for j := range t.m {
			t.c.Data[j*t.c.Stride+i] += t.alpha * k.Dot1(n, &t.b.Data[i*t.b.Stride+l], &t.a.Data[j*t.a.Stride+l])
		}
	}
}

package purego

// A thinProduct is a product C = alpha·A·op(B) + beta·C for an A with few rows, where op(B) is B or Bᵀ. Packing B,
// as larger products do, would take as long as the product. Therefore kernels read B directly. If A has fewer than
// thinTiles rows, the kernels for vectors compute C, with four rows of B at a time. Otherwise the kernels for tiles
// compute it.
//
// An element of C is a sum of k terms. Their order does not depend on how C is divided into parts.
type thinProduct struct {
	product
	strip int // number of columns of C in a part
}

type thinTeam struct {
	team
	thinProduct
}

var thins pool[thinTeam]

// fewRows is the smallest number of rows of A at which packing B is faster than reading B directly. thinTiles is the
// smallest number of rows of A at which tiles are faster than the kernels for vectors.
const (
	fewRows   = 48
	thinTiles = 8
)

const (
	// thinStrip is the number of columns of C that are computed together. Longer strips would leave the first-level
	// cache. Shorter strips would give a kernel too little work per call.
	thinStrip = 512
	// thinDepth is the number of columns of A in one call of dotsBlock. They fit into the second-level cache.
	thinDepth = 4096
	// thinChunk is the number of rows of B that tiles process together in the product A·B. In the product A·Bᵀ,
	// tiles process wideStrip columns of B together instead.
	thinChunk = 32
)

func multiplyThin(p *product) {
	if p.m == 0 || p.n == 0 {
		return
	}
	team := thins.get()
	t := &team.thinProduct
	t.product, t.strip = *p, thinStrip
	if t.b.trans {
		t.strip = roundUp(max(4, thinStrip*thinStrip/max(t.k, 1)), 4) // strips with about the same amount of work
		if t.m >= thinTiles {
			t.strip = roundUp(2*t.strip, t.be.kernel.Unit) // fewer strips, because A is packed for each
		}
	}
	parts := (t.n + t.strip - 1) / t.strip
	if t.m*t.n*t.k < minParallel {
		s := scratches.get()
		for i := range parts {
			t.doPart(i, s)
		}
		scratches.put(s)
	} else {
		team.run(t, parts)
	}
	*t = thinProduct{}
	thins.put(team)
}

func (t *thinProduct) doPart(i int, s *scratch) {
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

// columns adds alpha·A·B to columns lo to hi−1 of C. It computes tiles of C, from thinChunk rows of B at a time.
func (t *thinProduct) columns(lo, hi int, s *scratch) {
	mr := t.be.kernel.MR()
	for l := 0; l < t.k; l += thinChunk {
		k := min(thinChunk, t.k-l)
		a := t.be.pack(grow(&s.a, k*roundUp(t.m, mr)), mr, false, t.a.Data, t.a.Stride, l, 0, k, t.m)
		t.tiles(s, a, t.b.Data[l*t.b.Stride+lo:], t.b.Stride, 0, lo, t.m, hi-lo, k, true)
	}
}

// rows adds alpha·A·Bᵀ to columns lo to hi−1 of C. It computes the transpose B·Aᵀ in tiles, from rows of B and
// packed Aᵀ. It then adds this matrix, transposed, to C.
func (t *thinProduct) rows(lo, hi int, s *scratch) {
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

// axpys adds alpha·A·B to columns lo to hi−1 of C. It adds multiples of the rows of B to the rows of C, four rows
// of B at a time.
func (t *thinProduct) axpys(lo, hi int, s *scratch) {
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

// dots adds alpha·A·Bᵀ to columns lo to hi−1 of C, as inner products of rows of A and B.
func (t *thinProduct) dots(lo, hi int, s *scratch) {
	for l := 0; l < t.k; l += thinDepth {
		t.dotsBlock(l, min(thinDepth, t.k-l), lo, hi, grow(&s.a, 4*t.m))
	}
}

// dotsBlock adds alpha·A·Bᵀ to columns lo to hi−1 of C, where A and B have only their columns l to l+n−1. The
// argument r is a workspace of 4·t.m numbers.
func (t *thinProduct) dotsBlock(l, n, lo, hi int, r []float64) {
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

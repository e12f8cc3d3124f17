package fd

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/neumaier"
)

// Rows that are sparse but for what they have in common,
//
//	r = s − κμ,   s sparse, μ dense and the same for many of them,
//
// wait for a shrink as s and κ, with μ among the dense rows. So the rows R of a shrink are L times
// what they are made of, X = [B; μ…; S], L the identity but for −κ in the column of μ and for
// zeros in its row. The shrink is that of R:
//
//	G = L·XXᵀ·Lᵀ,   B ← diag(√(1 − δ/λ))·(UL)·X,
//
// by the products and sums of sparse rows. A centre counts as a live row, one of zeros.

// A centre is μ of rows that are to be placed.
type centre struct {
	row   []float64
	norm2 float64 // ‖μ‖²

	slot    int   // 1 + the row of the buffer that it is in, while there have been so many shrinks
	shrinks int64 // which take it
	of      int   // Merge: its slot in the other sketch
}

// faintest is the least ‖μ‖² of a centre of rows that wait. The squares of a fainter one have lost
// digits, or are all 0, though multiples of it may be as long as any row.
const faintest = 0x1p-900

// faint says that rows less multiples of the centre are to be written out.
func (c *centre) faint() bool { return c.norm2 < faintest }

// none says that f times the centre is nothing.
func (c *centre) none(f float64) bool {
	return f == 0 || c.norm2 == 0 && !slices.ContainsFunc(c.row, func(v float64) bool { return v != 0 })
}

// length is the norm of f times the centre.
func (c *centre) length(f float64) float64 {
	if !c.faint() {
		return math.Abs(f) * math.Sqrt(c.norm2)
	}
	var sum float64
	for _, v := range c.row {
		sum += float64(float64(f*v) * float64(f*v))
	}
	return math.Sqrt(sum)
}

// AppendCentred appends the n rows xᵢ − timesᵢ·centre, for x n×Dim, a centre of length Dim and n
// times, nil if all are 1. They stay as they are given until a shrink, as those of
// [Sketch.AppendSparse] do, with the centre beside them, which takes the room of a row; so one
// centre is to serve many rows. Rows less one so small that its square would underflow are written out.
//
// What rounding may do is relative to ‖xᵢ‖ and |timesᵢ|·‖centre‖, and counted by
// [Bound.RoundOff]: where these are far larger than ‖xᵢ − timesᵢ·centre‖ it is better to append
// the rows themselves. A number of the centre that is not finite is that of the first row in the
// error, one of times has column Dim.
func (s *Sketch) AppendCentred(x *engine.CSR, times, centre []float64) error {
	if err := s.fits(x); err != nil {
		return err
	}
	if d := s.cfg.Dim; len(centre) != d || times != nil && len(times) != x.Rows {
		return fmt.Errorf("%w: a centre of length %d and %d times for %d rows, sketch of dimension %d", errShape, len(centre), len(times), x.Rows, d)
	}
	c := newCentre(centre)
	if err := admit(0, centre, c.norm2, new(neumaier.Sum)); err != nil {
		return err
	}
	total := s.frob
	for i := range x.Rows {
		if err := c.admit(i, x, timesOf(times, i), &total); err != nil {
			return err
		}
	}
	for i := range x.Rows {
		idx, val := x.Row(i)
		if err := s.place(idx, val, &c, timesOf(times, i)); err != nil {
			return err
		}
	}
	s.frob, s.count = total, s.count+int64(x.Rows)
	return nil
}

func timesOf(times []float64, i int) float64 {
	if times == nil {
		return 1
	}
	return times[i]
}

func newCentre(row []float64) centre { return centre{row: row, norm2: squares(row)} }

// KeepsSparse reports whether sparse rows stay as they are until a shrink, those of
// [Sketch.AppendCentred] too.
func (s *Sketch) KeepsSparse() bool { return s.sparse.most > 0 && s.order() >= s.m+2 }

// admit checks row i of x less f times the centre, and adds its squared norm to total.
func (c *centre) admit(i int, x *engine.CSR, f float64, total *neumaier.Sum) error {
	var own neumaier.Sum
	if err := admitSparse(i, x, &own); err != nil {
		return err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return &NonFiniteError{Row: i, Col: len(c.row), Value: f}
	}
	if !(own.Value()+c.timesSquares(f) <= MaxSquares && f*f <= MaxSquares) {
		return &RangeError{Row: i}
	}
	idx, val := x.Row(i)
	return addNorm2(i, c.squares(idx, val, f), total)
}

// timesSquares is f²‖μ‖², where f² may underflow.
func (c *centre) timesSquares(f float64) float64 { return float64(float64(f*c.norm2) * f) }

// squares is the squared norm of a row less f times the centre: that of the columns with entries,
// and that of the others, f²·(‖μ‖² − Σμⱼ²), neither of which is negative. Of the first it is off by
// 3·eps at most, and by 12·eps·f²‖μ‖².
func (c *centre) squares(idx []int32, val []float64, f float64) float64 {
	if c.none(f) {
		return squares(val)
	}
	var own, centre neumaier.Sum
	if c.faint() {
		at := 0
		for j, v := range c.row {
			z := -float64(f * v)
			if at < len(idx) && int(idx[at]) == j {
				z += val[at]
				at++
			}
			own.Add(float64(z * z))
		}
		return own.Value()
	}
	for k, j := range idx {
		v := val[k] - float64(f*c.row[j])
		own.Add(float64(v * v))
		centre.Add(float64(c.row[j] * c.row[j]))
	}
	return own.Value() + float64(float64(f*max(c.norm2-centre.Value(), 0))*f)
}

// slotIn is the slot of the centre in s, 0 where it is in none.
func (c *centre) slotIn(s *Sketch) int {
	if c.slot > 0 && c.shrinks == s.shrinks {
		return c.slot
	}
	return 0
}

// placeCentre puts a centre behind the dense rows, and returns its slot.
func (s *Sketch) placeCentre(c *centre) int {
	copy(s.row(s.rows), c.row)
	s.rows++
	c.slot, c.shrinks = s.rows, s.shrinks
	return c.slot
}

// writeOut overwrites dst with a row less f times c, if there is one, and returns a bound on what
// the rounding of its elements, of a product and of a difference each, does to BᵀB: with
// ν = ‖s‖ + κ‖μ‖ the row is off by at most eps·ν, and rᵀr by twice ν times that.
func (c *centre) writeOut(dst []float64, idx []int32, val []float64, f float64) (pad float64) {
	clear(dst)
	if c == nil {
		for k, j := range idx {
			dst[j] = val[k]
		}
		return 0
	}
	for j, v := range c.row {
		dst[j] = -float64(f * v)
	}
	for k, j := range idx {
		dst[j] += val[k]
	}
	norm := math.Sqrt(squares(val)) + c.length(f)
	return 3 * eps * norm * norm
}

// centres says of each row of the buffer whether it is a centre of rows that wait. It is nil where
// none is.
func (s *Sketch) centres() []bool {
	if !s.sparse.centred() {
		return nil
	}
	of := make([]bool, s.rows)
	for _, slot := range s.sparse.centre {
		if slot > 0 && slot <= s.rows {
			of[slot-1] = true
		}
	}
	return of
}

// countCentres is how many rows of the buffer are centres of rows that wait. They come in the order of these.
func (s *Sketch) countCentres() (n int) {
	last := 0
	for _, slot := range s.sparse.centre {
		if slot > last {
			n, last = n+1, slot
		}
	}
	return n
}

// centred reports whether there are rows with a centre.
func (w *sparseRows) centred() bool {
	return slices.ContainsFunc(w.centre, func(slot int) bool { return slot > 0 })
}

// centreOf makes c the centre of waiting row i, which it mostly is already, and returns it; nil if
// there is none.
func (s *Sketch) centreOf(i int, c *centre) *centre {
	slot := s.sparse.centre[i]
	if slot == 0 {
		return nil
	}
	if c.of != slot {
		*c = newCentre(s.row(slot - 1))
		c.of = slot
	}
	return c
}

// lessCentres makes of XXᵀ the G of rows less their centres (lower triangles, n×n).
func (s *Sketch) lessCentres(g engine.Matrix) {
	k, w := s.rows, &s.sparse
	for i, slot := range w.centre {
		row, f := g.Row(k+i), w.times[i]
		for j := range i + 1 {
			v, other := row[k+j], w.centre[j]
			if slot > 0 {
				v -= float64(f * g.Row(k + j)[slot-1])
			}
			if other > 0 {
				v -= float64(w.times[j] * row[other-1])
			}
			if slot > 0 && other > 0 {
				v += float64(float64(f*below(g, slot-1, other-1)) * w.times[j])
			}
			row[k+j] = v
		}
	}
	for i, slot := range w.centre {
		if slot > 0 {
			row := g.Row(k + i)
			for j := range k {
				row[j] -= float64(w.times[i] * below(g, slot-1, j))
			}
		}
	}
	last := 0
	for _, slot := range w.centre {
		if slot > 0 && slot != last {
			c := slot - 1
			clear(g.Row(c)[:c+1])
			for i := slot; i < g.Rows; i++ {
				g.Row(i)[c] = 0
			}
			last = slot
		}
	}
}

// below is element i, j of a symmetric matrix of which g has the lower triangle.
func below(g engine.Matrix, i, j int) float64 { return g.Row(max(i, j))[min(i, j)] }

// timesCentres makes UL of the leading rows of U.
func (s *Sketch) timesCentres(u engine.Matrix) {
	w := &s.sparse
	if !w.centred() {
		return
	}
	for l := range u.Rows {
		row := u.Row(l)
		of := row[s.rows:]
		for _, slot := range w.centre {
			if slot > 0 {
				row[slot-1] = 0
			}
		}
		for i, slot := range w.centre {
			if slot > 0 {
				row[slot-1] -= float64(w.times[i] * of[i])
			}
		}
	}
}

// fades reports that a decay by beta leaves a centre of rows that wait so faint that they would be
// written out.
func (s *Sketch) fades(beta float64) bool {
	var c centre
	for i := range s.sparse.Rows {
		if s.centreOf(i, &c) != nil && !(beta*c.norm2 >= 2*faintest) { // which rounding leaves above faintest
			return true
		}
	}
	return false
}

// centreSquares is Σκ²‖μ‖² of the rows that wait, and Σ|κ|.
func (s *Sketch) centreSquares() (sum, times float64) {
	var c centre
	for i, f := range s.sparse.times {
		if s.centreOf(i, &c) != nil {
			sum += c.timesSquares(f)
			times += math.Abs(f)
		}
	}
	return sum, times
}

// errorOfCentres bounds, in norm, the round-off of the products of centres beyond errorOfSparse, and
// of sums of products of sparse rows and centres. dense, sparse and centres are ‖B‖²_F, Σ‖s‖² and
// Σκ²‖μ‖² as computed, n is the order of G and times Σ|κ|.
//
// With ν = ‖s‖ + κ‖μ‖, an entry of G meets up to six roundings as it is put together, 3·eps·νν′ or
// 3·eps·ν‖b‖. Its products with a centre are off by (z/2 + Roundings)·eps·κ‖μ‖‖s′‖, and products of
// dense rows by (dot + Roundings)·eps times their norms. The first line is the Frobenius norm of all
// this. The last term is for products that underflow before they are multiplied by κ
// (docs/math.md §14).
func (s *Sketch) errorOfCentres(z int, dense, sparse, centres, times float64, n int) float64 {
	if centres == 0 {
		return 0
	}
	short := float64(z)/2 + engine.Roundings + 4
	long := s.cfg.Backend.Accuracy().Dot(s.cfg.Dim) + engine.Roundings + 4
	a, b := math.Sqrt(sparse), math.Sqrt(centres)
	products := 3*a*math.Sqrt(2*dense+sparse) + 2*short*a*b + long*b*math.Sqrt(2*dense+centres)
	return eps*products + 2*(times*0x1p-537)*((float64(n)+times)*0x1p-537)*float64(s.cfg.Dim)
}

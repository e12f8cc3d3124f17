package fd

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/internal/vec"
)

// AppendCentred appends rows
//
//	r = s − κμ,
//
// where s is sparse. κ is a number, and many rows share the dense centre μ. The sketch stores s and κ until the
// next shrink, and μ once, as a dense row. Let X = [B; μ…; S] be the stored rows: the dense rows B, the centres
// μ and the sparse rows S. The sketch stands for the rows R = LX. L is the identity with two changes: the row of L
// for a sparse row s has −κ in the column of the centre of s, and the row of L for a centre is zero. The shrink of
// R is
//
//	G = L·XXᵀ·Lᵀ,   B ← diag(√(1 − δ/λ))·(UL)·X,
//
// with the eigenvalues λ of G, its eigenvectors as the rows of U, and δ = λ_{m+1}. Apart from products of
// dense rows, G needs only products and sums of sparse rows.

// A centre is a dense row μ. A sparse row s with a centre and a factor κ represents the row s − κμ.
type centre struct {
	row   []float64
	norm2 float64 // ‖μ‖²

	// slot is 1 plus the index of the centre in the buffer. If the centre is not stored, slot is 0. slot is valid
	// until the next shrink.
	slot    int
	shrinks int64 // number of shrinks of the sketch when slot was set
	source  int   // slot that centreOf copied row from
}

// faintest is the smallest squared norm of a centre that is stored as a centre. With a smaller centre, squares of
// its entries could underflow. Then rows with this centre are stored as dense rows.
const faintest = 0x1p-900

// isFaint reports whether the centre is too small to be stored.
func (c *centre) isFaint() bool { return c.norm2 < faintest }

// vanishes reports whether f·μ = 0.
func (c *centre) vanishes(f float64) bool {
	return f == 0 ||
		c.norm2 == 0 && !slices.ContainsFunc(c.row, func(v float64) bool {
			return v != 0
		})
}

// length returns ‖f·μ‖.
func (c *centre) length(f float64) float64 {
	if !c.isFaint() {
		return math.Abs(f) * math.Sqrt(c.norm2)
	}
	var sum float64
	for _, v := range c.row {
		sum += float64(float64(f*v) * float64(f*v))
	}
	return math.Sqrt(sum)
}

// AppendCentred appends the rows xᵢ − timesᵢ·centre, where xᵢ is row i of the sparse matrix x. The argument
// x must have Dim columns, and centre must have the length Dim. The argument times must have one element for each
// row. If times is nil, every timesᵢ is 1.
//
// The sketch stores xᵢ and timesᵢ until the next shrink, as in [Sketch.AppendSparse]. The centre takes the room of
// one dense row, so many rows should share it. If the squares of the centre's entries could underflow, the
// differences are stored as dense rows.
//
// The round-off of a row grows with ‖xᵢ‖ and |timesᵢ|·‖centre‖, and [Bound.RoundOff] includes it. If
// these norms are far larger than ‖xᵢ − timesᵢ·centre‖, append the differences as dense rows.
//
// If a value is not finite, the error is a *[NonFiniteError]. For a value of centre, its Row is 0. For a value of
// times, its Col is Dim.
func (s *Sketch) AppendCentred(x *engine.CSR, times, centre []float64) error {
	if err := s.checkBlock(x); err != nil {
		return err
	}
	d := s.cfg.Dim
	if len(centre) != d || times != nil && len(times) != x.Rows {
		return fmt.Errorf(
			"%w: centre of length %d and %d times for %d rows, sketch of dimension %d",
			errShape,
			len(centre),
			len(times),
			x.Rows,
			d,
		)
	}
	c := newCentre(centre)
	if err := admit(0, centre, c.norm2, new(twofold.Total)); err != nil {
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
		if err := s.placeSparse(idx, val, &c, timesOf(times, i)); err != nil {
			return err
		}
	}
	s.frob = total
	s.count += int64(x.Rows)
	return nil
}

func timesOf(times []float64, i int) float64 {
	if times == nil {
		return 1
	}
	return times[i]
}

func newCentre(row []float64) centre {
	return centre{row: row, norm2: vec.Dot(row, row)}
}

// KeepsSparse reports whether the sketch stores sparse rows in sparse form until the next shrink. This also applies
// to the rows of [Sketch.AppendCentred].
func (s *Sketch) KeepsSparse() bool {
	return s.sparse.most > 0 && s.order() >= s.m+2
}

// admit checks the row that is row i of x minus f times the centre. It adds the squared norm of this row to total.
func (c *centre) admit(
	i int,
	x *engine.CSR,
	f float64,
	total *twofold.Total,
) error {
	var own twofold.Total
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

// timesSquares returns f²‖μ‖², even if f² underflows.
func (c *centre) timesSquares(f float64) float64 {
	return float64(float64(f*c.norm2) * f)
}

// squares returns ‖s − f·μ‖² for the centre μ and a sparse row s with the entries val in the columns idx.
// It sums the columns of s directly. The other columns contribute f²·(‖μ‖² − Σμⱼ²), where j runs over
// the columns of s. The error is at most 3·eps times the sum over the columns of s, plus 12·eps·f²‖μ‖².
func (c *centre) squares(idx []int32, val []float64, f float64) float64 {
	if c.vanishes(f) {
		return squares(val)
	}
	var own, centre twofold.Total
	if c.isFaint() {
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

// slotIn returns the slot of the centre in s, which is 1 plus the index of the centre in the buffer. If s does not
// store the centre, the result is 0.
func (c *centre) slotIn(s *Sketch) int {
	if c.slot > 0 && c.shrinks == s.shrinks {
		return c.slot
	}
	return 0
}

// placeCentre stores the centre as the last dense row of the buffer. It returns the slot of the centre, which is 1
// plus the index of this row.
func (s *Sketch) placeCentre(c *centre) int {
	copy(s.row(s.rows), c.row)
	s.rows++
	c.slot, c.shrinks = s.rows, s.shrinks
	return c.slot
}

// writeOut overwrites dst with the row r = s − f·μ, where μ is the centre. s is the sparse row with the entries
// val in the columns idx. If c is nil, r is s. The result pad bounds how much the rounding of r changes rᵀr, in
// norm. It is 3·eps·(‖s‖ + |f|‖μ‖)², see docs/math.md §14.
func (c *centre) writeOut(
	dst []float64,
	idx []int32,
	val []float64,
	f float64,
) (pad float64) {
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

// centres returns a slice that tells which rows of the buffer are centres. If no row is a centre, it returns nil.
func (s *Sketch) centres() []bool {
	if !s.sparse.hasCentres() {
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

// countCentres returns the number of centres in the buffer. It counts how many different slots the sparse rows
// have. These slots are in non-decreasing order.
func (s *Sketch) countCentres() (n int) {
	last := 0
	for _, slot := range s.sparse.centre {
		if slot > last {
			n++
			last = slot
		}
	}
	return n
}

// hasCentres reports whether any sparse row has a centre.
func (w *sparseRows) hasCentres() bool {
	return slices.ContainsFunc(w.centre, func(slot int) bool { return slot > 0 })
}

// centreOf sets c to the centre of sparse row i and returns c. If the row has no centre, it returns nil. If c
// already is the centre, it is not copied again.
func (s *Sketch) centreOf(i int, c *centre) *centre {
	slot := s.sparse.centre[i]
	if slot == 0 {
		return nil
	}
	if c.source != slot {
		*c = newCentre(s.row(slot - 1))
		c.source = slot
	}
	return c
}

// subtractCentres changes g from the Gram matrix of the stored rows X to the Gram matrix of the rows that they
// represent. These are the rows of L·X for a matrix L. It replaces each stored centre by zeros, and subtracts
// multiples of the centres from the sparse rows. The argument g holds the lower triangle of XXᵀ before the call,
// and the lower triangle of L·XXᵀ·Lᵀ after it.
func (s *Sketch) subtractCentres(g engine.Matrix) {
	k := s.rows
	w := &s.sparse
	for i, slot := range w.centre {
		row := g.Row(k + i)
		f := w.times[i]
		for j := range i + 1 {
			v := row[k+j]
			other := w.centre[j]
			if slot > 0 {
				v -= float64(f * g.Row(k + j)[slot-1])
			}
			if other > 0 {
				v -= float64(w.times[j] * row[other-1])
			}
			if slot > 0 && other > 0 {
				v += float64(float64(f*symmetricAt(g, slot-1, other-1)) * w.times[j])
			}
			row[k+j] = v
		}
	}
	for i, slot := range w.centre {
		if slot > 0 {
			row := g.Row(k + i)
			for j := range k {
				row[j] -= float64(w.times[i] * symmetricAt(g, slot-1, j))
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

// symmetricAt returns element i, j of the symmetric matrix whose lower triangle is in g.
func symmetricAt(g engine.Matrix, i, j int) float64 {
	return g.Row(max(i, j))[min(i, j)]
}

// multiplyByL overwrites u with the product u·L. L is the matrix of [Sketch.subtractCentres]: it subtracts
// multiples of the centres from the sparse rows, and replaces the centres by zeros.
func (s *Sketch) multiplyByL(u engine.Matrix) {
	w := &s.sparse
	if !w.hasCentres() {
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

// hasFadingCentre reports whether a decay by the factor beta would make a stored centre so small that its squares
// could underflow.
func (s *Sketch) hasFadingCentre(beta float64) bool {
	var c centre
	for i := range s.sparse.Rows {
		if s.centreOf(i, &c) != nil && !(beta*c.norm2 >= 2*faintest) { // a factor 2 for round-off
			return true
		}
	}
	return false
}

// centreSquares returns two sums over the stored sparse rows s − κμ: the sum of κ²‖μ‖² and the sum of
// |κ|, where κ is the factor and μ is the centre. Rows without a centre are left out.
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

// errorOfCentres bounds the norm of the round-off that centres add to the Gram matrix. errorOfSparse bounds the
// round-off of the sparse rows without their centres. docs/math.md §14 has the proof. A sparse row xᵢ with a centre
// represents xᵢ − timesᵢ·centre. The arguments are
//
//   - z: the largest number of entries of a sparse row
//   - dense, sparse, centres: the computed sums of squares of the dense rows, of the rows xᵢ, and of the rows
//     timesᵢ·centre
//   - times: Σ |timesᵢ|
//   - n: the order of the Gram matrix
func (s *Sketch) errorOfCentres(
	z int,
	dense, sparse, centres, times float64,
	n int,
) float64 {
	if centres == 0 {
		return 0
	}
	short := float64(z)/2 + engine.Roundings + 4
	long := s.cfg.Backend.Accuracy().Dot(s.cfg.Dim) + engine.Roundings + 4
	a, b := math.Sqrt(sparse), math.Sqrt(centres)
	products := 3*a*math.Sqrt(2*dense+sparse) +
		2*short*a*b +
		long*b*math.Sqrt(2*dense+centres)
	lost := 2 * (times * 0x1p-537) * ((float64(n) + times) * 0x1p-537)
	return eps*products + lost*float64(s.cfg.Dim)
}

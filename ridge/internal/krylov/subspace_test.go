package krylov

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
)

// filled returns a subspace of k rows in steps of at most step, with the K (d×d) that
// kq was made with, of condition 10⁶.
func filled(t *testing.T, be engine.Backend, d, k, most, step int) (*subspace, *mat.Dense) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(d), uint64(k)))
	a, kk := mat.NewDense(2*d, d, nil), mat.NewDense(d, d, nil)
	for i := range 2 * d {
		for j := range d {
			a.Set(i, j, r.NormFloat64()*math.Pow(1e-3, float64(j)/float64(d)))
		}
	}
	kk.Mul(a.T(), a)
	s := newSubspace(be, d, most, max(2*step, 6))
	for s.k < k {
		n := min(step, k-s.k)
		z := make([]float64, n*d)
		for i := range z {
			z[i] = r.NormFloat64()
		}
		got, err := s.propose(s.orthogonalParts(n, z), z)
		if err != nil || got != n {
			t.Fatalf("%d of %d random vectors taken: %v", got, n, err)
		}
		multiply(s, kk, n)
		if err := s.grow(n); err != nil {
			t.Fatal(err)
		}
	}
	return s, kk
}

// multiply fills the n rows of kq behind the subspace.
func multiply(s *subspace, k *mat.Dense, n int) {
	at := s.k * s.d
	var out mat.Dense
	out.Mul(mat.NewDense(n, s.d, s.q[at:at+n*s.d]), k)
	copy(s.kq[at:], out.RawMatrix().Data)
}

func (s *subspace) rows() *mat.Dense { return mat.NewDense(s.k, s.d, s.q[:s.k*s.d]) }

// checkBasis: QQᵀ = I and kq = QK.
func checkBasis(t *testing.T, s *subspace, k *mat.Dense) {
	t.Helper()
	var g, kq mat.Dense
	g.Mul(s.rows(), s.rows().T())
	for i := range s.k {
		g.Set(i, i, g.At(i, i)-1)
	}
	if off := mat.Norm(&g, 2); !(off <= 1e-13) {
		t.Errorf("‖QQᵀ − I‖ = %g", off)
	}
	kq.Mul(s.rows(), k)
	kq.Sub(&kq, mat.NewDense(s.k, s.d, s.kq[:s.k*s.d]))
	if off := mat.Norm(&kq, 2); !(off <= 1e-13*mat.Norm(k, 2)) {
		t.Errorf("‖KQᵀ − kq‖ = %g", off)
	}
}

// checkShifted: the residual of (QKQᵀ + γI)y = u is round-off, whatever part of it was
// decomposed.
func checkShifted(t *testing.T, s *subspace, k *mat.Dense) {
	t.Helper()
	gammas := []float64{1e-8, 1e-3, 1, 1e6}
	q := len(gammas)
	u, y := make([]float64, q*s.most), make([]float64, q*s.most)
	r := rand.New(rand.NewPCG(7, 7))
	for i := range u {
		u[i], y[i] = r.NormFloat64(), math.NaN()
	}
	if err := s.solve(q, gammas, u, y); err != nil {
		t.Fatal(err)
	}
	var h mat.Dense
	h.Product(s.rows(), k, s.rows().T())
	for i, gamma := range gammas {
		yi := mat.NewVecDense(s.k, y[i*s.most:i*s.most+s.k])
		var left mat.VecDense
		left.MulVec(&h, yi)
		left.AddScaledVec(&left, gamma, yi)
		left.SubVec(&left, mat.NewVecDense(s.k, u[i*s.most:i*s.most+s.k]))
		size := (mat.Norm(&h, 2) + gamma) * mat.Norm(yi, 2)
		if off := mat.Norm(&left, 2); !(off <= 1e-13*size) {
			t.Errorf("γ = %g, base %d of %d: residual %g of %g", gamma, s.eigenRows, s.k, off, size)
		}
	}
}

func TestSubspace(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, c := range []struct{ d, k, most, step int }{{1, 1, 1, 1}, {5, 5, 5, 2}, {40, 17, 30, 5}, {150, 100, 120, 7}, {150, 90, 90, 90}} {
			s, k := filled(t, be, c.d, c.k, c.most, c.step)
			if c.k > schurRows && s.eigenRows == 0 {
				t.Fatal("nothing was decomposed")
			}
			checkBasis(t, s, k)
			checkShifted(t, s, k)
		}
	})
}

// TestPropose: vectors that are dependent, in the subspace, zero or not finite add
// nothing.
func TestPropose(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		s, _ := filled(t, be, 30, 6, 20, 3)
		z := make([]float64, 6*30)
		r := rand.New(rand.NewPCG(8, 8))
		for j := range 30 {
			z[j] = r.NormFloat64()
			z[30+j] = 1e100 * z[j]                   // a multiple
			z[60+j] = 3*s.q[j] - 2*s.q[30+j]         // inside
			z[120+j] = math.NaN()                    // not a number
			z[150+j] = r.NormFloat64() + 4*s.q[j+60] // partly inside
		}
		n, err := s.propose(s.orthogonalParts(6, z), z)
		if err != nil || n != 2 {
			t.Fatalf("%d directions, want 2: %v", n, err)
		}
		s.k += n // for checkBasis
		copy(s.kq, make([]float64, s.k*s.d))
		checkBasis(t, s, mat.NewDense(30, 30, nil))
	})
}

// TestFill: the block behind the subspace is completed by what K made of the one before,
// orthonormal, as long as there is half the room.
func TestFill(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d, step = 120, 10
		s, k := filled(t, be, d, 4*step, 100, step)
		z := make([]float64, 2*d) // two combinations of the next block, and another one
		n := s.next(2, z)
		copy(z[d:], s.q[:d])
		for j := range z[d:] {
			z[d+j] += float64(j % 7)
		}
		b, err := s.propose(s.orthogonalParts(n, z), z)
		if err != nil || b != 2 {
			t.Fatalf("%d directions, want 2: %v", b, err)
		}
		all := s.fill(b)
		if want := b + step - 1; all != want {
			t.Fatalf("%d rows, want %d: the first is proposed already", all, want)
		}
		// K·Qᵀ of the last block is in the span of all rows.
		at := s.k
		multiply(s, k, all)
		if err := s.grow(all); err != nil {
			t.Fatal(err)
		}
		checkBasis(t, s, k)
		last := append([]float64(nil), s.kq[(at-step)*d:at*d]...)
		size := mat.Norm(k, 2)
		s.subtractProjections(step, last)
		for i, v := range last {
			if !(math.Abs(v) <= 1e-12*size) {
				t.Fatalf("element %d of KQᵀ has %g outside", i, v)
			}
		}
		if n := s.fill(3); n != 3 {
			t.Errorf("beyond half the room %d rows were made of 3", n)
		}
		s.k -= all
		if n := s.fill(BlockRows); n != BlockRows {
			t.Errorf("%d rows of a whole block", n)
		}
	})
}

// TestFillInvariant: a subspace that K maps to itself has no next block.
func TestFillInvariant(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 9
		s := newSubspace(be, d, 8, 2)
		k := mat.NewDense(d, d, nil)
		for i := range d {
			k.Set(i, i, float64(1+i))
		}
		s.q[0], s.q[d+1] = 1, 1
		multiply(s, k, 2)
		if err := s.grow(2); err != nil {
			t.Fatal(err)
		}
		s.q[2*d+2] = 1
		if n := s.fill(1); n != 1 {
			t.Errorf("%d rows where there is nothing to add", n)
		}
	})
}

// TestProposeInside: vectors that have much in the subspace, and the same outside of
// it, add one direction and no round-off.
func TestProposeInside(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 30
		s, k := filled(t, be, d, 6, 20, 3)
		z := make([]float64, d)
		for j := range z {
			z[j] = float64(1 + j%4)
		}
		if n := s.orthogonalParts(1, z); n != 1 {
			t.Fatal("it is inside")
		}
		both := make([]float64, 2*d)
		for j, u := range z {
			both[j], both[d+j] = u+s.q[j], u-s.q[j]
		}
		n, err := s.propose(2, both)
		if err != nil || n != 1 {
			t.Fatalf("%d directions, want 1: %v", n, err)
		}
		multiply(s, k, n)
		if err := s.grow(n); err != nil {
			t.Fatal(err)
		}
		checkBasis(t, s, k)
	})
}

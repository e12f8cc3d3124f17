package fd_test

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/fd"
)

const eps = 0x1p-52

// must(f())(t) is f's value; an error ends the test.
func must[T any](v T, err error) func(rapid.TB) T {
	return func(t rapid.TB) T {
		t.Helper()
		check(t, err)
		return v
	}
}

func check(t rapid.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// textbook is Frequent Directions as the text books have it, one row at a time:
// m kept rows and the new one, an SVD, and a shrink by σ²_{m+1}.
func textbook(a *mat.Dense, m int) (b *mat.Dense, eta float64) {
	n, d := a.Dims()
	b = mat.NewDense(m+1, d, nil)
	for i := range n {
		b.SetRow(m, a.RawRowView(i))
		var svd mat.SVD
		if !svd.Factorize(b, mat.SVDThin) {
			panic("svd")
		}
		s := svd.Values(nil)
		var v mat.Dense
		svd.VTo(&v)
		delta := 0.0
		if m < len(s) {
			delta = s[m] * s[m]
		}
		eta += delta
		b.Zero()
		for j := range min(m, len(s)) {
			f := math.Sqrt(math.Max(s[j]*s[j]-delta, 0))
			for k := range d {
				b.Set(j, k, f*v.At(k, j))
			}
		}
	}
	return b, eta
}

// gap computes AᵀA − BᵀB to about twice working precision, by the error-free
// products and sums of Ogita, Rump and Oishi (2005).
func gap(a, b *mat.Dense) *mat.SymDense {
	_, d := a.Dims()
	out := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			var s, c float64
			add := func(x, y float64) {
				p := x * y
				c += math.FMA(x, y, -p)
				t := s + p
				z := t - s
				c += (s - (t - z)) + (p - z)
				s = t
			}
			n, _ := a.Dims()
			for k := range n {
				add(a.At(k, i), a.At(k, j))
			}
			if b != nil {
				r, _ := b.Dims()
				for k := range r {
					add(-b.At(k, i), b.At(k, j))
				}
			}
			out.SetSym(i, j, s+c)
		}
	}
	return out
}

// extremes returns the least and the largest eigenvalue, to some eps of the largest entry. It is
// added to the diagonal first: gonum panics where a block is left of numbers next to nothing.
func extremes(e *mat.SymDense) (lo, hi float64) {
	n := e.SymmetricDim()
	most := math.Max(math.Abs(mat.Max(e)), math.Abs(mat.Min(e)))
	if most == 0 {
		return 0, 0
	}
	moved := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i {
			moved.SetSym(i, j, e.At(i, j)/most)
		}
		moved.SetSym(i, i, e.At(i, i)/most+1)
	}
	var eig mat.EigenSym
	if !eig.Factorize(moved, false) {
		panic("eig")
	}
	w := eig.Values(nil)
	return (w[0] - 1) * most, (w[len(w)-1] - 1) * most
}

// tails returns ‖A − A_k‖²_F for k = 0, 1, …
func tails(a *mat.Dense) []float64 {
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDNone) {
		panic("svd")
	}
	s := svd.Values(nil)
	out := make([]float64, len(s)+1)
	for k := len(s) - 1; k >= 0; k-- {
		out[k] = out[k+1] + s[k]*s[k]
	}
	return out
}

// holds checks every guarantee of a sketch of the rows a.
func holds(t rapid.TB, s *fd.Sketch, a *mat.Dense) {
	t.Helper()
	p := must(s.Spectrum())(t)
	b := p.Bound
	slack := 100 * eps * b.Frobenius2
	if n, _ := a.Dims(); b.Rows != int64(n) {
		t.Fatalf("%d rows booked, %d appended", b.Rows, n)
	}
	frob := mat.Norm(a, 2)
	if !(math.Abs(b.Frobenius2-frob*frob) <= 1e-13*frob*frob) {
		t.Fatalf("‖A‖²_F is %g, want %g", b.Frobenius2, frob*frob)
	}
	if most := map[bool]int{false: s.Size(), true: s.Dim()}[s.Scatter()]; len(p.Sigma2) > most {
		t.Fatalf("%d rows kept, at most %d", len(p.Sigma2), most)
	}
	for i, v := range p.Sigma2 {
		if !(v > 0) || (i > 0 && !(v <= p.Sigma2[i-1])) {
			t.Fatalf("σ² not positive and descending: %v", p.Sigma2)
		}
	}
	orthonormal(t, p)

	e := gap(a, p.Matrix())
	lo, hi := extremes(e)
	if !(lo >= -slack) || !(lo >= -b.RoundOff) {
		t.Fatalf("λmin(E) = %g, round-off pad %g, slack %g", lo, b.RoundOff, slack)
	}
	if !(hi <= b.FD()) {
		t.Fatalf("λmax(E) = %g above the bound %g (η %g)", hi, b.FD(), b.Shrinkage)
	}
	rho := b.Shift()
	if worst := math.Max(math.Abs(lo-rho), math.Abs(hi-rho)); !(worst <= b.RFD()) {
		t.Fatalf("‖E − ρI‖ = %g above the bound %g", worst, b.RFD())
	}
	if !(math.Abs(mat.Trace(e)-b.Tail) <= slack) {
		t.Fatalf("tr E = %g, tail %g", mat.Trace(e), b.Tail)
	}
	tail := tails(a)
	for k := 0; k <= min(s.Size(), len(tail)-1); k++ {
		if limit := tail[k]/float64(s.Size()+1-k) + slack; !(b.Shrinkage <= limit) {
			t.Fatalf("η = %g, but ‖A−A_%d‖²/(m+1−k) = %g", b.Shrinkage, k, limit)
		}
	}
}

func orthonormal(t rapid.TB, p *fd.Spectrum) {
	t.Helper()
	d, r := p.Dim, len(p.Sigma2)
	for i := range r {
		for j := range i + 1 {
			var q float64
			for k := range d {
				q += p.V[i*d+k] * p.V[j*d+k]
			}
			want := 0.0
			if i == j {
				want = 1
			}
			if !(math.Abs(q-want) <= 100*eps) {
				t.Fatalf("V is not orthonormal: row %d times row %d is %g", i, j, q)
			}
		}
	}
}

// spectra are the shapes of data the tests draw from.
var spectra = map[string]func(j int, d float64) float64{
	"flat":       func(int, float64) float64 { return 1 },
	"decay":      func(j int, d float64) float64 { return math.Exp(-float64(j) * float64(j) / (0.04 * d * d)) },
	"graded":     func(j int, d float64) float64 { return math.Pow(10, -12*float64(j)/d) },
	"low rank":   func(j int, _ float64) float64 { return max(0, float64(4-j)) },
	"two levels": func(j int, _ float64) float64 { return []float64{1e4, 1e-4}[min(j/3, 1)] },
	"clustered":  func(j int, _ float64) float64 { return 1 + 1e-10*float64(j) },
}

var spectrumNames = []string{"flat", "decay", "graded", "low rank", "two levels", "clustered"}

// stream draws n×d data: normal rows scaled to a spectrum and rotated.
func stream(rng *rand.Rand, n, d int, spectrum string) *mat.Dense {
	f := spectra[spectrum]
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, rng.NormFloat64()*f(j, float64(d)))
		}
	}
	g := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			g.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, out mat.Dense
	qr.QTo(&q)
	out.Mul(x, &q)
	return &out
}

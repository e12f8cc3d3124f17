package synthetic_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/fdridge/fdridge/dataset/synthetic"
)

func generate(t *testing.T, c synthetic.Config) *synthetic.Data {
	t.Helper()
	s, err := synthetic.Generate(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inverse undoes the orthonormal DCT-II by its definition: z_j = Σ_k C_kj·a_k.
func inverse(a []float64) []float64 {
	d := len(a)
	z := make([]float64, d)
	for k, v := range a {
		c := math.Sqrt(2 / float64(d))
		if k == 0 {
			c = math.Sqrt(1 / float64(d))
		}
		for j := range z {
			z[j] += c * v * math.Cos(math.Pi*float64((2*j+1)*k)/float64(2*d))
		}
	}
	return z
}

// TestColumns: undone of the transform, the columns are independent normal with
// standard deviation exp(−(j−1)²/R²), and the transform keeps the rows' length.
func TestColumns(t *testing.T) {
	for _, ratio := range []float64{synthetic.LowRank, synthetic.HighRank, 1} {
		const n, d = 4000, 33
		c := synthetic.Config{Rows: n, Dim: d, Ratio: ratio, Seed: 1}
		s := generate(t, c)
		r := float64(c.Rank())
		sd := make([]float64, d)
		for j := range sd {
			sd[j] = math.Exp(-float64(j*j) / (r * r))
		}
		gram := make([]float64, d*d) // of Z with its columns scaled to one
		for i := range n {
			a := s.X[i*d : (i+1)*d]
			z := inverse(a)
			if la, lz := floats.Norm(a, 2), floats.Norm(z, 2); !(math.Abs(la-lz) <= 1e-14*lz) {
				t.Fatalf("row %d has length %v before the rotation and %v after", i, lz, la)
			}
			for p := range d {
				for q := range d {
					gram[p*d+q] += z[p] * z[q] / (sd[p] * sd[q]) / n
				}
			}
		}
		for p := range d {
			if sd[p] < 1e-7 { // round-off of the rotation
				continue
			}
			for q := range d {
				want, spread := 0.0, math.Sqrt(1.0/n)
				if p == q {
					want, spread = 1, math.Sqrt(2.0/n)
				}
				if sd[q] >= 1e-7 && !(math.Abs(gram[p*d+q]-want) <= 5*spread) {
					t.Errorf(
						"ratio %v: covariance of columns %d and %d is %v of their standard deviations, want %v",
						ratio,
						p,
						q,
						gram[p*d+q],
						want,
					)
				}
			}
		}
	}
}

func TestTargets(t *testing.T) {
	for _, noise := range []float64{0, 1e-8} {
		const n, d = 5000, 20
		c := synthetic.Config{Rows: n, Dim: d, Noise: noise, Seed: 2}
		s := generate(t, c)
		want := noise
		if want == 0 {
			want = 2
		}
		if s.Noise != want {
			t.Errorf("noise %v, want %v", s.Noise, want)
		}
		if l := floats.Norm(s.X0, 2); !(math.Abs(l-1) <= 1e-15) {
			t.Errorf("‖x₀‖ = %v", l)
		}
		for j, v := range s.X0 {
			if (v != 0) != (j < c.Rank()) {
				t.Errorf("component %d of x₀ is %v, effective dimension %d", j, v, c.Rank())
			}
		}
		var sum, sum2, cross float64
		for i := range n {
			fit := floats.Dot(s.X[i*d:(i+1)*d], s.X0)
			e := (s.Y[i] - fit) / want
			sum, sum2, cross = sum+e, sum2+e*e, cross+e*fit
		}
		if !(math.Abs(sum) <= 5*math.Sqrt(n)) || !(math.Abs(sum2-n) <= 5*math.Sqrt(2*n)) ||
			!(math.Abs(cross) <= 5*math.Sqrt(n)) {
			t.Errorf("noise of mean %v and variance %v, covariance %v with the data", sum/n, sum2/n, cross/n)
		}
	}
}

func TestRank(t *testing.T) {
	for _, c := range []struct {
		d     int
		ratio float64
		want  int
	}{{512, 0, 77}, {512, synthetic.LowRank, 77}, {512, synthetic.HighRank, 128}, {10, 0.25, 3}, {7, 1, 7}} {
		if got := (synthetic.Config{Dim: c.d, Ratio: c.ratio}).Rank(); got != c.want {
			t.Errorf("d = %d, r = %v: R = %d, want %d", c.d, c.ratio, got, c.want)
		}
	}
}

// TestReproducible: the same seed gives the same data, and fewer rows are the first of more rows. Another seed gives
// other data.
func TestReproducible(t *testing.T) {
	c := synthetic.Config{Rows: 50, Dim: 12, Seed: 3}
	a, b := generate(t, c), generate(t, c)
	if !slices.Equal(a.X, b.X) || !slices.Equal(a.Y, b.Y) || !slices.Equal(a.X0, b.X0) {
		t.Error("the same seed gave other data")
	}
	c.Rows = 20
	b = generate(t, c)
	if !slices.Equal(a.X[:20*12], b.X) || !slices.Equal(a.Y[:20], b.Y) || !slices.Equal(a.X0, b.X0) {
		t.Error("fewer rows are not the first of more")
	}
	c.Seed++
	b = generate(t, c)
	if b.X[0] == a.X[0] || b.X0[0] == a.X0[0] || b.Y[0] == a.Y[0] {
		t.Error("another seed gave the same data")
	}
}

func TestSource(t *testing.T) {
	s := generate(t, synthetic.Config{Rows: 300, Dim: 8})
	src, err := s.Source()
	if err != nil {
		t.Fatal(err)
	}
	if n, d, q := src.Dims(); n != 300 || d != 8 || q != 1 {
		t.Errorf("dimensions %d, %d, %d", n, d, q)
	}
	var x, y []float64
	for b, err := range src.Blocks(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		x, y = append(x, b.X...), append(y, b.Y...)
	}
	if !slices.Equal(x, s.X) || !slices.Equal(y, s.Y) {
		t.Error("the source yields other rows")
	}
}

func TestRefuses(t *testing.T) {
	good := synthetic.Config{Rows: 5, Dim: 10}
	generate(t, good)
	for name, spoil := range map[string]func(*synthetic.Config){
		"no rows":         func(c *synthetic.Config) { c.Rows = 0 },
		"no features":     func(c *synthetic.Config) { c.Dim = 0 },
		"too many":        func(c *synthetic.Config) { c.Rows, c.Dim = math.MaxInt/2, math.MaxInt/2 },
		"negative ratio":  func(c *synthetic.Config) { c.Ratio = -0.5 },
		"ratio beyond 1":  func(c *synthetic.Config) { c.Ratio = 1.5 },
		"ratio NaN":       func(c *synthetic.Config) { c.Ratio = math.NaN() },
		"no dimension":    func(c *synthetic.Config) { c.Ratio = 0.01 },
		"negative noise":  func(c *synthetic.Config) { c.Noise = -1 },
		"noise NaN":       func(c *synthetic.Config) { c.Noise = math.NaN() },
		"infinite noise":  func(c *synthetic.Config) { c.Noise = math.Inf(1) },
		"negative number": func(c *synthetic.Config) { c.Rows = -5 },
	} {
		c := good
		spoil(&c)
		if s, err := synthetic.Generate(c); err == nil || s != nil {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
}

package randsketch_test

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/twofold"
	"github.com/fdridge/fdridge/randsketch"
	"github.com/fdridge/fdridge/ridge"
)

// The solvers of package ridge accept a Spectrum.
var _ ridge.Hessian = (*randsketch.Spectrum)(nil)

// withSpectrum returns the n rows of U·diag(σ)·Vᵀ with U of independent normal
// entries of variance 1/n and V orthonormal.
func withSpectrum(rng *rand.Rand, n int, sigma []float64) *mat.Dense {
	d := len(sigma)
	normal := func(n, d int) *mat.Dense {
		x := mat.NewDense(n, d, nil)
		x.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, x)
		return x
	}
	var qr mat.QR
	var v, a mat.Dense
	qr.Factorize(normal(d, d))
	qr.QTo(&v)
	u := normal(n, d)
	u.Apply(func(_, j int, x float64) float64 { return x * sigma[j] / math.Sqrt(float64(n)) }, u)
	a.Mul(u, v.T())
	return &a
}

// profile returns d singular values.
func profile(name string, d int) []float64 {
	sigma := make([]float64, d)
	for j := range sigma {
		switch x := float64(j); name {
		case "flat":
			sigma[j] = 1
		case "geometric":
			sigma[j] = math.Pow(0.5, x)
		case "polynomial":
			sigma[j] = 1 / (1 + x)
		case "rank 3":
			if j < 3 {
				sigma[j] = 10 - x
			}
		case "zero":
		}
	}
	return sigma
}

var profiles = []string{"flat", "geometric", "polynomial", "rank 3", "zero"}

func nystrom(t rapid.TB, cfg randsketch.NystromConfig, a *mat.Dense) (*randsketch.Nystrom, *randsketch.Spectrum) {
	n, d := a.Dims()
	cfg.Dim = d
	p := must(randsketch.NewNystrom(cfg))(t)
	check(t, p.AppendRows(n, a.RawMatrix().Data, a.RawMatrix().Stride))
	return p, must(p.Spectrum())(t)
}

// gram returns AᵀA, with an error that does not grow with the number of rows.
func gram(a *mat.Dense) *mat.Dense {
	n, d := a.Dims()
	sum := make([]twofold.Total, d*d)
	for lo := 0; lo < n; lo += 64 {
		rows := a.Slice(lo, min(lo+64, n), 0, d)
		var k mat.Dense
		k.Mul(rows.T(), rows)
		for i, v := range k.RawMatrix().Data {
			sum[i].Add(v)
		}
	}
	k := mat.NewDense(d, d, nil)
	for i := range sum {
		k.RawMatrix().Data[i] = sum[i].Value()
	}
	return k
}

// approximation returns K̂ = Vᵀ·diag(λ)·V.
func approximation(s *randsketch.Spectrum) *mat.Dense {
	k := mat.NewDense(s.Dim, s.Dim, nil)
	for i, l := range s.Lambda {
		v := mat.NewVecDense(s.Dim, s.V[i*s.Dim:(i+1)*s.Dim])
		k.RankOne(k, l, v, v)
	}
	return k
}

// eigenvalues of the symmetric part of a, ascending. Entries are brought to a size
// that gonum's eigensolver can take.
func eigenvalues(t rapid.TB, a mat.Matrix) []float64 {
	d, _ := a.Dims()
	sym := mat.NewSymDense(d, nil)
	_, exponent := math.Frexp(math.Max(mat.Max(a), -mat.Min(a)))
	for i := range d {
		for j := range i + 1 {
			sym.SetSym(i, j, math.Ldexp(a.At(i, j)+a.At(j, i), -exponent-1))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, false) {
		t.Fatal("no eigenvalues")
	}
	values := e.Values(nil)
	for i, v := range values {
		values[i] = math.Ldexp(v, exponent)
	}
	return values
}

// relative returns the eigenvalues of Ĥ(γ)⁻¹H(γ), ascending. It computes them as the eigenvalues of LᵀĤ⁻¹L,
// where H = LLᵀ is the Cholesky factorisation.
func relative(t rapid.TB, s *randsketch.Spectrum, k *mat.Dense, gamma float64) []float64 {
	d := s.Dim
	h := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			h.SetSym(i, j, k.At(i, j))
		}
		h.SetSym(i, i, k.At(i, i)+gamma)
	}
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		t.Fatal("H is not positive definite")
	}
	var u mat.TriDense
	chol.UTo(&u)
	rows := mat.DenseCopyOf(&u)
	solved := mat.NewDense(d, d, nil)
	s.Solve(d, slices.Repeat([]float64{gamma}, d), rows.RawMatrix().Data, solved.RawMatrix().Data)
	var p mat.Dense
	p.Mul(rows, solved.T())
	return eigenvalues(t, &p)
}

// isSpectrum checks that V is orthonormal and λ positive and descending, and that
// the bounds of s hold for K with ‖A‖²_F = frob.
func isSpectrum(t rapid.TB, s *randsketch.Spectrum, k *mat.Dense, frob float64) {
	r := len(s.Lambda)
	for i, l := range s.Lambda {
		if !(l > 0) || (i > 0 && !(l <= s.Lambda[i-1])) {
			t.Fatalf("λ = %v", s.Lambda)
		}
	}
	if r > 0 {
		v := mat.NewDense(r, s.Dim, s.V)
		var g mat.Dense
		g.Mul(v, v.T())
		for i := range r {
			g.Set(i, i, g.At(i, i)-1)
		}
		if off := mat.Norm(&g, math.Inf(1)); !(off <= 64*eps*float64(s.Dim)) {
			t.Fatalf("VVᵀ is off from I by %g", off)
		}
	}
	var gap mat.Dense
	gap.Sub(k, approximation(s))
	e := eigenvalues(t, &gap)
	slack := 8 * eps * frob
	if !(e[0] >= -s.Under-slack && e[len(e)-1] <= s.Over+slack) {
		t.Fatalf("K − K̂ has eigenvalues %g to %g, beyond −%g to %g", e[0], e[len(e)-1], s.Under, s.Over)
	}
	if frob == 0 {
		return
	}
	for _, gamma := range []float64{1e-6 * frob, 1e-2 * frob, frob} {
		lo, hi := s.Range(gamma)
		e := relative(t, s, k, gamma)
		slack := 1e3 * eps * (1 + frob/gamma)
		if !(e[0] >= lo-slack && e[len(e)-1] <= hi+slack) {
			t.Fatalf("γ = %g: Ĥ⁻¹H has eigenvalues %g to %g, beyond %g to %g", gamma, e[0], e[len(e)-1], lo, hi)
		}
	}
}

// TestSpectrum: the bounds hold for every kind, size and spectrum of data.
func TestSpectrum(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		rapid.Check(t, func(t *rapid.T) {
			d := rapid.IntRange(1, 25).Draw(t, "d")
			n, m := d+rapid.IntRange(0, 300).Draw(t, "n"), rapid.IntRange(1, 30).Draw(t, "m")
			seed := rapid.Uint64().Draw(t, "seed")
			a := withSpectrum(
				rand.New(rand.NewPCG(seed, 1)),
				n,
				profile(rapid.SampledFrom(profiles).Draw(t, "profile"), d),
			)
			a.Scale(math.Ldexp(1, rapid.IntRange(-200, 200).Draw(t, "scale")), a)
			k, frob := gram(a), mat.Norm(a, 2)*mat.Norm(a, 2)
			if rapid.Bool().Draw(t, "Nyström") {
				_, s := nystrom(t, randsketch.NystromConfig{Rank: m, Seed: seed, Backend: be}, a)
				isSpectrum(t, s, k, frob)
				return
			}
			kind := rapid.SampledFrom(kinds).Draw(t, "kind")
			s := must(randsketch.New(randsketch.Config{Kind: kind, Rows: m, Dim: d, Seed: seed, Backend: be}))(t)
			check(t, s.AppendRows(n, a.RawMatrix().Data, d, nil))
			p := must(s.Spectrum())(t)
			isSpectrum(t, p, k, frob)
			off := distance(approximation(p), gram(s.Matrix()))
			if !(off <= 64*eps*float64(d)*mat.Norm(s.Matrix(), 2)*mat.Norm(s.Matrix(), 2)) {
				t.Fatalf("VᵀΛV is off from (SA)ᵀSA by %g", off)
			}
		})
	})
}

// TestNystromRange calibrates roundOff: K̂ exceeds K by less than a quarter of what
// Under says. The worst is where m is the rank of K, or Ω almost misses a direction.
func TestNystromRange(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst := 0.0
		for _, name := range profiles[:4] {
			for _, c := range []struct{ n, d, m, times int }{
				{60, 8, 8, 4}, {200, 60, 60, 4}, {400, 120, 119, 4}, {300, 120, 20, 4}, {50000, 8, 8, 4},
				{8, 8, 3, 500}, {20, 8, 1, 100}, {10, 3, 2, 500}, {1, 1, 1, 20},
			} {
				for seed := range uint64(c.times) {
					a := withSpectrum(rand.New(rand.NewPCG(seed, 1)), c.n, profile(name, c.d))
					_, s := nystrom(t, randsketch.NystromConfig{Rank: c.m, Seed: seed, Backend: be}, a)
					var gap mat.Dense
					gap.Sub(gram(a), approximation(s))
					worst = max(worst, -eigenvalues(t, &gap)[0]/s.Under)
				}
			}
		}
		t.Logf("K̂ exceeds K by %.3f of what it may", worst)
		if !(worst <= 0.25) {
			t.Errorf("K̂ exceeds K by %.3f of what it may", worst)
		}
	})
}

// TestNystromDefinition: K̂ is Nyström's for the test matrix Ω, whose columns are
// orthonormal: K̂Ω = KΩ, and K̂ has rank m. It is K, and the floor 0, where K has
// rank below m.
func TestNystromDefinition(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		for _, name := range profiles {
			for _, m := range []int{1, 3, 7, 30, 40} {
				const d = 30
				a := withSpectrum(rand.New(rand.NewPCG(1, 1)), 500, profile(name, d))
				p, s := nystrom(t, randsketch.NystromConfig{Rank: m, Seed: 4, Backend: be}, a)
				k, hat, frob := gram(a), approximation(s), mat.Norm(a, 2)*mat.Norm(a, 2)
				omega := p.Omega()
				var g, want, got mat.Dense
				g.Mul(omega, omega.T())
				for i := range min(m, d) {
					g.Set(i, i, g.At(i, i)-1)
				}
				if off := mat.Norm(&g, math.Inf(1)); !(off <= 1e-13) {
					t.Errorf("%s, m = %d: ΩᵀΩ is off from I by %g", name, m, off)
				}
				want.Mul(omega, k)
				got.Mul(omega, hat)
				if off := distance(&got, &want); !(off <= 1e-13*frob) {
					t.Errorf("%s, m = %d: K̂Ω is off from KΩ by %g", name, m, off)
				}
				if len(s.Lambda) > m {
					t.Errorf("%s, m = %d: rank %d", name, m, len(s.Lambda))
				}
				if lossless := m >= d || name == "zero" || (name == "rank 3" && m > 3); lossless {
					if off := distance(hat, k); !(off <= 1e-13*frob) {
						t.Errorf("%s, m = %d: K̂ is off from K by %g", name, m, off)
					}
					if !(s.Floor <= 1e-13*frob) {
						t.Errorf("%s, m = %d: floor %g", name, m, s.Floor)
					}
				}
			}
		}
	})
}

// TestNystromError: the mean error over Ω is within the bound of Frangella, Tropp and Udell, Proposition 2.2. With m =
// 2⌈1.5·d_eff⌉ + 1 the mean condition number of Ĥ⁻¹H is below 28 (Theorem 1.1).
func TestNystromError(t *testing.T) {
	const n, d, m, trials, gamma = 300, 100, 25, 40, 0.01
	a := withSpectrum(rand.New(rand.NewPCG(5, 5)), n, profile("polynomial", d))
	k := gram(a)
	lambda := eigenvalues(t, k)
	slices.Reverse(lambda)
	bound := math.Inf(1)
	for p := 2; p <= m-2; p++ {
		tail := 0.0
		for _, l := range lambda[m-p:] {
			tail += l
		}
		fp, fm := float64(p), float64(m)
		bound = min(bound, (1+2*(fm-fp)/(fp-1))*lambda[m-p]+2*math.E*math.E*fm/(fp*fp-1)*tail)
	}
	effective := 0.0
	for _, l := range lambda {
		effective += l / (l + gamma)
	}
	enough := 2*int(math.Ceil(1.5*effective)) + 1
	var loss, condition float64
	for seed := range uint64(trials) {
		_, s := nystrom(t, randsketch.NystromConfig{Rank: m, Seed: seed}, a)
		var gap mat.Dense
		gap.Sub(k, approximation(s))
		e := eigenvalues(t, &gap)
		loss += e[d-1] / trials
		_, s = nystrom(t, randsketch.NystromConfig{Rank: enough, Seed: seed}, a)
		e = relative(t, s, k, gamma)
		condition += e[d-1] / e[0] / trials
	}
	t.Logf(
		"mean ‖K − K̂‖ %.3g, bound %.3g, λ_m+1 %.3g; mean condition %.3g with m = %d",
		loss,
		bound,
		lambda[m],
		condition,
		enough,
	)
	if !(loss <= bound && loss >= lambda[m]) {
		t.Errorf("mean ‖K − K̂‖ is %g, must be in [%g, %g]", loss, lambda[m], bound)
	}
	if !(condition <= 28) {
		t.Errorf("mean condition number is %g", condition)
	}
}

// TestNystromSame: blocks change nothing at all, threads, sparse rows and backends
// no more than round-off, and neither does reading.
func TestNystromSame(t *testing.T) {
	r := draw(1100, 40, 0, 0.5)
	var reference *mat.Dense
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		make := func(block int, sparse, read bool) *mat.Dense {
			p := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 20, Dim: r.d, Seed: 6, Backend: be}))(t)
			for lo := 0; lo < r.n; lo += block {
				hi := min(lo+block, r.n)
				if sparse {
					part := r.csr.Slice(lo, hi)
					check(t, p.AppendSparse(&part))
				} else {
					check(t, p.AppendRows(hi-lo, r.x[lo*r.ldx:], r.ldx))
				}
				if read {
					must(p.Spectrum())(t)
				}
			}
			if p.Rows() != int64(r.n) {
				t.Fatalf("%d rows counted", p.Rows())
			}
			return approximation(must(p.Spectrum())(t))
		}
		first := make(r.n, false, false)
		if reference == nil {
			reference = first
		}
		same := func(name string, got, want *mat.Dense, tol float64) {
			t.Helper()
			if off := distance(got, want); !(off <= tol*mat.Norm(want, math.Inf(1))) {
				t.Errorf("%s changes K̂ by %g", name, off)
			}
		}
		const close = 1e-13
		same("the backend", first, reference, close)
		same("sparse input", make(r.n, true, false), first, close)
		same("reading", make(100, false, true), first, 0)
		for _, block := range []int{1, 255, 256, 257, 999} {
			same("a block size", make(block, false, false), first, 0)
		}
		for _, procs := range []int{1, 2, 5} {
			old := runtime.GOMAXPROCS(procs)
			same("a number of threads", make(r.n, false, false), first, close)
			same("a number of threads, sparse,", make(r.n, true, false), first, close)
			runtime.GOMAXPROCS(old)
		}
	})
}

// TestNystromRefused: what is refused leaves no trace.
func TestNystromRefused(t *testing.T) {
	p := must(randsketch.NewNystrom(randsketch.NystromConfig{Rank: 2, Dim: 2, Seed: 1}))(t)
	check(t, p.AppendRows(2, []float64{1, 2, 3, 4}, 2))
	before := approximation(must(p.Spectrum())(t))
	for i, err := range []error{
		p.AppendRows(2, []float64{1, 2, 3, math.NaN()}, 2),
		p.AppendRows(2, []float64{1, 2, 3}, 2),
		p.AppendSparse(&engine.CSR{Rows: 1, Cols: 2, RowPtr: []int{0, 1}, ColIdx: []int32{2}, Val: []float64{1}}),
	} {
		if err == nil {
			t.Errorf("call %d is not refused", i)
		}
	}
	if off := distance(approximation(must(p.Spectrum())(t)), before); off != 0 || p.Rows() != 2 {
		t.Errorf("%d rows, K̂ changed by %g", p.Rows(), off)
	}
}

// TestSolve: Ĥ·Solve(g) = g for each row with its own γ, in place too.
func TestSolve(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d = 30
		a := withSpectrum(rand.New(rand.NewPCG(1, 2)), 60, profile("geometric", d))
		for _, m := range []int{6, 30} {
			_, s := nystrom(t, randsketch.NystromConfig{Rank: m, Seed: 4, Backend: be}, a)
			if m < d && s.Floor != s.Lambda[m-1] {
				t.Errorf("floor %g, λ_m %g", s.Floor, s.Lambda[m-1])
			}
			gamma := []float64{1e-6, 1, 1e3}
			rng := rand.New(rand.NewPCG(1, 3))
			g, x := mat.NewDense(3, d, nil), mat.NewDense(3, d, nil)
			g.Apply(func(int, int, float64) float64 { return rng.NormFloat64() }, g)
			x.Apply(func(int, int, float64) float64 { return math.NaN() }, x)
			s.Solve(3, gamma, g.RawMatrix().Data, x.RawMatrix().Data)
			v := mat.NewDense(len(s.Lambda), d, s.V)
			hat := approximation(s)
			for i, gamma := range gamma {
				var h, along, across, vx mat.VecDense
				row := x.RowView(i)
				vx.MulVec(v, row)
				along.MulVec(v.T(), &vx)
				across.SubVec(row, &along)
				h.MulVec(hat, row)
				h.AddScaledVec(&h, gamma, row)
				h.AddScaledVec(&h, s.Floor, &across)
				h.SubVec(&h, g.RowView(i))
				if off := mat.Norm(&h, 2); !(off <= 1e-13*(1+mat.Norm(row, 2))) {
					t.Errorf("m = %d, γ = %g: residual %g", m, gamma, off)
				}
			}
			s.Solve(3, gamma, g.RawMatrix().Data, g.RawMatrix().Data)
			if off := distance(g, x); off != 0 {
				t.Errorf("m = %d: in place differs by %g", m, off)
			}
			got := testing.AllocsPerRun(10, func() { s.Solve(3, gamma, g.RawMatrix().Data, x.RawMatrix().Data) })
			if got != 0 {
				t.Errorf("Solve allocates %v times", got)
			}
		}
	})
}

// TestSolveAlong: for a g along V, x = Ĥ⁻¹g is right along V, where a remainder of g
// divided by a small γ would give the residual λ/γ times what round-off is.
func TestSolveAlong(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		const d, gamma = 40, 1e-12
		a := withSpectrum(rand.New(rand.NewPCG(1, 2)), 100, profile("rank 3", d))
		s := must(randsketch.New(randsketch.Config{Rows: 3, Dim: d, Seed: 4, Backend: be}))(t)
		check(t, s.AppendRows(100, a.RawMatrix().Data, d, nil))
		p := must(s.Spectrum())(t)
		x := make([]float64, d)
		p.Solve(1, []float64{gamma}, p.V[:d], x)
		var along mat.VecDense
		along.MulVec(mat.NewDense(3, d, p.V), mat.NewVecDense(d, x))
		for i, want := range []float64{1, 0, 0} {
			if got := along.AtVec(i) * (p.Lambda[i] + gamma); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("ĤĤ⁻¹v₁ has the component %g along v_%d, want %g", got, i+1, want)
			}
		}
	})
}

package fd

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/engine/enginetest"
	"github.com/fdridge/fdridge/internal/verify/refbig"
)

// scatterOff returns ‖K − AᵀA‖₂ in extended precision, where K is the matrix that the sketch stores. A has
// each of the rows so many times, and each row has the given weight, a power of β.
func scatterOff(t *testing.T, s *Sketch, weight float64, rows [][]float64, times int) float64 {
	t.Helper()
	d := s.cfg.Dim
	off := mat.NewSymDense(d, nil)
	for i := range d {
		for j := range i + 1 {
			sum := refbig.Float(0)
			for _, row := range rows {
				sum.Add(sum, new(big.Float).Mul(refbig.Float(row[i]), refbig.Float(row[j])))
			}
			sum.Mul(sum, new(big.Float).Mul(refbig.Float(float64(times)), refbig.Float(weight)))
			high, low := s.sums[i*(i+1)/2+j].Parts()
			sum.Sub(sum, refbig.Float(high))
			e, _ := sum.Sub(sum, refbig.Float(low)).Float64()
			off.SetSym(i, j, e)
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(off, false) {
		t.Fatal("no eigenvalues")
	}
	w := eig.Values(nil)
	return math.Max(-w[0], w[d-1])
}

// TestScatterBooks: the error of the stored K is at most the round-off that the sketch records for K. The rows are
// equal, so that all their roundings go the same way. They come in blocks of many lengths, are merged and decay. Some
// errors exceed a few roundings, so a much smaller record would be wrong.
func TestScatterBooks(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, be engine.Backend) {
		worst := 0.0
		for seed := range uint64(24) {
			rng := rand.New(rand.NewPCG(seed, 5))
			d, p := 1+rng.IntN(6), []int{1, 7, 64, 256, 1000}[rng.IntN(5)]
			rows := make([][]float64, 1+rng.IntN(3)*rng.IntN(2))
			for i := range rows {
				x := 1 + rng.Float64()
				for range d {
					rows[i] = append(rows[i], x)
				}
			}
			fill := func(times int) *Sketch {
				s, err := New(Config{Dim: d, Size: 1, ShrinkRows: p, Store: StoreScatter, Backend: be})
				if err != nil {
					t.Fatal(err)
				}
				for range times {
					for _, row := range rows {
						if err := s.AppendRow(row); err != nil {
							t.Fatal(err)
						}
					}
				}
				s.addToScatter()
				return s
			}
			holds := func(s *Sketch, weight float64, times int, what string) {
				got := scatterOff(t, s, weight, rows, times)
				if !(got <= s.roundOff) {
					t.Errorf("%s, d = %d, p = %d: K is off by %.3g, booked are %.3g", what, d, p, got, s.roundOff)
				}
				worst = math.Max(worst, got/(eps*s.frob.Value()))
			}
			s, o := fill(1500), fill(700)
			holds(s, 1, 1500, "appended")
			empty := fill(0)
			for _, into := range []*Sketch{s, empty} {
				if err := into.Merge(o); err != nil {
					t.Fatal(err)
				}
			}
			holds(empty, 1, 700, "merged into none")
			holds(s, 1, 2200, "merged")
			weight := 1.0
			for range 40 {
				if err := s.Decay(0.999); err != nil {
					t.Fatal(err)
				}
			}
			exact := refbig.Float(1)
			for range 40 {
				exact.Mul(exact, refbig.Float(0.999))
			}
			weight, _ = exact.Float64()
			slack := 0.5 * eps * s.frob.Value() // of this one number
			if got := scatterOff(t, s, weight, rows, 2200); !(got <= s.roundOff+slack) {
				t.Errorf("decayed: K is off by %.3g, booked are %.3g", got, s.roundOff)
			}
		}
		t.Logf("K was off by up to %.3g eps·‖A‖²", worst)
		if !(worst > engine.Roundings+1.5) {
			t.Errorf("no K was off by more than %.3g eps·‖A‖²: these rows prove nothing", worst)
		}
	})
}

// TestScatterDecayBooks: what decays do to K is booked, where nothing else is.
func TestScatterDecayBooks(t *testing.T) {
	s, err := New(Config{Dim: 1, Size: 1, ShrinkRows: 1, Store: StoreScatter})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AppendRow([]float64{1}); err != nil {
		t.Fatal(err)
	}
	s.addToScatter()
	s.roundOff = 0 // 1·1 is exact
	exact := refbig.Float(1)
	for range 1000 {
		if err := s.Decay(0.999); err != nil {
			t.Fatal(err)
		}
		exact.Mul(exact, refbig.Float(0.999))
	}
	high, low := s.sums[0].Parts()
	off, _ := exact.Sub(exact, new(big.Float).Add(refbig.Float(high), refbig.Float(low))).Float64()
	off = math.Abs(off)
	if !(off > 0 && off <= s.roundOff) {
		t.Errorf("K is off by %g, booked are %g", off, s.roundOff)
	}
}

// TestScatterState: every field survives a message.
func TestScatterState(t *testing.T) {
	s, err := New(Config{Dim: 3, Size: 2, ShrinkRows: 5, Store: StoreScatter})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		x := float64(i)
		if err := s.AppendRow([]float64{math.Sin(x), math.Cos(x) / 3, math.Sqrt(x)}); err != nil {
			t.Fatal(err)
		}
	}
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	r := new(Sketch)
	if err := r.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if s.sums == nil || s.rows == 0 || s.roundOff == 0 {
		t.Fatalf("too simple a sketch: %+v", s)
	}
	r.allocate()
	for _, s := range []*Sketch{s, r} { // what is no state
		s.ws = workspace{}
		clear(s.norm2)
		clear(s.buf[s.rows*s.ld:])
	}
	if !reflect.DeepEqual(r, s) {
		t.Errorf("read %+v, written %+v", r, s)
	}
}

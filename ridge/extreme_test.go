package ridge

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/engine"
	"github.com/fdridge/fdridge/fd"
)

// TestExtremes: finite rows and weights of any size, in blocks, decayed and merged, are accepted or refused. An
// accepted call leaves a summary of finite numbers, which can be written and read. A refused call changes no byte, and
// its error does not claim that a number is not finite.
func TestExtremes(t *testing.T) {
	problems := 2000
	if testing.Short() {
		problems = 500
	}
	if v, err := strconv.Atoi(os.Getenv("FDRIDGE_EXTREMES")); err == nil {
		problems = v
	}
	taken, refused := 0, 0
	for seed := range problems {
		e := extremes{rand.New(rand.NewPCG(uint64(seed), 17)), ""}
		a, r, err := e.problem()
		taken, refused = taken+a, refused+r
		if err != nil {
			t.Errorf("seed %d:%s: %v", seed, e.log, err)
		}
	}
	t.Logf("%d taken, %d refused", taken, refused)
	if !(taken > problems && refused > problems/10) {
		t.Errorf("of %d problems %d calls are taken and %d refused", problems, taken, refused)
	}
}

type extremes struct {
	*rand.Rand
	log string
}

// size is 2ᵏ times something below 2, with k as far from 0 as most; at times one of a
// few that are next to the limits.
func (e *extremes) size(most int, limits ...float64) float64 {
	if len(limits) > 0 && e.IntN(3) == 0 {
		return limits[e.IntN(len(limits))]
	}
	return math.Ldexp(1+e.Float64(), e.IntN(2*most+1)-most)
}

// problem calls what changes a summary, a few times, and counts the calls taken and
// refused.
func (e *extremes) problem() (taken, refused int, err error) {
	d, t := 1+e.IntN(3), 1+e.IntN(2)
	cfg := SummaryConfig{Dim: d, Targets: t, Size: 1 + e.IntN(3), Intercept: e.IntN(4) > 0, ShrinkRows: 1 + e.IntN(3)}
	switch e.IntN(3) {
	case 0:
		cfg.Shrink = fd.SVD
	case 1:
		cfg.Store = fd.StoreScatter
	case 2:
		cfg.Store = fd.StoreRows
	}
	var sums []*Summary
	for range 2 {
		s, err := NewSummary(cfg)
		if err != nil {
			return 0, 0, err
		}
		sums = append(sums, s)
	}
	level, shift := []int{10, 150, 490, 600}[e.IntN(4)], [2]int{}
	if level == 10 { // one far away, one near and heavy
		shift = [2]int{480, -e.IntN(480)}
	}
	for range 3 + e.IntN(8) {
		i := e.IntN(2)
		s := sums[i]
		before, err := s.MarshalBinary()
		if err != nil {
			return taken, refused, err
		}
		var did error
		switch k := e.IntN(8); {
		case k <= 1:
			e.log += fmt.Sprintf(" %d<%d", i, 1-i)
			did = s.Merge(sums[1-i])
		case k == 2:
			beta := math.Ldexp(1, -e.IntN(1000))
			e.log += fmt.Sprintf(" %d*%g", i, beta)
			did = s.Decay(beta)
		default:
			b := e.block(d, t, level, shift[i])
			e.log += fmt.Sprintf(" %d+%+v", i, b)
			if b.Sparse != nil {
				e.log += fmt.Sprintf("%v", b.Sparse.Val)
			}
			did = s.AppendBlock(b)
		}
		if did == nil {
			taken++
			if err := finiteState(s); err != nil {
				return taken, refused, err
			}
			continue
		}
		refused++
		_, outOfRange := errors.AsType[*fd.RangeError](did)
		_, scale := errors.AsType[*ScaleError](did)
		if !outOfRange && !scale {
			return taken, refused, fmt.Errorf("refused with %T: %w", did, did)
		}
		after, err := s.MarshalBinary()
		if err != nil {
			return taken, refused, err
		}
		if !bytes.Equal(before, after) {
			return taken, refused, fmt.Errorf("refused and changed: %w", did)
		}
	}
	return taken, refused, nil
}

// block is one of up to four rows, whose entries are 2ˢʰⁱᶠᵗ times such sizes.
func (e *extremes) block(d, t, level, shift int) dataset.Block {
	n := 1 + e.IntN(4)
	b := dataset.Block{N: n}
	limits := []float64{0, 1, 0x1p498, -0x1p498, 0x1p499, 0x1.fffffp498, 0x1p-1074, 0x1p-537, 0x1p-1022}
	if level < 100 {
		limits = []float64{0}
	}
	kind := e.IntN(3)
	entry := func() float64 {
		v := e.size(level, limits...)
		if kind == 0 {
			v = e.size(level)
		}
		return math.Copysign(math.Ldexp(v, shift), e.Float64()-0.5)
	}
	var x []float64
	for range n * d {
		x = append(x, entry())
	}
	for range n * t {
		b.Y = append(b.Y, entry())
	}
	if e.IntN(3) > 0 {
		for range n {
			b.W = append(
				b.W,
				min(
					math.Abs(e.size(1000, 0, 1, 0x1p-1074, 0x1p-1073, 0x1p-1022, 0x1p500, 0x1p-500, 0x1p-996)),
					math.MaxFloat64,
				),
			)
		}
		if e.IntN(2) == 0 { // as heavy as may be, or nearly
			for i, w := range b.W {
				var n2 float64
				for _, v := range append(x[i*d:(i+1)*d:(i+1)*d], b.Y[i*t:(i+1)*t]...) {
					n2 += v * v
				}
				if w > 0 && n2 > 0 {
					b.W[i] = min(0x1p500, math.Ldexp(1, 999-e.IntN(20))/n2)
				}
			}
		}
	}
	if e.IntN(4) > 0 {
		b.X = x
		return b
	}
	b.Sparse = &engine.CSR{Rows: n, Cols: d, RowPtr: []int{0}}
	for i := range n {
		for j := range d {
			if e.IntN(3) > 0 {
				b.Sparse.ColIdx, b.Sparse.Val = append(b.Sparse.ColIdx, int32(j)), append(b.Sparse.Val, x[i*d+j])
			}
		}
		b.Sparse.RowPtr = append(b.Sparse.RowPtr, len(b.Sparse.Val))
	}
	return b
}

// finiteState says which number of s is not finite, or why what is written of it cannot
// be read.
func finiteState(s *Summary) error {
	spec, err := s.spectrum()
	if err != nil {
		return err
	}
	l, err := s.all()
	if err != nil {
		return err
	}
	st, sums := l.Stage, l.Evidence(spec)
	var total []float64
	for _, v := range st.Sum {
		total = append(total, v.Value())
	}
	numbers := map[string][]float64{
		"the weight": {st.Weight.Value(), st.WeightError},
		"the origin": st.Origin, "the means": st.RelativeMeans(), "their round-off": st.SumError,
		"what centring moved": st.Moved, "the sum of squares": {s.sum.Extent().Squares}, "c": sums.Cross,
		"the witness": sums.Product, "‖b‖²": sums.TSS, "the sums": total,
		"the round-off of the means": st.MeanErrors(),
	}
	numbers["the spectrum"], numbers["V"] = spec.Sigma2, spec.V
	numbers["the bound"] = []float64{spec.Bound.Shrinkage, spec.Bound.RoundOff, spec.Bound.Frobenius2, spec.Bound.Tail}
	for what, x := range numbers {
		for _, v := range x {
			if !(math.Abs(v) <= math.MaxFloat64) {
				return fmt.Errorf("%s: %v", what, x)
			}
		}
	}
	message, err := s.MarshalBinary()
	if err != nil {
		return err
	}
	return new(Summary).UnmarshalBinary(message)
}

package choose_test

import (
	"context"
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/fd"
	"github.com/fdridge/fdridge/internal/verify/refbig"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/choose"
)

// manyTargets is a random problem: targets of signal and of noise, a copy of another target, one that is
// constant and one that the features explain exactly.
func manyTargets(r *rand.Rand, n, d, t int) (x, y [][]float64) {
	span := 6 * r.Float64()
	for range n {
		row := make([]float64, d)
		for j := range row {
			row[j] = r.NormFloat64() * math.Pow(10, -span*float64(j)/float64(d))
		}
		x = append(x, row)
	}
	y = make([][]float64, n)
	for i := range y {
		y[i] = make([]float64, t)
	}
	for j := range t {
		signal, noise, at := r.Float64(), math.Pow(10, -4*r.Float64()), r.IntN(d)
		for i := range n {
			switch j % 8 {
			case 0, 1, 2:
				y[i][j] = signal*x[i][at] + noise*r.NormFloat64()
			case 3, 4:
				y[i][j] = r.NormFloat64()
			case 5:
				y[i][j] = y[i][j-1]
			case 6:
				y[i][j] = 3
			case 7:
				y[i][j] = 2 * x[i][at]
			}
		}
	}
	return x, y
}

// TestEachGCV compares the choice for each target with the exact scores of all candidates: a proved choice has the
// smallest score, and the excess of any other is bounded.
func TestEachGCV(t *testing.T) {
	problems, targets := 3, 16
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		problems, targets = 30, 60
	}
	ctx, proved, narrow, all := context.Background(), 0, 0, 0
	for seed := range problems {
		r := rand.New(rand.NewPCG(7, uint64(seed)))
		n, d := 4+r.IntN(40), 1+r.IntN(14)
		if seed%3 == 1 { // more features than rows
			n, d = 4+r.IntN(10), 14+r.IntN(20)
		}
		x, y := manyTargets(r, n, d, targets)
		intercept := seed%3 != 0
		src, err := dataset.FromDense(n, d, targets, slices.Concat(x...), slices.Concat(y...))
		if err != nil {
			t.Fatal(err)
		}
		gammas := []float64{}
		for i := range 8 {
			g := math.Pow(10, float64(i)-5+r.Float64())
			gammas = append(gammas, g)
			if seed%2 == 1 {
				gammas = append(gammas, math.Nextafter(g, 1)) // ties
			}
		}
		reference := refbig.New(x, y, nil, intercept)
		var exact []*refbig.Solution
		for _, g := range gammas {
			s, err := reference.Solve(g)
			if err != nil {
				t.Fatal(err)
			}
			exact = append(exact, s)
		}
		for _, size := range []int{min(n, d), max(1, min(n, d)/2)} {
			sum, err := ridge.Summarize(
				ctx,
				src,
				ridge.SummaryConfig{Size: size, ShrinkRows: 1, Store: fd.StoreRows, Intercept: intercept},
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			brackets, err := choose.EachScore(sum, gammas)
			if err != nil {
				t.Fatal(err)
			}
			for at, v := range brackets {
				want := exact[at%len(gammas)].GCV[at/len(gammas)]
				if want == nil {
					continue
				}
				if refbig.Float(v.Lo).Cmp(want) > 0 || !math.IsInf(v.Hi, 1) && refbig.Float(v.Hi).Cmp(want) < 0 {
					t.Errorf(
						"problem %d, %d rows: GCV of target %d at γ = %v is %v, not in %v",
						seed,
						size,
						at/len(gammas),
						gammas[at%len(gammas)],
						want,
						v,
					)
				}
			}
			choice, err := choose.EachGCV(sum, gammas)
			if err != nil {
				t.Fatal(err)
			}
			for j, g := range choice.Gammas {
				least, own := (*big.Float)(nil), exact[slices.Index(gammas, g)].GCV[j]
				for _, s := range exact {
					if v := s.GCV[j]; v != nil && (least == nil || v.Cmp(least) < 0) {
						least = v
					}
				}
				if own == nil {
					continue
				}
				excess := new(big.Float).Sub(own, least)
				if !math.IsInf(choice.Excess[j], 1) && refbig.Float(choice.Excess[j]).Cmp(excess) < 0 {
					t.Errorf(
						"problem %d, %d rows, target %d: the score of γ = %v exceeds the smallest by %v, not by at most %v",
						seed,
						size,
						j,
						g,
						excess,
						choice.Excess[j],
					)
				}
				all++
				if choice.Excess[j] == 0 {
					proved++
				}
				if choice.Excess[j] <= 1e-9*choice.Scores[j].Hi {
					narrow++
				}
			}
		}
	}
	t.Logf("%d of %d choices proved, %d up to 1e-9 of the score", proved, all, narrow)
	if proved < all/8 || narrow < all/4 {
		t.Errorf("of %d choices only %d are proved and %d known to 1e-9", all, proved, narrow)
	}
}

// TestTargetChoiceJSON: an unbounded excess is null in JSON, and remains unbounded.
func TestTargetChoiceJSON(t *testing.T) {
	c := choose.TargetChoice{
		By:         choose.GCV,
		Candidates: []float64{1, 2},
		Gammas:     []float64{1, 2},
		Scores:     []ridge.Interval{{Lo: 1, Hi: 1}, {Lo: 0, Hi: 4}},
		Excess:     []float64{0, math.Inf(1)},
	}
	text, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(text), `"excess":[0.0,null]`) {
		t.Fatalf("%s, %v", text, err)
	}
	var back choose.TargetChoice
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%+v, %v", back, err)
	}
}

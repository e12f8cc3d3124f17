package classes_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/classes"
)

// source returns rows with features x, targets y and weights w.
func source(t *testing.T, n, d, targets int, x, y, w []float64) dataset.Source {
	t.Helper()
	var both []float64 // the targets and the weight of each row
	for i, v := range w {
		both = append(append(both, y[i*targets:(i+1)*targets]...), v)
	}
	src, err := dataset.FromDense(n, d, targets, x, y)
	if w != nil {
		src, err = dataset.FromDense(n, d, targets+1, x, both)
		if err == nil {
			src, err = dataset.TargetAsWeight(src)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// learn returns the classes of labels.
func learn(t *testing.T, labels []float64, text func(float64) string) *classes.Classes {
	t.Helper()
	c, err := classes.Learn(t.Context(), source(t, len(labels), 1, 1, make([]float64, len(labels)), labels, nil), text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLearn: labels are sorted as numbers or as bytes, and counted.
func TestLearn(t *testing.T) {
	y := []float64{10, 9, -1, 9, 10, 9}
	for name, c := range map[string]struct {
		text   func(float64) string
		labels []string
		counts []int64
		order  []float64 // values of the classes
	}{
		"numbers": {nil, []string{"-1", "9", "10"}, []int64{1, 3, 2}, []float64{-1, 9, 10}},
		"text": {
			func(v float64) string { return fmt.Sprintf("label\t%v,\"ä", v) },
			[]string{"label\t-1,\"ä", "label\t10,\"ä", "label\t9,\"ä"}, []int64{1, 2, 3}, []float64{-1, 10, 9},
		},
	} {
		got := learn(t, y, c.text)
		if !slices.Equal(got.Labels, c.labels) || !slices.Equal(got.Counts, c.counts) || got.Targets() != 3 ||
			got.Of(3) != -1 {
			t.Errorf("%s: %+v", name, got)
		}
		for k, v := range c.order {
			if got.Of(v) != k {
				t.Errorf("%s: %v is of class %d, want %d", name, v, got.Of(v), k)
			}
		}
	}
}

// TestLearnRefuses: rows without classes.
func TestLearnRefuses(t *testing.T) {
	many := make([]float64, classes.Most+2) // the last label has two rows
	for i := range many {
		many[i] = float64(min(i, classes.Most))
	}
	for name, y := range map[string][]float64{"one class": {2, 2, 2}, "all different": {1, 2, 3}, "too many": many} {
		_, err := classes.Learn(t.Context(), source(t, len(y), 1, 1, make([]float64, len(y)), y, nil), nil)
		if _, ok := errors.AsType[*dataset.SourceError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, src := range map[string]dataset.Source{"no source": nil, "two targets": source(t, 2, 1, 2, make([]float64, 2), make([]float64, 4), nil)} {
		if _, err := classes.Learn(t.Context(), src, nil); !errors.Is(err, ridge.ErrInput) {
			t.Errorf("%s: %v", name, err)
		}
	}
	rows, _, err := dataset.Holdout{
		Share: 0.999999,
	}.Split(
		source(t, 2, 1, 1, make([]float64, 2), make([]float64, 2), nil),
	)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := classes.Learn(t.Context(), rows, nil); !errors.Is(err, ridge.ErrEmpty) {
		t.Errorf("no rows: %v", err)
	}
	if c := learn(t, []float64{3, 4}, nil); c.Targets() != 1 { // two rows of two classes are classes
		t.Errorf("%+v", c)
	}
}

// TestEncode: the targets are ±1, and the weights of balanced classes are w·n/(K·nₖ), also from the middle of
// the rows.
func TestEncode(t *testing.T) {
	for _, labels := range [][]float64{{5, 2, 5, 5, 5}, {5, 2, 7, 5, 5, 7, 5}} { // label 2 has one row
		n := len(labels)
		weights := make([]float64, n)
		for i := range weights {
			weights[i] = float64(i % 3)
		}
		src := source(t, n, 1, 1, make([]float64, n), labels, weights)
		c := learn(t, labels, nil)
		for _, balanced := range []bool{false, true} {
			c.Balanced = balanced
			for _, first := range []int64{0, 3} {
				end := int64(0)
				for b, err := range dataset.From(t.Context(), c.Encode(src), first) {
					if err != nil {
						t.Fatal(err)
					}
					for i := range b.N {
						row := b.First + int64(i)
						k := c.Of(labels[row])
						want := big.NewRat(int64(weights[row]), 1)
						if balanced {
							want.Mul(want, big.NewRat(int64(n), int64(len(c.Labels))*c.Counts[k]))
						}
						exact, _ := want.Float64()
						if got := b.Weight(i); !(math.Abs(got-exact) <= 0x1p-50*exact) {
							t.Errorf("%v, row %d: weight %v, want %v", labels, row, got, exact)
						}
						y := b.Y[i*c.Targets() : (i+1)*c.Targets()]
						if classes.Decide(y) != k ||
							slices.ContainsFunc(y, func(v float64) bool { return math.Abs(v) != 1 }) ||
							c.Targets() > 1 && classes.Margin(y) != 2 {
							t.Errorf("%v, row %d of class %d: targets %v", labels, row, k, y)
						}
					}
					end = b.First + int64(b.N)
				}
				if end != int64(n) {
					t.Errorf("the pass ends at row %d of %d", end, n)
				}
			}
		}
		other := slices.Clone(labels)
		other[3] = 8
		var failed *dataset.SourceError
		for _, err := range c.Encode(source(t, n, 1, 1, make([]float64, n), other, nil)).Blocks(t.Context()) {
			failed, _ = errors.AsType[*dataset.SourceError](err)
		}
		if failed == nil {
			t.Error("a label that is not among the classes is encoded")
		}
	}
}

// TestDecisions: the decision from intervals agrees with the decisions at all combinations of their ends.
func TestDecisions(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	proved, ties := 0, 0
	for range 20000 {
		n := 1 + r.IntN(4)
		within := make([]ridge.Interval, n)
		for k := range within {
			within[k].Lo = float64(r.IntN(9) - 4) // small integers, so that many ends are equal
			within[k].Hi = within[k].Lo + float64(r.IntN(3))
		}
		for k := range max(n, 2) {
			always, some := true, false
			for corner := range 1 << n {
				values := make([]float64, n)
				for j, v := range within {
					values[j] = v.Lo
					if corner>>j&1 == 1 {
						values[j] = v.Hi
					}
				}
				of := func(j int) float64 {
					if n == 1 {
						return []float64{-values[0], values[0]}[j]
					}
					return values[j]
				}
				first, tie := true, false
				for j := range max(n, 2) {
					if j != k && of(j) >= of(k) {
						first, tie = false, tie || of(j) == of(k)
					}
				}
				largest := !slices.ContainsFunc(
					[]int{0, 1, 2, 3}[:max(n, 2)],
					func(j int) bool { return of(j) > of(k) },
				)
				always, some = always && first, some || largest
				if tie && largest {
					ties++
				}
				if got := classes.Decide(values); first != (got == k && classes.Margin(values) > 0) {
					t.Fatalf("%v is decided as %d with margin %v", values, got, classes.Margin(values))
				}
			}
			if classes.Proves(within, k) != always || classes.Allows(within, k) != some {
				t.Fatalf(
					"%v, class %d: proved %v, want %v; possible %v, want %v",
					within,
					k,
					classes.Proves(within, k),
					always,
					classes.Allows(within, k),
					some,
				)
			}
			if always {
				proved++
			}
		}
	}
	if proved < 1000 || ties < 1000 {
		t.Errorf("only %d proved decisions and %d ties", proved, ties)
	}
	nan := ridge.Interval{Lo: math.NaN(), Hi: math.NaN()}
	if within := []ridge.Interval{{Lo: 1, Hi: 1}, nan}; classes.Proves(within, 0) || classes.Proves(nil, 0) ||
		!classes.Allows(within, 1) ||
		!classes.Allows(nil, 1) {
		t.Error("an unknown prediction proves a decision")
	}
	if classes.Decide([]float64{0}) != 0 || classes.Decide([]float64{1, 3, 3}) != 1 ||
		classes.Margin([]float64{1, 3, 3}) != 0 {
		t.Error("a tie is not decided for the first class")
	}
}

// TestScore: accuracies are the fractions of counted rows. Rows of weight 0 are not counted. Unknown labels are wrong.
func TestScore(t *testing.T) {
	c := learn(t, []float64{0, 1, 2, 2}, nil)
	at := func(k int, width float64) (y []float64, within []ridge.Interval) {
		for j := range 3 {
			v := 0.0
			if j == k {
				v = 1
			}
			y, within = append(y, v), append(within, ridge.Interval{Lo: v - width, Hi: v + width})
		}
		return y, within
	}
	s := c.NewScore()
	if v, exact := s.Accuracy(); !math.IsNaN(v) || !math.IsNaN(exact.Lo) {
		t.Errorf("no rows: %v, %v", v, exact)
	}
	for _, row := range []struct {
		truth, decided int
		width          float64
	}{{0, 0, 0.1}, {0, 0, 0.6}, {0, 1, 0.1}, {2, 2, 0.1}, {2, 0, 0.6}, {-1, 1, 0.1}} {
		y, within := at(row.decided, row.width)
		s.Add(row.truth, y, within)
	}
	y, _ := at(0, 0)
	s.Add(0, y, nil)
	block := dataset.Block{N: 2, Y: []float64{1, -1, -1, -1, -1, 1}, W: []float64{0, 2}}
	s.AddEncoded(block, append(y, -1, -2, 3), make([]ridge.Interval, 6))
	want := classes.Score{
		Rows: 8, Confusion: [][]int64{{3, 1, 0}, {0, 0, 0}, {1, 0, 2}}, Unknown: 1, Proved: 4, Right: []int64{1, 0, 1}, Possible: []int64{3, 0, 3},
	}
	if fmt.Sprint(*s) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", *s, want)
	}
	if v, exact := s.Accuracy(); v != 5.0/8 || exact.Lo != 2.0/8 || exact.Hi != 6.0/8 {
		t.Errorf("accuracy %v in %v", v, exact)
	}
	fraction := func(a, b, c, d int64) float64 { // (a/b + c/d)/2, because class 1 has no rows
		v, _ := new(big.Rat).Quo(new(big.Rat).Add(big.NewRat(a, b), big.NewRat(c, d)), big.NewRat(2, 1)).Float64()
		return v
	}
	if v, exact := s.Balanced(); v != fraction(3, 4, 2, 3) || exact.Lo != fraction(1, 4, 1, 3) ||
		exact.Hi != fraction(3, 4, 3, 3) {
		t.Errorf("balanced accuracy %v in %v", v, exact)
	}
}

// TestEvaluate: the counts agree with the decisions of the exact solution in fractions. There is one feature a, and
// no intercept: the prediction of class k at a is a·Σ waᵢyᵢₖ/(Σ waᵢ² + γ). The sign of a thus decides,
// and a = 0 is a tie.
func TestEvaluate(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for trial := range 40 {
		n, k := 12+r.IntN(8), 2+r.IntN(2)
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			y[i] = float64(r.IntN(k))
			if i < k { // every class has a row
				y[i] = float64(i)
			}
			x[i] = float64(r.IntN(7) - 3)
		}
		src := source(t, n, 1, 1, x, y, nil)
		c, err := classes.Learn(t.Context(), src, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Balanced = trial%2 == 1
		fits, err := ridge.SolveExact(t.Context(), c.Encode(src), []float64{0.5}, ridge.ExactOptions{})
		if err != nil {
			t.Fatal(err)
		}
		bare := &ridge.Solution{} // without a certificate
		for _, o := range fits[0].Targets {
			bare.Targets = append(bare.Targets, ridge.Target{Coef: o.Coef, Intercept: o.Intercept})
		}
		scores, err := c.Evaluate(t.Context(), src, append(fits, bare))
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]*big.Rat, c.Targets()) // Σ waᵢyᵢₖ
		for j := range sums {
			sums[j] = new(big.Rat)
			for i := range n {
				class, w := c.Of(y[i]), big.NewRat(int64(x[i]), 1)
				if c.Balanced {
					w.Mul(w, big.NewRat(int64(n), int64(k)*c.Counts[class]))
				}
				if sign := c.Targets() == 1 && class == 1 || c.Targets() > 1 && class == j; !sign {
					w.Neg(w)
				}
				sums[j].Add(sums[j], w)
			}
		}
		if c.Targets() == 1 {
			sums = []*big.Rat{new(big.Rat).Neg(sums[0]), sums[0]}
		}
		right, possible, tied := make([]int64, k), make([]int64, k), int64(0)
		for i := range n {
			truth, isLargest, isTied := c.Of(y[i]), true, false
			for j := range sums {
				if j != truth {
					order := sums[truth].Cmp(sums[j]) * int(x[i])
					isLargest, isTied = isLargest && order >= 0, isTied || order == 0
				}
			}
			if isLargest {
				possible[truth]++
				if !isTied {
					right[truth]++
				}
			}
			if x[i] == 0 {
				tied++
			}
		}
		s := scores[0]
		for j := range k {
			if s.Right[j] > right[j] || s.Possible[j] < possible[j] {
				t.Errorf(
					"trial %d, class %d: %d to %d right, exactly %d to %d",
					trial,
					j,
					s.Right[j],
					s.Possible[j],
					right[j],
					possible[j],
				)
			}
		}
		if s.Rows != int64(n) || s.Proved > s.Rows-tied ||
			k == 2 && sums[0].Cmp(sums[1]) != 0 && s.Proved < s.Rows-tied {
			t.Errorf("trial %d: %d of %d decisions are proved, %d tied", trial, s.Proved, s.Rows, tied)
		}
		if bare := scores[1]; bare.Proved != 0 || fmt.Sprint(bare.Confusion) != fmt.Sprint(s.Confusion) ||
			slices.Max(bare.Right) != 0 {
			t.Errorf("trial %d: without a certificate %+v", trial, bare)
		}
	}
}

// TestLearnShared: processes that share the rows learn the classes and counts of all rows. A label may be in the rows
// of one process only, and its value may differ.
func TestLearnShared(t *testing.T) {
	labels := [][]float64{{1, 2, 1}, {7, 7, 8}} // 7 is the label of 2 in the second process
	names := []map[float64]string{{1: "a", 2: "b"}, {7: "b", 8: "c"}}
	var wait sync.WaitGroup
	found := make([]*classes.Classes, len(labels))
	for rank, link := range dist.Loopback(len(labels)) {
		src, err := dataset.FromDense(3, 1, 1, []float64{1, 2, 3}, labels[rank])
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			text := func(v float64) string { return names[rank][v] }
			gather := func(ctx context.Context, own []byte) ([][]byte, error) { return dist.Gather(ctx, link, own) }
			c, err := classes.LearnShared(t.Context(), src, text, gather)
			if err != nil {
				t.Error(err)
				link.Abort(err)
			}
			found[rank] = c
		})
	}
	wait.Wait()
	for rank, c := range found {
		if c == nil || !slices.Equal(c.Labels, []string{"a", "b", "c"}) || !slices.Equal(c.Counts, []int64{2, 3, 1}) {
			t.Fatalf("process %d learns %+v", rank, c)
		}
	}
	if found[0].Of(2) != 1 || found[1].Of(7) != 1 || found[0].Of(7) != -1 || found[1].Of(8) != 2 {
		t.Errorf("classes of values: %d, %d, %d, %d", found[0].Of(2), found[1].Of(7), found[0].Of(7), found[1].Of(8))
	}
}

package beam

import (
	"bytes"
	"cmp"
	"flag"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

const features = 50

var rowsOfPart = flag.Int64("rows", 300, "rows of each of the 40 parts of TestPrism")

func init() {
	register.Function2x1(rowsOf)
	register.Function1x0(collect)
}

func TestMain(m *testing.M) {
	flag.Parse()
	sdk.Init()
	os.Exit(m.Run())
}

// rowsOf returns the n rows of a part.
func rowsOf(part, n int64) Rows {
	r := rand.New(rand.NewPCG(7, uint64(part)))
	rows := Rows{Part: part, Features: make([]float64, n*features), Targets: make([]float64, n)}
	for i := range rows.Features {
		rows.Features[i] = r.NormFloat64() + float64(part)
	}
	for i := range rows.Targets {
		rows.Targets[i] = rows.Features[i*features] + r.NormFloat64()
	}
	return rows
}

// collected has the results of a pipeline, which runs in this process.
var collected = make(chan []byte, 10)

func collect(sketch []byte) { collected <- bytes.Clone(sketch) }

// onOneMachine sketches and merges parts one after the other, without Beam.
func onOneMachine(t *testing.T, parts, n int64) []byte {
	t.Helper()
	var all *ridge.Summary
	for part := range parts {
		sum, err := ridge.NewSummary(
			ridge.SummaryConfig{Dim: features, Targets: 1, Size: 256, Intercept: true, Lanes: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(part, n)
		if err := sum.AppendBlock(dataset.Block{N: int(n), X: rows.Features, Y: rows.Targets}); err != nil {
			t.Fatal(err)
		}
		if all == nil {
			all = sum
		} else if err := all.Merge(sum); err != nil {
			t.Fatal(err)
		}
	}
	file, err := all.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// TestPrism: Beam's local runner gives the bits of one machine.
func TestPrism(t *testing.T) {
	p, s := sdk.NewPipelineWithRoot()
	var parts []sdk.PCollection
	for part := range int64(40) { // a bundle for each
		parts = append(
			parts,
			sdk.ParDo(s, rowsOf, sdk.Create(s, part), sdk.SideInput{Input: sdk.Create(s, *rowsOfPart)}),
		)
	}
	rows := sdk.Flatten(s, parts...)
	sdk.ParDo0(s, collect, sdk.Combine(s, &Sketch{Features: features}, rows))
	if _, err := prism.Execute(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	if len(collected) != 1 || !bytes.Equal(<-collected, onOneMachine(t, 40, *rowsOfPart)) {
		t.Error("other bits than on one machine")
	}
}

// TestOrder: every order and grouping gives the same bits.
func TestOrder(t *testing.T) {
	want, s := onOneMachine(t, 9, 40), &Sketch{Features: features}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(1, seed))
		all := make([]Accumulator, 1+r.IntN(9))
		for _, part := range r.Perm(9) {
			i := r.IntN(len(all))
			var err error
			all[i], err = s.AddInput(all[i], rowsOf(int64(part), 40))
			if err != nil {
				t.Fatal(err)
			}
		}
		merged := s.CreateAccumulator()
		for _, i := range r.Perm(len(all)) {
			merged = s.MergeAccumulators(merged, all[i])
		}
		if got, err := s.ExtractOutput(merged); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other bits, %v", seed, err)
		}
	}
}

// TestErrors: wrong rows are errors that name the part.
func TestErrors(t *testing.T) {
	s := &Sketch{Features: 2}
	one, err := s.AddInput(Accumulator{}, Rows{Part: 5, Features: []float64{1, 2}, Targets: []float64{1}})
	none, err2 := s.AddInput(one, Rows{Part: 6})
	if err != nil || err2 != nil || len(none.Parts) != 1 {
		t.Fatal(err, err2, none)
	}
	_, err = s.ExtractOutput(s.MergeAccumulators(one, one))
	_, empty := s.ExtractOutput(Accumulator{})
	found := []error{err, empty}
	for _, rows := range []Rows{
		{5, []float64{1, 2, 3}, []float64{1}, nil}, {5, []float64{1, 2}, []float64{1, 2}, nil},
		{5, nil, []float64{1}, nil}, {5, []float64{1, 2}, []float64{1}, []float64{-1}},
	} {
		_, err := s.AddInput(Accumulator{}, rows)
		found = append(found, err)
	}
	for i, err := range found {
		want := cmp.Or(map[int]string{0: "number 5", 1: "no rows"}[i], "part 5")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Error(i, err)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/file"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
)

// openRows opens a thousand rows of a file, which was read so often for it.
func openRows(t *testing.T, path string, o file.Options) (src dataset.Source, reads int) {
	t.Helper()
	opened, err := file.Open([]string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	src, err = dataset.Rows(opened.Source, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return src, opened.Scans
}

// predicted predicts for rows and writes them as the command does: prediction[,low,high] of
// each target.
func predicted(t *testing.T, p *model.Predictor, src dataset.Source) string {
	t.Helper()
	var out []byte
	for one, err := range p.Predict(t.Context(), src) {
		if err != nil {
			t.Fatal(err)
		}
		for j, y := range one.Y {
			if j > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendFloat(out, y, 'g', -1, 64)
			if one.Intervals != nil {
				out = strconv.AppendFloat(append(out, ','), one.Intervals[j].Lo, 'g', -1, 64)
				out = strconv.AppendFloat(append(out, ','), one.Intervals[j].Hi, 'g', -1, 64)
			}
		}
		out = append(out, '\n')
	}
	return string(out)
}

// sameModel compares a model with the file that the command wrote, byte for byte, and returns
// what is read from that.
func sameModel(t *testing.T, m *model.Model, name string) *model.Model {
	t.Helper()
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := m.Write(&got); err != nil {
		t.Fatal(err)
	}
	mine, theirs := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	if len(mine) != len(theirs) {
		t.Errorf("%d lines, the command writes %d", len(mine), len(theirs))
	}
	for i := range min(len(mine), len(theirs)) {
		if mine[i] != theirs[i] {
			t.Errorf("line %d is %s, the command writes %s", i+1, mine[i], theirs[i])
		}
	}
	read, err := model.Read(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAsCommand: a program fits, keeps and predicts to the same bits as the command.
func TestAsCommand(t *testing.T) {
	run := func(args ...string) string {
		t.Helper()
		return must(t, args...)
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	rows := []string{"--rows", "1:1000"}
	ctx := t.Context()

	t.Run("one of several gammas, standardised, two targets", func(t *testing.T) {
		args := append([]string{"--data", housing, "--target", "3,last"}, rows...)
		run(
			append(
				[]string{"fit", "--standardize", "--gamma", "1,10", "--method", "exact", "--out", in("exact.json")},
				args...)...)
		src, reads := openRows(t, housing, file.Options{Target: []string{"3", "last"}, Targets: 2})
		_, d, _ := src.Dims()
		scaled, scaling, err := dataset.Standardize(ctx, src)
		noError(t, err)
		fits, err := ridge.SolveExact(
			ctx,
			scaled,
			[]float64{1, 10},
			ridge.ExactOptions{Intercept: true, RowErrors: ridge.RowErrors{Rounding: scaling.Rounding()}},
		)
		noError(t, err)
		m, err := model.New(
			model.Preparation{Inputs: d, Scaling: scaling},
			fits,
			model.Details{Intercept: true, Tol: 1e-8, Passes: reads + 1, Target: "3,last"},
		)
		noError(t, err)
		m = sameModel(t, m, in("exact.json"))
		one, err := m.At(10)
		noError(t, err)
		p, err := one.Predictor(nil)
		noError(t, err)
		want := run(append([]string{"predict", "--model", in("exact.json"), "--gamma", "10"}, args...)...)
		if predicted(t, p, src) != want {
			t.Error("the predictions are not those of the command")
		}
	})

	t.Run("features, an interval by a sketch", func(t *testing.T) {
		args := append([]string{"--data", housing, "--target", "last"}, rows...)
		run(
			append(
				[]string{
					"fit",
					"--standardize",
					"--features",
					"poly:2",
					"--gamma",
					"1",
					"--size",
					"20",
					"--method",
					"cg",
					"--out",
					in("poly.json"),
					"--save-sketch",
					in("poly.fds"),
				},
				args...)...)
		src, reads := openRows(t, housing, file.Options{Target: []string{"last"}, Targets: 1})
		_, d, _ := src.Dims()
		_, scaling, err := dataset.Standardize(ctx, src)
		noError(t, err)
		prep := model.Preparation{Inputs: d, Scaling: scaling}
		prep.Expand(dataset.Polynomial{Degree: 2})
		prepared, err := prep.Apply(src, nil)
		noError(t, err)
		sum, err := ridge.Summarize(ctx, prepared, ridge.SummaryConfig{Size: 20, Intercept: true}, nil)
		noError(t, err)
		fits, err := ridge.SolvePath(ctx, prepared, sum, []float64{1}, ridge.SolveOptions{Tol: 1e-8})
		noError(t, err)
		m, err := model.New(
			prep,
			fits,
			model.Details{Intercept: true, Size: 20, Tol: 1e-8, Passes: reads + 1, Target: "last"},
		)
		noError(t, err)
		m = sameModel(t, m, in("poly.json"))
		p, err := m.Predictor(model.ExactIntervals{Summary: sum, Preparation: &prep})
		noError(t, err)
		if p.Basis() != model.ByBoth {
			t.Errorf("intervals follow from %q", p.Basis())
		}
		want := run(append([]string{"predict", "--model", in("poly.json"), "--interval", in("poly.fds")}, args...)...)
		if predicted(t, p, src) != want {
			t.Error("the predictions are not those of the command")
		}
	})

	t.Run("sparse, an interval by the model", func(t *testing.T) {
		args := append([]string{"--data", w8a}, rows...)
		run(
			append(
				[]string{
					"fit",
					"--intercept=false",
					"--standardize",
					"--gamma",
					"30",
					"--size",
					"16",
					"--method",
					"galerkin",
					"--out",
					in("sparse.json"),
				},
				args...)...)
		src, reads := openRows(t, w8a, file.Options{Targets: 1})
		_, d, _ := src.Dims()
		scaled, scaling, err := dataset.Standardize(ctx, src)
		noError(t, err)
		sum, err := ridge.Summarize(ctx, scaled, ridge.SummaryConfig{Size: 16}, nil)
		noError(t, err)
		sum.WithErrors(ridge.RowErrors{Rounding: scaling.Rounding()})
		fits, err := ridge.SolvePath(
			ctx,
			scaled,
			sum,
			[]float64{30},
			ridge.SolveOptions{Method: ridge.Galerkin, Tol: 1e-8},
		)
		noError(t, err)
		m, err := model.New(
			model.Preparation{Inputs: d, Scaling: scaling},
			fits,
			model.Details{Size: 16, Tol: 1e-8, Passes: reads + 1},
		)
		noError(t, err)
		m = sameModel(t, m, in("sparse.json"))
		p, err := m.Predictor(model.ExactIntervals{})
		noError(t, err)
		want := run(
			append([]string{"predict", "--model", in("sparse.json"), "--interval", in("sparse.json")}, args...)...)
		if predicted(t, p, src) != want {
			t.Error("the predictions are not those of the command")
		}
		// The same of a matrix: dense rows are summed in another order, in which intervals
		// may differ.
		x := mat.NewDense(20, d, nil)
		i := 0
		for b, err := range src.Blocks(ctx) {
			noError(t, err)
			for ; i < 20; i++ {
				idx, val := b.Sparse.Row(i)
				for k, j := range idx {
					x.Set(i, int(j), val[k])
				}
			}
			break
		}
		y, within, err := p.PredictMatrix(x)
		noError(t, err)
		for i, line := range strings.Split(want, "\n")[:20] {
			if got := strconv.FormatFloat(y.At(i, 0), 'g', -1, 64); !strings.HasPrefix(line, got+",") {
				t.Errorf("row %d: %s of a matrix, %s by the command", i, got, line)
			}
			if v := within[i]; !(v.Lo <= y.At(i, 0) && y.At(i, 0) <= v.Hi) {
				t.Errorf("row %d: %v is outside of %v", i, y.At(i, 0), v)
			}
		}
	})
}

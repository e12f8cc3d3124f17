package paper

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func quick(t *testing.T, cfg Config) (*run, error) {
	t.Helper()
	cfg.Quick, cfg.Figures = true, []int{1, 2}
	r := newRun(t, cfg)
	return r, r.statistics(context.Background())
}

// TestRisks: the numbers of figures 1 and 2 belong together, follow from the seed
// alone and keep their bounds.
func TestRisks(t *testing.T) {
	r, err := quick(t, Config{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	again, err := quick(t, Config{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	other, err := quick(t, Config{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range r.results.risks {
		for _, method := range append(slices.Clone(sketched), exact) {
			for i := range x.gammas {
				u := x.absolute[method]
				for m := range metrics {
					if u[m][i] != again.results.risks[k].absolute[method][m][i] {
						t.Fatalf(
							"figure %d, %s: %v is %v the second time",
							k+1,
							method,
							m,
							again.results.risks[k].absolute[method][m][i],
						)
					}
					if u[m][i] == other.results.risks[k].absolute[method][m][i] {
						t.Errorf("figure %d, %s: %v does not depend on the seed", k+1, method, m)
					}
				}
				if slices.Contains(randomised, method) {
					continue // the median of sums is not the sum of medians
				}
				if !(math.Abs(u[bias][i]+u[variance][i]-u[mse][i]) <= 1e-12*u[mse][i]) {
					t.Errorf(
						"figure %d, %s: bias %v and variance %v make %v",
						k+1,
						method,
						u[bias][i],
						u[variance][i],
						u[mse][i],
					)
				}
				if method == exact {
					continue
				}
				for m := range metrics {
					best := x.absolute[exact][m][i]
					if e := math.Abs(u[m][i]-best) / best; !(math.Abs(e-x.relative[method][m][i]) <= 1e-12*e) {
						t.Errorf("figure %d, %s, %v: error %v, want %v", k+1, method, m, x.relative[method][m][i], e)
					}
					if b := x.bound(method, m, i); !(b.Lo <= u[m][i] && u[m][i] <= b.Hi) {
						t.Errorf("figure %d, %s, %v: %v outside of [%v, %v]", k+1, method, m, u[m][i], b.Lo, b.Hi)
					}
				}
			}
		}
	}
}

// TestSettings: every setting of figures 1 and 2 that is given is in force, and in
// the record.
func TestSettings(t *testing.T) {
	r, err := quick(
		t,
		Config{
			Rows:   90,
			Dim:    40,
			Size:   10,
			Trials: 1,
			Noise:  0.5,
			Ratios: []float64{0.2, 0.5},
			Gammas: []float64{0.5, 3},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	for i, rank := range []float64{8, 20} {
		want := map[string]float64{
			"n":      90,
			"d":      40,
			"m":      10,
			"trials": 1,
			"noise":  0.5,
			"ratio":  r.Ratios[i],
			"R":      rank,
		}
		b, err := os.ReadFile(filepath.Join(r.Out, "figures", []string{"figure1.json", "figure2.json"}[i]))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Settings map[string]float64
			Rows     [][]any
		}
		if err := json.Unmarshal(b, &got); err != nil {
			t.Fatal(err)
		}
		for k, v := range want {
			if got.Settings[k] != v {
				t.Errorf("figure %d: %s = %v, want %v", i+1, k, got.Settings[k], v)
			}
		}
		if len(got.Rows) != 2*7 || got.Rows[0][0] != 0.5 || got.Rows[7][0] != 3.0 {
			t.Errorf("figure %d: %d rows for two γ", i+1, len(got.Rows))
		}
	}
}

func TestRefused(t *testing.T) {
	for _, cfg := range []Config{
		{Figures: []int{0}}, {Figures: []int{8}}, {Gammas: []float64{0}}, {Gammas: []float64{1, math.NaN()}}, {Gammas: []float64{2, 1}},
		{Size: -1}, {Rows: -2}, {Trials: -1}, {Ratios: []float64{0.1, 0.2, 0.3}}, {Figures: []int{1}, Ratios: []float64{2}}, {Figures: []int{1}, Noise: -1},
	} {
		cfg.Out, cfg.Quick = t.TempDir(), true
		var setting *SettingError
		if files, err := Run(context.Background(), cfg); !errors.As(err, &setting) || files != nil {
			t.Errorf("%+v: %v, %v", cfg, files, err)
		}
	}
}

// TestInterrupted: after Ctrl-C in figure 2, figure 1 is there and whole, nothing
// of figure 2, and no temporary file.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir := t.TempDir()
	files, err := Run(ctx, Config{Out: dir, Quick: true, Figures: []int{1, 2}, Progress: func(p Progress) {
		if p.Figure == 2 && p.Done > 0.5 {
			cancel()
		}
		if !(0 <= p.Done && p.Done <= 1) || p.What == "" {
			t.Errorf("progress %+v", p)
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "figures", "*"))
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := filepath.Glob(filepath.Join(dir, "figures", ".*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	if len(names) != 4 || !slices.Equal(names, files) || hidden != nil || !strings.Contains(names[0], "figure1.") {
		t.Errorf("files %v and %v, told %v", names, hidden, files)
	}
}

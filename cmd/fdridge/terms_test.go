package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPolynomialFeatureNames: the weights of polynomial features have names in the model and on the page. The names use
// the header, or x1, x2, … without a header. Each name stands beside its own weight.
func TestPolynomialFeatureNames(t *testing.T) {
	for name, c := range map[string]struct {
		header, product string
		want            []string
	}{
		"named":   {"width,depth,y\n", "width*depth", []string{"width", "depth", "width^2", "width*depth", "depth^2"}},
		"numbers": {"", "x1*x2", []string{"x1", "x2", "x1^2", "x1*x2", "x2^2"}},
	} {
		rows := c.header
		for i := range 60 {
			a, b := float64(i%7), float64(i%11)
			rows += fmt.Sprintf("%v,%v,%v\n", a, b, 1+3*a*b)
		}
		dir := t.TempDir()
		data, model, page := filepath.Join(dir, "data.csv"), filepath.Join(dir, "model.json"), filepath.Join(dir, "page.html")
		if err := os.WriteFile(data, []byte(rows), 0o600); err != nil {
			t.Fatal(err)
		}
		must(
			t,
			"fit",
			"--data",
			data,
			"--target",
			"last",
			"--features",
			"poly:2",
			"--gamma",
			"1e-6",
			"--method",
			"exact",
			"--out",
			model,
			"--report",
			page,
		)
		text, err := os.ReadFile(model)
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Names  []string `json:"feature_names"`
			Models []struct {
				Coef [][]float64 `json:"coef"`
			} `json:"models"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(m.Names, c.want) || len(m.Models) != 1 || len(m.Models[0].Coef[0]) != len(m.Names) {
			t.Fatalf("%s: weights %v of %v, want %v", name, m.Models, m.Names, c.want)
		}
		for i, v := range m.Models[0].Coef[0] {
			if want := map[bool]float64{true: 3}[m.Names[i] == c.product]; !(math.Abs(v-want) <= 1e-4) {
				t.Errorf("%s: the weight of %s is %v, want %v", name, m.Names[i], v, want)
			}
		}
		html, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, term := range c.want {
			if !strings.Contains(string(html), `<th scope="row" class="text">`+term+"</th>") {
				t.Errorf("%s: the page has no weight of %s", name, term)
			}
		}
		// A model of the file's own columns names them once, in its preparation.
		must(t, "fit", "--data", data, "--target", "last", "--gamma", "1", "--out", model)
		text, err = os.ReadFile(model)
		if err != nil || strings.Contains(string(text), "feature_names") {
			t.Errorf("%s: %v, feature_names without features", name, err)
		}
	}
}

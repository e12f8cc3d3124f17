package model_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge/classes"
)

// TestGoldenClasses: a model of version 4 keeps its classes, decides as when it was written, and proves its decisions.
func TestGoldenClasses(t *testing.T) {
	m, _ := readModel(t, "classes-v4.json")
	if want := []string{"maybe", "no", "yes"}; !slices.Equal(m.Classes, want) {
		t.Fatalf("classes %q, want %q", m.Classes, want)
	}
	p, err := m.Predictor(&model.Intervals{ByModel: true})
	if err != nil {
		t.Fatal(err)
	}
	y, within, err := p.PredictMatrix(mat.NewDense(3, 2, []float64{0.5, 1, -1.5, 0.25, 2.5, 1.75}))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{0, 2, 0} {
		at := classes.Decide(y.RawRowView(i))
		if at != want || !classes.Proves(within[3*i:3*i+3], at) {
			t.Errorf("row %d: class %d, want %d: %v", i, at, want, within[3*i:3*i+3])
		}
	}
	var text bytes.Buffer
	if err := m.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{strings.Replace(text.String(), `"fdridge_model": 4`, `"fdridge_model": 3`, 1), strings.Replace(text.String(), `"maybe",`, "", 1)} {
		if _, err := model.Read(strings.NewReader(wrong)); err == nil {
			t.Error("a model with classes that it cannot have was read")
		}
	}
}

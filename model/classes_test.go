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

// TestGoldenClasses: models of versions 4 and 5 keep their classes, decide as when they were written, and prove their
// decisions. Both are written as version 5, in the same bytes.
func TestGoldenClasses(t *testing.T) {
	for _, name := range []string{"classes-v4.json", "classes-v5.json"} {
		testGoldenClasses(t, name)
	}
}

func testGoldenClasses(t *testing.T, name string) {
	m, _ := readModel(t, name)
	if want := []string{"maybe", "no", "yes"}; !slices.Equal(m.Classes, want) {
		t.Fatalf("classes %q, want %q", m.Classes, want)
	}
	p, err := m.Predictor(model.ExactIntervals{})
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
	if _, want := readModel(t, "classes-v5.json"); !bytes.Equal(text.Bytes(), want) {
		t.Errorf("%s is written as %s", name, text.Bytes())
	}
	for _, wrong := range []string{strings.Replace(text.String(), `"fdridge_model": 5`, `"fdridge_model": 3`, 1),
		strings.Replace(text.String(), `"maybe",`, "", 1)} {
		if _, err := model.Read(strings.NewReader(wrong)); err == nil {
			t.Error("a model with classes that it cannot have was read")
		}
	}
}

package ridge_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/ridge"
)

// arguments are what the methods of zero values are called with: a value of each type that any
// of them takes, good enough for one that has been made.
func arguments(t *testing.T) map[reflect.Type]reflect.Value {
	src := table{x: [][]float64{{1, 2}, {3, 5}, {4, 4}}, y: [][]float64{{1}, {2}, {3}}}
	sum := summarize(t, src, ridge.SummaryConfig{Size: 2})
	out := map[reflect.Type]reflect.Value{}
	add := func(values ...any) {
		for _, v := range values {
			out[reflect.TypeOf(v)] = reflect.ValueOf(v)
		}
	}
	add(1.0, 3, []float64{1, 2}, []byte{1}, []ridge.Band{{Name: "1", Columns: []int{0}}}, ridge.CG, ridge.PlanConfig{}, sum, sum.Config(),
		dataset.Block{N: 1, X: []float64{1, 2}, Y: []float64{3}}, must(sum.Fit(1))(t), []ridge.Interval{{}}, func(int64) {}, true, ridge.Options{}, []int32{0}, time.Unix(1, 0), []time.Time{time.Unix(1, 0)})
	out[reflect.TypeFor[context.Context]()] = reflect.ValueOf(t.Context())
	out[reflect.TypeFor[dataset.Source]()] = reflect.ValueOf(src)
	out[reflect.TypeFor[mat.Matrix]()] = reflect.ValueOf(mat.NewDense(1, 2, []float64{1, 2}))
	out[reflect.TypeFor[error]()] = reflect.ValueOf(io.EOF)
	out[reflect.TypeFor[io.Writer]()] = reflect.ValueOf(io.Discard)
	out[reflect.TypeFor[io.Reader]()] = reflect.ValueOf(bytes.NewReader([]byte{1}))
	return out
}

// call calls a method of value with these arguments and returns what came out last, a panic as
// an error that is none of ours.
func call(value any, m reflect.Method, args map[reflect.Type]reflect.Value) (last reflect.Value, err error) {
	in := []reflect.Value{reflect.ValueOf(value)}
	for i := 1; i < m.Type.NumIn(); i++ {
		v, ok := args[m.Type.In(i)]
		if !ok {
			return last, fmt.Errorf("the test has no %v to call it with: add one to arguments", m.Type.In(i))
		}
		in = append(in, v)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	if out := m.Func.Call(in); len(out) > 0 {
		last = out[len(out)-1]
	}
	return last, nil
}

// TestZeroValues: no method of a zero value panics, and of what rows are added to every one that can
// err does, by ErrInput. Methods are found by reflection, so that new ones are tried too.
func TestZeroValues(t *testing.T) {
	takesRows := []any{new(ridge.Summary), new(ridge.Window), new(ridge.Fading)}
	reads := []string{"ReadFrom", "UnmarshalBinary"} // which make something of a zero value
	for _, zero := range []func() any{
		func() any { return new(ridge.Summary) },
		func() any { return new(ridge.Solution) },
		func() any { return new(ridge.Target) },
		func() any { return new(ridge.Result) },
		func() any { return new(ridge.Predictor) },
		func() any { return new(ridge.CVResult) },
		func() any { return new(ridge.GammaChoice) },
		func() any { return new(ridge.Choice) },
		func() any { return new(ridge.Window) },
		func() any { return new(ridge.Fading) },
		func() any { return new(ridge.Certificate) },
		func() any { return new(ridge.Interval) },
		func() any { return new(ridge.Plan) },
		func() any { return new(ridge.NotConvergedError) },
		func() any { return new(ridge.SizeError) },
	} {
		kind := reflect.TypeOf(zero())
		for i := range kind.NumMethod() {
			m := kind.Method(i)
			last, err := call(zero(), m, arguments(t))
			if err != nil {
				t.Errorf("%v.%s of a zero value: %v", kind, m.Name, err)
				continue
			}
			if !slices.ContainsFunc(takesRows, func(v any) bool { return reflect.TypeOf(v) == kind }) || slices.Contains(reads, m.Name) || !last.IsValid() {
				continue
			}
			if err, _ := last.Interface().(error); last.Type() == reflect.TypeFor[error]() && !errors.Is(err, ridge.ErrInput) {
				t.Errorf("%s of the zero %v: %v, must be ErrInput", m.Name, kind, err)
			}
			if m.Name == "BinarySize" && last.Int() != 0 {
				t.Errorf("the zero %v, which cannot be written, is %d bytes", kind, last.Int())
			}
		}
	}
	// Those that read make it one like any other.
	sum := arguments(t)[reflect.TypeFor[*ridge.Summary]()].Interface().(*ridge.Summary)
	read := new(ridge.Summary)
	if err := read.UnmarshalBinary(marshal(t, sum)); err != nil || read.Rows() != sum.Rows() {
		t.Errorf("a zero Summary reads %d rows of %d: %v", read.Rows(), sum.Rows(), err)
	}
	if none := new(ridge.Summary); none.Sketch() != nil || none.Rows() != 0 || none.Config() != (ridge.SummaryConfig{}) {
		t.Errorf("the zero Summary has %d rows and the configuration %+v", none.Rows(), none.Config())
	}
}

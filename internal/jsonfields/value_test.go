package jsonfields_test

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fdridge/fdridge/internal/jsonfields"
)

type inner struct {
	Name  string
	Value float64 `json:"value"`
}

type everything struct {
	inner
	*base
	Value   int                `json:"value"` // hides inner.Value
	Float   float64            `json:"float"`
	Whole   float64            `json:"whole,omitempty"`
	Zero    time.Time          `json:"zero,omitzero"`
	Empty   []float64          `json:"empty,omitempty"`
	Null    []float64          `json:"null"`
	Any     any                `json:"any"`
	Map     map[string]float64 `json:"map"`
	Pair    [2]*float64        `json:"pair"`
	Bytes   []byte             `json:"bytes"`
	Raw     json.RawMessage    `json:"raw"`
	Left    string             `json:"-"`
	hidden  float64
	Struct  struct{ A, B float64 } `json:"struct,omitempty"`
	Pointer *inner
}

// TestValue: the text equals the text of encoding/json, except that each float64 has a point or an exponent.
func TestValue(t *testing.T) {
	one := 1.0
	v := everything{
		inner:   inner{"<b>", 7},
		base:    &base{2, 3},
		Value:   4,
		Float:   5,
		Whole:   477300523269698200000,
		Any:     []any{1, 2.0, "x", nil, true},
		Map:     map[string]float64{"b": 1, "a": 0.5},
		Pair:    [2]*float64{&one, nil},
		Bytes:   []byte("ab"),
		Raw:     json.RawMessage("[1,2]"),
		hidden:  1,
		Pointer: &inner{"p", -0.25},
	}
	text, err := jsonfields.Value(v)
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs any
	if json.Unmarshal(text, &ours) != nil || json.Unmarshal(want, &theirs) != nil || !reflect.DeepEqual(ours, theirs) {
		t.Errorf("%s\ninstead of\n%s", text, want)
	}
	for _, part := range []string{
		`"float":5.0`, `"whole":4.773005232696982e+20`, `"value":4,`, `"any":[1,2.0,"x",null,true]`,
		`"map":{"a":0.5,"b":1.0}`, `"pair":[1.0,null]`, `"raw":[1,2]`, `"struct":{"A":0.0,"B":0.0}`, `"\u003cb\u003e"`,
	} {
		if !strings.Contains(string(text), part) {
			t.Errorf("%s is not in %s", part, text)
		}
	}
	if plain, err := jsonfields.Text(v); err != nil || !strings.Contains(string(plain), `"<b>"`) {
		t.Errorf("%s, %v", plain, err)
	}
	if text, err := jsonfields.Value(everything{}); err != nil || strings.Contains(string(text), "zero") ||
		strings.Contains(string(text), "empty") ||
		strings.Contains(string(text), "whole") {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := jsonfields.Value([]float64{math.NaN()}); err == nil {
		t.Error("NaN is written")
	}
	var file bytes.Buffer
	if err := jsonfields.Encode(&file, []float64{1}, " "); err != nil || file.String() != "[\n 1.0\n]\n" {
		t.Errorf("%q, %v", file.String(), err)
	}
}

// TestAppendFloat: the text of a float64 is no integer and restores every bit.
func TestAppendFloat(t *testing.T) {
	for _, x := range []float64{
		0, math.Copysign(0, -1), 1, -3, 0.1, 1e15, 1e16, 1e17, 1e21, 477300523269698200000, 1 << 53, 1e-4, 1e-5, 9.9e-6,
		1e-300, math.MaxFloat64, math.SmallestNonzeroFloat64,
	} {
		text := string(jsonfields.AppendFloat(nil, x))
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(back) != math.Float64bits(x) || !strings.ContainsAny(text, ".e") ||
			!json.Valid([]byte(text)) {
			t.Errorf("%v is written as %s", x, text)
		}
	}
}

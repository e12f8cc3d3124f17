package jsonfields_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/fdridge/fdridge/internal/errtext"
	"github.com/fdridge/fdridge/internal/jsonfields"
)

// A bracket is nested without a tag of its own.
type bracket struct {
	Lo float64 `json:"lo" null:"-Inf"`
	Hi float64 `json:"hi" null:"+Inf"`
}

type base struct {
	Index int     `json:"index" null:"-1"`
	Bound float64 `json:"bound" null:"+Inf"`
}

type whole struct {
	base
	Name    string    `json:"name,omitempty"`
	Value   float64   `json:"value" null:"NaN"`
	Bracket bracket   `json:"bracket"`
	List    []float64 `json:"list"`
	Exact   float64   `json:"exact"`
	Private int
	unseen  bracket
}

func (w whole) MarshalJSON() ([]byte, error)     { return jsonfields.Marshal(w) }
func (w *whole) UnmarshalJSON(text []byte) error { return jsonfields.Unmarshal(text, w) }

// TestFields: numbers that are not finite are null, and come back as the number of their tag.
func TestFields(t *testing.T) {
	v := whole{base: base{3, math.Inf(1)}, Value: math.NaN(), Bracket: bracket{1, 2}, List: []float64{0.1}, Private: 7}
	text, err := json.Marshal(v)
	want := `{"index":3,"bound":null,"value":null,"bracket":{"lo":1.0,"hi":2.0},"list":[0.1],"exact":0.0}`
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v; want %s", text, err, want)
	}
	var back whole
	if err := json.Unmarshal(text, &back); err != nil || back.base != v.base || !math.IsNaN(back.Value) ||
		back.Bracket != v.Bracket ||
		back.List[0] != 0.1 ||
		back.Private != 0 {
		t.Errorf("%+v, %v", back, err)
	}
	if _, err := json.Marshal(whole{Exact: math.NaN()}); err == nil {
		t.Error("a NaN without a tag is written")
	}
	if text, err := jsonfields.Marshal(struct{}{}); err != nil || string(text) != "{}" {
		t.Errorf("%s, %v", text, err)
	}
	for _, text := range []string{"{}", "null", `{"index":null,"bound":null,"bracket":null,"list":null}`} {
		if err := json.Unmarshal([]byte(text), &back); text == "null" {
			continue // encoding/json does not call the method
		} else if err != nil || back.base != (base{-1, math.Inf(1)}) || !math.IsNaN(back.Value) || back.Bracket != (bracket{math.Inf(-1), math.Inf(1)}) || back.unseen != (bracket{}) {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"Index":5,"other":1}`), &back); err != nil || back.Index != 5 {
		t.Errorf("%+v, %v", back, err)
	}
	for _, text := range []string{`{"index":9,"list":[1,null]}`, `{"index":9,"exact":"one"}`, `[]`} {
		if err := jsonfields.Unmarshal([]byte(text), &back); err == nil || back.Index != 5 {
			t.Errorf("%s: %+v, %v", text, back, err)
		}
	}
	if err := jsonfields.Unmarshal([]byte(`{"list":[null]}`), &back); !errors.Is(err, errtext.ErrBadInput) {
		t.Errorf("a null among numbers: %v", err)
	}
}

// TestEach: a member of one or several structs is the list of their values. A bare value is read as a list of one.
func TestEach(t *testing.T) {
	type one struct {
		Gamma float64 `json:"gamma"`
		Note  string  `json:"note,omitempty"`
		Other int     `json:"other"`
	}
	type target struct {
		Bound float64    `json:"bound" null:"+Inf"`
		Pair  [2]float64 `json:"pair"`
		Left  float64    `json:"left" null:"NaN"`
	}
	names := []string{"bound", "gamma", "note", "pair"}
	for want, each := range map[string][]target{
		`{"bound":[null],"gamma":2.0,"pair":[[1.0,2.0]]}`:               {{Bound: math.Inf(1), Pair: [2]float64{1, 2}}},
		`{"bound":[null,3.0],"gamma":2.0,"pair":[[0.0,0.0],[1.0,2.0]]}`: {{Bound: math.Inf(1)}, {Bound: 3, Pair: [2]float64{1, 2}}},
	} {
		text, err := jsonfields.MarshalEach(names, one{Gamma: 2, Other: 4}, each)
		if err != nil || string(text) != want {
			t.Fatalf("%s, %v; want %s", text, err, want)
		}
		var single one
		var back []target
		counts, err := jsonfields.UnmarshalEach(text, &single, &back)
		if err != nil || single != (one{Gamma: 2}) || len(back) != len(each) ||
			!reflect.DeepEqual(counts, map[string]int{"bound": len(each), "gamma": 1, "pair": len(each)}) {
			t.Fatalf("%s: %+v, %+v, %v, %v", text, single, back, counts, err)
		}
		for j, v := range back {
			if v.Bound != each[j].Bound || v.Pair != each[j].Pair || !math.IsNaN(v.Left) {
				t.Errorf("%s: %+v", text, v)
			}
		}
	}
	var single one
	var back []target
	counts, err := jsonfields.UnmarshalEach([]byte(`{"bound":7,"pair":[[1,2],[3,4]]}`), &single, &back)
	if err != nil || len(back) != 2 || !math.IsInf(back[0].Bound, 1) || back[1].Pair[1] != 4 || counts["bound"] != 1 ||
		counts["pair"] != 2 ||
		counts["gamma"] != 0 {
		t.Errorf("%+v, %v, %v", back, counts, err)
	}
	for _, text := range []string{`{"bound":"x"}`, `{"gamma":"x"}`, `{"bound":[1,"x"]}`, `7`} {
		if _, err := jsonfields.UnmarshalEach([]byte(text), &single, &back); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}

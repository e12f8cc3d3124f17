package jsonfields_test

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/fdridge/fdridge/internal/jsonfields"
)

// TestExplain: errors of encoding/json have words that name the field and no type of Go.
func TestExplain(t *testing.T) {
	type inner struct {
		Scale []float64 `json:"scale"`
	}
	var v struct {
		N      int     `json:"n"`
		Name   string  `json:"name"`
		Tol    float64 `json:"tol"`
		On     bool    `json:"on"`
		Folded *inner  `json:"folded"`
	}
	for text, want := range map[string]string{
		`{"n": "x"}`:                   "n: a text instead of a whole number",
		`{"n": 1.5}`:                   "n: the number 1.5 instead of a whole number",
		`{"tol": 1e999}`:               "tol: the number 1e999 instead of a number in the range of float64",
		`{"name": [1]}`:                "name: a list instead of a text",
		`{"on": {}}`:                   "on: an object instead of true or false",
		`{"folded": true}`:             "folded: true or false instead of an object",
		`{"folded": {"scale": 2}}`:     "scale: a number instead of a list",
		`{"folded": {"scale": ["a"]}}`: "scale: a text instead of a number in the range of float64",
		`{"n": 1,}`:                    "invalid character '}' looking for beginning of object key string, after 9 bytes",
		`7`:                            "a number instead of an object",
	} {
		err := json.Unmarshal([]byte(text), &v)
		explained := jsonfields.Explain(err)
		if explained == nil || explained.Error() != want || !errors.Is(explained, err) {
			t.Errorf("%s: %v, want %s", text, explained, want)
		}
	}
	if jsonfields.Explain(nil) != nil || jsonfields.Explain(io.EOF) != io.EOF {
		t.Error("other errors change")
	}
}

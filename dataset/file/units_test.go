package file

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/dataset"
	"github.com/fdridge/fdridge/dataset/prepare"
)

// column writes a csv file with the cells in column a, beside numbers in column b, and prepares it automatically.
func column(t *testing.T, cells []string, opts Options) (c prepare.Column, rows []float64, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.csv")
	text := "b,a\n"
	for i, s := range cells {
		text += fmt.Sprintf("%d.5,%q\n", i*i, s)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	opened, e, err := Prepare(
		context.Background(),
		[]string{path},
		opts,
		prepare.LookOptions{Rules: prepare.Rules{Auto: true}},
	)
	if err != nil {
		return c, nil, err
	}
	c = e.Columns[1]
	for b, err := range opened.Blocks(context.Background()) {
		if err != nil {
			return c, rows, err
		}
		for i := range b.N {
			rows = append(rows, b.X[i*opened.Features+opened.Features-1])
		}
	}
	return c, rows, nil
}

// among returns 60 numbers, with the cells among them.
func among(cells ...string) []string {
	var out []string
	for i := range 60 {
		out = append(out, fmt.Sprint(i*i%97))
	}
	for i, s := range cells {
		out[20+i] = s
	}
	return out
}

// TestWrittenDifferently: a number that is written differently in a column of numbers is never a missing value. It is
// read if its value is certain, and refused with its line otherwise.
func TestWrittenDifferently(t *testing.T) {
	for text, want := range map[string]float64{"1,274": 1274, "1 274": 1274, "1.2D+03": 1200, "1'274.5": 1274.5} {
		_, rows, err := column(t, among(text), Options{})
		if err != nil || rows[20] != want {
			t.Errorf("%s: %v, %v", text, rows, err)
		}
	}
	for _, text := range []string{"999,5", "$1274", "1274 m", "1274*", ">999", "12%", "1.274.5", "10-20", "1,27,4"} {
		_, _, err := column(t, among("7", text), Options{})
		if err == nil || !strings.Contains(err.Error(), "f.csv:23:") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
		if _, rows, err := column(t, among("7", text), Options{Text: prepare.Text{Marks: []string{text}}}); err != nil ||
			rows[21] == rows[21] {
			t.Errorf("%s as a mark: %v", text, err)
		}
	}
	c, _, err := column(t, among("closed", "open"), Options{})
	if err != nil || !strings.Contains(c.Why, `2 texts: missing (line 22: "closed")`) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, rows, err := column(t, among("-999.0"), Options{Text: prepare.Text{Marks: []string{"-999"}}}); err != nil ||
		rows[20] == rows[20] {
		t.Errorf("-999: %v", err)
	}
}

// TestUnits: a unit that all cells share is stripped.
func TestUnits(t *testing.T) {
	all := func(format string) []string {
		var out []string
		for i := range 40 {
			out = append(out, fmt.Sprintf(format, 5+i*i%31))
		}
		return out
	}
	for format, unit := range map[string]prepare.Column{
		"%d%%": {Unit: prepare.Unit{After: "%"}}, "$%d.00": {Unit: prepare.Unit{Before: "$"}}, "%d €": {Unit: prepare.Unit{After: "€"}}, "-%d km": {Unit: prepare.Unit{After: "km"}}, "%dm2": {Unit: prepare.Unit{After: "m2"}}, "€ %d": {Unit: prepare.Unit{Before: "€"}}, "$1,%03d.50": {Unit: prepare.Unit{Before: "$"}},
	} {
		c, rows, err := column(t, all(format), Options{})
		if err != nil || c.Use != prepare.UseNumber || c.Unit != unit.Unit || !strings.Contains(c.Why, "unit") {
			t.Errorf("%s: %+v, %v", format, c, err)
			continue
		}
		want := 5.0
		switch {
		case format[0] == '-':
			want = -5
		case strings.Contains(format, "1,"):
			want = 1005.5
		}
		if rows[0] != want {
			t.Errorf("%s: %v, want %v", format, rows[0], want)
		}
	}
	cells := append(all("%d%%"), "5")
	if c, _, err := column(t, cells, Options{}); err == nil && c.Use == prepare.UseNumber {
		t.Errorf("a cell without unit: %+v", c)
	}
	if c, _, err := column(t, all("Q%d"), Options{}); err != nil || c.Unit != (prepare.Unit{}) ||
		c.Kind != prepare.KindText {
		t.Errorf("Q: %+v, %v", c, err)
	}
	limits := all("%d")
	for i := range 20 {
		limits[i] = "<0.5"
	}
	if c, _, err := column(t, limits, Options{}); err != nil || c.Use != prepare.UseLevels ||
		!strings.Contains(c.Why, `"<0.5" is a limit`) {
		t.Errorf("limits: %+v, %v", c, err)
	}
	var pairs []string
	for i := range 40 {
		pairs = append(pairs, fmt.Sprintf("%d,%d", i%7, i%5))
	}
	if _, _, err := column(t, pairs, Options{}); err == nil || !strings.Contains(err.Error(), "f.csv:2:") {
		t.Errorf("decimal commas among decimal points: %v", err)
	}
}

// TestUnitsOfModels: a row encoder strips the unit, and refuses a cell without it.
func TestUnitsOfModels(t *testing.T) {
	e, err := prepare.FromColumns(
		[]prepare.Column{{Name: "a", Use: prepare.UseNumber, Unit: prepare.Unit{After: "%"}}},
		"",
		true,
	)
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.RowEncoder(prepare.EncodeOptions{Text: prepare.Text{Decimal: ",", Marks: []string{"-9"}}})
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 1)
	if _, err := r.Texts(x, []string{"12,5 %"}); err != nil || x[0] != 12.5 {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := r.Texts(x, []string{"12"}); err == nil {
		t.Error("a cell without unit is accepted")
	}
}

var _ dataset.Source

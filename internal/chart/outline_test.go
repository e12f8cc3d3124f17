package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// references are the ids that an SVG gives, in order, and those that it refers to.
func references(t *testing.T, text string) (given, used []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			return given, used
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		for _, a := range e.Attr {
			switch {
			case a.Name.Local == "id":
				given = append(given, a.Value)
			case a.Name.Local == "href":
				used = append(used, strings.TrimPrefix(a.Value, "#"))
			}
		}
	}
}

// TestOutlines: a picture has no text that needs a font; every outline it refers to is there
// once, and the pictures of a page share them.
func TestOutlines(t *testing.T) {
	var file bytes.Buffer
	if err := example().Save(&file, "svg"); err != nil {
		t.Fatal(err)
	}
	shared := &Letters{}
	first, err := example().Inline("", "first", shared)
	if err != nil {
		t.Fatal(err)
	}
	f := example()
	f.Title = "QUITE another"
	second, err := f.Inline("", "second", shared)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"file": file.String(), "page": first + second} {
		given, used := references(t, "<page>"+strings.ReplaceAll(text, `<?xml version="1.0"?>`, "")+"</page>")
		places := map[string]int{}
		for _, id := range given {
			places[id]++
		}
		if len(given) < 30 || len(used) < 3*len(given) {
			t.Errorf("%s: %d letters in %d places", name, len(given), len(used))
		}
		for _, id := range used {
			if places[id] != 1 {
				t.Errorf("%s: %s is given %d times", name, id, places[id])
			}
		}
		if strings.Contains(text, "<text") || strings.Contains(text, "font-") {
			t.Errorf("%s asks for a font", name)
		}
	}
	if given, _ := references(t, second); len(given) == 0 || len(given) > 6 {
		t.Errorf("the second picture has the outlines %v, those of Q, U, I, T and E are new", given)
	}
}

// TestOutlineOf: an outline stands where the library would have written the text, in its size,
// and letters are as far apart as the layout has them.
func TestOutlineOf(t *testing.T) {
	face := font.DefaultCache.Lookup(typeface(8), 8)
	c := &outlined{Canvas: vgsvg.New(100, 100), shared: &Letters{written: map[string]bool{}}, refer: "href"}
	c.FillString(face, vg.Point{X: 3, Y: 5}, "AV l")
	_, body, err := c.svg()
	if err != nil {
		t.Fatal(err)
	}
	text := string(body)
	if !strings.Contains(text, `<g transform="translate(3,5) scale(0.0039062,-0.0039062)" role="img" aria-label="AV l">`) {
		t.Error(text)
	}
	// The l of this font is an upright bar from the baseline, 180 units wide, 1484 high.
	if !strings.Contains(text, `d="m138,0l0,-1484l180,0l0,1484l-180,0"`) {
		t.Errorf("the outline of l: %s", text)
	}
	var places []vg.Length
	for _, part := range strings.Split(text, `x="`)[1:] {
		var x float64
		if _, err := fmt.Sscanf(part, "%g", &x); err != nil {
			t.Fatal(err)
		}
		places = append(places, vg.Length(x*8/2048))
	}
	if len(places) != 3 || places[0] != 0 || places[2] != face.Width("AV ") || !(places[1] < face.Width("A")) {
		t.Errorf("letters at %v; A is %v wide, AV and a space %v", places, face.Width("A"), face.Width("AV "))
	}
}

package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// superscripts maps Unicode superscripts to ordinary characters.
var superscripts = map[rune]rune{
	'⁰': '0',
	'¹': '1',
	'²': '2',
	'³': '3',
	'⁴': '4',
	'⁵': '5',
	'⁶': '6',
	'⁷': '7',
	'⁸': '8',
	'⁹': '9',
	'⁻': '−',
	'⁽': '(',
	'⁾': ')',
	'ᵗ': 't',
}

// Superscript formats an integer in Unicode superscripts.
func Superscript(e int) string {
	return strings.Map(func(digit rune) rune {
		for raised, plain := range superscripts {
			if plain == digit || plain == '−' && digit == '-' {
				return raised
			}
		}
		return digit
	}, fmt.Sprint(e))
}

// Digits formats a number with at most n significant digits, but never omits digits before the decimal point.
// Numbers other than 0 with a magnitude below 0.001, or from 10000 on, are written with a power of ten.
func Digits(x float64, n int) string {
	text := fmt.Sprintf("%.*e", n-1, x)
	mantissa, exponent, ok := strings.Cut(text, "e")
	k, err := strconv.Atoi(exponent)
	if !ok || err != nil || -4 < k && k < 4 { // no power of ten; also for infinity and NaN
		return fmt.Sprintf("%.*g", max(n, k+1), x)
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	if mantissa == "1" {
		return "10" + Superscript(k)
	}
	return mantissa + "·10" + Superscript(k)
}

// Short formats a number with two significant digits, but never omits digits before the decimal point. Numbers
// other than 0 with a magnitude below 0.0001, or from 10000 on, are written with a power of ten.
func Short(x float64) string {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprint(x)
	}
	k := int(math.Floor(math.Log10(math.Abs(x) * 1.005))) // rounds up first: 0.999 becomes 1.0
	if -4 <= k && k <= 3 {
		return fmt.Sprintf("%.*f", max(0, 1-k), x)
	}
	return fmt.Sprintf("%.1f·10%s", x/math.Pow10(k), Superscript(k))
}

// markup draws text with superscripts, and with Greek letters in italics. It draws superscripts as small raised
// characters, because the fonts have no superscript minus.
type markup struct{ text.Plain }

// raisedSize and raisedHeight are the size and the height of superscripts relative to the size of the font.
// greekSize is the factor by which Greek letters are enlarged, because their font has smaller letters.
const (
	raisedSize   = 0.75
	raisedHeight = 0.4
	greekSize    = 1.15
)

// A run is a part of a line of text that is drawn in one font.
type run struct {
	text   string
	raised bool
	greek  bool // in serif italics, which distinguish γ from y
}

// font returns the font of the run. The parameter f is the font of the whole line.
func (r run) font(f font.Font) font.Font {
	if r.raised {
		f.Size *= raisedSize
	}
	if r.greek {
		f.Variant = "Serif"
		f.Style = xfont.StyleItalic
		f.Size *= greekSize
	}
	return f
}

// split divides a line into runs.
func split(line string) []run {
	runs := []run{{}}
	for _, c := range line {
		plain, raised := superscripts[c]
		if raised {
			c = plain
		}
		greek := 'α' <= c && c <= 'ω'
		if r := &runs[len(runs)-1]; raised != r.raised || greek != r.greek {
			if r.text == "" {
				runs = runs[:0]
			}
			runs = append(runs, run{raised: raised, greek: greek})
		}
		runs[len(runs)-1].text += string(c)
	}
	return runs
}

// Box implements [text.Handler]. The box of every line is high enough for a superscript, so that the baselines of
// all lines agree.
func (m markup) Box(txt string, fnt font.Font) (width, height, depth vg.Length) {
	for _, r := range split(txt) {
		w, h, d := m.Plain.Box(r.text, r.font(fnt))
		width += w
		height = max(height, h)
		depth = max(depth, d)
	}
	return width, height * 1.2, depth
}

// Draw implements [text.Handler]. txt must be a single line.
func (m markup) Draw(c vg.Canvas, txt string, sty text.Style, at vg.Point) {
	width, height, depth := m.Box(txt, sty.Font)
	c.Push()
	defer c.Pop()
	c.SetColor(sty.Color)
	c.Translate(at)
	c.Rotate(sty.Rotation)
	// Text is drawn from its left end, at the baseline. YAlign = 0 means that the bottom of the box is at the point
	// at.
	at = vg.Point{
		X: vg.Length(sty.XAlign) * width,
		Y: vg.Length(sty.YAlign)*(height+depth) + depth,
	}
	for _, r := range split(txt) {
		f := r.font(sty.Font)
		y := at.Y
		if r.raised {
			y += sty.Font.Size * raisedHeight
		}
		face := m.Fonts.Lookup(f, f.Size)
		c.FillString(face, vg.Point{X: at.X, Y: y}, r.text)
		at.X += face.Width(r.text)
	}
}

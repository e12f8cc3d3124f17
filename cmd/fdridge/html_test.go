package main

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report/reporttest"
)

// A parsedPage has the parts of a page that tests examine.
type parsedPage struct {
	sections map[string]string // text of each section, by its id
	elements map[string]int    // how many of each
	text     string
}

// parsePage reads a page and checks rules that all pages keep. A page is well-formed XML, has no script and fetches
// nothing. Each section is named by its heading. Each picture and each table that scrolls has a name for screen
// readers.
func parsePage(t *testing.T, file string) parsedPage {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := parsedPage{sections: map[string]string{}, elements: map[string]int{}, text: string(text)}
	d := xml.NewDecoder(strings.NewReader(p.text))
	var open, ids []string
	section := ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s is not well-formed: %v", file, err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			open = append(open, name)
			p.elements[name]++
			attr := map[string]string{}
			for _, a := range x.Attr {
				attr[a.Name.Local] = a.Value
			}
			for _, fetches := range []string{"src", "href", "srcset", "action", "onload", "onclick"} {
				if attr[fetches] != "" {
					t.Errorf("<%s %s=%q>", name, fetches, attr[fetches])
				}
			}
			if id := attr["id"]; id != "" {
				ids = append(ids, id)
			}
			switch {
			case name == "section":
				section = attr["id"]
				if attr["aria-labelledby"] != "h-"+section {
					t.Errorf("section %q has the name %q", section, attr["aria-labelledby"])
				}
			case name == "text" && (attr["textLength"] == "" || !strings.Contains(attr["style"], "serif")):
				t.Error("a picture has text without a width, or without a font that every viewer has")
			case name == "svg" && (attr["role"] != "img" || attr["aria-label"] == ""):
				t.Errorf("a picture without a name: %v", attr)
			case name == "div" && attr["class"] == "scroll" && (attr["aria-label"] == "" || attr["tabindex"] != "0"):
				t.Errorf("a table that scrolls is not to be reached: %v", attr)
			}
		case xml.EndElement:
			open = open[:len(open)-1]
			if x.Name.Local == "section" {
				section = ""
			}
		case xml.CharData:
			if section != "" {
				p.sections[section] += string(x)
			}
		}
	}
	for _, s := range []string{"held-out", "weights", "certificate", "path", "ran", "reproduce"} {
		if p.sections[s] == "" {
			t.Errorf("no section %s", s)
		}
	}
	for s, text := range p.sections {
		heading, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
		if heading == "" || strings.TrimSpace(rest) == "" || !slices.Contains(ids, "h-"+s) {
			t.Errorf("section %s is empty: %q", s, text)
		}
	}
	slices.Sort(ids)
	if n := len(ids); len(slices.Compact(ids)) != n {
		t.Error("an id is given twice")
	}
	for _, not := range []string{"script", "link", "img", "iframe", "object"} {
		if p.elements[not] > 0 {
			t.Errorf("the page has a <%s>", not)
		}
	}
	if found := regexp.MustCompile(`(https?:)?//[a-z]|@import|url\(`).FindString(p.text); found != "" {
		t.Errorf("the page refers to something outside: %q", found)
	}
	if p.elements["h1"] != 1 || p.elements["main"] != 1 || !strings.Contains(p.text, `<html lang="en">`) ||
		!strings.Contains(p.text, "prefers-color-scheme: dark") {
		t.Errorf("elements %v", p.elements)
	}
	return p
}

// namedCSV is n rows of six features, one with a name that means something to a
// browser, and two targets.
func namedCSV(n int) string {
	var b strings.Builder
	b.WriteString("x1,\"<script>alert(\"\"1\"\")</script>\",\"a&b\",x4,x5,x6,y,z\n")
	for _, line := range strings.Split(rowsCSV(n), "\n")[1:] {
		if f := strings.Split(line, ","); len(f) == 3 {
			i := b.Len()
			fmt.Fprintf(
				&b,
				"%s,%s,%d,%d,%d,%d,%s,%s\n",
				f[0],
				f[1],
				len(line)*len(line)%17,
				i%13,
				i%29,
				i%7,
				f[2],
				f[0],
			)
		}
	}
	return b.String()
}

// TestReportPage: the page of every kind of fit has its sections, none of them empty, with the words that belong there.
func TestReportPage(t *testing.T) {
	data := write(t, "named.csv", namedCSV(200))
	sketch := filepath.Join(t.TempDir(), "sketch")
	must(t, "sketch", "--data", data, "--target", "y", "--columns", "-z", "--size", "3", "-o", sketch)
	constant := write(t, "constant.csv", "a,b,y\n"+strings.Repeat("1,2,3\n", 3))
	fit := []string{"fit", "--data", data, "--target", "y", "--columns", "-z"}
	type want map[string][]string
	for name, c := range map[string]struct {
		args     []string
		code     int
		pictures int
		want     want
	}{
		"cg": {append(fit, "--gamma", "0.5", "--method", "cg", "--size", "2"), done, 2, want{
			"ran":         {data, "200 rows × 6 features, 1 target", "cg", "sketch of 2 rows", "Intercept"},
			"certificate": {"η", "converged", "0.5"},
			"path":        {"γ = 0.5 was given"},
			"convergence": {"needed"},
			"weights":     {`<script>alert("1")</script>`, "a&b", "x1", "proved", "--standardize"},
			"reproduce":   {"fdridge fit --columns -z --data " + data + " --gamma 0.5 --method cg --report "},
		}},
		"several gammas": {append(
			fit, "--gamma", "1,10,100,1000,10000,1e5,1e6,1e7", "--method", "cg", "--size", "2",
		), done, 5, want{
			"certificate": {"10⁷", "The table has a row for each fit"}, "path": {"8 γ were given"},
			"convergence": {"the 6 between"},
		}},
		"many gammas": {append(fit, "--gamma", "1,2,3,4,5,6,7,8,9,10,11,12,13,14", "--method", "one-shot", "--size", "3"),
			done, 4, want{
				"weights": {"2 more fits are not shown"},
			}},
		"auto": {append(fit, "--method", "galerkin", "--gamma", "auto", "--gamma-tol", "inf", "--size", "1"), short, 5, want{
			"path": {"smallest proved bound on the GCV of 75 candidates", "any γ from", "(chosen)"},
		}},
		"auto, at the end": {append(fit, "--method", "galerkin", "--gamma", "auto:1e5,1e6,1e7", "--size", "3"), done, 5, want{
			"path": {
				"Warning: γ = 10⁵ is the smallest candidate, and a smaller one may be better: try --gamma " +
					"auto:1e+05,1e+04,1000,100",
			},
		}},
		"auto for certain": {append(fit, "--method", "galerkin", "--gamma", "auto:1,10,100", "--size", "3"), done, 5, want{
			"path": {": smallest leave-one-out error of 3 candidates (proved)"},
		}},
		"two targets": {[]string{
			"fit", "--data", data, "--target", "y,z", "--gamma", "1", "--method", "newton", "--size", "3",
			"--standardize",
		}, done, 1, want{
			"certificate": {"y", "z"}, "weights": {"γ = 1, y", "γ = 1, z", "of the scaled column"}, "ran": {"2 targets"},
		}},
		"one-shot": {append(fit, "--gamma", "1e-6", "--method", "one-shot", "--size", "1"), short, 1, want{
			"ran": {"sketch of 1 rows"}, "certificate": {"What to do", "--method cg", "(at worst "},
			"reproduce": {"--method one-shot"},
		}},
		"AᵀA": {append(fit, "--gamma", "1", "--method", "one-shot", "--size", "3"), done, 1, want{
			"ran":         {"AᵀA is stored instead of a sketch, because 6 features are few; error of AᵀA ≤ "},
			"certificate": {"For the 200 rows A, AᵀA is stored", "Only round-off is lost"},
		}},
		"exact": {append(fit, "--gamma", "1", "--method", "exact", "--intercept=false"), done, 0, want{
			"ran": {"none", "exact"}, "certificate": {"without a sketch"}, "held-out": {"training rows", "--holdout 0.2"},
		}},
		"centred, no intercept": {append(fit, "--gamma", "1", "--method", "exact", "--intercept=false", "--standardize"),
			done, 0, want{
				"ran": {"not fitted"}, "weights": {", intercept "},
			}},
		"exact at zero": {append(fit, "--gamma", "0,1,10", "--method", "exact"), done, 3, want{
			"path": {"3 γ were given", "2 values are zero or not finite and not drawn"},
		}},
		"constant": {[]string{"fit", "--data", constant, "--target", "y", "--gamma", "1", "--method", "cg"}, done, 0, want{
			"spectrum": {"The spectrum is empty"}, "certificate": {"η"},
		}},
		"features": {append(fit, "--gamma", "1e6", "--features", "poly:3", "--method", "cg"), done, 1, want{
			"weights": {"poly:3 computes from the 6 columns"},
		}},
		"not converged": {append(fit, "--gamma", "1e4", "--method", "newton", "--size", "1", "--max-passes", "2"), short, 2,
			want{
				"certificate": {"What to do", "--max-passes"},
			}},
		"no bound": {append(
			fit, "--gamma", "1e-9", "--intercept=false", "--method", "newton", "--size", "1", "--max-passes", "2",
		),
			short, 1, want{
				"certificate": {"no bound on the relative error"}, "convergence": {"No pass gave a finite bound"},
			}},
		"round-off": {append(fit, "--gamma", "1e-3", "--method", "exact", "--tol", "1e-30"), short, 0, want{
			"certificate": {"What to do", "round-off", "This may help: --tol "},
		}},
		"solve": {[]string{"solve", sketch, "--gamma", "5"}, done, 1, want{
			"ran": {sketch, "one-shot"}, "reproduce": {"fdridge solve " + sketch + " --gamma 5"}, "weights": {"a&b"},
		}},
		"solve with rows": {[]string{"solve", sketch, "--gamma", "5", "--data", data, "--json"}, done, 1, want{
			"ran": {"galerkin"}, "reproduce": {"--data " + data, "--json"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.html")
			code, out, errs := call(append(slices.Clone(c.args), "--report", file)...)
			if code != c.code {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if !slices.Contains(c.args, "--json") && !strings.Contains(out, "report written to "+file) {
				t.Errorf("stdout says %q", out)
			}
			p := parsePage(t, file)
			for section, words := range c.want {
				for _, w := range words {
					if !strings.Contains(p.sections[section], w) {
						t.Errorf("section %s has no %q: %s", section, w, p.sections[section])
					}
				}
			}
			const beyond = "one may be better"
			if !slices.Contains(c.args, "--json") &&
				strings.Contains(out, beyond) != strings.Contains(p.sections["path"], beyond) {
				t.Errorf("the page warns of what the command doesn't, or the other way: %s", out)
			}
			if p.elements["figure"] != c.pictures || p.elements["figcaption"] != c.pictures {
				t.Errorf(
					"%d pictures, %d captions, want %d",
					p.elements["figure"],
					p.elements["figcaption"],
					c.pictures,
				)
			}
			// Spectrum and convergence are as wide as the page, drawn once for wide and once for narrow ones.
			wide := strings.Count(p.text, `<figure class="across">`)
			n := strings.Count(p.text, `<svg class="wide" `)
			if n != wide || n != strings.Count(p.text, `<svg class="narrow" `) || p.elements["svg"] != c.pictures+wide {
				t.Errorf(
					"%d svg, %d of them wide, for %d pictures, %d of them across the page",
					p.elements["svg"],
					n,
					c.pictures,
					wide,
				)
			}
			verdict := regexp.MustCompile(`class="verdict( good)?">([^<]*)<`).FindStringSubmatch(p.text)
			if verdict == nil || (code != done) != regexp.MustCompile("^Not converged: |^Nothing is proved about these "+
				"coefficients|little more than a guess").MatchString(verdict[2]) {
				t.Errorf("verdict %q", verdict)
			}
		})
	}
}

// TestReportBounds: the page gives the weights and their bounds in the units of the file. Each bound is the bound of
// the fit divided by the scale of its column, and the exact weights lie within the bounds. The sign of a weight is
// called proved only if its interval excludes zero.
func TestReportBounds(t *testing.T) {
	dir := t.TempDir()
	page, exact := filepath.Join(dir, "page.html"), filepath.Join(dir, "exact.json")
	args := []string{"--data", housing, "--target", "last", "--standardize", "--gamma", "1e5"}
	v := reported(t, append([]string{"fit", "--method", "one-shot", "--size", "3", "--report", page}, args...)...)
	must(t, append([]string{"fit", "--method", "exact", "--out", exact}, args...)...)
	want, _ := weightsOf(t, exact)
	rows := regexp.MustCompile(`<tr><th scope="row" class="text">x(\d+)</th>`+
		`<td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td><td>([^<]*)</td><td class="text">(\w*)</td></tr>`).
		FindAllStringSubmatch(parsePage(t, page).text, -1)
	if len(rows) != 8 {
		t.Fatalf("%d weights in %q", len(rows), rows)
	}
	signs := map[string]int{}
	for _, row := range rows {
		w := want[int(parse(t, row[1]))-1]
		x, b := parse(t, reporttest.Plain(row[2])), parse(t, reporttest.Plain(row[3]))
		scaled, whole := parse(t, reporttest.Plain(row[4])), parse(t, reporttest.Plain(row[5]))
		if !(x-1.01*b <= w && w <= x+1.01*b) {
			t.Errorf("weight %s is %v, the page says %v ± %v", row[1], w, x, b)
		}
		// Bounds are rounded up, to one or two digits.
		e := first(v["error_bound"])
		if !(e <= whole && whole <= 1.45*e) || !(math.Abs(b/whole-x/scaled) <= 0.45*x/scaled) {
			t.Errorf("weight %s: %v ± %v, scaled %v ± %v, of a fit with a bound of %v", row[1], x, b, scaled, whole, e)
		}
		if (row[6] == "proved") != (math.Abs(x) > b) {
			t.Errorf("weight %s, %v ± %v: its sign is said to be %s", row[1], x, b, row[6])
		}
		signs[row[6]]++
	}
	if signs["proved"] == 0 || signs["open"] == 0 {
		t.Errorf("signs %v: the test sees but one kind", signs)
	}
}

// TestReportRefuses: a page that could not be written is refused before the data are
// read, and nothing is left behind.
func TestReportRefuses(t *testing.T) {
	data := write(t, "rows.csv", rowsCSV(20))
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--report", filepath.Join(dir, "none", "page.html")}, "--report: no such folder"},
		{[]string{"--report", dir}, "--report: " + dir + " is not a regular file"},
		{[]string{"--report", filepath.Join(dir, "a"), "--out", filepath.Join(dir, "a")}, "--report: "},
	} {
		for _, command := range [][]string{{"fit", "--data", data, "--target", "y"}, {"solve", data}} {
			code, out, errs := call(slices.Concat(command, []string{"--gamma", "1"}, c.args)...)
			if code != usage || out != "" || !strings.Contains(errs, c.want) {
				t.Errorf("%v %v: exit %d, %s", command, c.args, code, errs)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left behind: %v, %v", files, err)
	}
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"": "''", "a.csv,b": "a.csv,b", "two words": "'two words'", "it's": `'it'\''s'`, "$HOME": "'$HOME'", "γ": "'γ'",
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}

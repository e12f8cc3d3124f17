package paper

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A verdict is the judgement of a claim by our numbers.
type verdict int

const (
	fails   verdict = iota
	partly          // true under a condition, which the finding names
	holds           // true for every computed number
	unknown         // the settings of the run do not allow a judgement
)

func (v verdict) String() string {
	return [...]string{"does not hold", "holds with a condition", "holds", "not judged"}[v]
}

// A finding is the judgement of a claim.
type finding struct {
	numbers string // our numbers
	verdict verdict
	why     string
}

// A claim of the paper has a text, a rule that judges it, and a known reason why it may fail.
type claim struct {
	text    string
	judge   func(*results) finding
	because string
}

// A section of RESULTS.md holds the claims about some figures.
type section struct {
	title   string
	figures []int               // shown above the claims
	ran     func(*results) bool // whether the results for the claims exist
	claims  []claim
}

var sections = []section{
	findingsR1,
	findingsR2,
	statisticsSummary,
	statisticsBounds,
	findingsIterative,
	findingsCertificates,
}

// parts judges a claim that consists of two named parts. The claim holds if both parts hold.
func parts[T any](
	nameA string,
	judgeA func(T) finding,
	nameB string,
	judgeB func(T) finding,
) func(T) finding {
	return func(x T) finding {
		a, b := judgeA(x), judgeB(x)
		f := finding{
			numbers: nameA + ": " + a.numbers + "; " + nameB + ": " + b.numbers,
			verdict: a.verdict.and(b.verdict),
		}
		if f.verdict != holds {
			f.why = nameA + ": " + a.reason() + "; " + nameB + ": " + b.reason()
		}
		return f
	}
}

// reason returns why, or "true" if the claim holds.
func (f finding) reason() string {
	if f.verdict == holds {
		return "true"
	}
	return f.why
}

// and returns the verdict on a claim of two parts.
func (v verdict) and(o verdict) verdict {
	switch {
	case v == o:
		return v
	case v == unknown || o == unknown:
		return unknown
	}
	return partly
}

// check returns the finding for a claim, which holds if ok is true. why is the reason if it does not hold.
func check(ok bool, numbers, why string) finding {
	v := fails
	if ok {
		v = holds
	}
	return finding{numbers, v, why}
}

// A tally records, for several series (metrics or methods) and every γ, whether a claim is true.
type tally struct {
	series []string
	gammas []float64
	ok     [][]bool // by series and γ
}

func (t *tally) add(series string, ok ...bool) {
	t.series = append(t.series, series)
	t.ok = append(t.ok, ok)
}

// finding judges a tally. The claim holds if all entries are true, and holds partly if at least half are true.
// Otherwise it fails. The reason lists the γ at which the claim is true.
func (t tally) finding(numbers string) finding {
	yes, all := 0, 0
	for _, ok := range slices.Concat(t.ok...) {
		all++
		if ok {
			yes++
		}
	}
	f := finding{numbers: numbers, why: t.where()}
	switch {
	case all == 0:
		f.verdict = unknown
		f.why = "no γ of the range the claim is about was run"
	case yes == all:
		f.verdict = holds
		f.why = ""
	case 2*yes >= all:
		f.verdict = partly
	}
	return f
}

// where describes, for each series, the values of γ at which the claim is true. Series with the same values are
// listed together.
func (t tally) where() string {
	var places []string
	names := map[string][]string{}
	for i, row := range t.ok {
		place := ranges(t.gammas, row)
		if names[place] == nil {
			places = append(places, place)
		}
		names[place] = append(names[place], t.series[i])
	}
	for i, place := range places {
		places[i] = "true " + place
		if len(t.series) > 1 {
			places[i] = strings.Join(names[place], ", ") + " " + places[i]
		}
	}
	return strings.Join(places, "; ")
}

// ranges describes in words which of the ascending γ are marked.
func ranges(gammas []float64, ok []bool) string {
	var parts []string
	for i := 0; i < len(ok); i++ {
		if !ok[i] {
			continue
		}
		first := i
		for i+1 < len(ok) && ok[i+1] {
			i++
		}
		a, b := power(gammas[first]), power(gammas[i])
		switch {
		case first == 0 && i == len(ok)-1:
			return "at every γ"
		case first == i:
			parts = append(parts, "γ = "+a)
		case first == 0:
			parts = append(parts, "γ ≤ "+b)
		case i == len(ok)-1:
			parts = append(parts, "γ ≥ "+a)
		default:
			parts = append(parts, a+" ≤ γ ≤ "+b)
		}
	}
	if parts == nil {
		return "at no γ"
	}
	return "for " + strings.Join(parts, " and ")
}

// markdown returns the text of RESULTS.md.
func (r *run) markdown() string {
	var b strings.Builder
	b.WriteString("# The paper's claims, by our numbers\n\n")
	b.WriteString(
		"C. Dickens, \"Ridge Regression with Frequent Directions: Statistical and Optimization Perspectives\" (2020).\n",
	)
	fmt.Fprintf(
		&b,
		"This file is generated; every verdict follows from the numbers by a rule in the package paper. It was "+
			"made by\n\n```sh\n%s\n```\n\n",
		r.Command,
	)
	b.WriteString("| | |\n|---|---|\n")
	for _, fact := range r.env.summary() {
		fmt.Fprintf(&b, "| %s | %s |\n", fact[0], fact[1])
	}
	if r.Quick {
		b.WriteString("\n**A quick run, at small sizes:** it shows that all works, and says little about the paper.\n")
	}
	b.WriteString(
		"\nA claim about all methods, metrics or γ *holds* where every number agrees and *holds with a condition*, " +
			"named under why, where at least half of them do.\n" +
			"A claim of several parts holds where all parts do, and with a condition where some do. The rule states " +
			"how the words of the paper are interpreted.\nEvery number is in figures/figureN.csv and .json.\n",
	)
	for _, s := range sections {
		fmt.Fprintf(&b, "\n## %s\n\n", s.title)
		r.show(&b, s.figures)
		if !s.ran(&r.results) {
			b.WriteString("Not judged: figures it is about were not run.\n")
			continue
		}
		b.WriteString("| claim | our figure | verdict | why |\n|---|---|---|---|\n")
		for _, c := range s.claims {
			f := c.judge(&r.results)
			if c.because != "" && (f.verdict == fails || f.verdict == partly) {
				f.why = strings.TrimPrefix(f.why+". "+c.because, ". ")
			}
			fmt.Fprintf(&b, "| %s | %s | **%s** | %s |\n", cell(c.text), cell(f.numbers), f.verdict, cell(f.why))
		}
	}
	inSection := func(number int) bool {
		return slices.ContainsFunc(sections, func(s section) bool {
			return slices.Contains(s.figures, number)
		})
	}
	if rest := slices.DeleteFunc(Figures(), inSection); rest != nil {
		b.WriteString("\n## Beyond the paper\n\n")
		r.show(&b, rest)
	}
	return b.String()
}

// show writes the given figures, or a note that this run did not draw them.
func (r *run) show(b *strings.Builder, figures []int) {
	for _, number := range figures {
		i := slices.IndexFunc(r.saved, func(f *figure) bool { return f.Number == number })
		if i < 0 {
			fmt.Fprintf(b, "Figure %d was not run.\n\n", number)
			continue
		}
		f := r.saved[i]
		var settings []string
		for _, k := range slices.Sorted(maps.Keys(f.Settings)) {
			settings = append(settings, fmt.Sprintf("%s = %v", k, f.Settings[k]))
		}
		fmt.Fprintf(
			b,
			"![Figure %d: %s](figures/figure%d.png)\n\nSettings: %s.\n\n",
			number,
			f.Title,
			number,
			strings.Join(settings, ", "),
		)
	}
}

// cell escapes text for a cell of a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A partSet is the parts of some data that a sketch has the rows of.
type partSet struct {
	// Data is a digest of the files and of the flags that say how they are read and divided: parts
	// of one division have it in common, wherever the files lay.
	Data string  `json:"data"`
	Of   int64   `json:"of"`
	Have []spans `json:"have"`
}

// spans are whole numbers that follow one another, the first and the last.
type spans [2]int64

// check refuses what no merge of parts comes to.
func (p *partSet) check() error {
	if len(p.Have) == 0 || p.Of > math.MaxInt32 {
		return fmt.Errorf("%d spans of %d parts", len(p.Have), p.Of)
	}
	least := int64(0)
	for _, s := range p.Have {
		if s[0] < least || s[1] < s[0] || s[1] >= p.Of {
			return fmt.Errorf("parts %d to %d of %d", s[0], s[1], p.Of)
		}
		least = s[1] + 2 // else they would be one span
	}
	return nil
}

// complete tells that all parts are there.
func (p *partSet) complete() bool { return p.Have[0] == spans{0, p.Of - 1} }

// joinParts returns the parts of both. The error is that of one that is in both, or of rows that
// were divided in two ways.
func joinParts(a, b []partSet) ([]partSet, error) {
	out := slices.Clone(a)
	for _, p := range b {
		at := slices.IndexFunc(out, func(q partSet) bool { return q.Data == p.Data })
		if at < 0 {
			out = append(out, p)
			continue
		}
		if out[at].Of != p.Of {
			return nil, fmt.Errorf("the rows were divided into %d parts for one and into %d for the other", out[at].Of, p.Of)
		}
		have, twice := joinSpans(out[at].Have, p.Have)
		if twice >= 0 {
			return nil, fmt.Errorf("part %d of %d is in both: its rows would count twice", twice, p.Of)
		}
		out[at].Have = have
	}
	return out, nil
}

// joinSpans merges sorted spans. twice is the first number that is in both, -1 for none.
func joinSpans(a, b []spans) (out []spans, twice int64) {
	for len(a)+len(b) > 0 {
		if len(a) == 0 || len(b) > 0 && b[0][0] < a[0][0] {
			a, b = b, a
		}
		next := a[0]
		a = a[1:]
		switch last := len(out) - 1; {
		case last >= 0 && next[0] <= out[last][1]:
			return nil, next[0]
		case last >= 0 && next[0] == out[last][1]+1:
			out[last][1] = next[1]
		default:
			out = append(out, next)
		}
	}
	return out, -1
}

// missing are the spans of 0 to of-1 that are not there.
func (p *partSet) missing() []spans {
	var out []spans
	next := int64(0)
	for _, s := range append(slices.Clone(p.Have), spans{p.Of, p.Of}) {
		if s[0] > next {
			out = append(out, spans{next, s[0] - 1})
		}
		next = s[1] + 1
	}
	return out
}

// describeSpans writes "part 3", "parts 0-2, 7", and of many the first few.
func describeSpans(list []spans) string {
	const most = 6
	var words []string
	for i, s := range list {
		switch {
		case i == most:
			words = append(words, "…")
		case i > most:
		case s[0] == s[1]:
			words = append(words, strconv.FormatInt(s[0], 10))
		default:
			words = append(words, fmt.Sprintf("%d-%d", s[0], s[1]))
		}
	}
	if len(list) == 1 && list[0][0] == list[0][1] {
		return "part " + words[0]
	}
	return "parts " + strings.Join(words, ", ")
}

// printParts says which parts a sketch has, which are still to come, and why there may be no row
// in it.
func (d *description) printParts(w io.Writer, name string, empty bool) error {
	for _, p := range d.Parts {
		text := fmt.Sprintf("all %d parts", p.Of)
		if !p.complete() {
			text = fmt.Sprintf("%s of %d; still to be merged: %s", describeSpans(p.Have), p.Of, describeSpans(p.missing()))
		}
		if empty {
			text += "; no row is in it: there are fewer rows than parts, or files are compressed text, which is not divided"
		}
		if _, err := fmt.Fprintf(w, "%s: %s\n", name, text); err != nil {
			return err
		}
	}
	if len(d.Parts) > 1 {
		_, err := fmt.Fprintf(w, "%s: these are parts of %d divisions, which do not complete one another: of other files, of files that have changed since, or read in another way\n", name, len(d.Parts))
		return err
	}
	return nil
}

// refuseIncomplete refuses to solve where parts of the rows are missing.
func (d *description) refuseIncomplete(name string) error {
	for _, p := range d.Parts {
		if !p.complete() {
			return badInput("%s has %s of %d of its rows: %s must be merged with it first; fit --part fits a part alone", name, describeSpans(p.Have), p.Of, describeSpans(p.missing()))
		}
	}
	return nil
}

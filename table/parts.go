package table

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Parts lists which parts of a divided data set a sketch contains. Spec.Part selects one such part as I/N: part I
// of N.
type Parts struct {
	// Data is a digest of the contents of the files and of the fields of [Spec] that affect the rows. It is the
	// same for all parts of a data set, and does not depend on file names and times.
	Data string `json:"data"`
	Of   int64  `json:"of"`
	Have []span `json:"have"`
}

// A span is a range of consecutive part numbers, given by its first and its last number.
type span [2]int64

// Check returns an error unless p.Have is a valid list of part numbers. Its ranges must be sorted and separated by
// at least one missing part, and all numbers must be less than p.Of.
func (p *Parts) Check() error {
	if len(p.Have) == 0 || p.Of > math.MaxInt32 {
		return fmt.Errorf("%d spans of %d parts", len(p.Have), p.Of)
	}
	least := int64(0)
	for _, s := range p.Have {
		if s[0] < least || s[1] < s[0] || s[1] >= p.Of {
			return fmt.Errorf("parts %d to %d of %d", s[0], s[1], p.Of)
		}
		least = s[1] + 2 // closer spans would be one
	}
	return nil
}

// IsComplete reports whether no part is missing.
func (p *Parts) IsComplete() bool {
	return len(p.Have) == 1 &&
		p.Have[0] == span{0, p.Of - 1}
}

// JoinParts returns the union of two lists of parts. It returns an error if a part is in both lists, or if the same
// rows were divided into different numbers of parts.
func JoinParts(a, b []Parts) ([]Parts, error) {
	out := slices.Clone(a)
	for _, p := range b {
		at := slices.IndexFunc(out, func(q Parts) bool { return q.Data == p.Data })
		if slices.ContainsFunc(a, p.isOtherVersion) {
			return nil, errors.New(
				"the parts of one sketch come from an older version, which identified rows otherwise; sketch these parts again",
			)
		}
		if at < 0 {
			out = append(out, p)
			continue
		}
		if out[at].Of != p.Of {
			return nil, fmt.Errorf(
				"the rows were divided into %d parts for one sketch and %d parts for the other",
				out[at].Of,
				p.Of,
			)
		}
		have, twice := joinSpans(out[at].Have, p.Have)
		if twice >= 0 {
			return nil, fmt.Errorf("part %d of %d is in both: its rows would count twice", twice, p.Of)
		}
		out[at].Have = have
	}
	return out, nil
}

// isOtherVersion reports whether p and q are incomplete, and only one of them comes from an earlier version, which
// computed digests differently. Their digests then cannot show whether p and q are parts of the same rows.
func (p *Parts) isOtherVersion(q Parts) bool {
	return strings.HasPrefix(p.Data, digestPrefix) != strings.HasPrefix(q.Data, digestPrefix) &&
		!p.IsComplete() &&
		!q.IsComplete()
}

// joinSpans merges two sorted lists of ranges of part numbers. duplicate is the smallest number that is in both
// lists, or −1 if there is none.
func joinSpans(a, b []span) (out []span, duplicate int64) {
	for len(a)+len(b) > 0 {
		if len(a) == 0 ||
			len(b) > 0 && b[0][0] < a[0][0] {
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

// Missing returns the ranges of the part numbers from 0 to p.Of − 1 that are not in p.Have.
func (p *Parts) Missing() []span {
	var out []span
	next := int64(0)
	for _, s := range append(slices.Clone(p.Have), span{p.Of, p.Of}) {
		if s[0] > next {
			out = append(out, span{next, s[0] - 1})
		}
		next = s[1] + 1
	}
	return out
}

// DescribeSpans describes a list of ranges by a text such as "part 3" or "parts 0-2, 7". The text contains only the
// first six ranges.
func DescribeSpans(list []span) string {
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

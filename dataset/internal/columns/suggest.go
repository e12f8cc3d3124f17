package columns

import (
	"unicode"
	"unicode/utf8"
)

// maxCompared limits the length of compared names, in runes.
const maxCompared = 64

// mostSimilar returns the name that is most similar to the given name. It compares only letters and digits, and
// ignores case. It returns "" if no name is similar, or if several names are equally similar.
func mostSimilar(names []string, name string) string {
	wanted := letters(name)
	if len(wanted) == 0 || len(wanted) > maxCompared {
		return ""
	}
	best := (len(wanted)+1)/4 + 1
	found := ""
	var d distance
	for _, other := range names {
		if len(other) > utf8.UTFMax*2*maxCompared {
			continue
		}
		runes := letters(other)
		if n := len(runes); n == 0 || n > len(wanted)+best || len(wanted) > n+best {
			continue
		}
		switch k := d.of(wanted, runes); {
		case k < best:
			best, found = k, other
		case k == best:
			found = ""
		}
	}
	return found
}

func letters(name string) []rune {
	var out []rune
	for _, r := range name {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			out = append(out, unicode.ToLower(r))
		}
	}
	return out
}

// A distance computes the distance between two texts row by row. It keeps the last three rows of this computation.
type distance struct{ before, last, row []int }

// of returns the optimal string alignment distance between a and b (F. Damerau, 1964). It is the smallest number of
// insertions, deletions, replacements and exchanges of neighbouring letters that change a to b.
func (d *distance) of(a, b []rune) int {
	d.last = d.last[:0]
	for j := range len(b) + 1 {
		d.last = append(d.last, j)
	}
	for i := range a {
		d.row = append(d.row[:0], i+1)
		for j := range b {
			k := d.last[j]
			if a[i] != b[j] {
				k++
			}
			k = min(k, d.last[j+1]+1, d.row[j]+1)
			if i > 0 &&
				j > 0 &&
				a[i] == b[j-1] &&
				a[i-1] == b[j] {
				k = min(k, d.before[j-1]+1)
			}
			d.row = append(d.row, k)
		}
		d.before, d.last, d.row = d.last, d.row, d.before
	}
	return d.last[len(b)]
}

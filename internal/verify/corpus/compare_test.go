package corpus

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A finding says that a stream or a file differs between the two binaries.
type finding struct {
	where  string // name of the stream or file
	detail string // the difference in words
}

func (f finding) String() string { return f.where + ": " + f.detail }

// differences returns a finding for each stream or file that differs, or that only one outcome has.
func differences(a, b outcome) []finding {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []finding
	for _, name := range all.names() {
		x, inA := a[name]
		y, inB := b[name]
		f := finding{where: name}
		switch {
		case !inB:
			f.detail = "OLD only"
		case !inA:
			f.detail = "NEW only"
		default:
			f.compare(normalise(x), normalise(y))
		}
		if f.detail != "" {
			out = append(out, f)
		}
	}
	return out
}

// compare sets f.detail if a and b differ. For texts it describes the first difference and counts the
// different lines. For binary files it describes the first difference.
func (f *finding) compare(a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	if bytes.IndexByte(a, 0) >= 0 || bytes.IndexByte(b, 0) >= 0 {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		f.detail = fmt.Sprintf("%d and %d bytes, they differ from byte %d on", len(a), len(b), i)
		return
	}
	x, y := strings.Split(string(a), "\n"), strings.Split(string(b), "\n")
	first, lines := -1, max(len(x), len(y))-min(len(x), len(y))
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			lines++
			if first < 0 {
				first = i
			}
		}
	}
	if first < 0 {
		f.detail = fmt.Sprintf("%d and %d lines, the first ones the same", len(x), len(y))
		return
	}
	f.detail = fmt.Sprintf("%d lines, the first %s", lines, lineApart(x, y, first))
}

// name matches the name of a JSON field at the start of a line.
var name = regexp.MustCompile(`^\s*"([^"]*)":`)

// field returns the name of the JSON field in which line i lies.
func field(lines []string, i int) string {
	if !strings.HasPrefix(lines[0], "{") {
		return ""
	}
	for ; i >= 0; i-- {
		if m := name.FindStringSubmatch(lines[i]); m != nil {
			return fmt.Sprintf(" (%s)", m[1])
		}
	}
	return ""
}

// around returns the part of line near its first difference from other.
func around(line, other string) string {
	const before, length = 40, 120
	at := 0
	for at < min(len(line), len(other)) && line[at] == other[at] {
		at++
	}
	from := max(0, at-before)
	return strings.TrimSpace(strings.ToValidUTF8(line[from:min(len(line), from+length)], ""))
}

// number matches a number, with an optional sign and exponent.
var number = regexp.MustCompile(`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`)

// apart describes the largest relative difference of the numbers in two lines. It returns "" if the lines
// also differ in other text.
func apart(a, b string) string {
	x, y := number.FindAllString(a, -1), number.FindAllString(b, -1)
	if len(x) != len(y) || number.ReplaceAllString(a, "~") != number.ReplaceAllString(b, "~") {
		return ""
	}
	worst := 0.0
	for i := range x {
		u, errU := strconv.ParseFloat(x[i], 64)
		v, errV := strconv.ParseFloat(y[i], 64)
		if errU != nil || errV != nil {
			return ""
		}
		if u != v {
			worst = max(worst, math.Abs(u-v)/max(math.Abs(u), math.Abs(v)))
		}
	}
	return fmt.Sprintf(", relatively %.2g apart", worst)
}

// lineApart describes the difference between line i of x and line i of y.
func lineApart(x, y []string, i int) string {
	return fmt.Sprintf("%d%s: %s | %s%s", i+1, field(x, i), around(x[i], y[i]), around(y[i], x[i]), apart(x[i], y[i]))
}

// whole lists all differences between two outcomes.
func whole(a, b outcome) string {
	var out strings.Builder
	for _, n := range slices.Concat(a.names()) {
		x, y := normalise(a[n]), normalise(b[n])
		if bytes.Equal(x, y) || bytes.IndexByte(x, 0) >= 0 || bytes.IndexByte(y, 0) >= 0 {
			continue
		}
		u, v := strings.Split(string(x), "\n"), strings.Split(string(y), "\n")
		for i := range min(len(u), len(v)) {
			if u[i] != v[i] {
				fmt.Fprintf(&out, "    %s:%s\n", n, lineApart(u, v, i))
			}
		}
	}
	return out.String()
}

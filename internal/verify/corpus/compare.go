package main

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

// differences says what one outcome has that another has not, or has otherwise, a line
// for each stream or file.
func differences(a, b outcome) []string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	for _, name := range all.names() {
		x, inA := a[name]
		y, inB := b[name]
		switch {
		case !inB:
			out = append(out, name+": OLD only")
		case !inA:
			out = append(out, name+": NEW only")
		default:
			if d := difference(normalise(x), normalise(y)); d != "" {
				out = append(out, name+": "+d)
			}
		}
	}
	return out
}

// difference says where two texts differ first and in how many lines, or where two
// binary files do; "" where they are the same.
func difference(a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	if bytes.IndexByte(a, 0) >= 0 || bytes.IndexByte(b, 0) >= 0 {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		return fmt.Sprintf("%d and %d bytes, they differ from byte %d on", len(a), len(b), i)
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
		return fmt.Sprintf("%d and %d lines, the first ones the same", len(x), len(y))
	}
	where := fmt.Sprintf("%d lines, the first %d%s", lines, first+1, field(x, first))
	return fmt.Sprintf("%s: %s | %s%s", where, around(x[first], y[first]), around(y[first], x[first]), apart(x[first], y[first]))
}

// name is a field of JSON at the begin of a line.
var name = regexp.MustCompile(`^\s*"([^"]*)":`)

// field is the field that a line of JSON belongs to, itself included.
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

// around is what of a line is near where it and another differ first.
func around(line, other string) string {
	const before, length = 40, 120
	at := 0
	for at < min(len(line), len(other)) && line[at] == other[at] {
		at++
	}
	from := max(0, at-before)
	return strings.TrimSpace(strings.ToValidUTF8(line[from:min(len(line), from+length)], ""))
}

// number is one with a sign or an exponent.
var number = regexp.MustCompile(`-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?`)

// apart is how far two lines' numbers are at most, relative to them, where as many
// numbers are all that they differ in.
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

// whole is all of what was printed and written that differs, for a reader.
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
				fmt.Fprintf(&out, "    %s:%d%s: %s | %s%s\n", n, i+1, field(u, i), around(u[i], v[i]), around(v[i], u[i]), apart(u[i], v[i]))
			}
		}
	}
	return out.String()
}

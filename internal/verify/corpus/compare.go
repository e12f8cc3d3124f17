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

// A finding is a stream or a file that differs.
type finding struct {
	where    string // its name
	line     int    // the first line that differs, from 1; 0: the file is binary, or there is one alone
	old, new string // of that line, what is around the first difference; else what there is
	detail   string // all of this in words
}

func (f finding) String() string { return f.where + ": " + f.detail }

// differences returns a finding for each stream or file that differs or that one outcome
// lacks.
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
			f.old, f.new, f.detail = "there", "absent", "OLD only"
		case !inA:
			f.old, f.new, f.detail = "absent", "there", "NEW only"
		default:
			f.compare(normalise(x), normalise(y))
		}
		if f.detail != "" {
			out = append(out, f)
		}
	}
	return out
}

// compare finds where two texts differ first and in how many lines, or where two binary
// files do. detail stays empty if they are the same.
func (f *finding) compare(a, b []byte) {
	if bytes.Equal(a, b) {
		return
	}
	if bytes.IndexByte(a, 0) >= 0 || bytes.IndexByte(b, 0) >= 0 {
		i := 0
		for i < min(len(a), len(b)) && a[i] == b[i] {
			i++
		}
		f.old, f.new = byteAt(a, i), byteAt(b, i)
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
		f.old, f.new = fmt.Sprintf("%d lines", len(x)), fmt.Sprintf("%d lines", len(y))
		f.detail = fmt.Sprintf("%d and %d lines, the first ones the same", len(x), len(y))
		return
	}
	f.line, f.old, f.new = first+1, around(x[first], y[first]), around(y[first], x[first])
	where := fmt.Sprintf("%d lines, the first %d%s", lines, f.line, field(x, first))
	f.detail = fmt.Sprintf("%s: %s | %s%s", where, f.old, f.new, apart(x[first], y[first]))
}

// byteAt describes a byte of a binary file.
func byteAt(b []byte, i int) string {
	if i >= len(b) {
		return fmt.Sprintf("%d bytes", len(b))
	}
	return fmt.Sprintf("byte %d: %02x", i, b[i])
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

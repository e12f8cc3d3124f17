package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/excerpt"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// once is a flag that may be given one time: a second value is an error, where
// pflag would take the last in silence.
type once struct {
	value string
	set   bool
	hint  string
}

func (o *once) String() string { return o.value }
func (o *once) Type() string   { return "string" }

func (o *once) Set(s string) error {
	if o.set {
		return badInput("given twice (%s, %s)%s", excerpt.Of(o.value), excerpt.Of(s), o.hint)
	}
	o.value, o.set = s, true
	return nil
}

// parseGammas reads G[,G…].
func parseGammas(text string, zero bool) ([]float64, error) {
	var out []float64
	for _, s := range strings.Split(text, ",") {
		g, err := parseNumber(strings.TrimSpace(s))
		switch {
		case err != nil:
			return nil, badInput("--gamma: %q is not a number", excerpt.Of(s))
		case g == 0 && zero:
		case !(g > 0) || math.IsInf(g, 0):
			return nil, badInput("--gamma: %v must be positive and finite (0 with --method exact alone)", excerpt.Of(s))
		}
		out = append(out, g)
	}
	return out, nil
}

// parseNumber reads a number as it stands in a file: without the _ that Go admits.
func parseNumber(s string) (float64, error) {
	if strings.Contains(s, "_") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(s, 64)
}

// parseRows reads A:B, 1-based and inclusive, as the 0-based half-open [lo, hi).
func parseRows(text string) (lo, hi int64, err error) {
	a, b, ok := strings.Cut(text, ":")
	lo, err1 := strconv.ParseInt(a, 10, 64)
	hi, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || lo < 1 || hi < lo {
		return 0, 0, badInput("--rows: %q must be A:B with 1 <= A <= B", excerpt.Of(text))
	}
	return lo - 1, hi, nil
}

// checkOut refuses an --out that could not be written once the work is done.
func checkOut(name string) error { return checkOutput("out", name) }

// checkOutput refuses a file that could not be written once the work is done: its
// folder must exist, and what has its name must be a file, for a folder cannot and a
// device must not be replaced by one.
func checkOutput(flag, name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return badInput("--%s: there is no folder %s", flag, filepath.Dir(name))
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return badInput("--%s: %s is not a regular file", flag, name)
	}
	return nil
}

// A named is a file and the flag that names it.
type named struct{ flag, path string }

// sameFile tells that two names are of one file, which need not be there yet.
func sameFile(a, b string) bool {
	one := func(a, b string) bool {
		x, err := os.Stat(a)
		if err != nil {
			return false
		}
		y, err := os.Stat(b)
		return err == nil && os.SameFile(x, y)
	}
	return one(a, b) || filepath.Base(a) == filepath.Base(b) && one(filepath.Dir(a), filepath.Dir(b))
}

// distinct refuses outputs that are one of the inputs, or each other.
func distinct(inputs []string, outputs ...named) error {
	for i, out := range outputs {
		if out.path == "" {
			continue
		}
		for _, in := range inputs {
			if in != "" && sameFile(in, out.path) {
				return badInput("--%s: %s is read, and would be overwritten", out.flag, out.path)
			}
		}
		for _, other := range outputs[:i] {
			if other.path != "" && sameFile(other.path, out.path) {
				return badInput("--%s: %s is written by --%s too", out.flag, out.path, other.flag)
			}
		}
	}
	return nil
}

// oneOf checks an enumerated flag.
func oneOf(flag, value string, allowed ...string) error {
	for _, a := range allowed {
		if a == value {
			return nil
		}
	}
	return badInput("--%s: %q must be one of %s", flag, excerpt.Of(value), strings.Join(allowed, ", "))
}

func splitList(text string) []string {
	var out []string
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// invocation is a command line with all flags that were given, as a shell takes it.
func invocation(cmd *cobra.Command, args []string) string {
	words := strings.Fields(cmd.CommandPath())
	for _, a := range args {
		words = append(words, quote(a))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case f.Value.Type() != "bool":
			words = append(words, "--"+f.Name, quote(f.Value.String()))
		case f.Value.String() == "true":
			words = append(words, "--"+f.Name)
		default:
			words = append(words, "--"+f.Name+"=false")
		}
	})
	return strings.Join(words, " ")
}

// quote makes one word of text for a shell.
func quote(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_./:,=+@%-", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

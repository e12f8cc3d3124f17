package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/internal/excerpt"
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
			return nil, badInput("--gamma: %v must be positive and finite (0 with fit alone, by a direct method)", excerpt.Of(s))
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

// oneOf checks an enumerated flag.
func oneOf(flag, value string, allowed ...string) error {
	for _, a := range allowed {
		if a == value {
			return nil
		}
	}
	if hint := retired["--"+flag+" "+value]; hint != "" {
		return badInput("--%s: %s %s", flag, value, hint)
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

// firstError is the first that isn't nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fdridge/fdridge/dataset"
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
		return badInput("given twice (%s, %s)%s", o.value, s, o.hint)
	}
	o.value, o.set = s, true
	return nil
}

// parseGammas reads G[,G…].
func parseGammas(text string, zero bool) ([]float64, error) {
	var out []float64
	for _, s := range strings.Split(text, ",") {
		g, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		switch {
		case err != nil:
			return nil, badInput("--gamma: %q is not a number", s)
		case g == 0 && zero:
		case !(g > 0) || math.IsInf(g, 0):
			return nil, badInput("--gamma: %v must be positive and finite (0 with --method exact alone)", s)
		}
		out = append(out, g)
	}
	return out, nil
}

// parseRows reads A:B, 1-based and inclusive, as the 0-based half-open [lo, hi).
func parseRows(text string) (lo, hi int64, err error) {
	a, b, ok := strings.Cut(text, ":")
	lo, err1 := strconv.ParseInt(a, 10, 64)
	hi, err2 := strconv.ParseInt(b, 10, 64)
	if !ok || err1 != nil || err2 != nil || lo < 1 || hi < lo {
		return 0, 0, badInput("--rows: %q must be A:B with 1 <= A <= B", text)
	}
	return lo - 1, hi, nil
}

// parseFeatures reads rff:D,gamma=G,seed=S.
func parseFeatures(text string) (*dataset.Fourier, error) {
	rest, ok := strings.CutPrefix(text, "rff:")
	if !ok {
		return nil, badInput("--features: %q must be rff:D,gamma=G,seed=S", text)
	}
	parts := strings.Split(rest, ",")
	d, err := strconv.Atoi(parts[0])
	if err != nil || d < 1 || d > 1<<24 {
		return nil, badInput("--features: the number of Fourier features is %q, must be 1 to %d", parts[0], 1<<24)
	}
	f := &dataset.Fourier{Components: d}
	seen := map[string]bool{}
	for _, p := range parts[1:] {
		key, value, _ := strings.Cut(p, "=")
		if seen[key] {
			return nil, badInput("--features: %q gives %s twice", text, key)
		}
		seen[key] = true
		switch key {
		case "gamma":
			f.Gamma, err = strconv.ParseFloat(value, 64)
			if err != nil || !(f.Gamma > 0) || math.IsInf(f.Gamma, 0) {
				return nil, badInput("--features: gamma is %q, must be a positive number", value)
			}
		case "seed":
			f.Seed, err = strconv.ParseUint(value, 10, 64)
			if err != nil {
				return nil, badInput("--features: seed is %q, must be a whole number >= 0", value)
			}
		default:
			return nil, badInput("--features: unknown setting %q; there are gamma=G and seed=S", p)
		}
	}
	if f.Gamma == 0 {
		return nil, badInput("--features: %q names no gamma", text)
	}
	return f, nil
}

// checkOut refuses an --out that could not be written once the work is done:
// its folder must exist, and what has its name must be a file, for a folder
// cannot and a device must not be replaced by one.
func checkOut(name string) error {
	if name == "" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return badInput("--out: there is no folder %s", filepath.Dir(name))
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return badInput("--out: %s is not a regular file", name)
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
	return badInput("--%s: %q must be one of %s", flag, value, strings.Join(allowed, ", "))
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

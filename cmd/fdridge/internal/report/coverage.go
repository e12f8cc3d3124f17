package report

import "fmt"

// mostCovered is the maximum number of lines in the report about prediction intervals for new observations.
const mostCovered = 6

// coverageLines describes the prediction intervals for new observations, a line for each. It states the half width
// of the interval, rounded up.
func (f *Fit) coverageLines() []string {
	var out []string
	for i, c := range f.Coverage {
		for j, q := range c.Radius {
			if len(out) == mostCovered {
				return append(out, "…")
			}
			of := ""
			if len(c.Radius) > 1 {
				of = ", " + f.targetName(j)
			}
			if len(f.Coverage) > 1 {
				of += fmt.Sprintf(", gamma = %.6g", f.Found.Solutions[i].Gamma)
			}
			out = append(out, fmt.Sprintf(
				"prediction ± %s contains a new observation with probability ≥ %g%s (%d held-out rows, exchangeable rows)",
				AtMost(float64(q), 4), c.Level, of, c.Rows))
		}
	}
	return out
}

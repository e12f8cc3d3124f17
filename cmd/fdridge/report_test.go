package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fdridge/fdridge/cmd/fdridge/internal/report/reporttest"
	"github.com/fdridge/fdridge/model"
	"github.com/fdridge/fdridge/ridge"
	"github.com/fdridge/fdridge/ridge/plan"
)

// TestReportHolds: report and page hold the figures that --json has in full.
func TestReportHolds(t *testing.T) {
	data := write(t, "named.csv", namedCSV(200))
	for name, args := range map[string][]string{
		"one-shot": {"--gamma", "1,10,300,1e4", "--method", "one-shot", "--size", "2"},
		"cg":       {"--gamma", "1,10,300,1e4", "--method", "cg", "--size", "2"},
		"exact":    {"--gamma", "1,10,300,1e4", "--method", "exact"},
	} {
		t.Run(name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			args = slices.Concat([]string{"fit", "--data", data, "--target", "y,z", "--report", page}, args)
			text := must(t, args...)
			want := fitsOf(t, must(t, append(args, "--json")...))
			if name != "exact" {
				η := regexp.MustCompile(`‖AᵀA − BᵀB‖ ≤ ([^ ,;\n]+)`).FindStringSubmatch(text)
				worst := slices.MaxFunc(want, func(a, b figures) int { return cmp.Compare(a.relative, b.relative) }).relative
				verdict := regexp.MustCompile(`relative error of at most (\S+):`).FindStringSubmatch(parsePage(t, page).text)
				if verdict != nil {
					holdsBound(t, "verdict", verdict[1], worst, 1e-1)
				} else if worst < 0.5 {
					t.Error("the page has no verdict")
				}
				holdsBound(t, "η", η[1], want[0].shrinkage, 1e-3)
				holdsBound(
					t,
					"η in the page",
					regexp.MustCompile(`η = (\S+) of`).FindStringSubmatch(parsePage(t, page).text)[1],
					want[0].shrinkage,
					1e-2,
				)
			}
			// One table has the scores, another one what is proved, on the terminal and on the page.
			const number = `(\[.*?\]|\S+)`
			paged := parsePage(t, page).text
			find := func(text, pattern string) [][]string {
				return regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
			}
			const named, figure = `<td class="text">[yz]</td>`, `<td>([^<]*)</td>`
			scores := [][][]string{
				find(text, `(?m)^[\d.e+-]+ +[yz] +`+number+` +`+number+`$`),
				find(paged, named+figure+figure+`</tr>`),
			}
			proofs := [][][]string{
				find(text, `(?m)^[\d.e+-]+ +[yz] +()(\S+) +`+number+` +[a-z]`),
				find(paged, named+figure+figure+figure+`<td`),
			}
			for i := range proofs[1] {
				row := proofs[1][i]
				holdsBound(t, "error", row[2], want[i].error, 1e-2)
				row[2] = row[1]
			}
			for where := range scores {
				if len(scores[where]) != len(want) || len(proofs[where]) != len(want) {
					t.Fatalf("%d and %d lines, want %d, in\n%s", len(scores[where]), len(proofs[where]), len(want), text)
				}
				for i, w := range want {
					holdsFigure(t, "R²", scores[where][i][1], w.r2)
					holdsFigure(t, "GCV", scores[where][i][2], w.gcv)
					holdsBound(t, "relative error", proofs[where][i][2], w.relative, 1e-2)
					holdsFigure(t, "effective dimension", proofs[where][i][3], w.dimension)
				}
			}
		})
	}
}

// plusMinus reads what a report or predict --digits writes as value ± bound.
func plusMinus(t *testing.T, text string) (lo, hi *big.Rat) {
	t.Helper()
	value, bound, ok := strings.Cut(text, " ± ")
	scale := ""
	if inner, power, scaled := strings.Cut(bound, ")"); scaled {
		value, bound, scale = strings.TrimPrefix(value, "("), inner, power
	}
	number := func(text string) *big.Rat {
		r, is := new(big.Rat).SetString(reporttest.Plain(text))
		if !is || !ok {
			t.Fatalf("%q is no value ± bound", text)
		}
		return r
	}
	v, b, by := number(value), number(bound), number("1"+scale)
	lo, hi = new(big.Rat).Sub(v, b), new(big.Rat).Add(v, b)
	return lo.Mul(lo, by), hi.Mul(hi, by)
}

// figures are the printed numbers of one γ and one target.
type figures struct {
	shrinkage, relative, error float64
	r2, dimension, gcv         ridge.Interval
}

func fitsOf(t *testing.T, report string) []figures {
	t.Helper()
	var v struct {
		Fits []struct {
			Shrinkage model.Number                    `json:"shrinkage"`
			Relative  []model.Number                  `json:"relative_error_bound"`
			Error     []model.Number                  `json:"error_bound"`
			R2        model.PerTarget[ridge.Interval] `json:"r2_bracket"`
			Dimension model.PerTarget[ridge.Interval] `json:"effective_dimension"`
			GCV       model.PerTarget[ridge.Interval] `json:"gcv"`
		} `json:"fits"`
	}
	if err := json.Unmarshal([]byte(report), &v); err != nil {
		t.Fatal(err)
	}
	var out []figures
	for _, f := range v.Fits {
		for j := range f.Error {
			out = append(
				out,
				figures{
					float64(f.Shrinkage),
					float64(f.Relative[j]),
					float64(f.Error[j]),
					f.R2[j],
					f.Dimension[0],
					f.GCV[j],
				},
			)
		}
	}
	return out
}

// holdsBound checks that a text is no less than a bound, and no more than by a part of it.
func holdsBound(t *testing.T, what, text string, bound, part float64) {
	t.Helper()
	if text == "none" {
		text = "+Inf"
	}
	if v, err := strconv.ParseFloat(reporttest.Plain(text), 64); err != nil || !(v >= bound) || !(v <= (1+part)*bound) {
		t.Errorf("%s: %s for a bound of %v", what, text, bound)
	}
}

// holdsFigure checks that a figure holds a bracket.
func holdsFigure(t *testing.T, what, text string, v ridge.Interval) {
	t.Helper()
	lo, hi, err := reporttest.Figure(text)
	if err != nil || !(lo <= v.Lo && v.Hi <= hi) {
		t.Errorf("%s: %s does not hold %v: %v", what, text, v, err)
	}
}

// TestPrintedSketchBoundsHold: the bounds that sketch and plan print are not below the bounds in the output of --json.
func TestPrintedSketchBoundsHold(t *testing.T) {
	data, out := write(t, "rows.csv", rowsCSV(60)), filepath.Join(t.TempDir(), "sketch")
	input := []string{"--data", data, "--target", "y", "--features", "rff:64,gamma=1,seed=1", "--size", "24"}
	said := must(t, slices.Concat([]string{"sketch", "-o", out}, input)...)
	η := reported(t, "solve", out, "--gamma", "1e9")["shrinkage"].(float64)
	holdsBound(t, "η", regexp.MustCompile(`≤ ([^ ,\n]+)`).FindStringSubmatch(said)[1], η, 1e-3)
	args := []string{"plan", "--sketch", out, "--gamma", "1e5"}
	var v struct{ Options []plan.Option }
	if err := json.Unmarshal([]byte(must(t, append(args, "--json")...)), &v); err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(
		`(?m)^(?:→| ) +one-shot +(\d+) +\S+ +(\S+) +\d+ +(\S+) `,
	).FindAllStringSubmatch(must(t, args...), -1)
	if len(rows) == 0 {
		t.Fatal("the plan has no line of one-shot")
	}
	for _, row := range rows {
		i := slices.IndexFunc(
			v.Options,
			func(o plan.Option) bool { return o.Method == ridge.OneShot && fmt.Sprint(o.Size) == row[1] },
		)
		holdsBound(t, "η of the plan", row[2], v.Options[i].WorstShrinkage, 1e-2)
		holdsBound(t, "error of the plan", row[3], v.Options[i].Contraction[0], 1e-1)
	}
}

// TestPageNamesProblemOfBounds: the page names the problem that the bounds are about. This is the problem of the data
// as read, of the scaled columns as rounded, or of the computed features as rounded.
func TestPageNamesProblemOfBounds(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	for flags, want := range map[string][2]string{
		"": {
			"solve the ridge problem of these data to that accuracy.", "of the data as they were read, round-off included",
		},
		"--standardize": {
			"solve the ridge problem of these data in scaled columns to that accuracy.",
			"of these data in scaled columns, as rounded to float64, round-off included",
		},
		"--standardize --features poly:2": {
			"solve the ridge problem of the features of these data to that accuracy.",
			"of the features of these data, as rounded to float64",
		},
	} {
		page := filepath.Join(t.TempDir(), "page.html")
		must(
			t,
			append(
				[]string{"fit", "--data", rows, "--target", "y", "--gamma", "1", "--report", page},
				strings.Fields(flags)...)...)
		for _, sentence := range want {
			if !strings.Contains(contents(t, page), sentence) {
				t.Errorf("%q: the page does not say %q", flags, sentence)
			}
		}
	}
}

package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/fdridge/fdridge/internal/chart"
	"github.com/fdridge/fdridge/internal/vec"
)

// A DiagnosedRow holds what a picture shows of a row of the data: estimates of its leverage and residuals.
type DiagnosedRow struct {
	Row       int64     // counted from 1
	Leverages []float64 // for each target
	LeftOut   []float64 // leave-one-out residual for each target
}

// A RowPicture draws leave-one-out residuals against leverages.
type RowPicture struct {
	Rows, Targets int
	Worst         []WorstRow     // are named
	Sample        []DiagnosedRow // may contain rows of Worst
	IsExact       bool           // the estimates are exact within round-off
}

// Figure returns a figure with a panel for each target. Each row of Worst is labelled with its row number in the
// panel of its target.
func (p *RowPicture) Figure() *chart.Figure {
	rows := slices.Clone(p.Sample)
	for _, o := range p.Worst {
		isSampled := slices.ContainsFunc(p.Sample, func(r DiagnosedRow) bool {
			return r.Row == o.Row
		})
		if !isSampled {
			rows = append(rows, o.Estimate)
		}
	}
	rows = slices.DeleteFunc(rows, func(r DiagnosedRow) bool {
		return slices.ContainsFunc(slices.Concat(r.Leverages, r.LeftOut), func(v float64) bool {
			return !vec.IsFinite(v)
		})
	})
	f := &chart.Figure{
		Columns: 1,
		Looks:   looks,
		Width:   panelSize[0],
		Height:  panelSize[1],
	}
	named := 0
	base := leverageBase(rows)
	for j := range p.Targets {
		panel := chart.Panel{X: "leverage", Y: "leave-one-out residual", LogX: base}
		if !p.IsExact {
			panel.Y = "leave-one-out residual, estimated"
		}
		if p.Targets > 1 {
			panel.Title = fmt.Sprintf("target %d", j+1)
		}
		others := chart.Line{Method: "row", Loose: true}
		worst := chart.Line{Method: "worst row", Label: "largest leave-one-out residuals", Loose: true}
		for _, r := range rows {
			to := &others
			if slices.ContainsFunc(p.Worst, func(o WorstRow) bool {
				return o.Row == r.Row &&
					o.Target == j+1
			}) {
				to = &worst
				named++
				to.Names = append(to.Names, fmt.Sprint(r.Row))
			}
			to.X = append(to.X, r.Leverages[j])
			to.Y = append(to.Y, r.LeftOut[j])
		}
		panel.Lines = []chart.Line{others}
		if worst.X != nil {
			panel.Lines = append(panel.Lines, worst)
		}
		f.Panels = append(f.Panels, panel)
	}
	f.Title = p.caption(len(rows), named)
	if named > 0 {
		f.Title += "; numbers count from 1"
	}
	return f
}

// caption says which rows are drawn. drawn is the number of drawn rows, and named is the number of labelled rows.
func (p *RowPicture) caption(drawn, named int) string {
	switch {
	case drawn == p.Rows:
		return fmt.Sprintf("all %d rows", p.Rows)
	case len(p.Sample) == p.Rows:
		return fmt.Sprintf("%d of %d rows: those with finite estimates", drawn, p.Rows)
	case named == 0:
		return fmt.Sprintf("%d of %d rows, chosen at random", drawn, p.Rows)
	}
	return fmt.Sprintf("%d of %d rows: the %d worst, and others chosen at random", drawn, p.Rows, named)
}

// leverageBase returns the base of the logarithmic axis of leverages, or 0 if the axis is linear. The axis is
// logarithmic with base 10 if all leverages are positive and the largest is at least 30 times the smallest.
func leverageBase(rows []DiagnosedRow) int {
	low, high := math.Inf(1), 0.0
	for _, r := range rows {
		low = min(low, slices.Min(r.Leverages))
		high = max(high, slices.Max(r.Leverages))
	}
	if low > 0 && high/30 >= low {
		return 10
	}
	return 0
}

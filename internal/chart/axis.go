package chart

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
)

// logTicks places ticks on a logarithmic axis at the powers of base, and labels at most nine of them. If base is 10
// and every power has a label, there are also ticks without labels at 2 to 9 times each power.
//
// If fewer than two powers of base lie on the axis, it gets labels at 1, 2 and 5 times the powers of ten. If there
// are also fewer than two of these, it gets the labels of a linear axis.
type logTicks struct{ base float64 }

// Ticks implements [plot.Ticker].
func (t logTicks) Ticks(lo, hi float64) []plot.Tick {
	e := func(x float64) float64 {
		return math.Log2(x) / math.Log2(t.base)
	}
	first, last := int(math.Ceil(e(lo)-1e-9)), int(math.Floor(e(hi)+1e-9))
	if last <= first {
		return t.narrow(lo, hi)
	}
	step := (last-first)/8 + 1
	var ticks []plot.Tick
	for k := first - 1; k <= last; k++ {
		power := math.Pow(t.base, float64(k))
		label := ""
		if k%step == 0 {
			label = t.label(k)
		}
		ticks = append(ticks, plot.Tick{Value: power, Label: label})
		for i := 2; i < int(t.base) && step == 1; i++ {
			ticks = append(ticks, plot.Tick{Value: float64(i) * power})
		}
	}
	return within(lo, hi, ticks)
}

func (t logTicks) narrow(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	first := int(math.Floor(math.Log10(lo)))
	for k := first; k <= first+2; k++ {
		for _, i := range []int{1, 2, 5} {
			x := float64(i) * math.Pow10(k)
			ticks = append(ticks, plot.Tick{Value: x, Label: decimal(i, k)})
		}
	}
	ticks = within(lo, hi, ticks)
	if len(ticks) < 2 {
		return within(lo, hi, linearTicks{}.Ticks(lo, hi))
	}
	return ticks
}

// linearTicks places the default ticks of package plot. The labels have at most six significant digits.
type linearTicks struct{}

// Ticks implements [plot.Ticker].
func (linearTicks) Ticks(lo, hi float64) []plot.Tick {
	// Package plot squares the range, and treats a range below 1e-14 as empty. Therefore such ranges are rescaled.
	unit := 1.0
	k := math.Floor(math.Log10(hi/2 - lo/2))
	if k < -13 || k > 100 {
		unit = math.Pow10(int(max(k, -300)))
	}
	var ticks []plot.Tick
	for _, t := range (plot.DefaultTicks{}).Ticks(lo/unit, hi/unit) {
		t.Value *= unit
		if t.Value-t.Value != 0 { // overflow
			continue
		}
		if t.Label != "" {
			t.Label = Digits(t.Value, 6)
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// wholeTicks places ticks at integers. At most eight ticks have labels, and at most four ticks lie between two labels.
type wholeTicks struct{}

// Ticks implements [plot.Ticker].
func (wholeTicks) Ticks(lo, hi float64) []plot.Tick {
	if !(hi-lo < 1e15) { // not all integers are float64
		return linearTicks{}.Ticks(lo, hi)
	}
	step := 1.0
	for power := 1.0; (hi-lo)/step > 7; power *= 10 {
		for _, i := range []float64{1, 2, 5, 10} {
			step = i * power
			if (hi-lo)/step <= 7 {
				break
			}
		}
	}
	var ticks []plot.Tick
	small := max(1, math.Floor(step/5))
	for k := int(math.Ceil(lo / small)); float64(k)*small <= hi; k++ {
		tick := plot.Tick{Value: float64(k) * small}
		if math.Mod(tick.Value, step) == 0 {
			tick.Label = Digits(tick.Value, 6)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// within returns the ticks with values from lo to hi, which are the ends of a logarithmic axis.
func within(lo, hi float64, ticks []plot.Tick) []plot.Tick {
	var out []plot.Tick
	for _, t := range ticks {
		if lo*(1-1e-9) <= t.Value &&
			t.Value <= hi*(1+1e-9) &&
			t.Value <= math.MaxFloat64 &&
			t.Value > 0 {
			out = append(out, t)
		}
	}
	return out
}

// label formats the k-th power of base. For k = 0 and k = 1 it writes the value without an exponent.
func (t logTicks) label(k int) string {
	switch k {
	case 0:
		return "1"
	case 1:
		return fmt.Sprint(t.base)
	}
	return fmt.Sprint(t.base) + Superscript(k)
}

// decimal formats i·10^k.
func decimal(i, k int) string {
	if -3 <= k && k <= 3 {
		return fmt.Sprintf("%.*f", max(0, -k), float64(i)*math.Pow10(k))
	}
	if i == 1 {
		return "10" + Superscript(k)
	}
	return fmt.Sprintf("%d·10%s", i, Superscript(k))
}

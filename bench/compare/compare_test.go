package main

import (
	"testing"
	"time"
)

// TestCompete: every rival runs in every round, in turn, and the median is taken.
func TestCompete(t *testing.T) {
	var order string
	make := func(name string, times ...time.Duration) rival {
		i := 0
		return rival{name, func() time.Duration {
			order += name
			i++
			return times[i-1]
		}}
	}
	j := &job{amount: 6, unit: "things/s"}
	j.rivals = append(j.rivals, make("a", 9e9, 3e9, 1e9, 2e9), make("b", 0, 4e9, 4e9, 4e9))
	row := j.compete("work", 3)
	if order != "ababbaab" {
		t.Errorf("order %s", order)
	}
	if row.Rates["a"] != 3 || row.Rates["b"] != 1.5 || row.Seconds["a"] != 2 || row.Job != "work" ||
		row.Unit != "things/s" {
		t.Errorf("%+v", row)
	}
}

// TestTimed: a rival repeats its work for a while, and reports the time of one run.
func TestTimed(t *testing.T) {
	runs := 0
	r := timed("sleeper", func() { runs++; time.Sleep(10 * time.Millisecond) })
	if d := r.run(); d < 10*time.Millisecond || runs < 3 {
		t.Errorf("%v a run, %d runs", d, runs)
	}
}

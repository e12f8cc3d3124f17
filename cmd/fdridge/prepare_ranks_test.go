//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// TestPrepareRanks: ranks decide together as a process alone does, and a run that resumes from a checkpoint decides
// again.
func TestPrepareRanks(t *testing.T) {
	dir := t.TempDir()
	first, second := homes(301, homesHeader), homesHeader
	for i, line := range strings.SplitAfter(homes(400, "")[len(homes(301, "")):], "\n") {
		second += line
		if i == 50 {
			second += "352,40,Lyon,1999-01-01,EUR,k,True,500\n"
		}
	}
	data := write(t, "first.csv", first) + "," + write(t, "second.csv", strings.Replace(second, "352,40", "351.5,40", 1))
	at := func(name string) string { return filepath.Join(dir, name) }
	fit := []string{"fit", "--data", data, "--target", "rent", "--gamma", "1", "--prepare", "auto", "--holdout", "0.1"}
	type plan struct {
		Columns []struct {
			Name, Use, Why    string
			Levels            []string
			Mean, Scale, Fill float64
		}
	}
	read := func(name string) (p plan) {
		if err := json.Unmarshal([]byte(contents(t, at(name))), &p); err != nil {
			t.Fatal(err)
		}
		return p
	}
	must(t, append(fit, "--prepare-out", at("one.json"), "--out", at("one.m"))...)
	one := read("one.json")
	for _, n := range []int{2, 3} {
		mustRanks(t, n, append(fit, "--prepare-out", at("ranks.json"), "--out", at("ranks.m"))...)
		for j, c := range read("ranks.json").Columns {
			want := one.Columns[j]
			c.Why = strings.Replace(c.Why, "row 8", "line 9", 1) // ranks count rows
			off := math.Abs(c.Mean-want.Mean) + math.Abs(c.Scale-want.Scale) + math.Abs(c.Fill-want.Fill)
			c.Mean, c.Scale, c.Fill = want.Mean, want.Scale, want.Fill
			if fmt.Sprint(c) != fmt.Sprint(want) || !(off <= 1e-12*math.Abs(want.Mean)) {
				t.Errorf("%d ranks: %v, want %v", n, c, want)
			}
		}
	}
	// Counts of values that a plan does not expect are sums over the ranks.
	odd := write(t, "odd.csv", strings.ReplaceAll(first, "Rome", "Atlantis"))
	type counted struct {
		Encoding struct{ Unknown, Foreign int64 }
	}
	counts := func(out string) (r counted) {
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	again := []string{"fit", "--data", odd, "--target", "rent", "--gamma", "1", "--prepare", at("one.json"), "--json"}
	want := counts(must(t, again...))
	for _, n := range []int{2, 3} {
		if got := counts(mustRanks(t, n, again...)); got != want || want.Encoding.Unknown == 0 {
			t.Errorf("%d ranks count %+v, one process %+v", n, got, want)
		}
	}
	checkpoint := append(fit, "--method", "cg", "--checkpoint", at("check"), "--out", at("a.m"))
	must(t, checkpoint...)
	must(t, append(checkpoint[:len(checkpoint)-1], at("b.m"))...)
	if contents(t, at("a.m")) != contents(t, at("b.m")) {
		t.Error("a run from a checkpoint has another model")
	}
}

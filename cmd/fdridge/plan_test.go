package main

import (
	"strings"
	"testing"
)

// TestPlanReads: the times are from what these files give, not from what memory does,
// and the passes that opening takes are in all of them, as is the program's memory.
func TestPlanReads(t *testing.T) {
	args := []string{
		"plan",
		"--data",
		housing,
		"--target",
		"last",
		"--standardize",
		"--gamma",
		"10",
		"--size",
		"4",
		"--sizes",
		"4",
	}
	rate := func(v map[string]any) float64 { return v["read_gigabytes_per_second"].(float64) }
	v := reported(t, args...)
	const rows, d = 20640, 8
	opening, pass := v["open_seconds"].(float64), 8*rows*d/(rate(v)*1e9)
	if !(opening > 0) || !(rate(v) > 0) {
		t.Fatalf("opened in %v s, %v GB/s", opening, rate(v))
	}
	for _, o := range v["options"].([]any) {
		o := o.(map[string]any)
		if seconds := o["seconds"].(float64); !(seconds >= (opening+pass)*(1-1e-12)) {
			t.Errorf("%v is to take %v s, opening alone takes %v and a pass %v", o["method"], seconds, opening, pass)
		}
		if bytes := o["bytes"].(float64); !(bytes >= 4<<20) {
			t.Errorf("%v is to take %v bytes with the program", o["method"], bytes)
		}
	}
	// A hundred thousand times the rows take so many times as long to open: more, however busy the machine.
	more := reported(t, append(args, "--n", "2064000000")...)
	if more["n"] != 2064000000.0 || !(more["open_seconds"].(float64) > opening) {
		t.Errorf("%v rows are opened in %v s, a tenth of them in %v", more["n"], more["open_seconds"], opening)
	}
	sketch := t.TempDir() + "/sketch"
	must(t, "sketch", "--data", housing, "--target", "last", "--size", "4", "-o", sketch)
	if s := reported(t, "plan", "--sketch", sketch); s["open_seconds"] != 0.0 || !(rate(s) > 3*rate(v)) {
		t.Errorf(
			"a sketch is read by no reader: opened in %v s, %v GB/s; text has %v",
			s["open_seconds"],
			rate(s),
			rate(v),
		)
	}
}

// TestPlanOfAuto: that fit chooses γ, and plan does not, is said before any data are read.
func TestPlanOfAuto(t *testing.T) {
	for _, gamma := range []string{"auto", "auto:1,10"} {
		code, _, errs := call("plan", "--data", "none.csv", "--gamma", gamma)
		if code != usage || !strings.Contains(errs, "--gamma: "+gamma+": plan needs numbers") {
			t.Errorf("exit %d, %q", code, errs)
		}
	}
}

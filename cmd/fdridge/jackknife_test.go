package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestJackknifeCommand: fit --coverage --predict writes intervals that contain about the promised share of other rows.
func TestJackknifeCommand(t *testing.T) {
	whole, err := os.ReadFile("../../testdata/flats.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(whole)), "\n")
	const fresh = 150
	head, rest := lines[0], lines[1:]
	data := write(t, "train.csv", head+"\n"+strings.Join(rest[fresh:], "\n")+"\n")
	other := write(t, "other.csv", head+"\n"+strings.Join(rest[:fresh], "\n")+"\n")
	for _, flags := range []string{
		"--standardize", "--standardize --intercept=false", "--unpenalized area", "--bands area=4,floor=1",
	} {
		out := filepath.Join(t.TempDir(), "out.csv")
		args := []string{
			"fit", "--data", data, "--target", "rent", "--onehot", "district,heating", "--missing", "mean", "--gamma", "10",
			"--coverage", "0.9", "--predict", other, "--out", out,
		}
		code, text, errs := call(append(args, strings.Fields(flags)...)...)
		if code != 0 || !strings.Contains(text, "predictions written to "+out) || strings.Contains(errs, "warning") {
			t.Fatalf("%s: exit %d: %s%s", flags, code, text, errs)
		}
		found, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		written := strings.Split(strings.TrimSpace(string(found)), "\n")
		if written[0] != "prediction,low,high" || len(written) != fresh+1 {
			t.Fatalf("%d lines, the first is %s", len(written), written[0])
		}
		hits := 0
		for i, line := range written[1:] {
			var v [3]float64
			for k, f := range strings.Split(line, ",") {
				if v[k], err = strconv.ParseFloat(f, 64); err != nil {
					t.Fatal(err)
				}
			}
			y, err := strconv.ParseFloat(rest[i][strings.LastIndex(rest[i], ",")+1:], 64)
			if err != nil {
				t.Fatal(err)
			}
			if v[1] <= y && y <= v[2] {
				hits++
			}
			if !(v[1] < v[0] && v[0] < v[2]) {
				t.Errorf("%s: %s", flags, line)
			}
		}
		if share := float64(hits) / fresh; !(share > 0.82 && share < 0.995) {
			t.Errorf("%s: the intervals contain %.3f of the rows", flags, share)
		}
	}
	out := filepath.Join(t.TempDir(), "out.npy")
	code, _, errs := call(
		"fit", "--data", data, "--target", "rent", "--columns", "area", "--gamma", "auto", "--coverage", "0.9",
		"--predict", other, "--out", out)
	if code != 0 || !strings.Contains(errs, "guarantees no probability if gamma is chosen from the same rows") {
		t.Errorf("--gamma auto: exit %d: %s", code, errs)
	}
}

// TestJackknifeRefused: options that contradict jackknife+ intervals are refused in words.
func TestJackknifeRefused(t *testing.T) {
	const flats = "../../testdata/flats.csv"
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, c := range []struct{ line, want string }{
		{"--coverage 0.9 --gamma 1,2", "it needs one --gamma"},
		{"--coverage 0.9 --gamma 1 --per-target", "fit one target"},
		{"--coverage 0.999 --gamma 1", "need at least 999 rows, and the fit has"},
		{"--coverage 0.9 --gamma 1 --holdout 0.2", "--holdout"},
	} {
		args := strings.Fields("fit --target rent --columns area " + c.line)
		args = append(args, "--data", flats, "--predict", flats, "--out", out)
		if code, _, errs := call(args...); code != usage || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d: %s", c.line, code, errs)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s wrote a file", c.line)
		}
	}
	args := strings.Fields("fit --target rent --columns area --coverage 0.9 --gamma 1 --predict " + flats)
	code, _, errs := call(append(args, "--data", flats)...)
	if code != usage || !strings.Contains(errs, "it needs --out") {
		t.Errorf("without --out: exit %d: %s", code, errs)
	}
}

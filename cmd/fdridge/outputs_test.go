//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestOutputsByLinks: what an output's link leads to is replaced, and keeps its permissions; links in a circle are
// refused before a row is read. So it is for a live sketch, whose other files are beside the file that the link leads
// to.
func TestOutputsByLinks(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(60))
	for _, args := range []string{"fit --gamma 1", "sketch", "sketch --every 1h"} {
		dir := t.TempDir()
		at := func(name string) string { return filepath.Join(dir, name) }
		in := append(strings.Fields(args), "--data", rows, "--target", "y", "--out")
		must(t, append(in, at("real"))...)
		must(t, append(in, at("real"))...)
		for _, err := range []error{os.Chmod(at("real"), 0o600), os.Symlink("real", at("link")), os.Symlink("round", at("round"))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(args, "--every") { // else nothing new is written
			f, err := os.OpenFile(rows, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("1,2,3\n")
			}
			if err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}
		before, err := os.Stat(at("real"))
		if err != nil {
			t.Fatal(err)
		}
		must(t, append(in, at("link"))...)
		after, err := os.Stat(at("real"))
		if to, e := os.Readlink(at("link")); err != nil || e != nil || to != "real" || after.Mode() != 0o600 ||
			os.SameFile(before, after) {
			t.Errorf("%s: the link leads to %q, %v, of mode %v", args, to, e, after.Mode())
		}
		if code, _, errs := call(append(in, at("round"))...); code != usage || !strings.Contains(errs, "too many") {
			t.Errorf("%s: exit %d, %s", args, code, errs)
		}
		if to, err := os.Readlink(at("round")); err != nil || to != "round" {
			t.Errorf("%s: the circle leads to %q, %v", args, to, err)
		}
		if left, err := filepath.Glob(at("*")); err != nil || len(left) > 4 {
			t.Errorf("%s: there are %v, %v", args, left, err)
		}
	}
}

// TestSlurmSolves: the job that solves gives the rows to every method but one-shot, however that is said.
func TestSlurmSolves(t *testing.T) {
	for solve, rows := range map[string]bool{
		"--gamma 1 --method cg": true, "--gamma 1": true, "--gamma 1 --coef not-one-shot.npy": true,
		"--method one-shot --gamma 1": false, "--method=one-shot --gamma 1": false, "--gamma 1 --method one-shot": false, "--gamma 1 --method=one-shot": false,
	} {
		c := exec.Command("bash", "../../deploy/slurm/solve.sbatch")
		c.Env = append(
			os.Environ(),
			"FDRIDGE=echo",
			"DATA=rows.csv",
			"PARTS=1",
			"WORK=run",
			"SLURM_CPUS_PER_TASK=1",
			"SOLVE="+solve,
		)
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if strings.Contains(string(out), "--data rows.csv") != rows || !strings.Contains(string(out), solve) {
			t.Errorf("%s: %s", solve, out)
		}
	}
}

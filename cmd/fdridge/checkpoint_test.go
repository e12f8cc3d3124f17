//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fdridge/fdridge/batch"
	"github.com/fdridge/fdridge/internal/safefile"
)

// TestCheckpointUsage: what cannot be kept, or where, is bad usage, and nothing is
// written.
func TestCheckpointUsage(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	dir := t.TempDir()
	for _, c := range []struct {
		args, want string
	}{
		{"--checkpoint ck --checkpoint-every 0s", "--checkpoint-every: 0s"},
		{"--checkpoint ck --checkpoint-every 5", "checkpoint-every"},
		{"--checkpoint no/ck", "--checkpoint: no such folder"},
		{"--checkpoint .", "--checkpoint: . is not a regular file"},
		{"--checkpoint " + rows, "is an input and would be overwritten"},
		{"--checkpoint ck --out ck.previous", "ck.previous is also written by --out"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Chdir(dir)
			args := append([]string{"fit", "--data", rows, "--target", "y"}, strings.Fields(c.args)...)
			if !strings.Contains(c.args, "--gamma") {
				args = append(args, "--gamma", "1")
			}
			code, out, errs := call(args...)
			if code != usage || out != "" || !strings.Contains(errs, c.want) {
				t.Errorf("exit %d, %q, %q", code, out, errs)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		})
	}
}

// unfinished makes the checkpoint of a run that didn't converge within two passes, and
// returns its command line without that limit.
func unfinished(t *testing.T) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	tables(t, dir)
	t.Chdir(dir)
	args = strings.Fields(
		"fit --data rows.npy --target 13 --columns -14 --method cg --gamma 3 --size 2 --tol 1e-9 --standardize " +
			"--json --out model.json --checkpoint ck",
	)
	code, _, errs := call(append(args, "--max-passes", "2")...)
	if code != short || !strings.Contains(errs, "tolerance not reached") ||
		!strings.Contains(errs, "resumes from checkpoint ck") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat("ck"); err != nil {
		t.Fatal(err)
	}
	return dir, args
}

// TestCheckpointMorePasses: a run that has come to its limit goes on with a larger one,
// to the bits of a run that had it from the start. It doesn't repeat the passes that
// scaled and sketched, nor the first it had made; the second, its last, measured where it
// was, which it doesn't amid a run.
func TestCheckpointMorePasses(t *testing.T) {
	_, args := unfinished(t)
	code, out, errs := call(args...)
	if code != done || !strings.Contains(errs, "going on from checkpoint ck, row 5000 of pass 2") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	got := contents(t, "model.json")
	whole := must(t, args[:len(args)-2]...)
	if want := contents(t, "model.json"); got != want {
		t.Errorf("going on:\n%s\nfrom the start:\n%s", got, want)
	}
	if more, all := readsOf(t, out), readsOf(t, whole); more != all-3 {
		t.Errorf("%d reads after all that was known, %d from the start", more, all)
	}
	if left, _ := filepath.Glob("ck*"); len(left) > 0 {
		t.Errorf("a run that is done leaves %v", left)
	}
}

// TestCheckpointLargerTol: a run that round-off has stopped goes on with a larger tolerance, to the
// bits of a run that had it from the start, and reads nothing for that.
func TestCheckpointLargerTol(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir)
	t.Chdir(dir)
	args := strings.Fields(
		"fit --data rows.npy --target 13 --columns -14 --method cg --gamma 3 --size 12 --json --out model.json " +
			"--checkpoint ck --tol 1e-40",
	)
	code, _, errs := call(args...)
	if code != short || !strings.Contains(errs, "the same command with a larger --tol resumes from checkpoint ck") {
		t.Fatalf("exit %d: %s", code, errs)
	}
	args[len(args)-1] = "1e-9"
	out := must(t, args...)
	got := contents(t, "model.json")
	whole := must(t, append(args[:len(args)-4], "--tol", "1e-9")...)
	if readsOf(t, out) != 0 || readsOf(t, whole) == 0 {
		t.Errorf("%d reads, %d from the start", readsOf(t, out), readsOf(t, whole))
	}
	if want := contents(t, "model.json"); got != want {
		t.Errorf("going on:\n%s\nfrom the start:\n%s", got, want)
	}
}

// readsOf is how often the data were read, by a report.
func readsOf(t *testing.T, report string) int {
	t.Helper()
	var r struct{ Reads int }
	if err := json.Unmarshal([]byte(report), &r); err != nil {
		t.Fatal(err)
	}
	return r.Reads
}

// TestCheckpointOtherRun: another command, or the same of other data, is refused and
// told what differs; the checkpoint stays as it was.
func TestCheckpointOtherRun(t *testing.T) {
	_, args := unfinished(t)
	kept := contents(t, "ck")
	refused := func(args []string, code int, want ...string) {
		t.Helper()
		got, out, errs := call(args...)
		for _, w := range want {
			if got != code || out != "" || !strings.Contains(errs, w) {
				t.Errorf("%v: exit %d, %q, %q", args, got, out, errs)
			}
		}
		if contents(t, "ck") != kept {
			t.Fatalf("%v: the checkpoint was overwritten", args)
		}
	}
	refused(
		append(args, "--size", "3"),
		usage,
		"ck is of another run",
		`--size was "2", is "3"; remove ck and ck.previous to begin anew`,
	)
	refused(
		append(args, "--features", "poly:2", "--intercept=false"),
		usage,
		`--features was "", is "poly:2"`,
		`--intercept was "true", is "false"`,
	)
	if err := os.WriteFile("weights.csv", []byte("1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(
		append(args, "--weights", "weights.csv"),
		usage,
		`--weights was "", is "weights.csv"`,
		`weights.csv was not set, is "2 bytes of `,
	)
	if err := os.Rename(archive(t, "x", "w"), "weights.zip"); err != nil {
		t.Fatal(err)
	}
	refused(append(args, "--weights", "weights.zip:w"), usage, `weights.zip was not set, is "`)
	if err := os.Chtimes("rows.npy", time.Time{}, time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	refused(args, usage, `rows.npy was "`)

	f, err := safefile.OpenCheckpoint("ck")
	if err != nil {
		t.Fatal(err)
	}
	refused(args, failed, fmt.Sprintf("ck.lock is locked by process %d", os.Getpid()))
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestCheckpointAnew: what is said to be removed for a run to begin anew is all that has to go.
func TestCheckpointAnew(t *testing.T) {
	_, args := unfinished(t)
	// a second state: the first is the one before
	if code, _, errs := call(append(args, "--max-passes", "3")...); code != short {
		t.Fatalf("exit %d: %s", code, errs)
	}
	other := append(args, "--size", "3")
	if err := os.Remove("ck"); err != nil {
		t.Fatal(err)
	}
	code, _, errs := call(other...)
	if code != usage ||
		!strings.Contains(
			errs,
			`ck.previous is of another run: --size was "2", is "3"; remove ck.previous to begin anew`,
		) {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if err := os.Remove("ck.previous"); err != nil {
		t.Fatal(err)
	}
	must(t, other...)
}

// TestCheckpointDamaged: one that can't be read is never begun anew in silence.
func TestCheckpointDamaged(t *testing.T) {
	_, args := unfinished(t)
	if err := os.WriteFile("ck.previous", []byte("not one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate("ck", 1000); err != nil {
		t.Fatal(err)
	}
	code, out, errs := call(args...)
	if code != usage || out != "" || !strings.Contains(errs, "ck: byte 1000: the message ends early") ||
		!strings.Contains(errs, "ck.previous: ") ||
		!strings.Contains(errs, "remove ck and ck.previous to begin anew") {
		t.Errorf("exit %d, %q, %q", code, out, errs)
	}
	if contents(t, "ck.previous") != "not one" {
		t.Error("it was overwritten")
	}
}

// TestCheckpointNothing: a run that fails before it had come to anything leaves none, so
// that the command can be mended.
func TestCheckpointNothing(t *testing.T) {
	rows := write(t, "rows.csv", rowsCSV(40))
	t.Chdir(t.TempDir())
	code, _, errs := call("fit", "--data", rows, "--target", "none", "--gamma", "1", "--checkpoint", "ck")
	if code != usage {
		t.Fatalf("exit %d: %s", code, errs)
	}
	if left, _ := filepath.Glob("*"); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	// The same where the process was killed.
	left := ""
	options := batch.Options{Settings: []batch.Setting{{Name: "--gamma", Value: "2"}}, Checkpoint: "ck"}
	if err := batch.Run(t.Context(), options, func(*batch.Job) error {
		left = contents(t, "ck")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("ck", []byte(left), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "fit", "--data", rows, "--target", "y", "--gamma", "1", "--checkpoint", "ck", "--method", "one-shot")
}

// TestCheckpointUnwritable: a run does not begin if its first checkpoint cannot be written. If later checkpoints cannot
// be written, the run warns and continues to its end. If it is interrupted, it reports the position of its last
// checkpoint.
func TestCheckpointUnwritable(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir)
	// Many passes, so that there is time to get in the way of them.
	args := strings.Fields(
		"fit --data rows.csv.gz --target 13 --columns -14 --method newton --gamma 30 --size 2 --tol 1e-6 --out " +
			"model.json --log-format json --json",
	)
	want := finish(t, dir, args, start(t, dir, args...))
	args = append(args, "--checkpoint", "ck", "--checkpoint-every", "1ms")
	block := func() {
		t.Helper()
		if err := os.Mkdir(filepath.Join(dir, "ck.new"), 0o700); err != nil { // no file can be made there
			t.Fatal(err)
		}
	}
	block()
	c := start(t, dir, args...)
	c.stderr.Scan()
	first := c.stderr.Text()
	if err := c.Wait(); err == nil || !strings.Contains(first, "--checkpoint: ") || !strings.Contains(first, "ck.new") {
		t.Errorf("%v: %s", err, first)
	}
	// barred gets in the way of a run behind its first state, and interrupts it at its second
	// warning, if so asked. It reports how it ended, and its last line.
	barred := func(interrupt bool) (c *child, warned int, last string) {
		os.Remove(filepath.Join(dir, "ck.new"))
		c = start(t, dir, args...)
		states := 0
		for c.stderr.Scan() {
			last = c.stderr.Text()
			switch {
			case strings.Contains(last, `"msg":"checkpoint"`):
				states++
				if states == 1 {
					block()
				}
			case strings.Contains(last, "no checkpoint could be written, the last is of row"):
				warned++
				if warned == 2 && interrupt {
					c.Process.Signal(syscall.SIGINT)
				}
			}
		}
		return c, warned, last
	}
	for _, interrupt := range []bool{false, true} {
		// Where a state takes long to write, on a machine at work, the next is put off, perhaps
		// until the run has ended.
		c, warned, last := barred(interrupt)
		for tries := 1; warned < 2 && tries < 20; tries++ {
			if got := finish(t, dir, args, c); got != want {
				t.Errorf("with %d warnings\n%s\nelse\n%s", warned, got, want)
			}
			c, warned, last = barred(interrupt)
		}
		if warned < 2 {
			t.Fatalf("%d warnings", warned)
		}
		if !interrupt {
			if got := finish(t, dir, args, c); got != want {
				t.Errorf("without checkpoints\n%s\nelse\n%s", got, want)
			}
			continue
		}
		err := c.Wait()
		if c.ProcessState.ExitCode() != failed ||
			!strings.HasPrefix(last, "fdridge: interrupted; the same command resumes from checkpoint ck, row ") ||
			!strings.Contains(last, "a later checkpoint could not be written: ") {
			t.Errorf("%v: %s", err, last)
		}
	}
	os.Remove(filepath.Join(dir, "ck.new"))
	if got := finish(t, dir, args, start(t, dir, args...)); got != want {
		t.Errorf("going on\n%s\nelse\n%s", got, want)
	}
}

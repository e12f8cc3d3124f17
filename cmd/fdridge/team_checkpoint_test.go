//go:build unix

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// setBack makes of the checkpoint of an interrupted rank what one that was killed may
// have left: the state before the last, or none.
func setBack(t *testing.T, rng *rand.Rand, name string) {
	t.Helper()
	switch rng.IntN(6) {
	case 0, 1:
		if err := os.Rename(name+".previous", name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	case 2:
		for _, suffix := range []string{"", ".previous", ".lock"} {
			if err := os.Remove(name + suffix); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestRanksInterrupted: ranks are interrupted at random moments, and some then lose their last checkpoint or all, as
// after a kill. The resumed ranks end with the bits of uninterrupted ranks. Each run is interrupted twice, seven times
// if FDRIDGE_THOROUGH is set, or FDRIDGE_KILLS/4 times.
func TestRanksInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 3000)
	for i, c := range []string{
		"--data pairs.svm --method cg --gamma 100 --size 3 --tol 1e-9 --intercept=false",
		"--data rows.csv,rows.csv.gz,rows.csv,rows.csv --target 13 --weights 14 --standardize --method galerkin " +
			"--gamma 10,30 --size 3",
		"--data rows.npy --target 13 --columns -14 --size 8 --method cg --gamma 3000 --features poly:2",
	} {
		n := 2 + i
		args := append(strings.Fields("fit --mpi --json --out model.json"), strings.Fields(c)...)
		begin := time.Now()
		mustRanks(t, n, args...)
		took := time.Since(begin)
		want := contents(t, "model.json")
		args = append(args, "--checkpoint", "ck", "--checkpoint-every", "1ns")
		rng := rand.New(rand.NewPCG(uint64(i), 9))
		interrupted, resumed, lost := 0, 0, 0
		for ended := false; !ended; {
			ctx, cancel := context.WithCancel(t.Context())
			// On a machine at work interrupts may come before any state, all of a few.
			ended = interrupted >= kills(t)/4 && resumed > 0 || interrupted >= 20*kills(t)
			if !ended {
				time.AfterFunc(time.Duration(rng.Int64N(int64(took))), cancel)
			}
			out := ranks(t, ctx, n, func(int) []string { return args })
			cancel()
			if strings.Contains(out[0].stderr, "going on from checkpoint") {
				resumed++
			}
			if out[0].code == done {
				if got := contents(t, "model.json"); got != want {
					t.Fatalf("%s: after %d interruptions %s\nwithout any %s", c, interrupted, got, want)
				}
				if left, err := filepath.Glob("ck*"); err != nil || len(left) > 0 {
					t.Fatalf("ranks that are done leave %v, %v", left, err)
				}
				continue
			}
			interrupted++
			had, left := 0, 0
			for rank, e := range out {
				alone := fmt.Sprintf("rank %d: interrupted", rank) // as far as it can tell
				if e.code != failed || (rank > 0 && e.stderr != "" && !strings.Contains(e.stderr, alone)) ||
					!strings.Contains(out[0].stderr, "interrupted") {
					t.Fatalf("%s: rank %d: %+v", c, rank, e)
				}
				name := rankName("ck", rank, n)
				had += b2i(exists(name))
				setBack(t, rng, name)
				left += b2i(exists(name))
			}
			lost += b2i(0 < left && left < had)
		}
		t.Logf("%d interruptions, %d runs that went on, %d that some rank began anew", interrupted, resumed, lost)
		if interrupted == 0 || resumed == 0 || (lost == 0 && kills(t) >= 100) {
			t.Errorf(
				"%s: %d interruptions, %d runs that went on, %d that some rank began anew",
				c,
				interrupted,
				resumed,
				lost,
			)
		}
	}
}

// TestRanksUnable: where one rank cannot keep a checkpoint the others leave none.
func TestRanksUnable(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 300)
	if err := os.MkdirAll("ck.rank1-of-3.new", 0o700); err != nil {
		t.Fatal(err)
	}
	args := strings.Fields("fit --mpi --data rows.npy --target 13 --method cg --gamma 3 --size 2 --checkpoint ck")
	out := ranks(t, t.Context(), 3, func(int) []string { return args })
	if out[1].code == done || !strings.Contains(out[1].stderr, "ck.rank1-of-3") {
		t.Errorf("%+v", out)
	}
	for _, rank := range []int{0, 2} {
		left, err := filepath.Glob(rankName("ck", rank, 3) + "*")
		if err != nil || len(left) > 0 || out[rank].code == done {
			t.Errorf("rank %d leaves %v, %v: %+v", rank, left, err, out[rank])
		}
	}
}

// TestRanksOfAnother: a run refuses the checkpoints of another number of ranks, and several ranks refuse the checkpoint
// of a single process.
func TestRanksOfAnother(t *testing.T) {
	t.Chdir(t.TempDir())
	shared(t, 300)
	args := strings.Fields(
		"fit --data rows.npy --target 13 --columns -14 --method cg --gamma 3 --size 2 --tol 1e-9 --checkpoint ck " +
			"--max-passes 2",
	)
	together := slices.Concat(args, []string{"--mpi"})
	three := func(n int) []ended { return ranks(t, t.Context(), n, func(int) []string { return together }) }
	if out := three(3); out[0].code != short || out[1].code != short || out[2].code != short ||
		!strings.Contains(out[0].stderr, "tolerance not reached") {
		t.Fatalf("%+v", out)
	}
	if out := three(2); out[0].code == done ||
		!strings.Contains(fmt.Sprint(out), "belongs to a run of 3 ranks, this one has 2") {
		t.Errorf("%+v", out)
	}
	if code, _, errs := call(args...); code != usage ||
		!strings.Contains(errs, "belongs to a run of 3 ranks, this one has 1") {
		t.Errorf("exit %d, %s", code, errs)
	}
	together[len(args)-1] = "90"
	if out := three(3); out[0].code != done ||
		!strings.Contains(out[0].stderr, "going on from checkpoint ck.rank0-of-3") {
		t.Errorf("%+v", out)
	}
	if code, _, errs := call(args...); code != short {
		t.Fatalf("exit %d, %s", code, errs)
	}
	if out := three(3); out[0].code == done ||
		!strings.Contains(fmt.Sprint(out), "ck belongs to a run of one process") {
		t.Errorf("%+v", out)
	}
}

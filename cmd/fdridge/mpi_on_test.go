//go:build mpi && unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// mpirun starts this test as the command by so many ranks. FDRIDGE_MPIRUN may name
// another launcher that takes -n, with its arguments.
func mpirun(t *testing.T, n int, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	launcher := strings.Fields(os.Getenv("FDRIDGE_MPIRUN"))
	if len(launcher) == 0 {
		launcher = []string{"mpirun"}
	}
	if _, err := exec.LookPath(launcher[0]); err != nil {
		t.Skipf("%v: install Open MPI or MPICH, or name a launcher in FDRIDGE_MPIRUN", err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launcher = append(append(launcher, "-n", fmt.Sprint(n), exe, "fit", "--mpi"), args...)
	c, out := exec.Command(launcher[0], launcher[1:]...), new(bytes.Buffer)
	c.Stdout, c.Stderr = out, out
	c.Env = append(
		os.Environ(),
		"FDRIDGE_TEST_COMMAND=1",
		"FDRIDGE_GRADIENT_ROWS=50",
		"OMPI_MCA_rmaps_base_oversubscribe=1",
		"OMPI_ALLOW_RUN_AS_ROOT=1",
		"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe",
		"PRTE_ALLOW_RUN_AS_ROOT=1",
		"PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out
}

// TestMPI: processes find the weights of one. Each command runs with two ranks and with 1, 3, 4 or 7, in turn.
// TestRanks runs each with all of these numbers in one process.
func TestMPI(t *testing.T) {
	for i, flags := range rankCommands(t) {
		want := fitAlone(t, flags)
		for _, n := range []int{2, []int{1, 3, 4, 7}[i%4]} {
			c, out := mpirun(t, n, append([]string{"--out", "ranks.json"}, strings.Fields(flags)...)...)
			if err := c.Wait(); err != nil {
				t.Fatalf("%s: %d ranks: %v\n%s", flags, n, err, out)
			}
			if e := apart(weights(t, "ranks.json"), want); !(e <= 1e-10) {
				t.Errorf("%s: %d processes find other weights, %g away", flags, n, e)
			}
		}
	}
}

// doctorMPI matches what doctor prints about MPI: the library and its version, without starting a job.
const doctorMPI = `\nMPI [ -~]*MPI[ -~]*\d+\.\d+[ -~]*[!-~]\n`

// TestMPIKilled: if one process is killed, the job ends within a minute and gives the reason. It also ends if a
// process, or mpirun, gets SIGTERM. The same command resumes from the checkpoints and returns the same bits.
func TestMPIKilled(t *testing.T) {
	const n = 3
	t.Chdir(t.TempDir())
	shared(t, 6000)
	args := strings.Fields(
		"--data rows.csv,rows.csv --target 13 --columns -14 --size 3 --method cg --gamma 3,10 --tol 1e-9 --out model.json",
	)
	c, out := mpirun(t, n, args...)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := contents(t, "model.json")
	args = append(args, "--checkpoint", "ck", "--checkpoint-every", "1ms")
	for try := range 6 {
		c, out := mpirun(t, n, args...)
		end := make(chan error, 1)
		go func() { end <- c.Wait() }()
		pid := holder(t, rankName("ck", try%n, n), end)
		time.Sleep(time.Duration(25*try) * time.Millisecond)
		began := time.Now()
		signal := syscall.SIGKILL
		if try == 4 { // to one rank, which reports the interruption
			signal = syscall.SIGTERM
		}
		if try == 5 { // to mpirun, as Ctrl-C or a batch system sends it
			pid, signal = c.Process.Pid, syscall.SIGTERM
		}
		if pid == 0 || syscall.Kill(pid, signal) != nil {
			t.Logf("try %d: it had ended", try)
			continue
		}
		select {
		case err := <-end:
			if strings.Contains(out.String(), "model written") {
				t.Logf("try %d: it was done", try)
			} else if text := strings.ToLower(out.String()); err == nil ||
				!strings.Contains(text, "signal 9") && !strings.Contains(text, "killed") && !strings.Contains(text, "interrupted") {
				t.Errorf("try %d: exit %v, the reason is not told:\n%s", try, err, text)
			} else if signal == syscall.SIGTERM && !strings.Contains(text, "interrupted") {
				t.Errorf("try %d: nobody says that he was interrupted:\n%s", try, text)
			}
		case <-time.After(time.Minute):
			c.Process.Kill()
			t.Fatalf("try %d: %v after one rank was killed the job goes on", try, time.Since(began))
		}
	}
	c, out = mpirun(t, n, args...)
	if err := c.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := contents(t, "model.json"); got != want {
		t.Errorf("after being killed\n%s\nwithout\n%s", got, want)
	}
	if left, err := filepath.Glob("ck*"); err != nil || len(left) > 0 {
		t.Errorf("ranks that are done leave %v, %v", left, err)
	}
}

// holder waits until the checkpoint name is locked and returns the process that locked it, or 0 if the job ends first.
func holder(t *testing.T, name string, end chan error) (pid int) {
	t.Helper()
	for range 2000 {
		if text, err := os.ReadFile(name + ".lock"); err == nil {
			for _, word := range strings.Fields(string(text)) {
				if _, err := fmt.Sscan(word, &pid); err == nil && syscall.Kill(pid, 0) == nil {
					return pid
				}
			}
		}
		select {
		case err := <-end:
			end <- err
			return 0
		case <-time.After(5 * time.Millisecond):
		}
	}
	t.Fatalf("nobody takes %s", name)
	return 0
}

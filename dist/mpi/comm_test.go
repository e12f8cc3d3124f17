//go:build mpi && cgo

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/fdridge/fdridge/dist"
	"github.com/fdridge/fdridge/dist/disttest"
)

// The tests start this test's own program under mpirun, where TestRank plays a role.
// FDRIDGE_MPIRUN may name another launcher that takes -n, with its arguments.
const (
	roleEnv     = "FDRIDGE_MPI_TEST_ROLE"
	sizeEnv     = "FDRIDGE_MPI_TEST_SIZE"
	launcherEnv = "FDRIDGE_MPIRUN"
)

// environment allows mpirun, as in a container, to run as root and to start more ranks than cores. The first line is
// for Open MPI 4, the second for Open MPI 5. Other libraries need no permission.
var environment = []string{
	"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
	"PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe", "PRTE_ALLOW_RUN_AS_ROOT=1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1",
}

// tooLong is after how long a job that does not end is killed.
const tooLong = time.Minute

// launch runs a role on size ranks and returns what they wrote, and how the job ended.
func launch(t testing.TB, size int, role string) (string, error) {
	t.Helper()
	launcher := strings.Fields(os.Getenv(launcherEnv))
	if len(launcher) == 0 {
		launcher = []string{"mpirun"}
	}
	if _, err := exec.LookPath(launcher[0]); err != nil {
		t.Skipf("%v: install Open MPI or MPICH, or name a launcher in %s", err, launcherEnv)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), tooLong)
	defer cancel()
	args := append(launcher[1:], "-n", strconv.Itoa(size), self, "-test.run=^TestRank$")
	cmd := exec.CommandContext(ctx, launcher[0], args...)
	cmd.Env = append(append(os.Environ(), environment...), roleEnv+"="+role, sizeEnv+"="+strconv.Itoa(size))
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		t.Fatalf("%v does not end:\n%s", cmd, out)
	}
	return string(out), err
}

func TestMPI(t *testing.T) {
	for _, size := range []int{1, 2, 3, 4, 7} {
		t.Run(strconv.Itoa(size), func(t *testing.T) { succeeds(t, size, "suite") })
	}
}

// TestPieces runs the suite with bytes and numbers divided as large ones are.
func TestPieces(t *testing.T) { succeeds(t, 3, "pieces") }

// TestLife: Init and Finalize out of turn are errors, and a fault in Go's code is
// still Go's own to handle.
func TestLife(t *testing.T) { succeeds(t, 2, "life") }

// TestErrors: what MPI refuses is an error, not the end.
func TestErrors(t *testing.T) { succeeds(t, 2, "errors") }

func succeeds(t *testing.T, size int, role string) {
	t.Helper()
	if out, err := launch(t, size, role); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCancel: a cancelled rank reports this and leaves. The job ends even though the other rank never called.
func TestCancel(t *testing.T) {
	for _, kind := range disttest.Kinds {
		fails(t, 2, "cancel "+kind, "rank 0 was cancelled")
	}
}

// TestAbort: the rank that ends the job is named, with its error, whatever the others
// and it itself are doing.
func TestAbort(t *testing.T) {
	for _, size := range []int{1, 2, 4} {
		fails(t, size, "abort", fmt.Sprintf("rank %d: it had to be", size-1))
		fails(t, size, "abort in a call", fmt.Sprintf("rank %d: it had to be", size-1))
	}
}

// TestKill: a rank that is killed, or ends on its own, ends the job.
func TestKill(t *testing.T) {
	fails(t, 3, "kill", "rank 2 leaves")
	fails(t, 3, "exit", "rank 2 leaves")
}

func fails(t *testing.T, size int, role, says string) {
	t.Helper()
	out, err := launch(t, size, role)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || !strings.Contains(out, says) {
		t.Errorf("%s on %d ranks: %v, should fail and say %q:\n%s", role, size, err, says, out)
	}
	if strings.Contains(out, "survived") {
		t.Errorf("%s on %d ranks: not all ended:\n%s", role, size, out)
	}
}

// TestRank is one rank of a job that another test has started.
func TestRank(t *testing.T) {
	role := os.Getenv(roleEnv)
	if role == "" {
		t.Skip("run by the other tests under mpirun")
	}
	c, err := Init()
	if err != nil {
		t.Fatal(err)
	}
	if size := os.Getenv(sizeEnv); strconv.Itoa(c.Size()) != size {
		t.Fatalf("%d ranks instead of %s: is %s that of %s?", c.Size(), size, launcherEnv, Version())
	}
	name, arg, _ := strings.Cut(role, " ")
	roles[name](t, c, arg)
	if c.broken != nil {
		return // the role has seen to it
	}
	if err := c.Finalize(); err != nil {
		t.Fatal(err)
	}
}

var roles = map[string]func(t *testing.T, c *Comm, arg string){
	"suite":  func(t *testing.T, c *Comm, _ string) { disttest.Run(t, alone(c)) },
	"pieces": func(t *testing.T, c *Comm, _ string) { c.maxCallBytes = 1000; disttest.Run(t, alone(c)) },
	"life":   life,
	"errors": refused,
	"cancel": cancelled,
	"abort":  aborted,
	"kill": func(t *testing.T, c *Comm, _ string) {
		lost(c, func() error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) })
	},
	"exit": func(t *testing.T, c *Comm, _ string) { lost(c, func() error { os.Exit(0); return nil }) },
	"time": timed,
}

func alone(c *Comm) func() []dist.Transport {
	return func() []dist.Transport { return []dist.Transport{c} }
}

func life(t *testing.T, c *Comm, _ string) {
	if _, err := Init(); err == nil {
		t.Error("a second Init succeeds")
	}
	if v := Version(); !strings.Contains(v, "MPI") || strings.ContainsFunc(v, unicode.IsControl) {
		t.Errorf("version %q", Version())
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		var none *Comm
		none.size++
	}()
	if err := c.Finalize(); err != nil {
		t.Error(err)
	}
	if broken := (*dist.BrokenError)(nil); !errors.As(c.Barrier(t.Context()), &broken) {
		t.Error("a call after Finalize succeeds")
	}
	if _, err := Init(); err == nil {
		t.Error("Init after Finalize succeeds")
	}
}

// refused makes a call that MPI refuses, past the checks that come before.
func refused(t *testing.T, c *Comm, _ string) {
	err := c.do(t.Context(), func() error { return c.send(t.Context(), c.size+5, nil) })
	var e *Error
	if !errors.As(err, &e) || e.Call != "MPI_Issend" || e.Text == "" {
		t.Errorf("sending to rank %d of %d: %v", c.size+5, c.size, err)
	}
	if broken := (*dist.BrokenError)(nil); !errors.As(c.Barrier(t.Context()), &broken) {
		t.Error("a call after an error succeeds")
	}
	c.broken = nil
}

// cancelled leaves the job when all that was cancelled has returned.
func cancelled(t *testing.T, c *Comm, kind string) {
	disttest.Cancel(t, alone(c), kind)
	if c.rank == c.size-1 {
		time.Sleep(tooLong / 2)
		fmt.Println("survived")
	}
	select {
	case c.work <- func() error { return nil }:
	case <-time.After(tooLong / 4):
		t.Error("the goroutine that calls MPI is still in a call")
	}
	if !t.Failed() {
		fmt.Printf("rank %d was cancelled\n", c.rank)
	}
	os.Exit(3)
}

// aborted aborts the job from the last rank. If arg is not empty, the rank aborts during a call.
func aborted(t *testing.T, c *Comm, arg string) {
	if c.rank == c.size-1 {
		why := errors.New("it had to be")
		if arg == "" {
			c.Abort(why)
		}
		time.AfterFunc(50*time.Millisecond, func() { c.Abort(why) })
		if c.size > 1 {
			_, _ = c.Recv(context.Background(), 0)
		}
		time.Sleep(tooLong / 2)
	} else {
		_ = c.Allreduce(context.Background(), make([]float64, 1000))
	}
	fmt.Println("survived")
}

// lost loses the last rank while the others wait for it.
func lost(c *Comm, leave func() error) {
	var err error
	if c.rank == c.size-1 {
		fmt.Printf("rank %d leaves\n", c.rank)
		err = leave()
	} else {
		err = c.Allreduce(context.Background(), make([]float64, 1000))
	}
	fmt.Println("survived", err)
}

// timed writes the nanoseconds of a sum of as many numbers as arg says.
func timed(t *testing.T, c *Comm, arg string) {
	length, err := strconv.Atoi(arg)
	if err != nil {
		t.Fatal(err)
	}
	rounds := max(10, min(1000, 20_000_000/length))
	d, err := disttest.TimeAllreduce(t.Context(), c, length, rounds)
	if err != nil {
		t.Fatal(err)
	}
	if c.rank == 0 {
		fmt.Printf("ns %d\n", d.Nanoseconds())
	}
}

// BenchmarkAllreduce measures sums of 1 KB to 100 MB on up to four ranks. Each iteration is a job of its own, and only
// the calls are timed: ns/op is the time of one call.
func BenchmarkAllreduce(b *testing.B) {
	for _, size := range []int{1, 2, 4} {
		for _, length := range disttest.Lengths {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", size, 8*length), func(b *testing.B) {
				total := 0.
				for range b.N {
					total += job(b, size, length)
				}
				ns := total / float64(b.N)
				b.ReportMetric(ns, "ns/op")
				b.ReportMetric(8*float64(length)/ns*1e3, "MB/s")
			})
		}
	}
}

// job returns the nanoseconds of a call in a job.
func job(b *testing.B, size, length int) float64 {
	out, err := launch(b, size, fmt.Sprint("time ", length))
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for line := range bytes.Lines([]byte(out)) {
		var ns float64
		if n, _ := fmt.Sscanf(string(line), "ns %g", &ns); n == 1 {
			return ns
		}
	}
	b.Fatalf("no time in\n%s", out)
	return 0
}

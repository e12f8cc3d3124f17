//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fdridge/fdridge/live"
)

// The solution for rows of this stream shows which rows a sketch has. Row i, counted from 0, has the feature 1 and the
// targets i and i² mod 1009. For rows with sample weights w the solution is x = Σwy/(Σw+γ). So x·(Σw+γ) is Σwy
// up to round-off, and Σwy identifies the rows.
func streamRow(i int64) string   { return fmt.Sprintf("1,%d,%d\n", i, i*i%1009) }
func streamTarget(i int64) []int { return []int{int(i), int(i * i % 1009)} }

var streamFlags = strings.Fields(
	"--data - --format csv --header no --columns 1 --target 2,3 --intercept=false --size 1",
)

// A liveChild is a live sketch in a process of its own.
type liveChild struct {
	*exec.Cmd
	in     io.WriteCloser
	lines  *bufio.Scanner
	stderr bytes.Buffer
}

func startLive(t *testing.T, args ...string) *liveChild {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &liveChild{Cmd: exec.Command(exe, slices.Concat([]string{"sketch"}, streamFlags, args)...)}
	c.Env = append(os.Environ(), "FDRIDGE_TEST_COMMAND=1")
	c.Stderr = &c.stderr
	c.in, err = c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.lines = bufio.NewScanner(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// next returns the next interval that the child reports.
func (c *liveChild) next(t *testing.T) (i live.Interval, more bool) {
	t.Helper()
	if !c.lines.Scan() {
		return i, false
	}
	var told struct {
		Rows, Covered_rows, Written_bytes int64
		End                               string
	}
	if err := json.Unmarshal(c.lines.Bytes(), &told); err != nil {
		t.Fatalf("%v: %s", err, c.lines.Text())
	}
	return live.Interval{Rows: told.Rows, Covered: told.Covered_rows, Written: told.Written_bytes, End: told.End}, true
}

// feed writes rows from one on, in pieces that need not end where rows do, until they are refused.
func (c *liveChild) feed(rng *rand.Rand, from, to int64) (sent *atomic.Int64, done *sync.WaitGroup) {
	sent, done = new(atomic.Int64), new(sync.WaitGroup)
	sent.Store(from)
	done.Go(func() {
		defer c.in.Close()
		var text []byte
		for i := from; i < to || len(text) > 0; {
			for ; i < to && len(text) < 2000; i++ {
				text = append(text, streamRow(i)...)
			}
			sent.Store(i) // no more than these can have come
			n, err := c.in.Write(text[:min(1+rng.IntN(2000), len(text))])
			if err != nil {
				return
			}
			text = text[n:]
			if rng.IntN(4) == 0 {
				time.Sleep(time.Duration(rng.IntN(int(3 * time.Millisecond))))
			}
		}
	})
	return sent, done
}

// readLive reads the file of a live sketch, as others do, and holds it to the rows that it says it has.
func readLive(t *testing.T, name string, halfLife int64) (rows int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	s, err := live.ReadOnly(f, nil)
	if err != nil {
		return 0, err
	}
	sum, span, err := s.Summary()
	if err != nil {
		return 0, err
	}
	const gamma = 1
	fit, err := sum.Fit(gamma)
	if err != nil {
		return 0, err
	}
	var want [2]float64
	var weight float64
	for i := span.First; i < span.First+span.Rows; i++ {
		w := 1.0
		if halfLife > 0 {
			w = math.Exp2(-float64(s.Rows()-1-i) / float64(halfLife))
		}
		weight += w
		for k, y := range streamTarget(i) {
			want[k] += w * float64(y)
		}
	}
	if span.First+span.Rows != s.Rows() || !(math.Abs(sum.Weight()-weight) <= 1e-11*weight) {
		return 0, fmt.Errorf("%+v of %d rows, which weigh %v, not %v", span, s.Rows(), sum.Weight(), weight)
	}
	for k := range want {
		if got := fit.Targets[k].Coef[0] * (weight + gamma); !(math.Abs(got-want[k]) <= 1e-11*want[k]) {
			return 0, fmt.Errorf("%+v: target %d sums to %v, not %v: other rows", span, k, got, want[k])
		}
	}
	return s.Rows(), nil
}

// TestLiveKilled: a live sketch is killed repeatedly at random moments. Its file is whole at all times, for every
// reader, and has at least the rows that the sketch reported as written. The next run continues with the row after,
// whether its input starts again or not. There are as many kills as in TestKilled.
func TestLiveKilled(t *testing.T) {
	modes := []struct {
		args     string
		halfLife int64
	}{
		{"--lanes 2", 0},
		{"--replay", 0}, {"--window 300", 0}, {"--half-life 200 --gamma 1 --replay", 200},
		{"--window 10m --replay", 0},
	}
	each := (kills(t) + len(modes) - 1) / len(modes)
	for m, mode := range modes {
		t.Run(mode.args, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(m), uint64(each)))
			name := filepath.Join(t.TempDir(), "live.fds")
			args := append(strings.Fields(mode.args), "--every", "1ms", "--out", name)
			stop, reader := followLive(t, name, mode.halfLife)
			var had int64 // rows of the file
			resumed := 0
			for killed, runs := 0, 0; ; runs++ {
				if runs > 20*each+20 {
					t.Fatalf("in %d runs %d were killed", runs, killed)
				}
				from := had
				if strings.Contains(mode.args, "--replay") {
					from = 0
				}
				c := startLive(t, args...)
				to := had + 3000
				if killed < each {
					to += 20_000 // it takes longer than it is let
				}
				sent, fed := c.feed(rand.New(rand.NewPCG(uint64(m), uint64(runs))), from, to)
				told, ended := c.kill(t, rng, killed < each)
				if !ended {
					killed++
				}
				fed.Wait()
				rows, err := readLive(t, name, mode.halfLife)
				if err != nil && !(os.IsNotExist(err) && told == 0 && had == 0) {
					t.Fatalf("after %d kills: %v", killed, err)
				}
				if rows < max(told, had) || rows > max(sent.Load(), had) {
					t.Fatalf(
						"after %d kills the file has %d rows; it had %d, %d were told of, %d sent",
						killed,
						rows,
						had,
						told,
						sent.Load(),
					)
				}
				if before, err := readLive(t, name+".previous", mode.halfLife); err != nil && !os.IsNotExist(err) ||
					before > rows {
					t.Fatalf("after %d kills, %d rows before: %v", killed, before, err)
				}
				if says := fmt.Sprintf("continuing from %s", name); had > 0 && told > 0 {
					resumed++
					if !strings.Contains(c.stderr.String(), says) ||
						!strings.Contains(c.stderr.String(), fmt.Sprintf(" %d rows", had)) {
						t.Fatalf("it had %d rows and says %q", had, c.stderr.String())
					}
				}
				had = rows
				if ended && rows != to {
					t.Fatalf("at the end there are %d rows, not %d: %s", rows, to, c.stderr.String())
				}
				if ended && killed == each {
					break
				}
			}
			close(stop)
			t.Logf("%d kills, went on %d times, %d rows; it was read %d times meanwhile", each, resumed, had, <-reader)
		})
	}
}

// kill kills a child after some intervals, or at any time, or lets it end; it returns the rows that were told to be
// in the file.
func (c *liveChild) kill(t *testing.T, rng *rand.Rand, kill bool) (told int64, ended bool) {
	t.Helper()
	after := rng.IntN(6)
	var timer *time.Timer
	if kill && rng.IntN(2) == 0 { // wherever it is
		timer = time.AfterFunc(time.Duration(rng.IntN(int(100*time.Millisecond))), func() { c.Process.Kill() })
	}
	for {
		i, more := c.next(t)
		if !more {
			break
		}
		told = i.Rows
		after--
		if kill && after < 0 {
			time.Sleep(time.Duration(rng.IntN(int(3 * time.Millisecond))))
			c.Process.Kill()
		}
	}
	err := c.Wait()
	if timer != nil {
		timer.Stop()
	}
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil {
		return told, true
	}
	if !(kill && status.Signaled()) {
		t.Fatalf("%v: %s", err, c.stderr.String())
	}
	return told, false
}

// followLive reads a file again and again, as soon as there is one: it is whole each time, and never has
// fewer rows than before.
func followLive(t *testing.T, name string, halfLife int64) (stop chan struct{}, reads chan int) {
	stop, reads = make(chan struct{}), make(chan int, 1)
	go func() {
		n, last := 0, int64(0)
		defer func() { reads <- n }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			rows, err := readLive(t, name, halfLife)
			switch {
			case os.IsNotExist(err) && n == 0:
				continue
			case err != nil || rows < last:
				t.Errorf("read while it is written: %d rows, %d before, %v", rows, last, err)
				return
			}
			n, last = n+1, rows
		}
	}()
	return stop, reads
}

// TestLiveSignals: SIGTERM and SIGINT have the file written and end the run with success, also where the pipe hangs;
// where no row has come there is nothing to write.
func TestLiveSignals(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		name := filepath.Join(t.TempDir(), "live.fds")
		for run := range 2 {
			c := startLive(t, "--every", "5ms", "--out", name)
			first := int64(100 * run)
			for i := range int64(100) {
				io.WriteString(c.in, streamRow(first+i))
			}
			for {
				i, more := c.next(t)
				if !more {
					t.Fatalf("it has ended: %s", c.stderr.String())
				}
				if i.Rows == first+100 {
					break
				}
			}
			if err := c.Process.Signal(signal); err != nil { // no more comes, and the pipe is open
				t.Fatal(err)
			}
			// GNU timeout sends it to the process and then to its group, soon enough to count as the same signal.
			for i, first := 0, time.Now(); i < 5 && time.Since(first) < sameSignal/2; i++ {
				time.Sleep(200 * time.Microsecond)
				if err := c.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
					t.Fatal(err)
				}
			}
			var last live.Interval
			for i, more := c.next(t); more; i, more = c.next(t) {
				last = i
			}
			if err := c.Wait(); err != nil || last.End != live.Stopped || last.Rows != first+100 {
				t.Fatalf("%v: %v, %+v: %s", signal, err, last, c.stderr.String())
			}
			if rows, err := readLive(t, name, 0); err != nil || rows != first+100 {
				t.Errorf("%v: %d rows, %v", signal, rows, err)
			}
		}
		before := contents(t, name)
		for _, there := range []bool{true, false} {
			if !there {
				if err := os.Remove(name); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(name + ".previous"); err != nil {
					t.Fatal(err)
				}
			}
			c := startLive(t, "--every", "5ms", "--out", name)
			for { // until it listens: it holds the lock
				if _, err := os.Stat(name + ".lock"); err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if err := c.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			for more := true; more; {
				_, more = c.next(t)
			}
			c.Wait()
			code := c.ProcessState.ExitCode()
			if there && (code != done || contents(t, name) != before) ||
				!there && (code != failed || !strings.Contains(c.stderr.String(), "interrupted")) {
				t.Errorf(
					"%v, no row has come, the file is there: %v: exit %d, %s",
					signal,
					there,
					code,
					c.stderr.String(),
				)
			}
		}
		if left, err := filepath.Glob(name + "*"); err != nil || len(left) > 0 {
			t.Errorf("there are %v, %v", left, err)
		}
	}
}

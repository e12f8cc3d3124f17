//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/fdridge/fdridge/engine"
)

// init turns the test binary into the command if the environment variable is set. It starts main in a new goroutine,
// because the goroutine of init is locked to its thread. No test depends on measured speeds, so speeds are measured
// once and briefly.
func init() {
	measuring = 20 * time.Millisecond
	once := sync.OnceValues(func() (engine.Measurement, error) {
		be, err := engine.Default()
		if err != nil {
			return engine.Measurement{}, err
		}
		return engine.Measure(context.Background(), be, measuring)
	})
	measure = func(context.Context, engine.Backend, time.Duration) (engine.Measurement, error) { return once() }
	if os.Getenv("FDRIDGE_TEST_COMMAND") != "" {
		go main() // which exits
		select {}
	}
}

// A child is the command in a process of its own.
type child struct {
	*exec.Cmd
	out    bytes.Buffer
	stderr *bufio.Scanner
}

// start starts a command line, whose blocks are short: there are more places to be
// killed in.
func start(t *testing.T, dir string, args ...string) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(exe, args...)}
	c.Dir, c.Stdout = dir, &c.out
	c.Env = append(os.Environ(), "FDRIDGE_TEST_COMMAND=1", "FDRIDGE_GRADIENT_ROWS=50")
	pipe, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.stderr = bufio.NewScanner(pipe)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// A line is one of the log.
type line struct {
	Msg        string
	Pass, Rows int64
}

// next returns the next line of the log.
func (c *child) next(t *testing.T) (line, bool) {
	t.Helper()
	for c.stderr.Scan() {
		var l line
		if err := json.Unmarshal(c.stderr.Bytes(), &l); err == nil {
			return l, true
		}
		if !strings.HasPrefix(c.stderr.Text(), "fdridge: interrupted") {
			t.Errorf("%v: %s", c.Args[1:], c.stderr.Text())
		}
	}
	return line{}, false
}

func (l line) before(o line) bool {
	return l.Pass < o.Pass || (l.Pass == o.Pass && l.Rows < o.Rows)
}

// tables writes the rows that are read: n of d features, target and weight.
func tables(t *testing.T, dir string) {
	t.Helper()
	const n, d = 5000, 12
	rng := rand.New(rand.NewPCG(4, 4))
	var text, pairs strings.Builder
	data := make([]byte, 0, 4*n*(d+2))
	for i := range n {
		y := rng.NormFloat64()
		fmt.Fprintf(&pairs, "%d", i%2)
		for j := range d {
			x := math.Float32frombits(math.Float32bits(float32(rng.NormFloat64() * math.Pow(2, float64(-j)))))
			y += float64(x)
			fmt.Fprintf(&text, "%v,", x)
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
			if rng.IntN(4) == 0 {
				fmt.Fprintf(&pairs, " %d:%v", j+1, x)
			}
		}
		pairs.WriteByte('\n')
		for _, v := range []float32{float32(y), rng.Float32()} {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
		}
		fmt.Fprintf(&text, "%v,%v\n", float32(y), rng.Float32())
	}
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("rows.npy", npyHead("<f4", n, d+2)+string(data))
	put("pairs.svm", pairs.String())
	put("penalty.csv", strings.Repeat("2\n", d))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	io.WriteString(w, text.String())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	put("rows.csv.gz", packed.String())
}

// kills is how many times a process is killed, over all runs.
func kills(t *testing.T) int {
	if s := os.Getenv("FDRIDGE_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if os.Getenv("FDRIDGE_THOROUGH") == "" {
		return 8
	}
	return 30
}

// TestKilled: a run that is killed repeatedly at random moments resumes no earlier than the last checkpoint that it
// reported. It ends with the model of a run that was not killed. There are eight kills, thirty if FDRIDGE_THOROUGH is
// set, or FDRIDGE_KILLS.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	tables(t, dir)
	runs := []string{
		"--data rows.npy --target 13,14 --method cg --gamma 1,10 --tol 1e-9",
		"--data rows.csv.gz --target 13 --weights 14 --method cg --gamma 3 --tol 1e-9",
		"--data rows.csv.gz,rows.csv.gz --target 13 --columns -14 --method one-shot --gamma 1,2 --lanes 3 " +
			"--save-sketch sketch.fds",
		"--data rows.npy --target 13 --columns -14 --method cg --gamma auto --tol 1e-6 --standardize --penalty " +
			"penalty.csv --rows 20:4900",
		"--data rows.npy --target 13 --columns -14 --method galerkin --gamma auto --select loo --tol 1e-9",
		"--data pairs.svm --method newton --gamma 50 --features rff:60,gamma=0.1,seed=3 --intercept=false",
		"--data pairs.svm --method cg --gamma 1 --tol 1e-9",
		"--data rows.npy,rows.npy --target 13 --weights 14 --method cg --size 9 --gamma 2000 --features poly:2",
	}
	sketching, refining, ended := 0, 0, 0
	each := (kills(t) + len(runs) - 1) / len(runs)
	for i, args := range runs {
		t.Run(strings.Join(strings.Fields(args)[2:], " "), func(t *testing.T) {
			args := append(
				append([]string{"fit"}, strings.Fields(args)...),
				"--log-format",
				"json",
				"--json",
				"--out",
				"model.json",
			)
			if !strings.Contains(strings.Join(args, " "), "--size") {
				args = append(args, "--size", "4")
			}
			want := finish(t, dir, args, start(t, dir, args...))
			name := fmt.Sprintf("run%d", i)
			args = append(args, "--checkpoint", name, "--checkpoint-every", "1ms")
			rng := rand.New(rand.NewPCG(uint64(i), uint64(each)))
			killed, finished := 0, 0
			var last line
			for {
				// On a busy machine a short pass writes few checkpoints. So the one-shot run is killed until some run resumed from
				// a checkpoint of the sketch. The last run is killed until some run resumed from a checkpoint of the iterations.
				unserved := slices.Contains(args, "one-shot") && sketching == 0 || i == len(runs)-1 && refining == 0
				more := killed < each || unserved && killed < max(400, 20*each)
				if !more && finished > 0 {
					break
				}
				c := start(t, dir, args...)
				at, ended := interfere(t, c, rng, more, last)
				switch {
				case !at.resumed:
				case at.began.Pass == 0:
					sketching++
				default:
					refining++
				}
				if !ended {
					killed++
					last = at.last
					continue
				}
				finished++
				last = line{}
				if got := finish(t, dir, args, c); got != want {
					t.Fatalf("after %d kills\n%s\nwithout any\n%s", killed, got, want)
				}
				if left, err := filepath.Glob(filepath.Join(dir, name+"*")); err != nil || len(left) > 0 {
					t.Fatalf("a run that is done leaves %v, %v", left, err)
				}
			}
			ended += finished
		})
	}
	t.Logf(
		"%d kills; runs that went on with the sketch: %d, with the iterations: %d; that ended: %d",
		each*len(runs),
		sketching,
		refining,
		ended,
	)
	if sketching == 0 || refining == 0 {
		t.Error("no run went on from a checkpoint")
	}
}

// A course is where a process began, and where its last checkpoint is.
type course struct {
	resumed     bool
	began, last line
}

// interfere kills a process after some of its checkpoints, or at any time, and returns
// where its last one was. It holds the process to begin no earlier than last.
func interfere(t *testing.T, c *child, rng *rand.Rand, kill bool, last line) (at course, ended bool) {
	t.Helper()
	signal, states, early := syscall.SIGKILL, 2+rng.IntN(4), rng.IntN(2) == 0
	if rng.IntN(5) == 0 {
		signal = syscall.SIGINT
	}
	if kill && rng.IntN(4) == 0 { // wherever it is
		time.AfterFunc(time.Duration(rng.IntN(int(100*time.Millisecond))), func() { c.Process.Signal(signal) })
	}
	at.last = last
	for {
		l, more := c.next(t)
		if !more {
			break
		}
		switch {
		case strings.HasPrefix(l.Msg, "going on from checkpoint"):
			at.resumed, at.began = true, l
		case l.Msg == "checkpoint":
		case l.Msg == "progress":
			continue
		default:
			t.Fatalf("%v says %+v", c.Args[1:], l)
		}
		if l.before(at.last) {
			t.Fatalf("it had a checkpoint at %+v and is at %+v", at.last, l)
		}
		at.last = l
		states--
		if kill && (states == 0 || early && l.Pass == 0 && l.Rows > 0) {
			early, states = false, 0
			time.Sleep(time.Duration(rng.IntN(int(3 * time.Millisecond))))
			c.Process.Signal(signal)
		}
	}
	err := c.Wait()
	switch status := c.ProcessState.Sys().(syscall.WaitStatus); {
	case err == nil:
		return at, true
	case kill && status.Signaled() && json.Valid(c.out.Bytes()) && gone(t, c):
		return at, true
	case kill && status.Signaled(), kill && signal == syscall.SIGINT && status.ExitStatus() == failed:
		return at, false
	}
	t.Fatalf("%v: %v", c.Args[1:], err)
	return at, true
}

// gone tells that a process that was killed had removed its checkpoint, which it does when
// all else is done. The lock goes last, and may be left.
func gone(t *testing.T, c *child) bool {
	t.Helper()
	name := filepath.Join(c.Dir, c.Args[slices.Index(c.Args, "--checkpoint")+1])
	if _, err := os.Stat(name); !os.IsNotExist(err) {
		return false
	}
	if err := os.Remove(name + ".lock"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return true
}

// finish waits for a process to be done and returns what it found: the model, and what
// of the report doesn't tell the time.
func finish(t *testing.T, dir string, args []string, c *child) string {
	t.Helper()
	if c.ProcessState == nil {
		for more := true; more; {
			_, more = c.next(t)
		}
		if err := c.Wait(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
	var report map[string]any
	if err := json.Unmarshal(c.out.Bytes(), &report); err != nil {
		t.Fatalf("%v: %v: %s", args, err, c.out.Bytes())
	}
	for _, key := range strings.Fields("reads sketch_seconds total_seconds peak_rss_bytes") {
		delete(report, key)
	}
	text, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model.json", "sketch.fds"} {
		if name == "sketch.fds" && !slices.Contains(args, "--save-sketch") {
			continue // it may be there of a run that was killed when it had written it
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err == nil {
			text = append(append(text, '\n'), b...)
			err = os.Remove(filepath.Join(dir, name))
		}
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	return string(text)
}

//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fdridge/fdridge/live"
)

// A busy command is one that has rows to read when it is signalled.
type busy struct {
	args   string
	stderr bool // its first line says that it is at work; else one on standard output does
}

var (
	liveBusy = "sketch --every 1ms --out live.fds --size 1 --intercept=false "
	busyRows = "--format csv --header no --columns 1 --target 2,3 --data "

	busyCommands = map[string]busy{
		"live pipe":         {args: liveBusy + busyRows + "-"},
		"live file":         {args: liveBusy + busyRows + "rows.csv"},
		"live window, pipe": {args: liveBusy + "--window 300 " + busyRows + "-"},
		"live window, file": {args: liveBusy + "--window 10m " + busyRows + "rows.csv"},
		"live fading, pipe": {args: liveBusy + "--half-life 200 --gamma 1 " + busyRows + "-"},
		"sketch, pipe":      {"sketch --log-format json --out s.fds " + busyRows + "-", true},
		"one-shot, pipe": {
			"fit --log-format json --gamma 1 --method one-shot --out m.json " + busyRows + "-",
			true,
		},
		"passes of cg": {
			"fit --log-format json --gamma 1e-9 --method cg --size 1 --features poly:2 --out m.json " + busyRows + "rows.csv",
			true,
		},
		"predictions of pipe": {args: "predict --model model.json --target 2,3 --format csv --header no --data -"},
		"predictions of file": {
			args: "predict --model model.json --target 2,3 --format csv --header no --data rows.csv",
		},
	}
)

// TestSignalsUnderLoad: SIGTERM and SIGINT end a command in the middle of its rows. A live sketch leaves a file of as
// many rows as its last line says; others write nothing and say that they were interrupted.
func TestSignalsUnderLoad(t *testing.T) {
	dir, each := t.TempDir(), 1
	if os.Getenv("FDRIDGE_THOROUGH") != "" {
		each = 3
	}
	if n, err := strconv.Atoi(os.Getenv("FDRIDGE_SIGNALS")); err == nil { // the promise is held to 300
		each = n
	}
	var text []byte
	for i := range int64(200_000) {
		text = append(text, streamRow(i)...)
	}
	if err := os.WriteFile(filepath.Join(dir, "rows.csv"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	head := write(t, "head.csv", string(text[:bytes.IndexByte(text[1000:], '\n')+1001]))
	must(
		t,
		"fit",
		"--data",
		head,
		"--format",
		"csv",
		"--header",
		"no",
		"--columns",
		"1",
		"--target",
		"2,3",
		"--gamma",
		"1",
		"--out",
		filepath.Join(dir, "model.json"),
	)
	number := 0
	for name, c := range busyCommands {
		t.Run(name, func(t *testing.T) {
			stopped := 0
			for tries := 0; stopped < each && tries < 2*each+8; tries++ { // the rows of a file may have ended before
				number++
				if c.signal(t, dir, text, []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[number%2], each > 1) {
					stopped++
				}
			}
			if stopped < each {
				t.Errorf("%d were stopped", stopped)
			}
			t.Logf("%d were stopped, none hangs", stopped)
		})
	}
}

// signal starts a command, sends a signal once it is at work, and reports whether that stopped it. A pipe
// has the rows of text again and again.
func (b busy) signal(t *testing.T, dir string, text []byte, signal syscall.Signal, anyTime bool) (stopped bool) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"live.fds", "live.fds.previous"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	c := exec.Command(exe, strings.Fields(b.args)...)
	c.Dir, c.Env = dir, append(os.Environ(), "FDRIDGE_TEST_COMMAND=1", "FDRIDGE_GRADIENT_ROWS=32")
	var stdout, stderr bytes.Buffer
	begun := make(chan struct{}, 1)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.Stdout, c.Stderr = &stdout, &stderr
	if b.stderr {
		c.Stderr = &firstLine{Writer: &stderr, begun: begun}
	} else {
		c.Stdout = &firstLine{Writer: &stdout, begun: begun}
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		for err := error(nil); err == nil && strings.HasSuffix(b.args, " -"); {
			_, err = in.Write(text)
		}
	}()
	hung := time.AfterFunc(time.Minute, func() { c.Process.Signal(syscall.SIGQUIT) })
	defer hung.Stop()
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	select {
	case <-begun:
	case <-ended:
		t.Fatalf("it has ended: %s", stderr.String())
	}
	if anyTime {
		time.Sleep(rand.N(30 * time.Millisecond))
	}
	if err := c.Process.Signal(signal); err != nil && err != os.ErrProcessDone {
		t.Fatal(err)
	}
	<-ended
	<-fed
	code := c.ProcessState.ExitCode()
	if !strings.Contains(b.args, "live.fds") {
		if code == done {
			return false
		}
		if code != failed || !strings.HasSuffix(stderr.String(), "fdridge: interrupted\n") {
			t.Fatalf("%v: exit %d: %s", signal, code, stderr.String())
		}
		return true
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	var last live.Interval
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || code != done {
		t.Fatalf("%v: exit %d, %v: %s", signal, code, err, stderr.String())
	}
	f, err := os.Open(filepath.Join(dir, "live.fds"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s, err := live.ReadOnly(f, nil); err != nil || s.Rows() != last.Rows || last.Rows == 0 {
		t.Fatalf("%v: told %+v, the file: %v", signal, last, err)
	}
	return last.End == live.Stopped
}

// A firstLine tells when a line was written, of a live sketch one of an interval that has rows.
type firstLine struct {
	io.Writer
	begun chan<- struct{}
}

func (f *firstLine) Write(b []byte) (int, error) {
	if bytes.IndexByte(b, '\n') >= 0 && !bytes.Contains(b, []byte(`"rows":0,`)) {
		select {
		case f.begun <- struct{}{}:
		default:
		}
	}
	return f.Writer.Write(b)
}

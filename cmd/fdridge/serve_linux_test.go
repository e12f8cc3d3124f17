package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A servedCommand is the command in a process that answers requests.
type servedCommand struct {
	*exec.Cmd
	socket *net.UnixConn
	stderr bytes.Buffer
}

// startServed starts the command with a socket.
func startServed(t *testing.T, dir string, env ...string) *servedCommand {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	connection, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	s := &servedCommand{Cmd: exec.Command(exe), socket: connection.(*net.UnixConn)}
	s.Dir, s.Stderr, s.ExtraFiles = dir, &s.stderr, []*os.File{theirs}
	s.Env = append(append(os.Environ(), "FDRIDGE_TEST_COMMAND=1", serveVariable+"=3"), env...)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	ours.Close()
	theirs.Close()
	t.Cleanup(func() {
		s.socket.Close()
		_ = s.Process.Kill() // it may have ended
		_ = s.Wait()         // a test may have waited
	})
	return s
}

// send sends a request with the descriptors of its files.
func (s *servedCommand) send(r request) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
	if _, _, err := s.socket.WriteMsgUnix(head, syscall.UnixRights(r.Files...), nil); err != nil {
		return err
	}
	_, err = s.socket.Write(text)
	return err
}

// ask sends a request and returns the answer.
func (s *servedCommand) ask(t *testing.T, r request) (code int, stdout, stderr string) {
	t.Helper()
	if err := s.send(r); err != nil {
		t.Fatal(err)
	}
	var head [24]byte
	if _, err := io.ReadFull(s.socket, head[:]); err != nil {
		t.Fatal(err, s.Wait(), s.stderr.String())
	}
	text := make([]byte, binary.LittleEndian.Uint64(head[8:])+binary.LittleEndian.Uint64(head[16:]))
	if _, err := io.ReadFull(s.socket, text); err != nil {
		t.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(head[8:])
	return int(binary.LittleEndian.Uint64(head[:])), string(text[:n]), string(text[n:])
}

// TestServe: one process that serves many requests prints, writes and returns the same as a new process for each
// command line. The order of requests, errors in between, and other numbers of threads make no difference.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad.csv"), []byte("1,2\n3,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := []string{
		"fit --data HOUSING --target last --gamma 1 --out OUT --log-format none",
		"fit --data HOUSING --target last --gamma auto --select loo --out OUT --threads 1 --log-format none",
		"fit --data bad.csv --target last --gamma 1",
		"fit --data HOUSING --target last --gamma auto:1,10 --method cg --size 3 --out OUT --log-format none",
		"solve",
		"fit --gamma 0 --no-such-flag",
		"fit --data none.csv --target last",
		"sketch --data HOUSING --target last --size 4 --out OUT --log-format none",
		"fit --data - --target last",
		"show OUT",
		"fit --data HOUSING --target last --method cg --max-passes 1 --size 2 --tol 1e-15 --out OUT --log-format none",
		"--version",
		"",
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := startServed(t, dir)
	for range 2 {
		for _, line := range lines {
			args := strings.Fields(
				strings.NewReplacer("HOUSING", housing, "OUT", filepath.Join(dir, "out")).Replace(line),
			)
			once := exec.Command(exe, args...)
			once.Dir, once.Env = dir, append(os.Environ(), "FDRIDGE_TEST_COMMAND=1")
			var stdout, stderr bytes.Buffer
			once.Stdout, once.Stderr = &stdout, &stderr
			code := 0
			if err := once.Run(); err != nil {
				code = once.ProcessState.ExitCode()
			}
			wrote, _ := os.ReadFile(filepath.Join(dir, "out")) // an absent file is compared too
			gotCode, got, said := s.ask(t, request{Args: args})
			again, _ := os.ReadFile(filepath.Join(dir, "out"))
			want := withoutTimes(stdout.String())
			if gotCode != code || withoutTimes(got) != want || said != stderr.String() || !bytes.Equal(again, wrote) {
				t.Errorf(
					"%s: %d, want %d\n%s\nwant\n%s\n%s\nwant\n%s\nsame file: %v",
					line,
					gotCode,
					code,
					got,
					want,
					said,
					&stderr,
					bytes.Equal(again, wrote),
				)
			}
		}
	}
}

// withoutTimes removes the lines with times and memory of a report.
func withoutTimes(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, " s") && !strings.Contains(line, "MiB") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// TestServeFiles: files without a name are sent, read and written, and a process that stays keeps none of them and no
// memory. A variable holds for one request.
func TestServeFiles(t *testing.T) {
	dir := t.TempDir()
	s := startServed(t, dir)
	descriptors := func() int {
		all, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", s.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	memory := func() int {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(status), "VmRSS:")
		n, err := strconv.Atoi(strings.Fields(rest)[0])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	var had, held int
	for i := range 150 {
		data, err := os.Open(housing)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(dir, "out"))
		if err != nil {
			t.Fatal(err)
		}
		name := func(f *os.File) string { return fmt.Sprintf("/dev/fd/%d", f.Fd()) }
		r := request{
			Args: []string{
				"fit",
				"--data",
				name(data),
				"--format",
				"csv",
				"--target",
				"last",
				"--gamma",
				"1",
				"--out",
				name(out),
				"--log-format",
				"none",
			},
			Files: []int{int(data.Fd()), int(out.Fd())},
		}
		if i == 1 {
			r.Environment = map[string]string{"FDRIDGE_MEMORY": "nonsense"}
		}
		code, _, said := s.ask(t, r)
		if failed := code != 0; failed != (i == 1) || failed && !strings.Contains(said, "FDRIDGE_MEMORY") {
			t.Fatal(i, code, said)
		}
		model, err := os.ReadFile(filepath.Join(dir, "out"))
		if err != nil || i != 1 && !bytes.Contains(model, []byte("coef")) {
			t.Fatalf("%s %v", model, err)
		}
		if i == 1 {
			continue
		}
		data.Close()
		out.Close()
		switch i {
		case 50:
			had, held = descriptors(), memory()
		case 149:
			if now, holds := descriptors(), memory(); now > had+2 || holds > held+8<<10 {
				t.Errorf("%d descriptors, before %d; %d KiB, before %d", now, had, holds, held)
			}
		}
	}
}

// TestServeCollects: small requests do not make the garbage collector run each time.
func TestServeCollects(t *testing.T) {
	s := startServed(t, t.TempDir(), "GODEBUG=gctrace=1", "GOGC=100")
	const requests = 12
	args := []string{"fit", "--data", housing, "--target", "last", "--gamma", "1", "--log-format", "none"}
	for range requests {
		code, _, said := s.ask(t, request{Args: args})
		if code != done {
			t.Fatal(said)
		}
	}
	s.socket.Close()
	err := s.Wait()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Count(s.stderr.String(), "gc ")
	if lines == 0 || lines >= requests {
		t.Errorf("the collector ran %d times in %d requests", lines, requests)
	}
}

// TestServeEnds: a process that stays ends when the socket is closed, at a signal, and at a request that it cannot
// read.
func TestServeEnds(t *testing.T) {
	for name, end := range map[string]func(*servedCommand) error{
		"closed": func(s *servedCommand) error { return s.socket.Close() },
		"signal": func(s *servedCommand) error { return s.Process.Signal(syscall.SIGTERM) },
		"text": func(s *servedCommand) error {
			_, err := s.socket.Write(append([]byte{4, 0, 0, 0, 0, 0, 0, 0}, "ab{}"...))
			return err
		},
		"size": func(s *servedCommand) error {
			_, err := s.socket.Write(bytes.Repeat([]byte{255}, 8))
			return err
		},
		"files": func(s *servedCommand) error { // it names a file that is not sent
			text := `{"files": [3]}`
			_, err := s.socket.Write(append([]byte{byte(len(text)), 0, 0, 0, 0, 0, 0, 0}, text...))
			return err
		},
	} {
		s := startServed(t, t.TempDir())
		code, out, said := s.ask(t, request{Args: []string{"--version"}})
		if code != 0 || !strings.Contains(out, "version") {
			t.Fatal(name, code, out, said)
		}
		if err := end(s); err != nil {
			t.Fatal(name, err)
		}
		done := make(chan error)
		go func() { done <- s.Wait() }()
		select {
		case err := <-done:
			if (err == nil) != (name == "closed") {
				t.Errorf("%s: %v: %s", name, err, &s.stderr)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: it goes on", name)
		}
	}
	for _, number := range []string{"me", "1", "77"} {
		if err := serve(t.Context(), number, nil); exitCode(err) != usage {
			t.Error(number, err)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// limited makes a control group with a memory limit, and returns a function that runs a command line in it. It skips
// the test where the machine does not allow that.
func limited(t *testing.T, bytes int) func(env []string, args ...string) (string, error) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}} {
		group := filepath.Join(c[0], fmt.Sprint("fdridge-test-", os.Getpid()))
		if os.Mkdir(group, 0o700) != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(group); err != nil {
				t.Error(err)
			}
		})
		if os.WriteFile(filepath.Join(group, c[1]), []byte(fmt.Sprint(bytes)), 0o600) != nil {
			continue
		}
		return func(env []string, args ...string) (string, error) {
			c := exec.Command(
				"sh",
				append([]string{"-c", `echo $$ > "$0/cgroup.procs" && exec "$@"`, group, exe}, args...)...)
			c.Env = append(append(os.Environ(), "FDRIDGE_TEST_COMMAND=1"), env...)
			out, err := c.CombinedOutput()
			return string(out), err
		}
	}
	t.Skip("this machine does not allow a control group with a memory limit")
	return nil
}

// TestMemoryLimit: under a limit of 1 GiB, what takes more is refused before the rows are read.
func TestMemoryLimit(t *testing.T) {
	within := limited(t, 1<<30)
	const n, d = 20000, 12000
	path := write(
		t,
		"rows.npy",
		fmt.Sprintf(
			"\x93NUMPY\x01\x00\x76\x00%-117s\n",
			fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", n, d),
		),
	)
	if err := os.Truncate(path, 128+4*n*d); err != nil { // zeros that take no room
		t.Fatal(err)
	}
	for _, flags := range []string{"fit --method qr --gamma 1", "fit --method cg --size 6000 --gamma 1", "fit --cv 3 --gamma auto --size 6000", "sketch --size 6000"} {
		args := append(
			strings.Fields(flags),
			"--data",
			path,
			"--target",
			"last",
			"--out",
			filepath.Join(t.TempDir(), "out"),
		)
		out, err := within(nil, args...)
		if e, ok := err.(*exec.ExitError); !ok || e.ExitCode() != usage ||
			!strings.Contains(out, "(limit of 1.00 GiB in /sys/fs/cgroup/") ||
			strings.Count(out, "\n") != 1 {
			t.Errorf("%s: %v: %s", flags, err, out)
		}
		if e, ok := err.(*exec.ExitError); ok && e.UserTime().Seconds() > 5 {
			t.Errorf("%s takes %v", flags, e.UserTime())
		}
	}
	for env, want := range map[string]int64{"": 1 << 30 / 10 * 9, "GOMEMLIMIT=700MiB": 700 << 20} {
		out, err := within([]string{env}, "doctor", "--json")
		var r struct{ Memory memory }
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if m := r.Memory; m.GoLimit != want || m.Limit.Bytes != 1<<30 || m.Available > 1<<30 || m.Available < 1<<29 {
			t.Errorf("%s: %+v", env, m)
		}
	}
}

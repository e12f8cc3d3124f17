package rss

import (
	"os"
	"path/filepath"
	"testing"
)

// tree writes files under a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestLimits: the smallest limit along the path counts, of either version, however the hierarchy is mounted.
func TestLimits(t *testing.T) {
	const (
		meminfo = "MemTotal:       100000 kB\nMemAvailable:    50000 kB\n" // 51,200,000 bytes
		v1      = "30 1 0:1 / /sys rw - tmpfs tmpfs rw\n35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
		v2      = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		none    = "9223372036854771712\n"
	)
	for name, c := range map[string]struct {
		files     map[string]string
		limit     int64
		from      string
		available int64
	}{
		"no proc":   {map[string]string{}, 0, "", 0},
		"no groups": {map[string]string{"proc/meminfo": meminfo}, 0, "", 51200000},
		"version 2, nested": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/job/step\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/job/step/memory.max": "max\n", "sys/fs/cgroup/job/step/memory.current": "9\n",
			"sys/fs/cgroup/job/memory.max": "30000000\n", "sys/fs/cgroup/job/memory.current": "12000000\n", "sys/fs/cgroup/job/memory.stat": "anon 5\ninactive_file 2000000\n",
		}, 30000000, "/sys/fs/cgroup/job/memory.max", 20000000},
		"version 2, the outer leaves less": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/job/step\n", "proc/self/mountinfo": v2,
			"sys/fs/cgroup/job/step/memory.max": "20000000\n", "sys/fs/cgroup/job/step/memory.current": "1000000\n",
			"sys/fs/cgroup/job/memory.max": "30000000\n", "sys/fs/cgroup/job/memory.current": "25000000\n",
		}, 20000000, "/sys/fs/cgroup/job/step/memory.max", 5000000},
		"version 2, in a container": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "40000000\n", "sys/fs/cgroup/memory.current": "0\n",
		}, 40000000, "/sys/fs/cgroup/memory.max", 40000000},
		"version 2, mounted from the group on": {map[string]string{
			"proc/self/cgroup": "0::/docker/abc/in\n", "proc/self/mountinfo": "41 31 0:38 /docker/abc /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/in/memory.max": "70\n", "sys/fs/cgroup/memory.max": "50\n", "sys/fs/cgroup/memory.current": "20\n",
		}, 50, "/sys/fs/cgroup/memory.max", 30},
		"version 1": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "5:cpu:/a\n4:hugetlb,memory:/slurm/job_7\n0::/b\n", "proc/self/mountinfo": v1 + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes": "16000000\n", "sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes": "4000000\n",
			"sys/fs/cgroup/memory/slurm/job_7/memory.stat": "inactive_file 1\ntotal_inactive_file 1000000\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":   none,
		}, 16000000, "/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", 13000000},
		"version 1, no limit": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "4:memory:/a\n", "proc/self/mountinfo": v1, "sys/fs/cgroup/memory/a/memory.limit_in_bytes": none,
		}, 0, "", 51200000},
		"used up": {map[string]string{
			"proc/meminfo": meminfo, "proc/self/cgroup": "0::/\n", "proc/self/mountinfo": v2, "sys/fs/cgroup/memory.max": "40\n", "sys/fs/cgroup/memory.current": "50\n",
		}, 40, "/sys/fs/cgroup/memory.max", 1},
		"damaged": {map[string]string{"proc/meminfo": "MemAvailable: x kB\n", "proc/self/cgroup": "0\n::\n4:memory\n", "proc/self/mountinfo": "1 - cgroup2\n"}, 0, "", 0},
	} {
		root := tree(t, c.files)
		if l, _ := limits(root); l.Bytes != c.limit || l.From != c.from {
			t.Errorf("%s: limit of %d in %q, want %d in %q", name, l.Bytes, l.From, c.limit, c.from)
		}
		if got := available(root); got != c.available {
			t.Errorf("%s: %d bytes are available, want %d", name, got, c.available)
		}
	}
}

package rss

import (
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Available returns the number of bytes that can be allocated without swapping, or 0 if it is unknown. This is the
// MemAvailable of Linux, unless a memory limit of the process leaves fewer bytes.
func Available() int64 { return available("/") }

// Limited returns the smallest memory limit of the control groups of this process. If there is none, it returns the
// zero Limit.
func Limited() Limit {
	l, _ := limits("/")
	return l
}

// available returns the result of Available. It reads the folders proc and sys inside the folder root.
func available(root string) int64 {
	there := bytesOf(read(root, "/proc/meminfo"), "MemAvailable:")
	l, left := limits(root)
	if l.Bytes > 0 && (there == 0 || left < there) {
		there = max(left, 1)
	}
	return there
}

// bytesOf finds the line "key N kB" in text and returns N in bytes. It returns 0 if there is no such line.
func bytesOf(text, key string) int64 {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == key {
			return number(fields[1]) << 10
		}
	}
	return 0
}

// highWater returns the largest resident set size of the process so far, in bytes. It does not include memory of
// the parent process. The number of getrusage may include such memory after a vfork.
func highWater() int64 {
	return bytesOf(read("/", "/proc/self/status"), "VmHWM:")
}

// ResetPeak sets the largest resident set size so far to the current size. If the system does not allow this,
// ResetPeak has no effect.
//
// Format: clear_refs in the kernel's proc.rst.
func ResetPeak() {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
}

// limits returns the smallest memory limit of the control group of this process and of all groups above it. The
// result left is the smallest number of bytes that one of these groups may still use. Inactive pages of files do
// not count as used, because the kernel can drop them at once.
//
// Format: the kernel's cgroup-v2.rst (memory.max) and cgroup-v1/memory.rst (memory.limit_in_bytes).
func limits(root string) (least Limit, left int64) {
	for group := range strings.Lines(read(root, "/proc/self/cgroup")) {
		parts := strings.SplitN(strings.TrimSpace(group), ":", 3) // number:controllers:path
		if len(parts) < 3 {
			continue
		}
		kind, limit, usage, idle := "cgroup", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
		if parts[0] == "0" && parts[1] == "" {
			kind, limit, usage, idle = "cgroup2", "memory.max", "memory.current", "inactive_file"
		} else if !strings.Contains(","+parts[1]+",", ",memory,") {
			continue
		}
		top, at := mounted(root, kind, parts[2])
		for ; top != ""; at = path.Dir(at) {
			dir := path.Join(top, at)
			bytes := number(strings.TrimSpace(read(root, path.Join(dir, limit))))
			if bytes > 0 && bytes < 1<<60 { // more is no limit
				free := bytes - number(strings.TrimSpace(read(root, path.Join(dir, usage))))
				for line := range strings.Lines(read(root, path.Join(dir, "memory.stat"))) {
					if fields := strings.Fields(line); len(fields) == 2 && fields[0] == idle {
						free += number(fields[1])
					}
				}
				if least.Bytes == 0 || free < left {
					left = min(free, bytes)
				}
				if least.Bytes == 0 || bytes < least.Bytes {
					least = Limit{bytes, path.Join(dir, limit)}
				}
			}
			if at == "/" {
				break
			}
		}
	}
	return least, left
}

// mounted returns the folder top where the control groups of this kind are mounted, and the path of the group in
// this folder. In a container, the mounted folder may be the group itself.
func mounted(root, kind, group string) (top, at string) {
	for line := range strings.Lines(mounts(root)) {
		before, after, ok := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		super := strings.Fields(after)
		if !ok ||
			len(fields) < 5 ||
			len(super) < 3 ||
			super[0] != kind ||
			kind == "cgroup" && !strings.Contains(","+super[2]+",", ",memory,") {
			continue
		}
		at, inside := strings.CutPrefix(group, strings.TrimSuffix(fields[3], "/"))
		if !inside || at != "" && at[0] != '/' {
			at = "/"
		}
		return fields[4], path.Join("/", at)
	}
	return "", ""
}

// mounts returns the list of mounted file systems. For this process it is read only once, because it can be long.
func mounts(root string) string {
	if root == "/" {
		return ownMounts()
	}
	return read(root, mountInfo)
}

const mountInfo = "/proc/self/mountinfo"

var ownMounts = sync.OnceValue(func() string { return read("/", mountInfo) })

// read returns the contents of the file name in the folder root, or "" if the file cannot be read.
func read(root, name string) string {
	text, _ := os.ReadFile(path.Join(root, name)) // an absent file states no limit
	return string(text)
}

// number parses a decimal number. It returns 0 for any other text, such as "max".
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
